//! Splits the text of an arguments object by parameter, in one pass and without a tree.
//!
//! The text comes from a `JsonObject`, so it is valid JSON; text that is not is refused, never trusted.

use std::borrow::Cow;

use serde_json::{Map, Value};

use crate::jsonrpc;

/// Which names a tool takes, and which parameter each belongs to.
#[derive(Debug, Default)]
pub(crate) struct ArgumentNames {
    /// Name on the wire of each parameter; empty for injected ones.
    pub(crate) parameters: Vec<Box<str>>,
    /// Names that belong to no single parameter: the members of an `Args` struct.
    pub(crate) others: Vec<Box<str>>,
    /// Whether other names are refused.
    pub(crate) closed: bool,
}

/// Why the text was not split.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum ArgumentMismatch {
    /// A name that the tool does not take.
    Unknown,
    /// A name that is there twice.
    Twice(String),
    /// Not the text of an object.
    Malformed,
}

impl ArgumentNames {
    /// Puts the text of each parameter's argument into its slot.
    pub(crate) fn split<'a>(
        &self,
        text: &'a str,
        slots: &mut [Option<&'a str>],
    ) -> Result<(), ArgumentMismatch> {
        let mut members = ArgumentMembers::of(text).ok_or(ArgumentMismatch::Malformed)?;
        while let Some((name, value)) = members
            .next()
            .map_err(|Broken| ArgumentMismatch::Malformed)?
        {
            self.place(&name, value, slots)?;
        }
        Ok(())
    }

    /// As [`split`](Self::split), of an object that has these members.
    #[inline]
    pub(crate) fn sort<'a>(
        &self,
        mut members: impl Iterator<Item = (&'a str, &'a str)>,
        slots: &mut [Option<&'a str>],
    ) -> Result<(), ArgumentMismatch> {
        members.try_for_each(|(name, value)| self.place(name, value, slots))
    }

    #[inline]
    fn place<'a>(
        &self,
        name: &str,
        value: &'a str,
        slots: &mut [Option<&'a str>],
    ) -> Result<(), ArgumentMismatch> {
        match self.slot(name) {
            Some(slot) if slots[slot].replace(value).is_none() => Ok(()),
            Some(_) => Err(ArgumentMismatch::Twice(name.to_owned())),
            None if self.closed && !self.others.iter().any(|other| **other == *name) => {
                Err(ArgumentMismatch::Unknown)
            }
            None => Ok(()),
        }
    }

    fn slot(&self, name: &str) -> Option<usize> {
        match name {
            // Stands for parameters that are not arguments.
            "" => None,
            name => self
                .parameters
                .iter()
                .position(|parameter| **parameter == *name),
        }
    }
}

/// The arguments `text`, which are `before` as a tree, as `after`: without members that were `null` and are gone, and with new text
/// for members that changed. All others stay as they are written, because a tree does not hold every number exactly. `None` if the
/// text is not that of an object.
pub(crate) fn rewritten(
    text: &str,
    before: &Map<String, Value>,
    after: &Map<String, Value>,
) -> Option<String> {
    let mut members = ArgumentMembers::of(text)?;
    let mut out = String::with_capacity(text.len());
    out.push('{');
    while let Some((name, value)) = members.next().ok()? {
        let changed = match (before.get(&*name), after.get(&*name)) {
            (_, None) if value == "null" => continue,
            (before, Some(after)) if before != Some(after) => Some(after.to_string()),
            _ => None,
        };
        if 1 < out.len() {
            out.push(',');
        }
        out.push_str(&Value::from(&*name).to_string());
        out.push(':');
        out.push_str(changed.as_deref().unwrap_or(value));
    }
    out.push('}');
    Some(out)
}

/// The members of an object, one after the other.
struct ArgumentMembers<'a> {
    text: &'a str,
    at: usize,
    first: bool,
}

struct Broken;

/// Bytes of a string that are looked at one by one before it is searched for its end.
const NEAR: usize = 16;

impl<'a> ArgumentMembers<'a> {
    fn of(text: &'a str) -> Option<Self> {
        let mut this = Self {
            text,
            at: 0,
            first: true,
        };
        this.skip_space();
        this.eat(b'{').then_some(this)
    }

    // This and what it calls are in two places, of which one is on the path of every call.
    #[inline(always)]
    fn next(&mut self) -> Result<Option<(Cow<'a, str>, &'a str)>, Broken> {
        self.skip_space();
        if self.eat(b'}') {
            return Ok(None);
        }
        if !self.first {
            if !self.eat(b',') {
                return Err(Broken);
            }
            self.skip_space();
        }
        self.first = false;
        let name = self.name()?;
        self.skip_space();
        if !self.eat(b':') {
            return Err(Broken);
        }
        self.skip_space();
        let start = self.at;
        self.skip_value()?;
        Ok(Some((name, &self.text[start..self.at])))
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn eat(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        self.at += usize::from(found);
        found
    }

    fn skip_space(&mut self) {
        while let Some(b' ' | b'\t' | b'\n' | b'\r') = self.peek() {
            self.at += 1;
        }
    }

    /// The name of a member: nearly always one without escapes.
    #[inline(always)]
    fn name(&mut self) -> Result<Cow<'a, str>, Broken> {
        let bytes = self.text.as_bytes();
        let start = self.at + 1;
        let length = bytes.get(start..).and_then(jsonrpc::plain_length);
        let end = start + length.ok_or(Broken)?;
        if self.peek() == Some(b'"') && bytes[end] == b'"' {
            self.at = end + 1;
            let name = self.text.get(start..end);
            return name.map(Cow::Borrowed).ok_or(Broken);
        }
        unescaped(self.string()?)
    }

    /// A string with its quotes.
    #[inline]
    fn string(&mut self) -> Result<&'a str, Broken> {
        let start = self.at;
        if !self.eat(b'"') {
            return Err(Broken);
        }
        let bytes = self.text.as_bytes();
        // Names and most values are shorter than what a search over many bytes at once is worth.
        for _ in 0..NEAR {
            match bytes.get(self.at) {
                Some(b'"') => return self.end_string(start),
                Some(b'\\') => self.at += 2,
                Some(_) => self.at += 1,
                None => return Err(Broken),
            }
        }
        self.long_string(start)
    }

    #[inline(never)]
    fn long_string(&mut self, start: usize) -> Result<&'a str, Broken> {
        let bytes = self.text.as_bytes();
        self.at = jsonrpc::end_of_string(bytes, self.at);
        match bytes.get(self.at) {
            Some(_) => self.end_string(start),
            None => Err(Broken),
        }
    }

    /// The string that began at `start` and ends with the quote that is next.
    #[inline]
    fn end_string(&mut self, start: usize) -> Result<&'a str, Broken> {
        self.at += 1;
        self.text.get(start..self.at).ok_or(Broken)
    }

    #[inline(always)]
    fn skip_value(&mut self) -> Result<(), Broken> {
        match self.peek() {
            Some(b'"') => self.string().map(|_| ()),
            Some(b'{' | b'[') => self.skip_container(),
            Some(_) => {
                let bytes = self.text.as_bytes();
                while !matches!(
                    bytes.get(self.at),
                    None | Some(b',' | b'}' | b' ' | b'\t' | b'\n' | b'\r')
                ) {
                    self.at += 1;
                }
                Ok(())
            }
            None => Err(Broken),
        }
    }

    #[inline(never)]
    fn skip_container(&mut self) -> Result<(), Broken> {
        let mut depth = 0_usize;
        loop {
            match self.peek().ok_or(Broken)? {
                b'"' => {
                    self.string()?;
                    continue;
                }
                b'{' | b'[' => depth += 1,
                b'}' | b']' => depth -= 1,
                _ => {}
            }
            self.at += 1;
            if depth == 0 {
                return Ok(());
            }
        }
    }
}

/// The text that a JSON string with escapes stands for.
#[cold]
fn unescaped<'a>(string: &str) -> Result<Cow<'a, str>, Broken> {
    let text = serde_json::from_str(string);
    text.map(Cow::Owned).map_err(|_| Broken)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::jsonrpc::NotedObject;

    fn names(closed: bool) -> ArgumentNames {
        ArgumentNames {
            parameters: vec!["a".into(), "".into(), "b".into()],
            others: vec!["other".into()],
            closed,
        }
    }

    #[track_caller]
    #[expect(
        clippy::needless_pass_by_value,
        reason = "expectations read better inline"
    )]
    fn check(text: &str, expected: Result<[Option<&str>; 3], ArgumentMismatch>) {
        let mut slots = [None; 3];
        let split = names(true).split(text, &mut slots);
        // It is not noted where the members of such a text are, or they are sorted the same.
        let noted = NotedObject::noting(text);
        if let Some(members) = noted.as_ref().and_then(NotedObject::members) {
            let mut noted_slots = [None; 3];
            let sorted = names(true).sort(members, &mut noted_slots);
            assert_eq!((&sorted, noted_slots), (&split, slots), "{text}");
        }
        assert_eq!(split.map(|()| slots), expected, "{text}");
    }

    #[test]
    fn splits() {
        check("{}", Ok([None, None, None]));
        check(
            r#" { "a" : 1 , "b":[1,{"a":"}]\""}] } "#,
            Ok([Some("1"), None, Some(r#"[1,{"a":"}]\""}]"#)]),
        );
        check(
            r#"{"b":"x\\","a":null}"#,
            Ok([Some("null"), None, Some(r#""x\\""#)]),
        );
        check(
            r#"{"\u0061":1.5e3,"other":{}}"#,
            Ok([Some("1.5e3"), None, None]),
        );
        check(r#"{"c":1}"#, Err(ArgumentMismatch::Unknown));
        check(r#"{"":1}"#, Err(ArgumentMismatch::Unknown));
        check(
            r#"{"a":1,"a":2}"#,
            Err(ArgumentMismatch::Twice("a".to_owned())),
        );
    }

    #[test]
    fn strings_of_any_length() {
        for length in 0..3 * NEAR {
            for inner in ["", r#"\""#, r"\\", "é"] {
                let rest = "x".repeat(length % NEAR);
                let value = format!(r#""{}{inner}{rest}""#, "y".repeat(length));
                check(
                    &format!(r#"{{"a":{value},"b":[{value}]}}"#),
                    Ok([Some(&value), None, Some(&format!("[{value}]"))]),
                );
                check(
                    &format!(r#"{{"a":"{}\"#, "y".repeat(length)),
                    Err(ArgumentMismatch::Malformed),
                );
            }
        }
    }

    #[test]
    fn rewrites_what_changed() {
        let text = r#" { "a" : 3.0, "n":null, "b\u0061":[ 1, 2.0 ], "wide":18446744073709551617, "n":1, "a":3.0 } "#;
        let before: Map<String, Value> = serde_json::from_str(text).unwrap();
        let mut after = before.clone();
        after.insert("a".to_owned(), 3.into());
        after.remove("n");
        // The second `a` and `n` are for the split to refuse.
        assert_eq!(
            rewritten(text, &before, &after).unwrap(),
            r#"{"a":3,"ba":[ 1, 2.0 ],"wide":18446744073709551617,"n":1,"a":3}"#
        );
        assert_eq!(rewritten("[]", &before, &after), None);
    }

    #[test]
    fn open_names() {
        let mut slots = [None; 3];
        assert_eq!(names(false).split(r#"{"c":1,"a":2}"#, &mut slots), Ok(()));
        assert_eq!(slots[0], Some("2"));
    }

    // Whatever the text, no panic and no out-of-range access.
    #[test]
    fn text_that_is_not_an_object() {
        let text = r#"{"a": [1, {"x": "y\"é"}], "b" : "\u00e9", "other": null}"#;
        for end in (0..text.len()).filter(|end| text.is_char_boundary(*end)) {
            check(&text[..end], Err(ArgumentMismatch::Malformed));
        }
        for text in [
            "",
            "[]",
            "1",
            r#"{"a"}"#,
            r#"{"a" 1}"#,
            r#"{"a":1 "b":2}"#,
            r#"{,}"#,
            r#"{"\"#,
            r#"{"a":"\"#,
        ] {
            check(text, Err(ArgumentMismatch::Malformed));
        }
    }
}
