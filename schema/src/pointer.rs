//! JSON pointers (RFC 6901): how a name becomes a step of one, and back.

use std::borrow::Cow;

/// `name` as a step of a JSON pointer, without the slash before it: `~` is written `~0`, and `/` is written `~1`.
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

/// The name that a step of a JSON pointer stands for: the opposite of [`escape`].
///
/// ```
/// use trueform_schema::pointer::unescape;
///
/// assert_eq!(unescape("~1a~01"), "/a~1");
/// ```
#[must_use]
pub fn unescape(step: &str) -> Cow<'_, str> {
    match step.contains('~') {
        // In this order: `~01` stands for `~1`.
        true => Cow::Owned(step.replace("~1", "/").replace("~0", "~")),
        false => Cow::Borrowed(step),
    }
}

/// Appends a step to `pointer`: a slash, and the characters of a name, escaped.
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

/// What the fragment of a URI spells, with its percent-encoded bytes decoded; a `$ref` writes its JSON pointer so.
///
/// `None` if a `%` is not followed by two hexadecimal digits, or if what is spelt is not UTF-8.
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
