//! Descriptions of a published schema as documentation of its bindings.
//!
//! Only for schemas that a user binds: prose of the official files is not in this repository.

use std::collections::BTreeMap;

use serde_json::Value;

/// Returns the descriptions by item path: `Bookmark`, `Bookmark.uri`. `rust_names` has the types of the definitions.
pub(super) fn of(document: &Value, rust_names: &BTreeMap<&str, &str>) -> BTreeMap<String, String> {
    let mut docs = BTreeMap::new();
    let holder = document
        .get("$defs")
        .or_else(|| document.get("definitions"));
    for (name, schema) in holder.and_then(Value::as_object).into_iter().flatten() {
        let Some(name) = rust_names.get(name.as_str()) else {
            continue; // Envelopes, and definitions that no method reaches.
        };
        add(&mut docs, name, schema);
        for (member, schema) in schema
            .get("properties")
            .and_then(Value::as_object)
            .into_iter()
            .flatten()
        {
            add(&mut docs, &format!("{name}.{member}"), schema);
        }
    }
    docs
}

fn add(docs: &mut BTreeMap<String, String>, path: &str, schema: &Value) {
    let text = schema.get("description").and_then(Value::as_str).map(clean);
    if let Some(text) = text.filter(|text| !text.is_empty()) {
        docs.insert(path.to_owned(), text);
    }
}

/// Converts `text` for rustdoc: TypeScript links become code, bare URLs become links, stray indentation is removed.
fn clean(text: &str) -> String {
    let lines: Vec<String> = text
        .trim()
        .lines()
        .map(|line| addresses(&links(line.trim())))
        .collect();
    lines.join("\n")
}

/// Converts `{@link Name}` and `{@link Name | words}` to code.
fn links(line: &str) -> String {
    let mut out = String::new();
    let mut rest = line;
    while let Some((before, link)) = rest.split_once("{@link ") {
        let Some((inner, after)) = link.split_once('}') else {
            break;
        };
        let words = inner.rsplit('|').next().unwrap_or(inner).trim();
        out.push_str(before);
        out.push_str(&format!("`{}`", words.trim_matches('`')));
        rest = after;
    }
    out + rest
}

fn addresses(line: &str) -> String {
    let is_address = |word: &str| word.starts_with("https://") || word.starts_with("http://");
    let link = |word: &str| match is_address(word) {
        true => {
            let address = word.trim_end_matches(['.', ',', ';', ':', ')']);
            format!("<{address}>{}", &word[address.len()..])
        }
        false => word.to_owned(),
    };
    line.split(' ').map(link).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prose_is_made_fit_for_rustdoc() {
        let cases = [
            ("  Two\n   lines. ", "Two\nlines."),
            (
                "See {@link Tool} or {@link Tool.name | its name}.",
                "See `Tool` or `its name`.",
            ),
            ("At https://example.com/a.", "At <https://example.com/a>."),
            ("Broken {@link Tool", "Broken {@link Tool"),
        ];
        for (text, expected) in cases {
            assert_eq!(clean(text), expected);
        }
    }
}
