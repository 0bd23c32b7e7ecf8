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

/// From this length on, the space that the text needs is determined before it is written: growing the buffer meanwhile would copy it, and
/// use twice as much new memory.
const COUNTED: usize = 4 << 10;

#[inline(never)]
fn write_long(text: &str, out: &mut Vec<u8>) {
    let bytes = text.as_bytes();
    match bytes.len() < COUNTED {
        true => out.reserve(bytes.len() + 2),
        false => {
            let most = bytes.len() + escapes(bytes) + 2;
            out.reserve(most + slack(most));
        }
    }
    out.push(b'"');
    let mut at = 0;
    while let Some(word) = bytes.get(at..).and_then(|rest| rest.first_chunk()) {
        // Stores the whole word first and then shortens the buffer: a store of a fixed length costs less than a copy of variable length.
        out.extend_from_slice(word);
        let found = marks(u64::from_le_bytes(*word));
        if found == 0 {
            at = write_plain(bytes, at + word.len(), out);
            continue;
        }
        // The lowest mark is exact; a borrow may cause higher ones.
        let plain = (found.trailing_zeros() / 8) as usize;
        out.truncate(out.len() - (word.len() - plain));
        write_escaped(word[plain], out);
        at += plain + 1;
    }
    for byte in &bytes[at..] {
        match byte {
            ..b' ' | b'"' | b'\\' => write_escaped(*byte, out),
            _ => out.push(*byte),
        }
    }
    out.push(b'"');
}

/// Returns how much is reserved besides `text` bytes, for the rest of the message after the text.
///
/// For a large text, this is more than the text again. Memory that is not used costs nothing. But glibc returns freed memory to the system
/// as soon as more than twice the largest buffer so far is free. The arguments, the value that was read from them and the message contain
/// one text each. They would be new memory in each call, which costs more than all other work of the call.
const fn slack(text: usize) -> usize {
    const LARGE: usize = 1 << 20;
    match text < LARGE {
        true => text / 64,
        false => text + text / 32,
    }
}

/// Appends the blocks of `bytes`, from `at` on, up to the first that contains a byte to escape. Returns the offset of the rest.
#[inline]
fn write_plain(bytes: &[u8], mut at: usize, out: &mut Vec<u8>) -> usize {
    const BLOCK: usize = 32;
    while let Some(block) = bytes.get(at..).and_then(|rest| rest.first_chunk::<BLOCK>()) {
        let marks = |word: &[u8; 8]| marks(u64::from_le_bytes(*word));
        if block
            .as_chunks()
            .0
            .iter()
            .map(marks)
            .fold(0, |all, one| all | one)
            != 0
        {
            break;
        }
        out.extend_from_slice(block);
        at += BLOCK;
    }
    at
}

/// Returns how many bytes of `bytes` are written as two: control characters, quotes and backslashes. A control character without a short
/// form takes four more.
fn escapes(bytes: &[u8]) -> usize {
    // Chunks of at most 255 let the compiler add up in bytes.
    let count = |chunk: &[u8]| {
        chunk
            .iter()
            .map(|byte| u8::from((*byte < b' ') | (*byte == b'"') | (*byte == b'\\')))
            .sum::<u8>()
    };
    bytes
        .chunks(255)
        .map(|chunk| usize::from(count(chunk)))
        .sum()
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

/// Returns the highest bit of each byte that is a control character, a quote or a backslash.
pub(super) const fn marks(word: u64) -> u64 {
    let quotes = word ^ (ONES * b'"' as u64);
    let backslashes = word ^ (ONES * b'\\' as u64);
    let quote = quotes.wrapping_sub(ONES) & !quotes;
    let backslash = backslashes.wrapping_sub(ONES) & !backslashes;
    controls(word) | (quote | backslash) & HIGHEST
}

/// Returns the highest bit of each byte that is a control character.
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
        for length in [SHORT, COUNTED] {
            for rest in 0..40 {
                check(&format!(
                    "{}\"{}\u{1}",
                    "x".repeat(length + rest),
                    "é".repeat(rest)
                ));
            }
        }
    }

    /// A long text is written without a second buffer, and the rest of its message fits after it.
    #[test]
    fn room_is_made_once() {
        for text in [
            "x".repeat(1 << 19),
            "x".repeat(1 << 20),
            "abcdef\n".repeat(1 << 16),
            "abcdef\n".repeat(1 << 20),
        ] {
            let length = serde_json::to_string(&text).unwrap().len();
            let most = 256 + length + slack(length);
            let mut written = Vec::with_capacity(256);
            write_str(&text, &mut written);
            let room = written.capacity();
            assert!(room <= most, "{room}");
            assert!(256 <= room - written.len(), "{room}");
        }
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
