//! URI templates of RFC 6570, in the subset that resources use: literal text, `{name}`, `{+name}`, `{/name}`, and lists of names.
//!
//! A template is a series of parts, each either literal text or a variable. At most one variable may contain a slash, and there is text
//! between any two variables. So matching needs no backtracking: each byte of a URI is read a bounded number of times.

use std::{borrow::Cow, fmt, ops::Range};

use memchr::{memchr3, memmem};
use trueform_schema::conform::is_uri;

/// A parsed template.
#[derive(Clone, Debug)]
pub(crate) struct Template {
    /// The text before the first variable; the whole template if it has no variable.
    prefix: Box<str>,
    variables: Vec<Variable>,
    /// The index of the variable that may contain slashes.
    reserved: Option<usize>,
    is_file_like: bool,
}

/// A variable and the literal text after it.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Variable {
    name: Box<str>,
    /// The text up to the next variable or the end.
    after: Box<str>,
}

/// How a variable is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Operator {
    /// `{name}`: one segment of a path, or a part of one.
    Simple,
    /// `{+name}`: any text, with slashes.
    Reserved,
    /// `{/name}`: a slash and one segment.
    Path,
}

/// Why a URI that matches a template has no valid values for its variables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mismatch<'t> {
    /// The value has a `%` without two hexadecimal digits after it, or is not UTF-8 after decoding.
    Escape(&'t str),
    /// The value leaves the folder that it is relative to, or could leave it: it has a segment `..` or `.`, an encoded slash, a backslash,
    /// a NUL, or it is an absolute path.
    Traversal(&'t str),
}

/// Returns whether `byte` ends a value that may not contain slashes.
const fn ends_segment(byte: u8) -> bool {
    matches!(byte, b'/' | b'?' | b'#')
}

impl Template {
    /// Parses `text`.
    ///
    /// # Errors
    /// The problem, as a sentence without its subject.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let mut this = Self {
            prefix: Box::default(),
            variables: Vec::new(),
            reserved: None,
            is_file_like: false,
        };
        let mut literal = String::new();
        let mut rest = text;
        while let Some(at) = rest.find(['{', '}']) {
            push_literal(&mut literal, &rest[..at])?;
            let inner = rest[at..]
                .strip_prefix('{')
                .ok_or("has a `}` that no `{` opens")?;
            let (inner, after) = inner
                .split_once('}')
                .ok_or("has a `{` that no `}` closes")?;
            this.push_expression(inner, &mut literal)?;
            rest = after;
        }
        push_literal(&mut literal, rest)?;
        this.end_literal(literal);
        let scheme = this.prefix.split_once(':').map(|(scheme, _)| scheme);
        let Some(scheme) = scheme else {
            return Err("does not begin with a scheme and a colon, such as `notes:`".to_owned());
        };
        this.is_file_like = scheme.eq_ignore_ascii_case("file");
        let sample = this.expanded_with(|_| "x".into());
        match is_uri(&sample) {
            true => Ok(this),
            false => Err(format!(
                "makes no URI: `{sample}`, which it would be with `x` for each variable"
            )),
        }
    }

    /// Marks the template: its values may not leave the folder that they are relative to.
    #[must_use]
    pub(crate) fn file_like(mut self) -> Self {
        self.is_file_like = true;
        self
    }

    /// Adds the expression between braces. `literal` is the text before it, and becomes the text after it.
    fn push_expression(&mut self, inner: &str, literal: &mut String) -> Result<(), String> {
        let (operator, names) = match inner.as_bytes().first() {
            Some(b'+') => (Operator::Reserved, &inner[1..]),
            Some(b'/') => (Operator::Path, &inner[1..]),
            Some(other @ (b'#' | b'.' | b';' | b'?' | b'&' | b'=' | b',' | b'!' | b'@' | b'|')) => {
                return Err(format!(
                    "has the expression `{{{inner}}}`, whose operator `{}` is not supported: `{{name}}`, `{{+name}}` and `{{/name}}` are",
                    char::from(*other)
                ));
            }
            _ => (Operator::Simple, inner),
        };
        for (at, name) in names.split(',').enumerate() {
            match operator {
                Operator::Path => literal.push('/'),
                Operator::Simple | Operator::Reserved if at > 0 => literal.push(','),
                Operator::Simple | Operator::Reserved => {}
            }
            self.push_variable(name, operator, inner, literal)?;
        }
        Ok(())
    }

    fn push_variable(
        &mut self,
        name: &str,
        operator: Operator,
        inner: &str,
        literal: &mut String,
    ) -> Result<(), String> {
        if name.ends_with('*') || name.contains(':') {
            return Err(format!(
                "has a modifier in `{{{inner}}}`, which is not supported; `{{+name}}` takes several segments of a path"
            ));
        }
        if !is_name(name) {
            return Err(format!(
                "has `{{{inner}}}`, where the name of a variable was expected: letters, digits, `_` and `.`"
            ));
        }
        if self.variables.iter().any(|other| *other.name == *name) {
            return Err(format!("has the variable `{name}` twice"));
        }
        if operator == Operator::Reserved {
            if let Some(other) = self.reserved {
                return Err(format!(
                    "has the variables `{{+{}}}` and `{{+{name}}}`, and only one may hold slashes: which of them gets what would be a guess",
                    self.variables[other].name
                ));
            }
            self.reserved = Some(self.variables.len());
        }
        if literal.is_empty()
            && let Some(other) = self.variables.last()
        {
            return Err(format!(
                "has no text between the variables `{}` and `{name}`, so where one ends would be a guess",
                other.name
            ));
        }
        self.end_literal(std::mem::take(literal));
        self.variables.push(Variable {
            name: name.into(),
            after: Box::default(),
        });
        Ok(())
    }

    fn end_literal(&mut self, literal: String) {
        match self.variables.last_mut() {
            Some(variable) => variable.after = literal.into(),
            None => self.prefix = literal.into(),
        }
    }

    /// Returns the literal text before the first variable.
    pub(crate) fn prefix(&self) -> &str {
        &self.prefix
    }

    /// Returns whether a byte of `value` also occurs in the text after a variable.
    #[cfg(feature = "testing")]
    pub(crate) fn has_in_literals(&self, value: &str) -> bool {
        let mut literals = self.variables.iter().flat_map(|one| one.after.bytes());
        literals.any(|byte| value.as_bytes().contains(&byte))
    }

    /// Returns the names of the variables, in order.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.variables.iter().map(|variable| &*variable.name)
    }

    /// Returns a key for how specific the template is: the smaller of two keys belongs to the more specific template. At the first place
    /// where two templates differ, literal text comes before `{name}`, `{name}` before `{+name}`, and the longer template before the
    /// shorter one.
    pub(crate) fn specificity(&self) -> Vec<u8> {
        const LITERAL: u8 = 0;
        const SIMPLE: u8 = 1;
        const RESERVED: u8 = 2;
        const END: u8 = 3;
        let mut key = vec![LITERAL; self.prefix.len()];
        for (at, variable) in self.variables.iter().enumerate() {
            key.push(if Some(at) == self.reserved {
                RESERVED
            } else {
                SIMPLE
            });
            key.extend(std::iter::repeat_n(LITERAL, variable.after.len()));
        }
        key.push(END);
        key
    }

    /// Returns the template without the names of its variables: templates with the same form match the same URIs.
    pub(crate) fn form(&self) -> String {
        let mut form = self.prefix.to_string();
        for (at, variable) in self.variables.iter().enumerate() {
            form.push_str(if Some(at) == self.reserved {
                "{+}"
            } else {
                "{}"
            });
            form.push_str(&variable.after);
        }
        form
    }

    /// Returns the decoded values of the variables in `uri`, in order; `None` if `uri` does not match the template. Each value has at least
    /// one character. Text between two variables is searched from the outside in: with `{a}-{b}` and `x-y-z`, the value of `a` is `x`.
    ///
    /// # Errors
    /// The URI matches, but a value cannot be decoded or leaves its folder.
    pub(crate) fn values<'u>(
        &self,
        uri: &'u str,
    ) -> Option<Result<Vec<Cow<'u, str>>, Mismatch<'_>>> {
        let places = self.places(uri)?;
        let named = self.variables.iter().zip(places);
        Some(
            named
                .map(|(variable, place)| {
                    let raw = &uri[place];
                    let value = decoded(raw).ok_or(Mismatch::Escape(&variable.name))?;
                    match self.is_file_like && leaves_folder(raw, &value) {
                        true => Err(Mismatch::Traversal(&variable.name)),
                        false => Ok(value),
                    }
                })
                .collect(),
        )
    }

    /// Returns the ranges of the values of the variables in `uri`.
    fn places(&self, uri: &str) -> Option<Vec<Range<usize>>> {
        let text = uri.as_bytes();
        if !uri.starts_with(&*self.prefix) {
            return None;
        }
        let mut start = self.prefix.len();
        let Some(last) = self.variables.len().checked_sub(1) else {
            return (text.len() == start).then(Vec::new);
        };
        // This is first because it is the cheapest check: many templates may have the same prefix.
        let suffix = self.variables[last].after.as_bytes();
        let is_split =
            !suffix.is_empty() && is_in_escape(text, text.len().saturating_sub(suffix.len()));
        if is_split || !text[start..].ends_with(suffix) {
            return None;
        }
        let mut places = vec![0..0; self.variables.len()];
        // From the front to the variable that takes the rest: the one with slashes, or the last one.
        let pivot = self.reserved.unwrap_or(last);
        let mut segment = start..segment_end(text, start);
        for (at, place) in places.iter_mut().enumerate().take(pivot) {
            if start > segment.end {
                segment.end = segment_end(text, start);
            }
            let after = self.variables[at].after.as_bytes();
            // It begins within the segment, after at least one byte.
            let from = start + 1;
            let until = text.len().min(segment.end + after.len());
            *place = start..first_of(after, text, from..until)?;
            start = place.end + after.len();
        }
        // From the back to the same variable.
        let mut end = text.len().checked_sub(self.variables[last].after.len())?;
        if end <= start || text[end..] != *self.variables[last].after.as_bytes() {
            return None;
        }
        let mut segment_start = usize::MAX;
        for at in (pivot + 1..=last).rev() {
            if end < segment_start {
                segment_start = start + segment_begin(&text[start..end]);
            }
            let before = self.variables[at - 1].after.as_bytes();
            let until = end.checked_sub(1)?;
            let from = start.max(segment_start.saturating_sub(before.len()));
            let found = last_of(before, text, from..until)?;
            places[at] = found + before.len()..end;
            end = found;
        }
        if end <= start {
            return None;
        }
        let is_whole = Some(pivot) == self.reserved || segment_end(&text[..end], start) == end;
        places[pivot] = start..end;
        is_whole.then_some(places)
    }

    /// Returns the URI with `value` for each variable, encoded as the template requires.
    fn expanded_with<'v>(&self, mut value: impl FnMut(usize) -> Cow<'v, str>) -> String {
        self.joined(|at, uri| encode(&value(at), Some(at) == self.reserved, uri))
    }

    /// Joins the literal text and what `push` appends for each variable.
    fn joined(&self, mut push: impl FnMut(usize, &mut String)) -> String {
        let mut uri = self.prefix.to_string();
        for (at, variable) in self.variables.iter().enumerate() {
            push(at, &mut uri);
            uri.push_str(&variable.after);
        }
        uri
    }

    /// Like [`expanded`](Self::expanded), but of the reserved characters in the value of `{+name}`, only `/` is not encoded.
    pub(super) fn expanded_strictly(&self, values: &[&str]) -> String {
        self.joined(|at, uri| {
            let is_reserved = Some(at) == self.reserved;
            for (nth, segment) in values[at].split('/').enumerate() {
                if nth > 0 {
                    uri.push_str(if is_reserved { "/" } else { "%2F" });
                }
                encode(segment, false, uri);
            }
        })
    }

    /// Returns the URI with `values` for the variables, in order. Unlike in RFC 6570, a `%` in the value of `{+name}` is encoded too, so
    /// that matching returns the same value.
    pub(crate) fn expanded(&self, values: &[&str]) -> String {
        self.expanded_with(|at| values[at].into())
    }
}

/// Returns whether the byte at `at` is one of the two digits of an escape: the `B` in `%7B` does not match a letter of a template.
fn is_in_escape(text: &[u8], at: usize) -> bool {
    (1..=2).any(|back| at.checked_sub(back).is_some_and(|at| text[at] == b'%'))
}

/// Returns the position of the first `part` in `range` of `text`, outside of escapes.
fn first_of(part: &[u8], text: &[u8], range: Range<usize>) -> Option<usize> {
    let mut from = range.start;
    loop {
        let found = from + memmem::find(text.get(from..range.end)?, part)?;
        if part.is_empty() || !is_in_escape(text, found) {
            return Some(found);
        }
        from = found + 1;
    }
}

/// Returns the position of the last `part` in `range` of `text`, outside of escapes.
fn last_of(part: &[u8], text: &[u8], range: Range<usize>) -> Option<usize> {
    let mut until = range.end;
    loop {
        let found = range.start + memmem::rfind(text.get(range.start..until)?, part)?;
        if part.is_empty() || !is_in_escape(text, found) {
            return Some(found);
        }
        until = found + part.len() - 1;
    }
}

impl fmt::Display for Mismatch<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Escape(name) => write!(
                f,
                "the value of `{name}` is not UTF-8 in percent-encoded form"
            ),
            Self::Traversal(name) => write!(
                f,
                "the value of `{name}` could leave its folder: it is an absolute path, or has `..`, an encoded slash, a backslash or a NUL"
            ),
        }
    }
}

/// Appends `text` to `literal`. Characters outside of ASCII are encoded, as RFC 6570 requires.
fn push_literal(literal: &mut String, text: &str) -> Result<(), String> {
    if text.contains(char::is_whitespace) {
        return Err("has white space".to_owned());
    }
    for character in text.chars() {
        if character.is_ascii() {
            literal.push(character);
        } else {
            encode(character.encode_utf8(&mut [0; 4]), false, literal);
        }
    }
    Ok(())
}

fn is_name(name: &str) -> bool {
    name.split('.').all(|part| {
        !part.is_empty()
            && part
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    })
}

/// Returns the end of the segment at `start` in `text`.
fn segment_end(text: &[u8], start: usize) -> usize {
    let found = memchr3(b'/', b'?', b'#', text.get(start..).unwrap_or_default());
    found.map_or(text.len(), |at| start + at)
}

/// Returns the start of the last segment of `text`.
fn segment_begin(text: &[u8]) -> usize {
    let found = text.iter().rposition(|byte| ends_segment(*byte));
    found.map_or(0, |at| at + 1)
}

/// Returns `raw` with its percent-encoded bytes decoded; `None` if an escape is malformed or the bytes are not UTF-8.
fn decoded(raw: &str) -> Option<Cow<'_, str>> {
    let Some(first) = memchr::memchr(b'%', raw.as_bytes()) else {
        return Some(Cow::Borrowed(raw));
    };
    let mut bytes = Vec::with_capacity(raw.len());
    bytes.extend_from_slice(&raw.as_bytes()[..first]);
    let mut rest = &raw.as_bytes()[first..];
    loop {
        rest = match rest {
            [] => break,
            [b'%', high, low, rest @ ..] => {
                bytes.push(digit(*high)? << 4 | digit(*low)?);
                rest
            }
            [b'%', ..] => return None,
            [byte, rest @ ..] => {
                bytes.push(*byte);
                rest
            }
        };
    }
    String::from_utf8(bytes).ok().map(Cow::Owned)
}

pub(super) fn digit(byte: u8) -> Option<u8> {
    char::from(byte).to_digit(16).map(|digit| digit as u8)
}

/// Returns whether `value`, which was written as `raw`, could lead out of the folder that it is relative to, on any operating system.
fn leaves_folder(raw: &str, value: &str) -> bool {
    let has_drive = matches!(value.as_bytes(), [letter, b':', ..] if letter.is_ascii_alphabetic());
    let has_encoded_slash = || {
        let slashes = value.bytes().filter(|byte| *byte == b'/').count();
        slashes != raw.bytes().filter(|byte| *byte == b'/').count()
    };
    value.starts_with('/')
        || has_drive
        || value.contains(['\\', '\0'])
        || value
            .split('/')
            .any(|segment| segment == "." || segment == "..")
        || has_encoded_slash()
}

/// Appends `value` to `uri`, encoded: all except unreserved characters and, if `keeps_reserved`, reserved ones.
pub(super) fn encode(value: &str, keeps_reserved: bool, uri: &mut String) {
    const DIGITS: &[u8; 16] = b"0123456789ABCDEF";
    for byte in value.bytes() {
        let is_kept = byte.is_ascii_alphanumeric()
            || b"-._~".contains(&byte)
            || keeps_reserved && b":/?#[]@!$&'()*+,;=".contains(&byte);
        if is_kept {
            uri.push(char::from(byte));
        } else {
            uri.push('%');
            uri.push(char::from(DIGITS[usize::from(byte >> 4)]));
            uri.push(char::from(DIGITS[usize::from(byte & 15)]));
        }
    }
}

#[cfg(test)]
mod tests;
