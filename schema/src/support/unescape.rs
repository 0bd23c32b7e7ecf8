//! Reading a long JSON string, a word at a time.

use super::escape::marks;

/// Returns the text of `json`, a JSON string with its quotes. `None` if it is not a string, or has an escape for half of a character beyond
/// U+FFFF. `serde_json` reads all strings, and reports what is wrong with a malformed one.
///
/// `serde_json` copies a string with escapes twice, through a buffer that grows.
#[must_use]
pub fn read_long(json: &str) -> Option<String> {
    let bytes = json.strip_prefix('"')?.strip_suffix('"')?.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while let Some(word) = bytes.get(at..).and_then(|rest| rest.first_chunk()) {
        // Stores the whole word first and then shortens the buffer: a store of a fixed length costs less than a copy of variable length.
        out.extend_from_slice(word);
        let found = marks(u64::from_le_bytes(*word));
        if found == 0 {
            at += word.len();
            continue;
        }
        // The lowest mark is exact; a borrow may cause higher ones.
        let plain = (found.trailing_zeros() / 8) as usize;
        out.truncate(out.len() - (word.len() - plain));
        at = read_escaped(bytes, at + plain, &mut out)?;
    }
    while let Some(byte) = bytes.get(at) {
        match byte {
            ..b' ' | b'"' | b'\\' => at = read_escaped(bytes, at, &mut out)?,
            _ => {
                out.push(*byte);
                at += 1;
            }
        }
    }
    String::from_utf8(out).ok()
}

/// Appends the text of the escape at `at`. Returns the offset after it, or `None` if there is no escape.
#[inline]
fn read_escaped(bytes: &[u8], at: usize, out: &mut Vec<u8>) -> Option<usize> {
    if bytes[at] != b'\\' {
        return None;
    }
    let byte = match bytes.get(at + 1)? {
        byte @ (b'"' | b'\\' | b'/') => *byte,
        b'n' => b'\n',
        b'r' => b'\r',
        b't' => b'\t',
        b'b' => 0x08,
        b'f' => 0x0c,
        b'u' => return read_code(bytes, at + 2, out),
        _ => return None,
    };
    out.push(byte);
    Some(at + 2)
}

/// Appends the character of the four hexadecimal digits at `at`.
fn read_code(bytes: &[u8], at: usize, out: &mut Vec<u8>) -> Option<usize> {
    let mut code = 0;
    for digit in bytes.get(at..at + 4)? {
        code = code * 16 + char::from(*digit).to_digit(16)?;
    }
    let character = char::from_u32(code)?;
    out.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
    Some(at + 4)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(json: &str) {
        let expected = serde_json::from_str::<String>(json).ok();
        let found = read_long(json);
        // Strings with space around them or with halves of characters are left to `serde_json`.
        let is_left = found.is_none() && (json.trim() != json || json.contains("\\ud83d"));
        assert!(found == expected || is_left, "{json}: {found:?}");
    }

    #[test]
    fn as_serde_json() {
        for part in [
            "",
            "a",
            "é",
            "日",
            "\u{10000}",
            r#"\""#,
            r"\\",
            r"\/",
            r"\b\f\n\r\t",
            r"\u0041",
            r"\u00e9",
            r"\uFFFF",
            r"\u000a",
            r"\ud83d\ude00",
            // These are not JSON strings.
            "\"",
            "\\",
            r"\x",
            r"\u12",
            r"\u12g4",
            r"\u+123",
            "\nn",
            "\n",
            "\u{1f}",
            "\u{7f}",
        ] {
            for length in 0..20 {
                let (before, after) = ("x".repeat(length), "y".repeat(19 - length));
                check(&format!("\"{before}{part}{after}\""));
                check(&format!("\"{before}{part}{part}é{after}{part}\""));
                check(&format!("\"{before}{part}"));
                check(&format!("{before}{part}\""));
            }
        }
        for text in ["", "\"", "\"\"", "a", "null", " \"a\" ", "\"\\\""] {
            check(text);
        }
        assert_eq!(read_long(r#""\u00e9\n""#).as_deref(), Some("é\n"));
        assert_eq!(read_long(r#""\ud83d\ude00""#), None, "left to `serde_json`");
    }
}
