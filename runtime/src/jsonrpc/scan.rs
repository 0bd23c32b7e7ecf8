//! One pass over the bytes of a message before anything parses them: how deep they nest.

use memchr::memchr2;

/// Returns whether brackets in `bytes` nest deeper than `limit`. Does not check whether the rest is JSON.
pub(crate) fn deeper_than(bytes: &[u8], limit: usize) -> bool {
    // Brackets cannot nest deeper than their number. One vector instruction counts them in many bytes at once, and for nearly every message
    // no more work is needed.
    openings(bytes) > limit && deepest_exceeds(bytes, limit)
}

/// Returns how many bytes open an array or an object, including those in strings.
fn openings(bytes: &[u8]) -> usize {
    // Chunks of at most 255 let the compiler add up in bytes.
    let count = |chunk: &[u8]| {
        chunk
            .iter()
            .map(|byte| u8::from(byte | 0x20 == b'{'))
            .sum::<u8>()
    };
    bytes
        .chunks(255)
        .map(|chunk| usize::from(count(chunk)))
        .sum()
}

fn deepest_exceeds(bytes: &[u8], limit: usize) -> bool {
    let mut depth = 0usize;
    let mut at = 0;
    while at < bytes.len() {
        match bytes[at] {
            b'{' | b'[' => {
                depth += 1;
                if depth > limit {
                    return true;
                }
            }
            b'}' | b']' => depth = depth.saturating_sub(1),
            b'"' => at = end_of_string(bytes, at + 1),
            _ => {}
        }
        at += 1;
    }
    false
}

/// Returns the index of the quote that ends the string whose text starts at `at`, or the end of `bytes`.
pub(crate) fn end_of_string(bytes: &[u8], mut at: usize) -> usize {
    /// Words that are checked before a vector search is set up: most strings of an envelope are shorter, and escapes in a text tend to be
    /// close together.
    const NEAR: usize = 4;
    let mut words = 0;
    loop {
        let rest = bytes.get(at..).unwrap_or_default();
        at += match rest.first_chunk() {
            Some(word) if words < NEAR => match ends(u64::from_le_bytes(*word)) {
                0 => {
                    words += 1;
                    at += word.len();
                    continue;
                }
                // The lowest mark is exact; a borrow may cause higher ones.
                found => (found.trailing_zeros() / 8) as usize,
            },
            _ => match memchr2(b'"', b'\\', rest) {
                Some(skip) => skip,
                None => return bytes.len(),
            },
        };
        if bytes[at] == b'"' {
            return at;
        }
        at += 2;
        words = 0;
    }
}

/// Returns the highest bit of each byte that is a quote or a backslash.
const fn ends(word: u64) -> u64 {
    const ONES: u64 = u64::MAX / 0xff;
    let quotes = word ^ (ONES * b'"' as u64);
    let backslashes = word ^ (ONES * b'\\' as u64);
    let quote = quotes.wrapping_sub(ONES) & !quotes;
    let backslash = backslashes.wrapping_sub(ONES) & !backslashes;
    (quote | backslash) & (ONES << 7)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn brackets_in_strings_do_not_count() {
        let long = "[".repeat(100);
        for text in [
            r#"{"a":"[[[["}"#.to_owned(),
            r#"{"a\"[[[":1}"#.to_owned(),
            format!(r#"{{"a":"{long}\"{long}"}}"#),
        ] {
            assert!(!deeper_than(text.as_bytes(), 1), "{text}");
            assert!(deeper_than(text.as_bytes(), 0), "{text}");
        }
    }

    /// Compares with a byte-by-byte search, for bytes that the arithmetic could mistake for each other.
    #[test]
    fn ends_of_strings() {
        fn one_by_one(bytes: &[u8], mut at: usize) -> usize {
            while at < bytes.len() && bytes[at] != b'"' {
                at += if bytes[at] == b'\\' { 2 } else { 1 };
            }
            at.min(bytes.len())
        }
        for part in [
            "\"",
            "\\\"",
            "\\\\\"",
            "!\"",
            "#\"",
            "\"#",
            "\\]",
            "[\"",
            "é\"",
            "\\",
            "\\\\",
            "",
            "\u{7f}\u{80}\"",
        ] {
            for length in 0..70 {
                for rest in 0..20 {
                    let text = format!("{}{part}{}\"", "x".repeat(length), "y".repeat(rest));
                    let bytes = text.as_bytes();
                    for bytes in [bytes, &bytes[..bytes.len() - 1]] {
                        assert_eq!(end_of_string(bytes, 0), one_by_one(bytes, 0), "{text}");
                    }
                }
            }
        }
        assert_eq!(end_of_string(b"x", 2), 1);
    }

    #[test]
    fn limit_is_inclusive() {
        let nested = |n: usize| "[".repeat(n) + &"]".repeat(n);
        assert!(!deeper_than(nested(128).as_bytes(), 128));
        assert!(deeper_than(nested(129).as_bytes(), 128));
        assert!(!deeper_than("[][][]{}".as_bytes(), 1));
        assert!(!deeper_than(br#""unterminated \"#, 1));
    }
}
