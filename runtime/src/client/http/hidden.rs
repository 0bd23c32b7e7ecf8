//! The authorization that a request was sent with, which no error and no line of the log repeats.

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
    /// The secret as it was sent, and as JSON may have it.
    forms: Vec<Vec<u8>>,
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
        let Some(secret) = secret else {
            return Self::default();
        };
        let mut forms = vec![secret.to_owned()];
        if secret.contains(&b'/') {
            // Some encoders of JSON escape it.
            let parts: Vec<_> = secret.split(|byte| *byte == b'/').collect();
            forms.push(parts.join(&b"\\/"[..]));
        }
        Self { forms }
    }

    /// `text` with something else in place of the secret.
    pub(super) fn hide<'a>(&self, text: &'a [u8]) -> Cow<'a, [u8]> {
        let mut text = Cow::Borrowed(text);
        for form in &self.forms {
            if let Some(hidden) = replaced(&text, form) {
                text = Cow::Owned(hidden);
            }
        }
        text
    }

    /// As [`hide`](Self::hide).
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

/// `text` without `secret`; `None` if it does not have it.
fn replaced(text: &[u8], secret: &[u8]) -> Option<Vec<u8>> {
    let mut rest = text;
    let mut hidden = Vec::new();
    while let Some(at) = rest.windows(secret.len()).position(|found| found == secret) {
        hidden.extend_from_slice(&rest[..at]);
        hidden.extend_from_slice(REDACTED.as_bytes());
        rest = &rest[at + secret.len()..];
    }
    if rest.len() == text.len() {
        return None;
    }
    hidden.extend_from_slice(rest);
    Some(hidden)
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
