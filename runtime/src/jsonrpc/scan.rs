//! One pass over the bytes of a message before anything parses them: how deep they nest.

use memchr::memchr2;

/// Whether brackets in `bytes` nest deeper than `limit`. Does not check whether the rest is JSON.
pub(crate) fn deeper_than(bytes: &[u8], limit: usize) -> bool {
    // Nothing nests deeper than it has brackets. Counting them takes a vector instruction for many bytes at once, and is
    // all there is to do for nearly every message.
    openings(bytes) > limit && deepest_exceeds(bytes, limit)
}

/// How many bytes open an array or an object, those in strings included.
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

/// Index of the quote that ends the string whose text starts at `at`, or the end of `bytes`.
fn end_of_string(bytes: &[u8], mut at: usize) -> usize {
    /// Most strings of an envelope are shorter; a plain loop beats the set-up of a vector search there.
    const SHORT: usize = 24;
    let short_end = bytes.len().min(at + SHORT);
    while at < short_end {
        match bytes[at] {
            b'"' => return at,
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
    while at < bytes.len() {
        match memchr2(b'"', b'\\', &bytes[at..]) {
            Some(skip) if bytes[at + skip] == b'"' => return at + skip,
            Some(skip) => at += skip + 2,
            None => break,
        }
    }
    bytes.len()
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

    #[test]
    fn limit_is_inclusive() {
        let nested = |n: usize| "[".repeat(n) + &"]".repeat(n);
        assert!(!deeper_than(nested(128).as_bytes(), 128));
        assert!(deeper_than(nested(129).as_bytes(), 128));
        assert!(!deeper_than("[][][]{}".as_bytes(), 1));
        assert!(!deeper_than(br#""unterminated \"#, 1));
    }
}
