//! Any value, read for its extent: what is an object of JSON, and where it ends.

use memchr::memchr2;

use super::cursor::Cursor;

/// Deepest nesting of a value that is read here. Deeper ones are left to the careful reader, whose limit is
/// [`MAX_DEPTH`](crate::jsonrpc::MAX_DEPTH) for the whole message.
const MOST_LEVELS: u32 = 100;

/// Bytes of a string that are looked at one by one before it is searched for its end, and after each escape that was found so.
const NEAR: usize = 24;

/// Most members of an object that are noted while it is read.
const MOST_NOTED: usize = 4;

/// The text of an object, and where its members are, if that was noted.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NotedObject<'a> {
    text: &'a str,
    members: [NotedMember; MOST_NOTED],
    /// How many there are; `None` if they were not noted.
    count: Option<u8>,
}

/// Where the name and the value of a member are in the text of their object. Small, because it is copied with what was read.
#[derive(Clone, Copy, Debug, Default)]
struct NotedMember {
    name: (u16, u16),
    value: (u16, u16),
}

impl<'a> NotedObject<'a> {
    /// Reads `text`, which is nothing but an object.
    #[cfg(test)]
    pub(crate) fn noting(text: &'a str) -> Option<Self> {
        let noted = Cursor::new(text).noted_object()?;
        (noted.text == text).then_some(noted)
    }

    pub(crate) fn text(&self) -> &'a str {
        self.text
    }

    /// The name and the text of the value of each member, in their order. `None` if there are more than [`MOST_NOTED`], a name has
    /// escapes, or a value ends behind the first 65,535 bytes.
    #[inline]
    pub(crate) fn members(&self) -> Option<impl Iterator<Item = (&'a str, &'a str)>> {
        let members = self.members.get(..usize::from(self.count?))?;
        let text = self.text;
        let part = move |(start, end)| {
            let part = text.get(usize::from(start)..usize::from(end));
            part.unwrap_or_default()
        };
        Some(
            members
                .iter()
                .map(move |member| (part(member.name), part(member.value))),
        )
    }
}

/// An object of whose members nothing was noted.
impl<'a> From<&'a str> for NotedObject<'a> {
    fn from(text: &'a str) -> Self {
        Self {
            text,
            members: [NotedMember::default(); MOST_NOTED],
            count: None,
        }
    }
}

impl<'a> Cursor<'a> {
    /// Reads any object that nests no deeper than [`MOST_LEVELS`], and returns its text.
    pub(crate) fn object(&mut self) -> Option<&'a str> {
        match self.peek()? {
            b'{' => self.container(MOST_LEVELS),
            _ => None,
        }
    }

    /// As [`object`](Self::object), and notes its members.
    pub(crate) fn noted_object(&mut self) -> Option<NotedObject<'a>> {
        let start = self.at;
        let (mut members, mut count) = ([NotedMember::default(); MOST_NOTED], 0_u8);
        let read = self.items(|cursor| {
            let place = |at: usize| u16::try_from(at - start).ok();
            let name = cursor.at + 1;
            let end = name + cursor.plain()?.len();
            cursor.colon()?;
            let value = cursor.at;
            cursor.value(MOST_LEVELS - 1)?;
            *members.get_mut(usize::from(count))? = NotedMember {
                name: (place(name)?, place(end)?),
                value: (place(value)?, place(cursor.at)?),
            };
            count += 1;
            Some(())
        });
        if read.is_some() {
            let text = self.since(start)?;
            let count = Some(count);
            return Some(NotedObject {
                text,
                members,
                count,
            });
        }
        self.back_to(start);
        self.object().map(NotedObject::from)
    }

    /// Reads any value that has no more than `most` levels.
    #[inline]
    fn value(&mut self, most: u32) -> Option<()> {
        match self.peek()? {
            b'{' | b'[' => self.container(most).map(|_| ()),
            _ => self.scalar(),
        }
    }

    /// Reads a value that is no container.
    #[inline]
    fn scalar(&mut self) -> Option<()> {
        match self.peek()? {
            b'"' => self.string(),
            b't' => self.literal("true"),
            b'f' => self.literal("false"),
            b'n' => self.literal("null"),
            _ => self.number(),
        }
    }

    /// Reads the object or the array that is next, of at most `most` levels, and returns its text.
    fn container(&mut self, most: u32) -> Option<&'a str> {
        let start = self.at;
        // The lowest bit is 1 if the innermost container is an object, the next one is for the container around it, and so on.
        let mut kinds = 0_u128;
        let mut levels = 0;
        loop {
            // At a value.
            match self.peek()? {
                open @ (b'{' | b'[') => {
                    levels += 1;
                    if most < levels {
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
                _ => self.scalar()?,
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
        match self.near()? {
            true => Some(()),
            false => self.long_string(),
        }
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
            if self.eat(b'"').is_some() {
                return Some(());
            }
            self.escape()?;
            // Escapes often stand close together.
            if self.near()? {
                return Some(());
            }
        }
    }

    /// The next bytes of a string, one by one; whether it ended.
    #[inline(always)]
    fn near(&mut self) -> Option<bool> {
        let bytes = self.text.as_bytes();
        for _ in 0..NEAR {
            match *bytes.get(self.at)? {
                b'"' => {
                    self.at += 1;
                    return Some(true);
                }
                b'\\' => self.escape()?,
                ..b' ' => return None,
                _ => self.at += 1,
            }
        }
        Some(false)
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
        let mut cursor = Cursor::new(text);
        let is_read = cursor.object().is_some_and(|read| read == text);
        let noted = Cursor::new(text).noted_object();
        assert_eq!(noted.is_some_and(|noted| noted.text() == text), is_read);
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

    /// The members of the object `text`, if they are noted.
    fn noted(text: &str) -> Option<Vec<(&str, &str)>> {
        let noted = Cursor::new(text).noted_object().expect(text);
        noted.members().map(Iterator::collect)
    }

    #[test]
    fn noted_members() {
        assert_eq!(noted("{ }"), Some(vec![]));
        assert_eq!(
            noted(r#"{ "a" : [1, {"x":"}"}] ,"":"\"", "a":-1e3 ,"b":true}"#),
            Some(vec![
                ("a", r#"[1, {"x":"}"}]"#),
                ("", r#""\"""#),
                ("a", "-1e3"),
                ("b", "true"),
            ])
        );
        assert_eq!(noted(r#"{"a":1,"b":2,"c":3,"d":4,"e":5}"#), None);
        assert_eq!(noted(r#"{"a":1,"\u0062":2}"#), None);
        let most = usize::from(u16::MAX);
        // With the brace at the end.
        for (length, is_noted) in [(most + 1, true), (most + 2, false)] {
            let value = "1".repeat(length - 6);
            let text = format!("{{\"a\":{value}}}");
            assert_eq!(text.len(), length);
            let value = Some(vec![("a", &*value)]);
            assert_eq!(noted(&text), value.filter(|_| is_noted));
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
        assert!(most + 2 <= crate::jsonrpc::MAX_DEPTH);
    }
}
