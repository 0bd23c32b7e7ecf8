//! JSON pointers (RFC 6901): escaping and unescaping of reference tokens.

use std::borrow::Cow;

/// Escapes `name` as a reference token, without the leading slash: `~` becomes `~0`, and `/` becomes `~1`.
///
/// ```
/// use trueform_schema::pointer::escape;
///
/// assert_eq!(format!("/paths/{}", escape("/a~b")), "/paths/~1a~0b");
/// ```
#[must_use]
pub fn escape(name: &str) -> Cow<'_, str> {
    if !name.contains(['~', '/']) {
        return Cow::Borrowed(name);
    }
    let mut out = String::with_capacity(name.len() + 4);
    push_escaped(&mut out, name.chars());
    Cow::Owned(out)
}

/// Unescapes a reference token: the inverse of [`escape`].
///
/// ```
/// use trueform_schema::pointer::unescape;
///
/// assert_eq!(unescape("~1a~01"), "/a~1");
/// ```
#[must_use]
pub fn unescape(step: &str) -> Cow<'_, str> {
    match step.contains('~') {
        // In this order, because `~01` means `~1`.
        true => Cow::Owned(step.replace("~1", "/").replace("~0", "~")),
        false => Cow::Borrowed(step),
    }
}

/// Appends a reference token to `pointer`: a slash and the escaped characters of a name.
///
/// Takes characters, so that a caller can bound how much of a long name is copied.
///
/// ```
/// use trueform_schema::pointer::push;
///
/// let mut pointer = "/paths".to_owned();
/// push(&mut pointer, "/a~b".chars());
/// assert_eq!(pointer, "/paths/~1a~0b");
/// ```
pub fn push(pointer: &mut String, name: impl IntoIterator<Item = char>) {
    pointer.push('/');
    push_escaped(pointer, name);
}

fn push_escaped(out: &mut String, name: impl IntoIterator<Item = char>) {
    for c in name {
        match c {
            '~' => out.push_str("~0"),
            '/' => out.push_str("~1"),
            c => out.push(c),
        }
    }
}

/// Decodes the percent-encoded bytes of a URI fragment, the form in which a `$ref` contains its JSON pointer.
///
/// Returns `None` if a `%` is not followed by two hexadecimal digits, or if the decoded bytes are not UTF-8.
///
/// ```
/// use trueform_schema::pointer::decode_fragment;
///
/// assert_eq!(decode_fragment("/$defs/a%20b").as_deref(), Some("/$defs/a b"));
/// assert_eq!(decode_fragment("/%f"), None);
/// ```
#[must_use]
pub fn decode_fragment(fragment: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(fragment.len());
    let mut rest = fragment.bytes();
    while let Some(c) = rest.next() {
        if c != b'%' {
            bytes.push(c);
            continue;
        }
        let high = char::from(rest.next()?).to_digit(16)?;
        let low = char::from(rest.next()?).to_digit(16)?;
        bytes.push(u8::try_from(high * 16 + low).ok()?);
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_survives() {
        for name in ["", "a", "~", "/", "~1", "~0", "~01", "a/b~c", "//~~", "ü/~"] {
            let step = escape(name);
            assert!(!step.contains('/'), "{step}");
            assert_eq!(unescape(&step), name);
            let mut pointer = String::new();
            push(&mut pointer, name.chars());
            assert_eq!(pointer, format!("/{step}"));
        }
        assert_eq!(escape("~1/"), "~01~1");
    }

    #[test]
    fn fragments() {
        for (fragment, spelt) in [
            ("", Some("")),
            ("/a~1b", Some("/a~1b")),
            ("%2Fa%7e1", Some("/a~1")),
            ("%c3%bc", Some("ü")),
            ("%", None),
            ("%4", None),
            ("%4g", None),
            ("%+4", None),
            ("%ff", None),
        ] {
            assert_eq!(decode_fragment(fragment).as_deref(), spelt, "{fragment}");
        }
    }
}
