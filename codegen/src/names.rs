//! Rust names from JSON names. Knows spelling only.

/// `isError` → `is_error`, `_meta` → `meta`, `io.modelcontextprotocol/clientInfo` → `client_info`.
#[must_use]
pub(crate) fn snake(json: &str) -> String {
    let mut out = String::new();
    for word in words(json) {
        if !out.is_empty() {
            out.push('_');
        }
        out.push_str(&word.to_lowercase());
    }
    match out.as_str() {
        "type" => "ty".to_owned(),
        "ref" => "reference".to_owned(),
        "enum" => "values".to_owned(),
        "const" => "value".to_owned(),
        "self" | "super" | "crate" | "match" | "use" | "fn" | "mod" | "move" | "in" | "for"
        | "if" | "else" | "loop" | "while" | "where" | "impl" | "trait" | "struct" | "static"
        | "pub" | "return" | "async" | "await" | "dyn" | "as" | "break" | "continue" | "let"
        | "extern" | "true" | "false" | "unsafe" | "box" | "do" | "final" | "macro" | "new"
        | "override" | "priv" | "try" | "typeof" | "unsized" | "virtual" | "yield" | "abstract"
        | "become" | "gen" => format!("{out}_"),
        _ => out,
    }
}

/// `date-time` → `DateTime`, `toolUse` → `ToolUse`; capitals inside a word stay as they are.
#[must_use]
pub(crate) fn pascal(json: &str) -> String {
    words(json)
        .map(|word| {
            let mut chars = word.chars();
            chars
                .next()
                .map(|first| first.to_uppercase().chain(chars).collect::<String>())
                .unwrap_or_default()
        })
        .collect()
}

/// The words of the last path segment of `json`, capitals kept.
fn words(json: &str) -> impl Iterator<Item = String> {
    let last = json.rsplit('/').next().unwrap_or(json);
    let mut words = Vec::new();
    let mut word = String::new();
    let chars: Vec<char> = last.chars().collect();
    for (at, c) in chars.iter().enumerate() {
        if !c.is_alphanumeric() {
            words.push(std::mem::take(&mut word));
            continue;
        }
        // A capital starts a word after a small letter, or before one inside a run of capitals (`URLParams`).
        let after_small = at > 0 && (chars[at - 1].is_lowercase() || chars[at - 1].is_numeric());
        let before_small = chars.get(at + 1).is_some_and(|next| next.is_lowercase());
        let in_capitals = at > 0 && chars[at - 1].is_uppercase();
        if c.is_uppercase() && (after_small || (in_capitals && before_small)) {
            words.push(std::mem::take(&mut word));
        }
        word.push(*c);
    }
    words.push(word);
    words.into_iter().filter(|word| !word.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spellings() {
        for (json, want) in [
            ("isError", "is_error"),
            ("_meta", "meta"),
            ("$schema", "schema"),
            ("io.modelcontextprotocol/clientInfo", "client_info"),
            ("websiteUrl", "website_url"),
            ("ElicitRequestURLParams", "elicit_request_url_params"),
            ("type", "ty"),
        ] {
            assert_eq!(snake(json), want);
        }
        for (json, want) in [
            ("date-time", "DateTime"),
            ("input_required", "InputRequired"),
            ("toolUse", "ToolUse"),
            ("_meta", "Meta"),
            ("properties[]", "Properties"),
        ] {
            assert_eq!(pascal(json), want);
        }
    }
}
