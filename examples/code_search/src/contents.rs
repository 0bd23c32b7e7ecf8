//! A file as the contents of a resource.

use percent_encoding::{AsciiSet, CONTROLS, utf8_percent_encode};
use trueform::{
    schema::{ResourceContents, TextResourceContents},
    tool::Blob,
};

/// The characters that have a meaning in a URI, or are not allowed there. A colon would begin a port.
const ENCODED: &AsciiSet = &CONTROLS
    .add(b' ')
    .add(b'"')
    .add(b'#')
    .add(b'%')
    .add(b':')
    .add(b'<')
    .add(b'>')
    .add(b'?')
    .add(b'@')
    .add(b'[')
    .add(b'\\')
    .add(b']')
    .add(b'^')
    .add(b'`')
    .add(b'{')
    .add(b'|')
    .add(b'}');

/// The `bytes` of the file at `path`: text if they are UTF-8 without NUL, else a blob.
pub(crate) fn contents(path: &str, bytes: Vec<u8>) -> ResourceContents {
    let uri = format!("code://{}", utf8_percent_encode(path, ENCODED));
    let media_type = media_type(path);
    match text(bytes) {
        Ok(text) => TextResourceContents::new(text, uri)
            .with_mime_type(media_type.unwrap_or("text/plain"))
            .into(),
        Err(bytes) => {
            let media_type = media_type.filter(|known| !known.starts_with("text/"));
            Blob::new(uri, media_type.unwrap_or("application/octet-stream"), bytes).into()
        }
    }
}

fn text(bytes: Vec<u8>) -> Result<String, Vec<u8>> {
    match bytes.contains(&0) {
        true => Err(bytes),
        false => String::from_utf8(bytes).map_err(std::string::FromUtf8Error::into_bytes),
    }
}

/// The media type by the extension of `path`. This is a table of our own, because registries take `.ts` for video and do not know `.rs`.
fn media_type(path: &str) -> Option<&'static str> {
    let name = path.rsplit('/').next()?;
    let (_, extension) = name.rsplit_once('.')?;
    Some(match &*extension.to_ascii_lowercase() {
        "c" | "h" => "text/x-c",
        "cc" | "cpp" | "cxx" | "hh" | "hpp" => "text/x-c++",
        "cs" => "text/x-csharp",
        "css" => "text/css",
        "csv" => "text/csv",
        "gif" => "image/gif",
        "go" => "text/x-go",
        "htm" | "html" => "text/html",
        "java" => "text/x-java",
        "jpeg" | "jpg" => "image/jpeg",
        "cjs" | "js" | "jsx" | "mjs" => "text/javascript",
        "json" => "application/json",
        "kt" => "text/x-kotlin",
        "md" => "text/markdown",
        "pdf" => "application/pdf",
        "php" => "text/x-php",
        "png" => "image/png",
        "py" => "text/x-python",
        "rb" => "text/x-ruby",
        "rs" => "text/x-rust",
        "bash" | "sh" => "text/x-shellscript",
        "sql" => "application/sql",
        "svg" => "image/svg+xml",
        "swift" => "text/x-swift",
        "toml" => "application/toml",
        "cts" | "mts" | "ts" | "tsx" => "text/x-typescript",
        "wasm" => "application/wasm",
        "webp" => "image/webp",
        "xml" => "application/xml",
        "yaml" | "yml" => "application/yaml",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_files_become() {
        for (path, bytes, uri, media_type, is_text) in [
            (
                "src/main.rs",
                &b"fn"[..],
                "code://src/main.rs",
                "text/x-rust",
                true,
            ),
            ("Makefile", b"all:", "code://Makefile", "text/plain", true),
            ("a.b/README", b"", "code://a.b/README", "text/plain", true),
            (
                "a b/\u{e9}%#?.TS",
                b"",
                "code://a%20b/%C3%A9%25%23%3F.TS",
                "text/x-typescript",
                true,
            ),
            ("c:d@e", b"", "code://c%3Ad%40e", "text/plain", true),
            (
                "logo.svg",
                b"<svg/>",
                "code://logo.svg",
                "image/svg+xml",
                true,
            ),
            (
                "logo.png",
                b"\x89PNG\0",
                "code://logo.png",
                "image/png",
                false,
            ),
            (
                "latin1.md",
                b"caf\xe9",
                "code://latin1.md",
                "application/octet-stream",
                false,
            ),
            (
                "nul.rs",
                b"a\0b",
                "code://nul.rs",
                "application/octet-stream",
                false,
            ),
        ] {
            let (found, kind, has_text) = match contents(path, bytes.to_vec()) {
                ResourceContents::Text(text) => (text.uri, text.mime_type, true),
                ResourceContents::Blob(blob) => (blob.uri, blob.mime_type, false),
                other => panic!("{path}: {other:?}"),
            };
            let kind = kind.as_deref();
            assert_eq!(
                (&*found, kind, has_text),
                (uri, Some(media_type), is_text),
                "{path}"
            );
        }
    }
}
