//! Text: similar names, lists of names, doc comments, durations, dates, tool names.

use std::ops::RangeInclusive;

use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::{Attribute, Expr, ExprLit, Lit, Meta, MetaNameValue};

/// Returns a list such as `` `a`, `b`, `c` ``.
pub(crate) fn quoted<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    let names: Vec<_> = names.into_iter().map(|name| format!("`{name}`")).collect();
    names.join(", ")
}

/// Returns the entry of `known` that is closest to `word`, or the only one that contains it: `mime_type` for `mime`.
pub(crate) fn near_miss<'a>(word: &str, known: &[&'a str]) -> Option<&'a str> {
    let word = word.to_ascii_lowercase();
    let has_part = |name: &&&str| {
        let is_start = 3 <= word.len() && name.starts_with(&word);
        is_start || name.split('_').any(|part| part == word)
    };
    let mut whole = known.iter().filter(has_part);
    if let (Some(only), None) = (whole.next(), whole.next()) {
        return Some(only);
    }
    let (distance, best) = known
        .iter()
        .map(|name| (distance(&word, name), *name))
        .min()?;
    // At most a third of the letters may differ.
    (distance <= best.len().max(3) / 3).then_some(best)
}

/// Returns the number of edits between `a` and `b`, in bytes, because all words here are ASCII. An edit adds, removes or replaces a letter,
/// or swaps it with the next.
fn distance(a: &str, b: &str) -> usize {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    let mut rows = vec![vec![0; b.len() + 1]; a.len() + 1];
    for i in 0..=a.len() {
        for j in 0..=b.len() {
            rows[i][j] = match (i, j) {
                (0, _) => j,
                (_, 0) => i,
                _ => {
                    let replaced = rows[i - 1][j - 1] + usize::from(a[i - 1] != b[j - 1]);
                    let best = replaced.min(rows[i - 1][j] + 1).min(rows[i][j - 1] + 1);
                    match 1 < i && 1 < j && a[i - 2] == b[j - 1] && a[i - 1] == b[j - 2] {
                        true => best.min(rows[i - 2][j - 2] + 1),
                        false => best,
                    }
                }
            };
        }
    }
    rows[a.len()][b.len()]
}

/// A text for the model: an expression of type `&'static str`.
#[derive(Clone)]
pub(crate) struct Text(TokenStream);

impl Text {
    pub(crate) fn literal(text: &str) -> Self {
        Self(text.to_token_stream())
    }

    /// Returns the doc comment among `attrs`.
    pub(crate) fn of_docs(attrs: &[Attribute]) -> Option<Self> {
        let docs: Vec<&Expr> = attrs.iter().filter_map(doc_value).collect();
        let lines: Option<Vec<String>> = docs.iter().map(|doc| literal(doc)).collect();
        match lines {
            Some(lines) => {
                let text = joined(&lines);
                (!text.is_empty()).then(|| Self::literal(&text))
            }
            // `#[doc = include_str!("…")]` is left to the compiler; the runtime trims the text.
            None => Some(Self(quote!(::core::concat!(#(#docs, "\n"),*)))),
        }
    }
}

impl ToTokens for Text {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        self.0.to_tokens(tokens);
    }
}

fn doc_value(attr: &Attribute) -> Option<&Expr> {
    match &attr.meta {
        Meta::NameValue(MetaNameValue { path, value, .. }) if path.is_ident("doc") => Some(value),
        _ => None,
    }
}

/// Returns the text of a string literal.
pub(crate) fn literal(expr: &Expr) -> Option<String> {
    match expr {
        Expr::Lit(ExprLit {
            lit: Lit::Str(text),
            ..
        }) => Some(text.value()),
        _ => None,
    }
}

/// Joins doc lines into one text, without the space that follows each `///`. The lines of a paragraph and of a list item become one line,
/// as rustdoc shows them. Blank lines, code, tables, quotes and headings stay as they are.
fn joined(lines: &[String]) -> String {
    let lines = lines.iter().flat_map(|line| line.split('\n'));
    let mut text = String::new();
    // The kind of the line before, and the fence of the code that contains it.
    let (mut before, mut fence) = (Line::Blank, None);
    for line in lines {
        let line = line.strip_prefix(' ').unwrap_or(line);
        let is_broken = line.ends_with("  ") || line.ends_with('\\');
        let line = line.trim_end();
        let content = line.trim_start();
        let mark = ["```", "~~~"]
            .into_iter()
            .find(|mark| content.starts_with(mark));
        let kind = match (fence, mark) {
            (Some(open), Some(mark)) if open == mark => {
                fence = None;
                Line::Alone
            }
            (Some(_), _) => Line::Alone,
            (None, Some(mark)) => {
                fence = Some(mark);
                Line::Alone
            }
            (None, None) => Line::of(line, before),
        };
        let continues = kind == Line::Continued;
        if continues {
            text.push(' ');
            text.push_str(content);
        } else {
            text.push('\n');
            text.push_str(line);
        }
        before = match kind {
            Line::Text | Line::Item | Line::Continued if is_broken => Line::Alone,
            // A line that continues an item does not end the item, so its number may be any.
            Line::Continued => before,
            kind => kind,
        };
    }
    text.trim().to_owned()
}

/// The kind of a line of a doc comment, by how Markdown joins it with its neighbours.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Line {
    Blank,
    /// It begins a paragraph.
    Text,
    /// It begins an item of a list.
    Item,
    /// It continues the line before.
    Continued,
    /// A heading, a quote, code, a row of a table, a rule: nothing is joined with it.
    Alone,
}

impl Line {
    /// Returns the kind of `line`, which is outside fenced code, after a line of the kind `before`.
    fn of(line: &str, before: Self) -> Self {
        let content = line.trim_start();
        let goes_on = matches!(before, Self::Text | Self::Item);
        let is_rule = |mark: char| content.len() > 2 && content.chars().all(|one| one == mark);
        if content.is_empty() {
            Self::Blank
        } else if content.starts_with(['#', '>', '|'])
            || ['-', '*', '_', '='].into_iter().any(is_rule)
        {
            Self::Alone
        } else if is_item(content, before) {
            Self::Item
        } else if goes_on {
            Self::Continued
        } else if line.starts_with("    ") {
            // Indented code, or a paragraph of an item.
            Self::Alone
        } else {
            Self::Text
        }
    }
}

/// Returns whether `content` begins an item of a list. Within a paragraph, only the number 1 does, as CommonMark defines.
fn is_item(content: &str, before: Line) -> bool {
    let (marker, rest) = content.split_once(' ').unwrap_or((content, ""));
    match marker.strip_suffix(['.', ')']) {
        Some(number) => {
            let is_number =
                (1..=9).contains(&number.len()) && number.bytes().all(|byte| byte.is_ascii_digit());
            is_number && !rest.is_empty() && (before != Line::Text || number == "1")
        }
        None => matches!(marker, "-" | "*" | "+") && !rest.is_empty(),
    }
}

/// Parses milliseconds from `500ms`, `30s`, `5m` or `1h`.
pub(crate) fn milliseconds(text: &str) -> Option<u64> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (number, unit) = text.split_at(digits);
    let factor = match unit {
        "ms" => 1,
        "s" => 1_000,
        "m" => 60_000,
        "h" => 3_600_000,
        _ => return None,
    };
    number
        .parse::<u64>()
        .ok()?
        .checked_mul(factor)
        .filter(|milliseconds| 0 < *milliseconds)
}

/// Returns whether `text` is a date, or a date and time with an offset, as ISO 8601 writes them: `2026-01-31` or `2026-01-31T15:00:58Z`.
pub(crate) fn is_date(text: &str) -> bool {
    let (date, time) = match text.split_once('T') {
        Some((date, time)) => (date, Some(time)),
        None => (text, None),
    };
    let date = date.split('-').collect::<Vec<_>>();
    let [year, month, day] = *date else {
        return false;
    };
    let is_date = is_number(year, 4, 0..=9999) && is_number(month, 2, 1..=12);
    is_date && is_number(day, 2, 1..=31) && time.is_none_or(is_time)
}

/// Returns whether `text` is a time of day with an offset.
fn is_time(text: &str) -> bool {
    let (time, offset) = match text.strip_suffix('Z') {
        Some(time) => (time, None),
        None => match text.rsplit_once(['+', '-']) {
            Some((time, offset)) => (time, Some(offset)),
            None => return false,
        },
    };
    let is_offset = |offset: &str| {
        let parts = offset.split_once(':');
        parts.is_some_and(|(hour, minute)| {
            is_number(hour, 2, 0..=23) && is_number(minute, 2, 0..=59)
        })
    };
    let mut parts = time.splitn(3, ':');
    let is_hour = parts.next().is_some_and(|hour| is_number(hour, 2, 0..=23));
    let is_minute = parts
        .next()
        .is_some_and(|minute| is_number(minute, 2, 0..=59));
    let is_second = parts.next().is_none_or(|second| {
        let (whole, fraction) = second.split_once('.').unwrap_or((second, "0"));
        let digits = fraction.bytes().all(|byte| byte.is_ascii_digit());
        is_number(whole, 2, 0..=60) && !fraction.is_empty() && digits
    });
    is_hour && is_minute && is_second && offset.is_none_or(is_offset)
}

/// Returns whether `text` has this number of digits and is a number in `range`.
fn is_number(text: &str, digits: usize, range: RangeInclusive<u32>) -> bool {
    text.len() == digits
        && text.bytes().all(|byte| byte.is_ascii_digit())
        && text.parse().is_ok_and(|number| range.contains(&number))
}

/// Returns whether `text` has the form `type/subtype`, which parameters may follow.
pub(crate) fn is_mime_type(text: &str) -> bool {
    let essence = text.split(';').next().unwrap_or_default();
    let is_token = |token: &str| {
        let mut bytes = token.trim_end().bytes();
        !token.is_empty()
            && bytes.all(|byte| byte.is_ascii_alphanumeric() || b"!#$&-^_.+".contains(&byte))
    };
    let parts = essence.split_once('/');
    parts.is_some_and(|(kind, subtype)| is_token(kind) && is_token(subtype))
}

/// Returns whether `name` is a legal tool name (Z-7).
pub(crate) fn is_tool_name(name: &str) -> bool {
    (1..=128).contains(&name.len())
        && name
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_misses() {
        let known = [
            "name",
            "title",
            "description",
            "read_only",
            "mime_type",
            "audience_type",
        ];
        for (word, best) in [
            ("tittle", Some("title")),
            ("titel", Some("title")),
            ("eman", None),
            ("Readonly", Some("read_only")),
            ("nam", Some("name")),
            ("xyz", None),
            ("mime", Some("mime_type")),
            ("desc", Some("description")),
            ("only", Some("read_only")),
            ("na", None),
            // Part of two entries.
            ("type", None),
        ] {
            assert_eq!(near_miss(word, &known), best, "{word}");
        }
    }

    #[test]
    fn durations() {
        for (text, expected) in [
            ("30s", Some(30_000)),
            ("500ms", Some(500)),
            ("5m", Some(300_000)),
            ("1h", Some(3_600_000)),
            ("0s", None),
            ("30", None),
            ("s", None),
            ("1.5s", None),
            ("30 s", None),
        ] {
            assert_eq!(milliseconds(text), expected, "{text}");
        }
    }

    #[test]
    fn doc_lines() {
        for (lines, expected) in [
            (&[" One."][..], "One."),
            (&[" One", " and two."], "One and two."),
            (
                &[" One.", "", " Two", "   and three."],
                "One.\n\nTwo and three.",
            ),
            (
                &[" Takes:", " - one", "   more of it", " - two"],
                "Takes:\n- one more of it\n- two",
            ),
            (&[" 1. one", "    more", " 2. two"], "1. one more\n2. two"),
            (&[" Since", " 2024. It", " * is"], "Since 2024. It\n* is"),
            (&[" Since 1. one", " 1. two"], "Since 1. one\n1. two"),
            (&[" # Title", " text", " text"], "# Title\ntext text"),
            (&[" text", " # Title"], "text\n# Title"),
            (
                &[" ```", " a", " b", " ```", " c", " d"],
                "```\na\nb\n```\nc d",
            ),
            (&[" ~~~", " ```", " a", " ~~~", " b"], "~~~\n```\na\n~~~\nb"),
            (&[" | a |", " | - |", " | 1 |"], "| a |\n| - |\n| 1 |"),
            (&[" > a", " > b", " c"], "> a\n> b\nc"),
            (
                &[" text", "", "     code", "     more"],
                "text\n\n    code\n    more",
            ),
            (&[" hard  ", " break\\", " again"], "hard\nbreak\\\nagain"),
            (&[" a", " ---", " b"], "a\n---\nb"),
            (&[" -1 is", " -2"], "-1 is -2"),
            (&[" #tag"], "#tag"),
            (&["", " "], ""),
            (&[" One\n two"], "One two"),
        ] {
            let lines: Vec<String> = lines.iter().map(ToString::to_string).collect();
            assert_eq!(joined(&lines), expected, "{lines:?}");
        }
    }

    #[test]
    fn dates() {
        for text in [
            "2026-01-31",
            "2025-01-12T15:00:58Z",
            "2025-01-12T15:00Z",
            "2025-01-12T15:00:58.25+02:00",
            "2025-01-12T15:00:58-11:30",
        ] {
            assert!(is_date(text), "{text}");
        }
        for text in [
            "",
            "2026",
            "2026-1-31",
            "2026-13-01",
            "2026-01-32",
            "2026-01-31-01",
            "31.01.2026",
            "2026-01-31T",
            "2026-01-31T15Z",
            "2026-01-31T15:00:58",
            "2026-01-31T24:00:00Z",
            "2026-01-31T15:60:00Z",
            "2026-01-31T15:00:58.Z",
            "2026-01-31T15:00:58+2",
            "2026-01-31 15:00:58Z",
        ] {
            assert!(!is_date(text), "{text}");
        }
    }

    #[test]
    fn mime_types() {
        for text in [
            "text/plain",
            "image/svg+xml",
            "text/plain; charset=utf-8",
            "application/vnd.api+json",
        ] {
            assert!(is_mime_type(text), "{text}");
        }
        for text in [
            "",
            "text",
            "text/",
            "/plain",
            "text/plain/x",
            "text plain/x",
            "; charset=utf-8",
        ] {
            assert!(!is_mime_type(text), "{text}");
        }
    }

    // Z-7
    #[test]
    fn tool_names() {
        let long = "a".repeat(128);
        for name in ["a", "A-z_0.9", &long] {
            assert!(is_tool_name(name), "{name}");
        }
        for name in ["", "a b", "é", "a/b", &"a".repeat(129)] {
            assert!(!is_tool_name(name), "{name}");
        }
    }
}
