//! A reader of plain messages: one pass over the bytes, without a tree and without an allocation.
//!
//! It reads less than JSON allows: names and texts without escapes, ids that are integers or such texts. A message that has anything else is
//! left to the careful reader, which finds the words for what is wrong. What this reader accepts, the careful one accepts too, with the
//! same meaning.

use memchr::memchr2;
use trueform_schema::RequestId;

/// Deepest nesting of a value that is read here. Deeper ones are left to the careful reader, whose limit is
/// [`MAX_DEPTH`](super::MAX_DEPTH) for the whole message.
const MOST_LEVELS: u32 = 100;

/// Bytes of a string that are looked at one by one before it is searched for its end.
const NEAR: usize = 24;

/// Most digits of an integer that surely fits into 64 bits.
const MOST_DIGITS: usize = 18;

/// A place in a text. All methods that return an `Option` return `None` for what is left to the careful reader; the place is of no use then.
pub(crate) struct Cursor<'a> {
    text: &'a str,
    at: usize,
}

/// A request whose params were read by the caller.
pub(crate) struct QuickRequest<'a> {
    pub(crate) id: RequestId,
    pub(crate) method: &'a str,
}

/// Reads the request that `bytes` are. `params` reads the value of its params; a request without params is not read here.
pub(crate) fn quick<'a>(
    bytes: &'a [u8],
    mut params: impl FnMut(&mut Cursor<'a>) -> Option<()>,
) -> Option<QuickRequest<'a>> {
    let mut cursor = Cursor {
        text: std::str::from_utf8(bytes).ok()?,
        at: 0,
    };
    let (mut has_version, mut has_params) = (false, false);
    let (mut id, mut method) = (None, None);
    cursor.space();
    cursor.members(|cursor, name| match name {
        "jsonrpc" if !has_version => {
            has_version = true;
            cursor.literal("\"2.0\"")
        }
        "id" if id.is_none() => {
            id = Some(cursor.id()?);
            Some(())
        }
        "method" if method.is_none() => {
            method = Some(cursor.plain()?);
            Some(())
        }
        "params" if !has_params => {
            has_params = true;
            params(cursor)
        }
        _ => None,
    })?;
    cursor.space();
    let is_whole = cursor.at == cursor.text.len() && has_version && has_params;
    match (id, method) {
        (Some(id), Some(method)) if is_whole => Some(QuickRequest { id, method }),
        _ => None,
    }
}

impl<'a> Cursor<'a> {
    /// How many bytes were read.
    pub(crate) fn at(&self) -> usize {
        self.at
    }

    /// What was read since the place `start`.
    pub(crate) fn since(&self, start: usize) -> Option<&'a str> {
        self.text.get(start..self.at)
    }

    #[inline]
    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    #[inline]
    fn eat(&mut self, byte: u8) -> Option<()> {
        let found = self.peek() == Some(byte);
        self.at += usize::from(found);
        found.then_some(())
    }

    #[inline]
    pub(crate) fn space(&mut self) {
        while self.peek().is_some_and(super::is_white_space) {
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
        let rest = self.text.get(self.at..)?;
        let is_plain = |byte: &u8| b' ' <= *byte && *byte != b'"' && *byte != b'\\';
        let length = rest.bytes().position(|byte| !is_plain(&byte))?;
        self.at += length;
        self.eat(b'"')?;
        rest.get(..length)
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

    /// Reads any object that nests no deeper than [`MOST_LEVELS`], and returns its text.
    pub(crate) fn object(&mut self) -> Option<&'a str> {
        let start = self.at;
        // The lowest bit is 1 if the innermost container is an object, the next one is for the container around it, and so on.
        let mut kinds = 0_u128;
        let mut levels = 0;
        if self.peek()? != b'{' {
            return None;
        }
        loop {
            // At a value.
            match self.peek()? {
                b'"' => self.string()?,
                open @ (b'{' | b'[') => {
                    levels += 1;
                    if MOST_LEVELS < levels {
                        return None;
                    }
                    let is_object = open == b'{';
                    kinds = kinds << 1 | u128::from(is_object);
                    self.at += 1;
                    self.space();
                    match (self.peek()?, is_object) {
                        // The end of the container is read below.
                        (b'}', true) | (b']', false) => {}
                        (_, true) => {
                            self.string()?;
                            self.colon()?;
                            continue;
                        }
                        (_, false) => continue,
                    }
                }
                b't' => self.literal("true")?,
                b'f' => self.literal("false")?,
                b'n' => self.literal("null")?,
                _ => self.number()?,
            }
            // Behind a value, or at the end of an empty container.
            loop {
                self.space();
                match (self.peek()?, kinds & 1 == 1) {
                    (b',', is_object) => {
                        self.at += 1;
                        self.space();
                        if is_object {
                            self.string()?;
                            self.colon()?;
                        }
                        break;
                    }
                    (b'}', true) | (b']', false) => {
                        self.at += 1;
                        kinds >>= 1;
                        levels -= 1;
                        if levels == 0 {
                            return self.since(start);
                        }
                    }
                    _ => return None,
                }
            }
        }
    }

    /// Reads any string.
    #[inline]
    fn string(&mut self) -> Option<()> {
        self.eat(b'"')?;
        let bytes = self.text.as_bytes();
        for _ in 0..NEAR {
            match *bytes.get(self.at)? {
                b'"' => {
                    self.at += 1;
                    return Some(());
                }
                b'\\' => self.escape()?,
                ..b' ' => return None,
                _ => self.at += 1,
            }
        }
        self.long_string()
    }

    /// The rest of a string.
    #[inline(never)]
    fn long_string(&mut self) -> Option<()> {
        let bytes = self.text.as_bytes();
        loop {
            let rest = bytes.get(self.at..)?;
            let plain = memchr2(b'"', b'\\', rest)?;
            // Without a branch for each byte, so that many are looked at at once.
            let controls = rest[..plain]
                .iter()
                .fold(0, |some, byte| some | u8::from(*byte < b' '));
            if controls != 0 {
                return None;
            }
            self.at += plain;
            if bytes[self.at] == b'"' {
                self.at += 1;
                return Some(());
            }
            self.escape()?;
            // Escapes often stand close together.
            for _ in 0..NEAR {
                match *bytes.get(self.at)? {
                    b'"' => {
                        self.at += 1;
                        return Some(());
                    }
                    b'\\' => self.escape()?,
                    ..b' ' => return None,
                    _ => self.at += 1,
                }
            }
        }
    }

    /// An escape. Half a surrogate pair is one too: what it stands for is for the reader of the value to say.
    #[inline]
    fn escape(&mut self) -> Option<()> {
        let bytes = self.text.as_bytes();
        let length = match *bytes.get(self.at + 1)? {
            b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => 2,
            b'u' => {
                let digits = bytes.get(self.at + 2..self.at + 6)?;
                if !digits.iter().all(u8::is_ascii_hexdigit) {
                    return None;
                }
                6
            }
            _ => return None,
        };
        self.at += length;
        Some(())
    }

    #[inline]
    fn number(&mut self) -> Option<()> {
        let _ = self.eat(b'-');
        match self.peek()? {
            b'0' => self.at += 1,
            b'1'..=b'9' => self.digits()?,
            _ => return None,
        }
        if self.eat(b'.').is_some() {
            self.digits()?;
        }
        if let Some(b'e' | b'E') = self.peek() {
            self.at += 1;
            if let Some(b'+' | b'-') = self.peek() {
                self.at += 1;
            }
            self.digits()?;
        }
        Some(())
    }

    /// At least one digit.
    #[inline]
    fn digits(&mut self) -> Option<()> {
        let start = self.at;
        while self.peek().is_some_and(|byte| byte.is_ascii_digit()) {
            self.at += 1;
        }
        (start < self.at).then_some(())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::value::RawValue;

    use super::*;

    /// Whether `text` is read as an object, and whether serde reads it as one.
    #[track_caller]
    fn object(text: &str) -> bool {
        let mut cursor = Cursor { text, at: 0 };
        let is_read = cursor.object().is_some_and(|read| read == text);
        let is_object = serde_json::from_str::<&RawValue>(text).is_ok() && text.starts_with('{');
        assert!(is_object || !is_read, "{text} is not an object");
        is_read
    }

    #[test]
    fn objects() {
        let escapes = r#"\"\\\/\b\f\n\r\t\u00e9\ud800"#;
        for text in [
            "{}",
            "{ }",
            r#"{"a":1}"#,
            r#"{ "a" : [ ] , "b" : [ { } , [ 0 , -0.5e+3 , 1E7 ] , null , true , false ] }"#,
            r#"{"a":{"b":{"c":[[[]]]}},"":""}"#,
            r#"{"a":1,"a":2,"\u0061":3,"\ud800":"\udfff\ud800","":[-0,1e400,-1E-400,9007199254740993,1e+30]}"#,
            &format!(r#"{{"{escapes}":"{escapes}{}{escapes}"}}"#, "é".repeat(40)),
        ] {
            assert!(object(text), "{text}");
            for end in (0..text.len()).filter(|end| text.is_char_boundary(*end)) {
                assert!(!object(&text[..end]), "{}", &text[..end]);
            }
        }
        let long = "x".repeat(3 * NEAR);
        for text in [
            "",
            "[]",
            "5",
            r#"{"a"}"#,
            r#"{"a":}"#,
            r#"{"a":1,}"#,
            r#"{,"a":1}"#,
            r#"{"a":1 "b":2}"#,
            r#"{"a":[1,]}"#,
            r#"{"a":[,1]}"#,
            r#"{"a":[1}}"#,
            r#"{"a":{1]}"#,
            r#"{"a":01}"#,
            r#"{"a":1.}"#,
            r#"{"a":.5}"#,
            r#"{"a":+1}"#,
            r#"{"a":-}"#,
            r#"{"a":1e}"#,
            r#"{"a":tru}"#,
            r#"{"a":nulll}"#,
            r#"{"a":NaN}"#,
            r#"{'a':1}"#,
            r#"{"a":"\x"}"#,
            r#"{"a":"\u00g0"}"#,
            r#"{"a":"\u00"}"#,
            "{\"a\":\"\n\"}",
            "{\"a\u{1}\":1}",
            &format!("{{\"a\":\"{long}\t\"}}"),
            &format!("{{\"a\":\"{long}\\\"\t\"}}"),
            &format!("{{\"a\":\"{long}\\q\"}}"),
        ] {
            assert!(!object(text), "{text}");
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
            let found = Cursor { text: &text, at: 0 }.id();
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
            assert_eq!(Cursor { text: &text, at: 0 }.id(), None, "{text:.20}");
        }
    }

    #[test]
    fn levels() {
        let nested = |levels: usize| {
            let inner = levels - 1;
            format!("{{\"a\":{}{}}}", "[".repeat(inner), "]".repeat(inner))
        };
        let most = MOST_LEVELS as usize;
        assert!(object(&nested(most)));
        assert!(!object(&nested(most + 1)));
        // With what is around it, nothing that is read here is too deep for a message.
        assert!(most + 2 <= super::super::MAX_DEPTH);
    }
}
