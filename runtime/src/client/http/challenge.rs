//! The challenges of a `WWW-Authenticate` header.
//!
//! Written here because servers write URLs without quotes and commas at odd places, which parsers of the grammar refuse.

use http::{HeaderMap, header};

/// Most challenges that are read from one response.
const MOST_CHALLENGES: usize = 16;
/// Most bytes that are read of one header.
const MOST_BYTES: usize = 8 << 10;

/// One challenge of a `WWW-Authenticate` header, such as `Bearer resource_metadata="…", scope="…"`.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Challenge {
    /// The scheme, as the server wrote it. Schemes do not differ by case.
    pub scheme: String,
    /// The parameters, in their order, without quotes. The server chose them: do not trust them.
    pub params: Vec<(String, String)>,
}

impl Challenge {
    /// The value of the first parameter `name`, whose case does not matter.
    #[must_use]
    pub fn param(&self, name: &str) -> Option<&str> {
        let mut params = self.params.iter();
        let found = params.find(|(found, _)| found.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.as_str())
    }
}

/// The challenges of a response, at most 16, from 8 KiB of each header. What cannot be read is left out.
pub(super) fn challenges(headers: &HeaderMap) -> Vec<Challenge> {
    let mut found = Vec::new();
    for value in headers.get_all(header::WWW_AUTHENTICATE) {
        let bytes = value.as_bytes();
        let text = String::from_utf8_lossy(&bytes[..bytes.len().min(MOST_BYTES)]);
        for part in split(&text) {
            take(&mut found, part.trim());
        }
    }
    found.truncate(MOST_CHALLENGES);
    found
}

/// Adds a part between commas: a parameter, or a scheme that may have a first parameter behind it.
fn take(found: &mut Vec<Challenge>, part: &str) {
    let (first, rest) = match part.find([' ', '\t']) {
        // `name = value` is written with spaces by some.
        Some(at) if !part[..at].contains('=') && !part[at..].trim_start().starts_with('=') => {
            (&part[..at], part[at..].trim())
        }
        _ if part.contains('=') => ("", part),
        _ => (part, ""),
    };
    if !first.is_empty() {
        found.push(Challenge {
            scheme: first.to_owned(),
            params: Vec::new(),
        });
    }
    let (Some((name, value)), Some(challenge)) = (rest.split_once('='), found.last_mut()) else {
        return;
    };
    let param = (name.trim().to_owned(), unquoted(value.trim()));
    challenge.params.push(param);
}

/// The parts between commas that are not within quotes.
fn split(text: &str) -> Vec<&str> {
    let (mut parts, mut start) = (Vec::new(), 0);
    let (mut quoted, mut escaped) = (false, false);
    for (at, letter) in text.char_indices() {
        match letter {
            _ if escaped => escaped = false,
            '\\' if quoted => escaped = true,
            '"' => quoted = !quoted,
            ',' if !quoted => {
                parts.push(&text[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&text[start..]);
    parts
}

fn unquoted(value: &str) -> String {
    let Some(inner) = value.strip_prefix('"') else {
        return value.to_owned();
    };
    let inner = inner.strip_suffix('"').unwrap_or(inner);
    let mut out = String::with_capacity(inner.len());
    let mut letters = inner.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '\\' => out.extend(letters.next()),
            letter => out.push(letter),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    fn shown(headers: &[&str]) -> String {
        let mut map = HeaderMap::new();
        for value in headers {
            map.append(
                header::WWW_AUTHENTICATE,
                HeaderValue::from_str(value).unwrap(),
            );
        }
        let all = challenges(&map);
        let all = all
            .iter()
            .map(|Challenge { scheme, params }| format!("{scheme}{params:?}"));
        all.collect::<Vec<_>>().join(" ")
    }

    // X-8
    #[test]
    fn what_servers_write() {
        for (header, expected) in [
            ("Bearer", "Bearer[]"),
            ("", ""),
            (
                r#"Bearer resource_metadata="https://a.example/.well-known/x", scope="a b""#,
                r#"Bearer[("resource_metadata", "https://a.example/.well-known/x"), ("scope", "a b")]"#,
            ),
            (
                r#"Bearer error="invalid_token",error_description="say \"please\", twice""#,
                r#"Bearer[("error", "invalid_token"), ("error_description", "say \"please\", twice")]"#,
            ),
            // Several in one header, one with a token in place of parameters.
            (
                r#"Basic realm="x", DPoP algs="ES256", Bearer"#,
                r#"Basic[("realm", "x")] DPoP[("algs", "ES256")] Bearer[]"#,
            ),
            ("Negotiate abc==", r#"Negotiate[("abc", "=")]"#),
            // Without quotes, with spaces, with commas too many.
            (
                "Bearer resource_metadata=https://a.example/x?y=z, scope = a",
                r#"Bearer[("resource_metadata", "https://a.example/x?y=z"), ("scope", "a")]"#,
            ),
            (",, Bearer , scope=\"open", r#"Bearer[("scope", "open")]"#),
            ("scope=\"a\"", ""),
        ] {
            assert_eq!(shown(&[header]), expected, "{header}");
        }
        assert_eq!(
            shown(&["Basic", "Bearer scope=a"]),
            r#"Basic[] Bearer[("scope", "a")]"#
        );
    }

    #[test]
    fn it_is_bounded() {
        let many = "A,".repeat(10_000);
        let mut map = HeaderMap::new();
        map.insert(
            header::WWW_AUTHENTICATE,
            HeaderValue::from_str(&many).unwrap(),
        );
        assert_eq!(challenges(&map).len(), MOST_CHALLENGES);
        let long = format!("Bearer scope=\"{}\"", "x".repeat(1 << 20));
        map.insert(
            header::WWW_AUTHENTICATE,
            HeaderValue::from_str(&long).unwrap(),
        );
        let scope = challenges(&map)[0].param("SCOPE").unwrap().len();
        assert!((1..=MOST_BYTES).contains(&scope), "{scope}");
    }
}
