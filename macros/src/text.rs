//! Text: near misses, lists of names, doc comments, durations, tool names.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::{Attribute, Expr, ExprLit, Lit, Meta, MetaNameValue};

/// `` `a`, `b`, `c` ``
pub(crate) fn quoted<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    let names: Vec<_> = names.into_iter().map(|name| format!("`{name}`")).collect();
    names.join(", ")
}

/// The entry of `known` that is closest to `word`.
pub(crate) fn near_miss<'a>(word: &str, known: &[&'a str]) -> Option<&'a str> {
    let word = word.to_ascii_lowercase();
    let (distance, best) = known
        .iter()
        .map(|name| (distance(&word, name), *name))
        .min()?;
    // At most a third of the letters may differ.
    (distance <= best.len().max(3) / 3).then_some(best)
}

/// Levenshtein distance in bytes; all words here are ASCII.
fn distance(a: &str, b: &str) -> usize {
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.bytes().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, y) in b.bytes().enumerate() {
            let substituted = diagonal + usize::from(x != y);
            diagonal = row[j + 1];
            row[j + 1] = substituted.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

/// A text for the model: an expression of type `&'static str`.
#[derive(Clone)]
pub(crate) struct Text(TokenStream);

impl Text {
    pub(crate) fn literal(text: &str) -> Self {
        Self(text.to_token_stream())
    }

    /// The doc comment among `attrs`.
    pub(crate) fn of_docs(attrs: &[Attribute]) -> Option<Self> {
        let docs: Vec<&Expr> = attrs.iter().filter_map(doc_value).collect();
        let lines: Option<Vec<String>> = docs.iter().map(|doc| literal(doc)).collect();
        match lines {
            Some(lines) => {
                let text = joined(&lines);
                (!text.is_empty()).then(|| Self::literal(&text))
            }
            // `#[doc = include_str!("…")]`: left to the compiler; the runtime trims.
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

fn literal(expr: &Expr) -> Option<String> {
    match expr {
        Expr::Lit(ExprLit {
            lit: Lit::Str(text),
            ..
        }) => Some(text.value()),
        _ => None,
    }
}

/// Doc lines as one text, without the space that follows each `///`.
fn joined(lines: &[String]) -> String {
    let lines = lines.iter().flat_map(|line| line.split('\n'));
    let lines: Vec<&str> = lines
        .map(|line| line.strip_prefix(' ').unwrap_or(line).trim_end())
        .collect();
    lines.join("\n").trim().to_owned()
}

/// Milliseconds in `500ms`, `30s`, `5m` or `1h`.
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

/// Whether `name` is a legal tool name (Z-7).
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
        let known = ["name", "title", "description", "read_only"];
        for (word, best) in [
            ("tittle", Some("title")),
            ("Readonly", Some("read_only")),
            ("nam", Some("name")),
            ("xyz", None),
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
