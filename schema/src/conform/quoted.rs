//! JSON strings in their escaped form, with quotes: decoded char by char, so that nothing is allocated.

use std::str::Chars;

/// Returns whether the JSON string `text` decodes to `wanted`.
pub(super) fn says(text: &str, wanted: &str) -> bool {
    match text.contains('\\') {
        false => inside(text) == wanted,
        true => chars(text).eq(wanted.chars()),
    }
}

/// Returns the characters of the JSON string `text`. An unpaired surrogate becomes U+FFFD.
pub(super) fn chars(text: &str) -> impl Iterator<Item = char> {
    let units = Units {
        chars: inside(text).chars(),
        low: None,
    };
    char::decode_utf16(units).map(|c| c.unwrap_or(char::REPLACEMENT_CHARACTER))
}

fn inside(text: &str) -> &str {
    text.strip_prefix('"')
        .and_then(|text| text.strip_suffix('"'))
        .unwrap_or(text)
}

/// The UTF-16 code units of a string, because `\u` escapes are UTF-16: a surrogate pair takes two of them.
struct Units<'a> {
    chars: Chars<'a>,
    /// The second surrogate of the last character.
    low: Option<u16>,
}

impl Iterator for Units<'_> {
    type Item = u16;

    fn next(&mut self) -> Option<u16> {
        if let Some(low) = self.low.take() {
            return Some(low);
        }
        let c = match self.chars.next()? {
            '\\' => match self.chars.next()? {
                'u' => return self.hex(),
                'b' => '\u{8}',
                'f' => '\u{c}',
                'n' => '\n',
                'r' => '\r',
                't' => '\t',
                c => c,
            },
            c => c,
        };
        let mut units = [0; 2];
        let units = c.encode_utf16(&mut units);
        self.low = units.get(1).copied();
        units.first().copied()
    }
}

impl Units<'_> {
    /// Returns the four digits after `\u`.
    fn hex(&mut self) -> Option<u16> {
        let (digits, rest) = self.chars.as_str().split_at_checked(4)?;
        self.chars = rest.chars();
        u16::from_str_radix(digits, 16).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_say_what_serde_json_reads() {
        for text in [
            r#""""#,
            r#""plain""#,
            r#""\"\\\/\b\f\n\r\t""#,
            r#""\u0000\u0041\u00e9\uFFFF""#,
            r#""é\u20ac😀\uD83D\ude00z""#,
            r#""\\u0041""#,
        ] {
            let read: String = serde_json::from_str(text).unwrap();
            assert_eq!(chars(text).collect::<String>(), read, "{text}");
            assert!(says(text, &read), "{text}");
            assert!(!says(text, &format!("{read}x")), "{text}");
            assert_eq!(says(text, ""), read.is_empty(), "{text}");
        }
    }

    #[test]
    fn half_a_character_is_none() {
        for (text, read) in [
            (r#""\ud800""#, "\u{fffd}"),
            (r#""\udc00\ud800x""#, "\u{fffd}\u{fffd}x"),
            (r#""\ud83d😀""#, "\u{fffd}😀"),
        ] {
            assert!(says(text, read), "{text}");
        }
    }
}
