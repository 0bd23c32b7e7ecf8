//! What clients send and get: a query, and a page of matches.

use std::{borrow::Cow, fmt};

use ignore::overrides::{Override, OverrideBuilder};
use regex::bytes::{Regex, RegexBuilder};
use trueform::prelude::*;

/// Most matches of a page.
pub const MAX_MATCHES: u32 = 1000;

/// Longest pattern, in characters.
pub const MAX_PATTERN_CHARS: usize = 1000;

/// Longest glob, in characters. One becomes a regular expression, and the memory of that grows with it: half a gigabyte for a megabyte.
pub const MAX_GLOB_CHARS: usize = 1000;

/// Largest regular expression once it is compiled, in bytes.
pub const MAX_REGEX_BYTES: usize = 2 << 20;

/// What to search for.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct Query {
    /// A regular expression (syntax of Rust's `regex`: no look-around, no backreferences), matched against each line.
    #[schemars(length(min = 1, max = MAX_PATTERN_CHARS))]
    pattern: String,
    /// Take `pattern` as plain text, not as a regular expression.
    #[serde(default)]
    literal: bool,
    /// Make no difference between upper and lower case.
    #[serde(default)]
    ignore_case: bool,
    /// Search only files whose path fits this glob, such as `src/**/*.rs`. One without `/`, such as `*.rs`, fits in all folders; one
    /// that fits a folder lets in all of it; one that begins with `!` leaves out what fits.
    #[schemars(length(max = MAX_GLOB_CHARS))]
    glob: Option<String>,
    /// Most matches to return.
    #[serde(default = "usual_limit")]
    #[schemars(range(min = 1, max = MAX_MATCHES))]
    pub(crate) limit: u32,
    /// The `next_cursor` of the page before, for the same search; none for the first page.
    cursor: Option<String>,
}

fn usual_limit() -> u32 {
    100
}

/// A part of what was found.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub struct Page {
    /// The lines that match.
    pub(crate) matches: Vec<Match>,
    /// There may be more: pass it as `cursor` for the next page. Absent on the last page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) next_cursor: Option<String>,
    /// How many files were searched for this page.
    pub(crate) files_searched: u32,
    /// How many files and folders were left out because they are binary, too large, or cannot be read.
    pub(crate) skipped: u32,
}

/// A line that matches.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Match {
    /// The path of the file, relative to the folder.
    pub(crate) path: String,
    /// The number of the line, from 1.
    pub(crate) line: usize,
    /// The text of the line; of a long one the part around the match, with `…` for what is cut.
    pub(crate) text: String,
}

/// Where a page begins: after line `line` of `path`. As text it is a cursor. Because it names a place, and not a number of matches, it
/// holds when files change.
#[derive(Default)]
pub(crate) struct Position {
    pub(crate) line: usize,
    pub(crate) path: String,
}

impl Query {
    pub(crate) fn regex(&self) -> Result<Regex, ToolError> {
        let pattern = match self.literal {
            true => Cow::Owned(regex::escape(&self.pattern)),
            false => Cow::Borrowed(&*self.pattern),
        };
        RegexBuilder::new(&pattern)
            .case_insensitive(self.ignore_case)
            .size_limit(MAX_REGEX_BYTES)
            .build()
            .map_err(|error| {
                ToolError::new(format!(
                    "`pattern` is not a regular expression that can be searched for (`literal: true` takes it as plain text): {error}"
                ))
            })
    }

    /// What `ignore` calls an override. It is applied outside of the walk: within the walk, it would show ignored files.
    pub(crate) fn glob(&self) -> Result<Override, ToolError> {
        let Some(glob) = &self.glob else {
            return Ok(Override::empty());
        };
        let mut builder = OverrideBuilder::new("");
        let built = builder.add(glob).and_then(|builder| builder.build());
        built.map_err(|error| ToolError::new(format!("`glob` is not a glob: {error}")))
    }

    pub(crate) fn position(&self) -> Result<Position, ToolError> {
        let Some(cursor) = &self.cursor else {
            return Ok(Position::default());
        };
        let parts = cursor.split_once(':');
        let position = parts.and_then(|(line, path)| {
            Some(Position {
                line: line.parse().ok()?,
                path: path.to_owned(),
            })
        });
        position.ok_or_else(|| {
            ToolError::new("`cursor` is not a cursor; pass the `next_cursor` of the page before as it is, or none for the first page")
        })
    }
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.line, self.path)
    }
}
