//! A place in the text of a message, and how the pieces that all messages have are read from there: members, plain strings, ids.

use trueform_schema::RequestId;

use super::super::is_white_space;

/// Most digits of an integer that surely fits into 64 bits.
const MOST_DIGITS: usize = 18;

/// A place in a text. All methods that return an `Option` return `None` for what is left to the careful reader; the place is of no use then.
pub(crate) struct Cursor<'a> {
    pub(super) text: &'a str,
    pub(super) at: usize,
}

impl<'a> Cursor<'a> {
    /// The start of `text`.
    pub(super) fn new(text: &'a str) -> Self {
        Self { text, at: 0 }
    }

    /// Whether all was read.
    pub(super) fn is_at_end(&self) -> bool {
        self.at == self.text.len()
    }

    /// How many bytes were read.
    pub(crate) fn at(&self) -> usize {
        self.at
    }

    /// What was read since the place `start`.
    pub(crate) fn since(&self, start: usize) -> Option<&'a str> {
        self.text.get(start..self.at)
    }

    #[inline]
    pub(super) fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    #[inline]
    pub(super) fn eat(&mut self, byte: u8) -> Option<()> {
        if self.peek() != Some(byte) {
            return None;
        }
        self.at += 1;
        Some(())
    }

    #[inline]
    pub(crate) fn space(&mut self) {
        while self.peek().is_some_and(is_white_space) {
            self.at += 1;
        }
    }

    /// Reads exactly `text`.
    #[inline]
    pub(crate) fn literal(&mut self, text: &str) -> Option<()> {
        let rest = self.text.as_bytes().get(self.at..)?;
        let found = rest.starts_with(text.as_bytes());
        self.at += if found { text.len() } else { 0 };
        found.then_some(())
    }

    /// Goes back to the place `at`, which it was at before.
    pub(crate) fn back_to(&mut self, at: usize) {
        self.at = at;
    }

    /// Reads an object: calls `each` with the name of each member, at the value, which `each` reads.
    #[inline(always)]
    pub(crate) fn members(
        &mut self,
        mut each: impl FnMut(&mut Self, &'a str) -> Option<()>,
    ) -> Option<()> {
        self.items(|cursor| {
            let name = cursor.plain()?;
            cursor.colon()?;
            each(cursor, name)
        })
    }

    /// Reads an object: calls `each` at each member, which `each` reads.
    #[inline(always)]
    pub(crate) fn items(&mut self, mut each: impl FnMut(&mut Self) -> Option<()>) -> Option<()> {
        self.eat(b'{')?;
        self.space();
        if self.eat(b'}').is_some() {
            return Some(());
        }
        loop {
            each(self)?;
            self.space();
            match self.peek()? {
                b',' => {
                    self.at += 1;
                    self.space();
                }
                b'}' => {
                    self.at += 1;
                    return Some(());
                }
                _ => return None,
            }
        }
    }

    /// Reads the colon behind a name.
    #[inline]
    pub(crate) fn colon(&mut self) -> Option<()> {
        self.space();
        self.eat(b':')?;
        self.space();
        Some(())
    }

    /// Reads a string that has no escapes, and returns it without its quotes.
    #[inline]
    pub(crate) fn plain(&mut self) -> Option<&'a str> {
        self.eat(b'"')?;
        let start = self.at;
        let end = start + plain_length(self.text.as_bytes().get(start..)?)?;
        self.at = end;
        self.eat(b'"')?;
        self.text.get(start..end)
    }

    /// Reads an id, or a progress token: an integer in plain digits, or a string without escapes.
    #[inline]
    pub(crate) fn id(&mut self) -> Option<RequestId> {
        let start = self.at;
        match self.peek()? {
            b'"' => {
                let text = self.plain()?;
                return (text.len() <= RequestId::MAX_BYTES).then(|| RequestId::from(text));
            }
            b'1'..=b'9' => {
                let mut integer = 0_i64;
                while let Some(digit @ b'0'..=b'9') = self.peek() {
                    // Wrong for more digits than fit, which are read anew.
                    integer = integer.wrapping_mul(10).wrapping_add((digit - b'0').into());
                    self.at += 1;
                }
                if self.at - start <= MOST_DIGITS {
                    return Some(RequestId::Integer(integer));
                }
            }
            b'0' => self.at += 1,
            _ => return None,
        }
        RequestId::from_json(self.since(start)?).ok()
    }
}

/// Returns how many bytes come before the first one that is not plain: a quote, a backslash or a control character. Returns `None` if all
/// bytes are plain.
#[inline]
pub(crate) fn plain_length(bytes: &[u8]) -> Option<usize> {
    let mut at = 0;
    while let Some(eight) = bytes.get(at..at + 8) {
        let eight = eight.try_into().map_or(0, u64::from_le_bytes);
        let marks = marks(eight);
        if marks != 0 {
            return Some(at + marks.trailing_zeros() as usize / 8);
        }
        at += 8;
    }
    let rest = bytes.get(at..)?;
    let found = rest
        .iter()
        .position(|byte| *byte < b' ' || matches!(*byte, b'"' | b'\\'))?;
    Some(at + found)
}

/// The highest bit of each of eight bytes that is not plain, from the lowest such byte on. Bytes above that one may have the bit by mistake,
/// because a subtraction borrows from them.
#[inline]
const fn marks(eight: u64) -> u64 {
    const LOW: u64 = u64::from_le_bytes([1; 8]);
    const HIGH: u64 = LOW << 7;
    const fn zeros(eight: u64) -> u64 {
        eight.wrapping_sub(LOW) & !eight
    }
    let quotes = zeros(eight ^ (LOW * b'"' as u64));
    let backslashes = zeros(eight ^ (LOW * b'\\' as u64));
    let controls = eight.wrapping_sub(LOW * b' ' as u64) & !eight;
    (quotes | backslashes | controls) & HIGH
}

#[cfg(test)]
mod tests {
    use super::*;

    // Eight bytes at a time find what one at a time find, wherever it is and whatever is around it.
    #[test]
    fn ends_of_plain_strings() {
        let one_by_one = |bytes: &[u8]| {
            let is_end = |byte: &u8| *byte < b' ' || *byte == b'"' || *byte == b'\\';
            bytes.iter().position(is_end)
        };
        for around in [
            b'!', b' ', b'#', b'[', b']', b'x', 0x7f, 0x80, 0xa2, 0xdc, 0xff,
        ] {
            for byte in 0..=u8::MAX {
                for length in 0..20 {
                    let mut bytes = vec![around; length];
                    assert_eq!(plain_length(&bytes), None);
                    bytes.push(byte);
                    for _ in 0..9 {
                        bytes.push(around);
                        assert_eq!(plain_length(&bytes), one_by_one(&bytes), "{bytes:?}");
                    }
                    bytes[length / 2] = byte;
                    assert_eq!(plain_length(&bytes), one_by_one(&bytes), "{bytes:?}");
                }
            }
        }
    }

    // What is read as an id is the id that the careful reader finds.
    #[test]
    fn ids() {
        let quotes = |text: &str| format!("\"{text}\"");
        let most = RequestId::MAX_BYTES;
        let digits = (1..=65).map(|count| "9".repeat(count));
        let texts = ["", "a", "1", "é\u{7f}", "a'/{}"].map(quotes);
        let long = [quotes(&"x".repeat(most)), quotes(&"é".repeat(most / 2))];
        let edges = ["0", "1", "9007199254740993", "9223372036854775807"].map(str::to_owned);
        let beyond = ["9223372036854775808", "18446744073709551616"].map(str::to_owned);
        for text in digits.chain(texts).chain(long).chain(edges).chain(beyond) {
            let found = Cursor::new(&text).id();
            let expected = RequestId::from_json(&text).ok();
            let written = |id: &RequestId| (id.to_string(), id.clone());
            assert_eq!(found.as_ref().map(written), expected.as_ref().map(written));
            // Over 64 characters of a number are too many.
            assert_eq!(found.is_some(), text.len() <= 64 || text.starts_with('"'));
        }
        let too_long = [
            quotes(&"x".repeat(most + 1)),
            quotes(&"é".repeat(most / 2 + 1)),
        ];
        let left = ["-0", "-1", "null", "true", "\"", "\"\\u0061\"", "\"\n\""].map(str::to_owned);
        for text in too_long.into_iter().chain(left) {
            assert_eq!(Cursor::new(&text).id(), None, "{text:.20}");
        }
    }
}
