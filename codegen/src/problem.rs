//! A problem in a schema file: file, definition, JSON pointer, description.
//!
//! Every command of `trueform-codegen` reports bad input in this shape. The type is independent of the command.

use std::fmt;

/// Something wrong in a schema file, with its place, as exactly as known.
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
    /// A problem at `pointer` in a document whose file is not known yet.
    #[must_use]
    pub fn at(pointer: impl Into<String>, message: impl Into<String>) -> Problem {
        Problem {
            file: String::new(),
            pointer: pointer.into(),
            message: message.into(),
        }
    }

    /// Names the file; the innermost caller that knows it wins.
    #[must_use]
    pub fn in_file(mut self, file: impl fmt::Display) -> Problem {
        if self.file.is_empty() {
            self.file = file.to_string();
        }
        self
    }

    /// The definition the pointer leads through, if it leads through one.
    #[must_use]
    pub fn definition(&self) -> Option<String> {
        let rest = ["/$defs/", "/definitions/"]
            .iter()
            .find_map(|root| self.pointer.strip_prefix(root))?;
        let token = rest.split('/').next().unwrap_or(rest);
        Some(token.replace("~1", "/").replace("~0", "~"))
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

/// `pointer` with one more reference token, escaped as RFC 6901 asks.
#[must_use]
pub fn child(pointer: &str, token: impl fmt::Display) -> String {
    format!(
        "{pointer}/{}",
        token.to_string().replace('~', "~0").replace('/', "~1")
    )
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
}
