//! The string formats that are asserted; other names in `format` are annotations.
//!
//! Each check is a small parser of its RFC's grammar, and none allocates. URIs are checked by the function that also checks
//! messages.

use std::net::{Ipv4Addr, Ipv6Addr};

use trueform_schema::conform::{is_uri, is_uri_reference};

use super::violation::MAX_SHOWN;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Format {
    Date,
    Time,
    DateTime,
    Email,
    Hostname,
    Ipv4,
    Ipv6,
    Uri,
    UriReference,
    Uuid,
}

impl Format {
    /// All of them, by name.
    pub(super) const ALL: [(&'static str, Self); 10] = [
        ("date", Self::Date),
        ("time", Self::Time),
        ("date-time", Self::DateTime),
        ("email", Self::Email),
        ("hostname", Self::Hostname),
        ("ipv4", Self::Ipv4),
        ("ipv6", Self::Ipv6),
        ("uri", Self::Uri),
        ("uri-reference", Self::UriReference),
        ("uuid", Self::Uuid),
    ];

    /// Returns the format called `name`. `None` for an annotation (`int64`, `double`, `password`, …).
    pub(super) fn named(name: &str) -> Option<Self> {
        let known = Self::ALL.iter().find(|(known, _)| *known == name);
        known.map(|&(_, format)| format)
    }

    /// Returns the description for users, with an example if the name is not enough.
    pub(super) fn words(self) -> &'static str {
        match self {
            Self::Date => "a date like `2026-07-28`",
            Self::Time => "a time like `14:30:00Z`",
            Self::DateTime => "a date and time like `2026-07-28T14:30:00Z`",
            Self::Email => "an email address",
            Self::Hostname => "a host name",
            Self::Ipv4 => "an IPv4 address",
            Self::Ipv6 => "an IPv6 address",
            Self::Uri => "an absolute URI",
            Self::UriReference => "a URI or relative reference",
            Self::Uuid => "a UUID",
        }
    }

    /// Returns the remedy for text that is refused for a common reason: as a sentence, and as the corrected text if it is short.
    pub(super) fn cure(self, text: &str) -> Option<(&'static str, Option<String>)> {
        let words = match self {
            Self::Uri => "an absolute URI with spaces and non-ASCII letters percent-encoded",
            Self::UriReference => {
                "a URI or relative reference with spaces and non-ASCII letters percent-encoded"
            }
            _ => return None,
        };
        if !text.contains(is_unencoded) {
            return None;
        }
        // Longer text is not shown, and neither is its correction.
        if MAX_SHOWN < text.chars().take(MAX_SHOWN + 1).count() {
            return Some((words, None));
        }
        let meant = percent_encoded(text);
        let meant = self.accepts(&meant).then_some(meant);
        Some((words, meant))
    }

    pub(super) fn accepts(self, text: &str) -> bool {
        match self {
            Self::Date => date(text),
            Self::Time => time(text),
            Self::DateTime => date_time(text),
            Self::Email => email(text),
            Self::Hostname => hostname(text),
            Self::Ipv4 => text.parse::<Ipv4Addr>().is_ok(),
            Self::Ipv6 => text.parse::<Ipv6Addr>().is_ok(),
            Self::Uri => is_uri(text),
            Self::UriReference => is_uri_reference(text),
            Self::Uuid => uuid(text),
        }
    }
}

/// Returns whether people often write `c` into URIs although RFC 3986 requires it to be encoded.
fn is_unencoded(c: char) -> bool {
    c == ' ' || !c.is_ascii()
}

fn percent_encoded(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if is_unencoded(c) {
            for byte in c.encode_utf8(&mut [0; 4]).bytes() {
                out.push_str(&format!("%{byte:02X}"));
            }
        } else {
            out.push(c);
        }
    }
    out
}

/// Checks an RFC 3339 `full-date`.
fn date(text: &str) -> bool {
    let b = text.as_bytes();
    if b.len() != 10 || b[4] != b'-' || b[7] != b'-' {
        return false;
    }
    let (Some(year), Some(month), Some(day)) = (number(&b[..4]), number(&b[5..7]), number(&b[8..]))
    else {
        return false;
    };
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let days = match month {
        1 | 3 | 5 | 7 | 8 | 10 | 12 => 31,
        4 | 6 | 9 | 11 => 30,
        2 if leap => 29,
        2 => 28,
        _ => return false,
    };
    1 <= day && day <= days
}

/// Checks an RFC 3339 `full-time`. The offset is mandatory, and second 60 is allowed only where it can be a leap second.
fn time(text: &str) -> bool {
    let b = text.as_bytes();
    if b.len() < 9 || b[2] != b':' || b[5] != b':' {
        return false;
    }
    let (Some(hour), Some(minute), Some(second)) =
        (number(&b[..2]), number(&b[3..5]), number(&b[6..8]))
    else {
        return false;
    };
    if 23 < hour || 59 < minute || 60 < second {
        return false;
    }
    let mut rest = &b[8..];
    if let [b'.', fraction @ ..] = rest {
        let digits = fraction.iter().take_while(|c| c.is_ascii_digit()).count();
        if digits == 0 {
            return false;
        }
        rest = &fraction[digits..];
    }
    let Some(offset) = offset_minutes(rest) else {
        return false;
    };
    let utc = (i64::from(hour * 60 + minute) - offset).rem_euclid(24 * 60);
    second < 60 || utc == 23 * 60 + 59
}

fn offset_minutes(b: &[u8]) -> Option<i64> {
    match b {
        [b'Z' | b'z'] => Some(0),
        [sign @ (b'+' | b'-'), hours @ .., b':', m1, m2] if hours.len() == 2 => {
            let hours = number(hours).filter(|&hours| hours <= 23)?;
            let minutes = number(&[*m1, *m2]).filter(|&minutes| minutes <= 59)?;
            let offset = i64::from(hours * 60 + minutes);
            Some(if *sign == b'-' { -offset } else { offset })
        }
        _ => None,
    }
}

fn date_time(text: &str) -> bool {
    match (text.get(..10), text.get(10..11), text.get(11..)) {
        (Some(day), Some("T" | "t"), Some(clock)) => date(day) && time(clock),
        _ => false,
    }
}

fn number(digits: &[u8]) -> Option<u32> {
    digits.iter().try_fold(0, |sum, c| {
        c.is_ascii_digit().then(|| sum * 10 + u32::from(c - b'0'))
    })
}

/// Checks an RFC 5321 `Mailbox` with a dot-string or quoted local part and a host name or bracketed address.
fn email(text: &str) -> bool {
    let Some((local, domain)) = text.rsplit_once('@') else {
        return false;
    };
    if local.is_empty() || 64 < local.len() {
        return false;
    }
    let local_ok = match local.strip_prefix('"') {
        Some(quoted) => quoted.strip_suffix('"').is_some_and(quoted_text),
        None => local
            .split('.')
            .all(|atom| !atom.is_empty() && atom.bytes().all(is_atom)),
    };
    local_ok && email_domain(domain)
}

fn email_domain(domain: &str) -> bool {
    match domain
        .strip_prefix('[')
        .and_then(|inner| inner.strip_suffix(']'))
    {
        Some(literal) => match literal.strip_prefix("IPv6:") {
            Some(v6) => v6.parse::<Ipv6Addr>().is_ok(),
            None => literal.parse::<Ipv4Addr>().is_ok(),
        },
        None => hostname(domain),
    }
}

fn quoted_text(text: &str) -> bool {
    let mut bytes = text.bytes();
    while let Some(c) = bytes.next() {
        match c {
            b'\\' => match bytes.next() {
                Some(b' '..=b'~') => {}
                _ => return false,
            },
            b'"' => return false,
            b' '..=b'~' => {}
            _ => return false,
        }
    }
    true
}

fn is_atom(c: u8) -> bool {
    c.is_ascii_alphanumeric() || b"!#$%&'*+-/=?^_`{|}~".contains(&c)
}

/// Checks an RFC 1123 host name: labels of letters, digits and inner hyphens.
fn hostname(text: &str) -> bool {
    !text.is_empty() && text.len() <= 253 && text.split('.').all(label)
}

fn label(label: &str) -> bool {
    let bytes = label.as_bytes();
    let inner_hyphens = match bytes {
        [] => return false,
        [first, .., last] => *first != b'-' && *last != b'-',
        [only] => *only != b'-',
    };
    inner_hyphens
        && bytes.len() <= 63
        && bytes
            .iter()
            .all(|c| c.is_ascii_alphanumeric() || *c == b'-')
}

fn uuid(text: &str) -> bool {
    let b = text.as_bytes();
    b.len() == 36
        && b.iter().enumerate().all(|(i, c)| match i {
            8 | 13 | 18 | 23 => *c == b'-',
            _ => c.is_ascii_hexdigit(),
        })
}
