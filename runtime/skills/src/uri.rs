//! Paths in URIs.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};

/// The characters that a segment of a path must encode: all except those that RFC 3986 leaves unreserved.
const ENCODED: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~');

/// Returns the URI of `path`, whose parts are separated by slashes, below `base`, which ends with a slash.
pub(crate) fn of(base: &str, path: &str) -> String {
    let mut uri = base.to_owned();
    for (at, segment) in path.split('/').enumerate() {
        uri.push_str(if at == 0 { "" } else { "/" });
        uri.extend(utf8_percent_encode(segment, ENCODED));
    }
    uri
}

/// Returns the path of `uri` below `base`. `None` if it is not below it, or is not written as [`of`] writes it.
pub(crate) fn path_of(base: &str, uri: &str) -> Option<String> {
    let path = percent_decode_str(uri.strip_prefix(base)?)
        .decode_utf8()
        .ok()?;
    (of(base, &path) == uri).then(|| path.into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_come_back() {
        for (path, uri) in [
            ("pdf/SKILL.md", "skill://pdf/SKILL.md"),
            ("a/b c/é.md", "skill://a/b%20c/%C3%A9.md"),
            ("a/100%.md", "skill://a/100%25.md"),
            ("a/q?#.md", "skill://a/q%3F%23.md"),
        ] {
            assert_eq!(of("skill://", path), uri);
            assert_eq!(path_of("skill://", uri).as_deref(), Some(path), "{uri}");
        }
        for uri in [
            "file://pdf",
            "skill://%70df",
            "skill://a/%2e%2E/b",
            "skill://a%2Fb",
            "skill://a/%FF",
            "skill://a%",
        ] {
            assert_eq!(path_of("skill://", uri), None, "{uri}");
        }
    }
}
