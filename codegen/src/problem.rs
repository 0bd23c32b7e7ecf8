//! A problem in a schema file: file, definition, JSON pointer, description.
//!
//! Every command of `trueform-codegen` reports bad input in this shape. The type is independent of the command.

use std::fmt;

/// A problem in a schema file, with its place as exactly as known.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Problem {
    /// The file as the user named it; empty when the text did not come from a file.
    pub file: String,
    /// JSON pointer (RFC 6901) of the offending value inside the file; empty for the whole document.
    pub pointer: String,
    /// Description of the problem, and what would be allowed.
    pub message: String,
}

impl Problem {
    /// Creates a problem at `pointer` in a document whose file is not known yet.
    #[must_use]
    pub fn at(pointer: impl Into<String>, message: impl Into<String>) -> Problem {
        Problem {
            file: String::new(),
            pointer: pointer.into(),
            message: message.into(),
        }
    }

    /// Names the file, unless an inner caller has already named it.
    #[must_use]
    pub fn in_file(mut self, file: impl fmt::Display) -> Problem {
        if self.file.is_empty() {
            self.file = file.to_string();
        }
        self
    }

    /// Returns the definition that the pointer leads through, if any.
    #[must_use]
    pub fn definition(&self) -> Option<String> {
        let rest = ["/$defs/", "/definitions/"]
            .iter()
            .find_map(|root| self.pointer.strip_prefix(root))?;
        let token = rest.split('/').next().unwrap_or(rest);
        Some(unescape(token))
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.file.is_empty() {
            write!(f, "`{}`: ", self.file)?;
        }
        if let Some(definition) = self.definition() {
            write!(f, "definition `{definition}`, ")?;
        }
        if !self.pointer.is_empty() {
            write!(f, "at `{}`: ", self.pointer)?;
        }
        f.write_str(&self.message)
    }
}

impl std::error::Error for Problem {}

/// Returns `pointer` with one more reference token, escaped as RFC 6901 requires.
#[must_use]
pub fn child(pointer: &str, token: impl fmt::Display) -> String {
    format!("{pointer}/{}", escape(&token.to_string()))
}

/// Escapes `name` as a reference token of a JSON pointer (RFC 6901, section 3), without the leading slash.
#[must_use]
pub fn escape(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}

/// Returns the name that a reference token of a JSON pointer represents: the inverse of [`escape`].
#[must_use]
pub fn unescape(token: &str) -> String {
    // In this order, because `~01` means `~1`.
    token.replace("~1", "/").replace("~0", "~")
}

/// Returns the name of the definition that the `$ref` `target` points to, if it points to a definition of its own file.
///
/// A `$ref` is a URI reference, so characters of the name may be percent-encoded.
#[must_use]
pub fn referred(target: &str) -> Option<String> {
    let token = ["#/$defs/", "#/definitions/"]
        .iter()
        .find_map(|root| target.strip_prefix(root))?;
    match token.contains('/') {
        true => None,
        false => decode_percent(token).map(|token| unescape(&token)),
    }
}

/// Returns the `$ref` to the definition `name`.
#[must_use]
pub fn reference(name: &str) -> String {
    // A percent sign in a name would be read as the start of an encoded byte.
    format!("#{}", child("/$defs", name).replace('%', "%25"))
}

/// Decodes percent-encoded text. `None` if a `%` is not followed by two hexadecimal digits, or if the bytes are not UTF-8.
fn decode_percent(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        if byte != b'%' {
            bytes.push(byte);
            continue;
        }
        let high = char::from(rest.next()?).to_digit(16)?;
        let low = char::from(rest.next()?).to_digit(16)?;
        bytes.push(u8::try_from(high * 16 + low).ok()?);
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_file_definition_and_pointer() {
        let problem = Problem::at("/$defs/a~1b/type", "`type` is a number")
            .in_file("x.json")
            .in_file("later.json");
        assert_eq!(
            problem.to_string(),
            "`x.json`: definition `a/b`, at `/$defs/a~1b/type`: `type` is a number"
        );
        assert_eq!(Problem::at("", "not JSON").to_string(), "not JSON");
        assert_eq!(child("/a", "b/c~d"), "/a/b~1c~0d");
    }

    #[test]
    fn every_name_survives_as_a_token_and_as_a_reference() {
        for name in [
            "", "a", "~", "/", "~1", "~01", "a/b~c", "a b", "50%", "%41", "ü", "#",
        ] {
            assert_eq!(unescape(&escape(name)), name);
            assert_eq!(referred(&reference(name)).as_deref(), Some(name));
        }
        assert_eq!(unescape("~01"), "~1");
        for (target, name) in [
            ("#/$defs/a%20b", Some("a b")),
            ("#/definitions/a~1b", Some("a/b")),
            ("#/$defs/a/properties/b", None),
            ("#/$defs/%4", None),
            ("#/$defs/%ff", None),
            ("other.json#/$defs/a", None),
        ] {
            assert_eq!(referred(target).as_deref(), name, "{target}");
        }
    }
}
