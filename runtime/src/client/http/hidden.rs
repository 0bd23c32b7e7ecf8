//! The authorization that a request was sent with. Errors and the log do not repeat it when they quote a refusal, a header or a response
//! that is not an answer.

use std::borrow::Cow;

use http::{HeaderMap, HeaderValue, header};

use crate::gate::SESSION_HEADER;

/// Shortest authorization that is replaced, in bytes: 8. A shorter one may be a part of any word.
const MIN_HIDDEN: usize = 8;
/// What stands in its place.
const REDACTED: &str = "[redacted]";

/// The secret of the request that a response answers.
#[derive(Clone, Default)]
pub(crate) struct Hidden {
    secret: Option<Vec<u8>>,
}

impl Hidden {
    /// The credentials among the `headers` of a request, or the whole value if they are short.
    pub(super) fn of(headers: &HeaderMap) -> Self {
        let Some(value) = headers.get(header::AUTHORIZATION) else {
            return Self::default();
        };
        let value = value.as_bytes();
        let scheme = value.iter().position(|byte| *byte == b' ');
        let credentials = scheme.map_or(value, |end| value[end..].trim_ascii());
        let secret = [credentials, value]
            .into_iter()
            .find(|secret| MIN_HIDDEN <= secret.len());
        Self {
            secret: secret.map(<[u8]>::to_owned),
        }
    }

    /// Returns `text` with something else in place of the secret, also where JSON writes it with escapes.
    pub(super) fn hide<'a>(&self, text: &'a [u8]) -> Cow<'a, [u8]> {
        let secret = self.secret.as_deref();
        let hidden = secret.and_then(|secret| replaced(text, secret));
        hidden.map_or(Cow::Borrowed(text), Cow::Owned)
    }

    /// Like [`hide`](Self::hide).
    pub(super) fn hide_text(&self, text: &str) -> String {
        String::from_utf8_lossy(&self.hide(text.as_bytes())).into_owned()
    }

    /// Hides the secret in the `headers` of a response. The session id is left as it is, because requests repeat it.
    pub(super) fn hide_headers(&self, headers: &mut HeaderMap) {
        let shown = headers
            .iter_mut()
            .filter(|(name, _)| *name != SESSION_HEADER);
        for (_, value) in shown {
            if let Cow::Owned(hidden) = self.hide(value.as_bytes()) {
                *value =
                    HeaderValue::from_bytes(&hidden).unwrap_or(HeaderValue::from_static(REDACTED));
            }
        }
    }
}

/// Returns `text` without `secret`, or `None` if `text` does not contain it.
fn replaced(text: &[u8], secret: &[u8]) -> Option<Vec<u8>> {
    let mut hidden = Vec::new();
    // What is not copied yet, and where to look next.
    let (mut from, mut at) = (0, 0);
    while at < text.len() {
        match length(&text[at..], secret) {
            Some(length) => {
                hidden.extend_from_slice(&text[from..at]);
                hidden.extend_from_slice(REDACTED.as_bytes());
                at += length;
                from = at;
            }
            None => at += 1,
        }
    }
    if from == 0 {
        return None;
    }
    hidden.extend_from_slice(&text[from..]);
    Some(hidden)
}

/// Returns the number of bytes that `secret` takes at the beginning of `text`. JSON may write each byte as `c`, `\c` or `\u00xx`.
fn length(text: &[u8], secret: &[u8]) -> Option<usize> {
    let mut rest = text;
    for byte in secret {
        rest = match rest {
            [found, rest @ ..] if found == byte => rest,
            [b'\\', found, rest @ ..] if found == byte => rest,
            [b'\\', b'u', b'0', b'0', high, low, rest @ ..]
                if hex(*high).zip(hex(*low)) == Some((byte >> 4, byte & 15)) =>
            {
                rest
            }
            _ => return None,
        };
    }
    Some(text.len() - rest.len())
}

fn hex(digit: u8) -> Option<u8> {
    let value = char::from(digit).to_digit(16)?;
    u8::try_from(value).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_hidden() {
        for (authorization, text, expected) in [
            (
                "Bearer abc/defg",
                "a abc/defg, bearer abc\\/defg",
                "a [redacted], bearer [redacted]",
            ),
            (
                "Bearer  abcdefgh",
                "abcdefghabcdefgh",
                "[redacted][redacted]",
            ),
            ("abcdefgh", "<abcdefgh>", "<[redacted]>"),
            (
                "Bearer ab+cdef==",
                r"ab\u002bcdef\u003d\u003D \u0061b+cdef=\u003e ab\u002",
                r"[redacted] \u0061b+cdef=\u003e ab\u002",
            ),
            // Seven bytes are few, but not with the scheme.
            (
                "Bearer abcdefg",
                "abcdefg Bearer abcdefg",
                "abcdefg [redacted]",
            ),
            ("abcdefg", "abcdefg", "abcdefg"),
            ("Bearer abcdefgh", "abcdefg", "abcdefg"),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(
                header::AUTHORIZATION,
                HeaderValue::from_static(authorization),
            );
            let hidden = Hidden::of(&headers);
            assert_eq!(hidden.hide_text(text), expected, "{authorization}");
            assert_eq!(Hidden::default().hide_text(text), text);
            let mut answer = HeaderMap::new();
            for name in ["x-any", SESSION_HEADER] {
                answer.insert(name, HeaderValue::from_static(text));
            }
            hidden.hide_headers(&mut answer);
            assert_eq!(answer["x-any"], expected);
            assert_eq!(answer[SESSION_HEADER], text);
        }
    }
}
