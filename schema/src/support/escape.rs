//! Writing JSON strings and raw JSON, eight bytes at a time, because large results consist mostly of text.

/// Up to this length `serde_json` is not slower.
const SHORT: usize = 64;

/// Appends `text` as a JSON string, escaped as `serde_json` escapes it.
#[inline]
pub fn write_str(text: &str, out: &mut Vec<u8>) {
    if text.len() < SHORT {
        serde_json::to_writer(out, text).expect("writing a string to memory cannot fail");
    } else {
        write_long(text, out);
    }
}

#[inline(never)]
fn write_long(text: &str, out: &mut Vec<u8>) {
    let bytes = text.as_bytes();
    out.push(b'"');
    // Everything before this offset is written.
    let mut written = 0;
    let mut at = 0;
    while let Some(found) = special(bytes, at) {
        out.extend_from_slice(&bytes[written..found]);
        write_escaped(bytes[found], out);
        at = found + 1;
        written = at;
    }
    out.extend_from_slice(&bytes[written..]);
    out.push(b'"');
}

/// Appends `json`, one JSON value, as a single line. Line breaks between tokens become spaces, because a line break would end a
/// message on a line-based transport.
#[inline]
pub fn write_raw(json: &str, out: &mut Vec<u8>) {
    let bytes = json.as_bytes();
    let is_plain = match bytes.last_chunk() {
        // The last word may overlap the previous one.
        Some(last) => {
            let has_control = |word: &[u8; 8]| controls(u64::from_le_bytes(*word)) != 0;
            !has_control(last) && !bytes.as_chunks().0.iter().any(has_control)
        }
        None => bytes.iter().all(|byte| *byte >= b' '),
    };
    if is_plain {
        return out.extend_from_slice(bytes);
    }
    out.extend(bytes.iter().map(|byte| match byte {
        b'\n' | b'\r' => b' ',
        byte => *byte,
    }));
}

/// The offset of the first byte, from `at` on, that a JSON string must escape.
fn special(bytes: &[u8], mut at: usize) -> Option<usize> {
    while let Some(word) = bytes.get(at..).and_then(|rest| rest.first_chunk()) {
        let found = marks(u64::from_le_bytes(*word));
        if found != 0 {
            // The lowest mark is exact; higher ones may be caused by a borrow.
            return Some(at + (found.trailing_zeros() / 8) as usize);
        }
        at += 8;
    }
    let rest = bytes.get(at..)?;
    let found = rest
        .iter()
        .position(|byte| matches!(byte, ..b' ' | b'"' | b'\\'))?;
    Some(at + found)
}

/// The highest bit of each byte that is a control character, a quote or a backslash.
const fn marks(word: u64) -> u64 {
    let quotes = word ^ (ONES * b'"' as u64);
    let backslashes = word ^ (ONES * b'\\' as u64);
    let quote = quotes.wrapping_sub(ONES) & !quotes;
    let backslash = backslashes.wrapping_sub(ONES) & !backslashes;
    controls(word) | (quote | backslash) & HIGHEST
}

/// The highest bit of each byte that is a control character.
const fn controls(word: u64) -> u64 {
    word.wrapping_sub(ONES * b' ' as u64) & !word & HIGHEST
}

/// One in each byte, and the highest bit of each.
const ONES: u64 = u64::MAX / 0xff;
const HIGHEST: u64 = ONES << 7;

fn write_escaped(byte: u8, out: &mut Vec<u8>) {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let short = match byte {
        b'"' | b'\\' => byte,
        b'\n' => b'n',
        b'\r' => b'r',
        b'\t' => b't',
        0x08 => b'b',
        0x0c => b'f',
        _ => {
            let digits = [
                DIGITS[usize::from(byte >> 4)],
                DIGITS[usize::from(byte & 15)],
            ];
            out.extend_from_slice(b"\\u00");
            return out.extend_from_slice(&digits);
        }
    };
    out.extend_from_slice(&[b'\\', short]);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str) {
        let mut written = b"before".to_vec();
        write_str(text, &mut written);
        let expected = format!("before{}", serde_json::to_string(text).unwrap());
        assert_eq!(String::from_utf8(written).unwrap(), expected);
    }

    /// Every character of one and two bytes, alone and in words beside bytes that the arithmetic could mistake for it.
    #[test]
    fn as_serde_json() {
        let long = "y".repeat(SHORT);
        for character in '\0'..='\u{7ff}' {
            for neighbour in [
                "", "a", "\u{1}", "!", "#", "[", "]", "\u{7f}", "\u{80}", "\"",
            ] {
                for length in 0..9 {
                    check(&format!("{}{character}{neighbour}", "x".repeat(length)));
                    check(&format!(
                        "{neighbour}{character}{}{long}",
                        neighbour.repeat(length)
                    ));
                    check(&format!(
                        "{long}{}{character}{neighbour}",
                        "x".repeat(length)
                    ));
                }
            }
        }
        check("\u{ffff}\u{10000}\u{10ffff}");
        check(&"é\u{20}\"\\\n日本".repeat(1000));
    }

    /// White space between tokens is not part of the value, and strings contain no line breaks.
    #[test]
    fn one_line() {
        for space in ["", " ", "\n", "\r\n", "\t", "\n\n  \r"] {
            for length in 0..17 {
                let text = "x".repeat(length);
                let json =
                    format!(r#"{{{space}"{text}\n"{space}:{space}[1,{space}"\u000a"]{space}}}"#);
                let mut written = Vec::new();
                write_raw(&json, &mut written);
                let written = String::from_utf8(written).unwrap();
                assert_eq!(written, json.replace(['\n', '\r'], " "));
                let value: serde_json::Value = serde_json::from_str(&json).unwrap();
                assert_eq!(
                    serde_json::from_str::<serde_json::Value>(&written).unwrap(),
                    value
                );
            }
        }
    }
}
