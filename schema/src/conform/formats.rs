//! The string formats that the official schemas use.

use std::{fmt, net::Ipv6Addr};

/// A format of strings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Format {
    /// `uri`: a URI of RFC 3986 with its scheme.
    Uri,
    /// `uri-template`: a URI template of RFC 6570; its expansion is not checked.
    UriTemplate,
    /// `byte`: base64 of RFC 4648, section 4, with its padding.
    Byte,
}

impl Format {
    /// Returns whether `text` has the format.
    #[must_use]
    pub fn accepts(self, text: &str) -> bool {
        match self {
            Self::Uri => is_uri(text),
            Self::UriTemplate => is_uri_template(text),
            Self::Byte => is_base64(text),
        }
    }

    /// Returns the name, as JSON Schema and OpenAPI spell it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Uri => "uri",
            Self::UriTemplate => "uri-template",
            Self::Byte => "byte",
        }
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Returns whether `text` is a URI of RFC 3986 with a scheme. Unlike in an IRI, characters outside ASCII must be percent-encoded.
///
/// ```
/// use trueform_schema::conform::is_uri;
///
/// assert!(is_uri("file:///notes/a%20b.txt"));
/// assert!(!is_uri("notes/a.txt"));
/// assert!(!is_uri("file:///notes/a b.txt"));
/// ```
#[must_use]
pub fn is_uri(text: &str) -> bool {
    let Some((scheme, rest)) = text.split_once(':') else {
        return false;
    };
    let mut letters = scheme.bytes();
    let named = letters.next().is_some_and(|b| b.is_ascii_alphabetic())
        && letters.all(|b| b.is_ascii_alphanumeric() || b"+-.".contains(&b));
    named && is_after_scheme(rest)
}

/// Returns whether `text` is a URI of RFC 3986, or a reference relative to one, such as a path.
///
/// ```
/// use trueform_schema::conform::is_uri_reference;
///
/// assert!(is_uri_reference("notes/a.txt#top"));
/// assert!(is_uri_reference("file:///notes/a.txt"));
/// assert!(!is_uri_reference("notes/a b.txt"));
/// ```
#[must_use]
pub fn is_uri_reference(text: &str) -> bool {
    // A colon in the first segment of a relative path would be read as the end of a scheme.
    let first = text.split(['/', '?', '#']).next().unwrap_or("");
    if first.contains(':') {
        is_uri(text)
    } else {
        is_after_scheme(text)
    }
}

/// Checks the part after the scheme's colon, or a whole relative reference.
fn is_after_scheme(text: &str) -> bool {
    // Nearly all URIs are simple: only slashes delimit their parts.
    let is_simple =
        |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~' | b'/');
    if text.bytes().all(is_simple) {
        return true;
    }
    let (rest, fragment) = text.split_once('#').unwrap_or((text, ""));
    let (rest, query) = rest.split_once('?').unwrap_or((rest, ""));
    let path = match rest.strip_prefix("//") {
        None => rest,
        Some(rest) => {
            let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
            if !is_authority(authority) {
                return false;
            }
            path
        }
    };
    all(path, b":@/") && all(query, b":@/?") && all(fragment, b":@/?")
}

fn is_authority(text: &str) -> bool {
    let (user, place) = text.split_once('@').unwrap_or(("", text));
    if !all(user, b":") {
        return false;
    }
    let (host, port) = match place.strip_prefix('[') {
        Some(rest) => {
            let Some((address, port)) = rest.split_once(']') else {
                return false;
            };
            if !is_address(address) {
                return false;
            }
            match port.strip_prefix(':') {
                Some(port) => ("", port),
                None if port.is_empty() => ("", ""),
                None => return false,
            }
        }
        None => place.split_once(':').unwrap_or((place, "")),
    };
    all(host, b"") && port.bytes().all(|b| b.is_ascii_digit())
}

/// Checks the text in brackets: an IPv6 address, or an address of a future version.
fn is_address(text: &str) -> bool {
    let Some(future) = text.strip_prefix(['v', 'V']) else {
        return text.parse::<Ipv6Addr>().is_ok();
    };
    let Some((version, address)) = future.split_once('.') else {
        return false;
    };
    !version.is_empty()
        && version.bytes().all(|b| b.is_ascii_hexdigit())
        && !address.is_empty()
        && address.bytes().all(|b| is_plain(b) || b == b':')
}

/// Returns whether `byte` is one of `unreserved` and `sub-delims` of RFC 3986.
fn is_plain(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-._~!$&'()*+,;=".contains(&byte)
}

/// Returns whether all of `text` consists of unreserved characters, characters of `others`, and percent-encoded bytes.
fn all(text: &str, others: &[u8]) -> bool {
    let mut rest = text.as_bytes();
    loop {
        rest = match rest {
            [] => return true,
            [b'%', high, low, rest @ ..] if high.is_ascii_hexdigit() && low.is_ascii_hexdigit() => {
                rest
            }
            [byte, rest @ ..] if is_plain(*byte) || others.contains(byte) => rest,
            _ => return false,
        };
    }
}

/// Returns whether `text` is a URI template of RFC 6570. The text between expressions is checked for forbidden characters only.
///
/// ```
/// use trueform_schema::conform::is_uri_template;
///
/// assert!(is_uri_template("file:///{+path}{?page,size:3}"));
/// assert!(!is_uri_template("file:///{path"));
/// assert!(!is_uri_template("file:///{}"));
/// ```
#[must_use]
pub fn is_uri_template(text: &str) -> bool {
    let mut rest = text.as_bytes();
    loop {
        rest = match rest {
            [] => return true,
            [b'{', inner @ ..] => {
                let Some(end) = inner.iter().position(|b| *b == b'}') else {
                    return false;
                };
                if !is_expression(&inner[..end]) {
                    return false;
                }
                &inner[end + 1..]
            }
            [b'%', high, low, rest @ ..] if high.is_ascii_hexdigit() && low.is_ascii_hexdigit() => {
                rest
            }
            [
                0..=0x20 | 0x7f | b'"' | b'<' | b'>' | b'%' | b'\\' | b'^' | b'`' | b'|' | b'}',
                ..,
            ] => return false,
            [_, rest @ ..] => rest,
        };
    }
}

fn is_expression(inner: &[u8]) -> bool {
    let variables = match inner {
        [first, rest @ ..] if b"+#./;?&=,!@|".contains(first) => rest,
        _ => inner,
    };
    variables.split(|b| *b == b',').all(is_variable)
}

/// Returns whether `text` is a name, optionally followed by `*`, or by `:` and a number below 10,000.
fn is_variable(text: &[u8]) -> bool {
    let name = match text {
        [name @ .., b'*'] => name,
        _ => match text.iter().position(|b| *b == b':') {
            None => text,
            Some(at) => {
                let length = &text[at + 1..];
                let number = matches!(length, [b'1'..=b'9', rest @ ..] if rest.len() < 4 && rest.iter().all(u8::is_ascii_digit));
                if !number {
                    return false;
                }
                &text[..at]
            }
        },
    };
    name.split(|b| *b == b'.').all(|part| {
        let mut rest = part;
        while let Some(first) = rest.first() {
            rest = match rest {
                [b'%', high, low, rest @ ..]
                    if high.is_ascii_hexdigit() && low.is_ascii_hexdigit() =>
                {
                    rest
                }
                [_, rest @ ..] if first.is_ascii_alphanumeric() || *first == b'_' => rest,
                _ => return false,
            };
        }
        !part.is_empty()
    })
}

/// Returns whether `text` is base64 of RFC 4648, section 4, with its padding; line breaks are not allowed. The unused
/// bits of the last letter need not be zero.
///
/// ```
/// use trueform_schema::conform::is_base64;
///
/// assert!(is_base64("aGVsbG8="));
/// assert!(!is_base64("aGVsbG8"));
/// assert!(!is_base64("_-8="));
/// ```
#[must_use]
pub fn is_base64(text: &str) -> bool {
    let bytes = text.as_bytes();
    let body = match bytes {
        [body @ .., b'=', b'='] | [body @ .., b'='] => body,
        body => body,
    };
    // A table without branches, because images are long and this is the only check of them.
    bytes.len().is_multiple_of(4)
        && body
            .iter()
            .fold(true, |fine, b| fine & LETTERS[usize::from(*b)])
}

const LETTERS: [bool; 256] = {
    let mut table = [false; 256];
    let letters = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut i = 0;
    while i < letters.len() {
        table[letters[i] as usize] = true;
        i += 1;
    }
    table
};
