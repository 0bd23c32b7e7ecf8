//! Rust names from JSON names: the spelling, the reserved names, and the choice among names that clash.
//!
//! The rule, which [`bind`](crate::bind) documents for users: the words of a name are its ASCII letters and digits. Any other
//! ASCII character separates words. A character beyond ASCII is a word of its own, `u` and its code point in hexadecimal digits.
//! A name without letters and digits is spelled by the names of its characters.

use std::collections::{BTreeMap, BTreeSet};

/// Converts to a member name: `isError` → `is_error`, `_meta` → `meta`, `io.modelcontextprotocol/clientInfo` → `client_info`.
#[must_use]
pub(crate) fn snake(json: &str) -> String {
    let mut out = String::new();
    for word in words(json) {
        if !out.is_empty() {
            out.push('_');
        }
        out.push_str(&word.to_lowercase());
    }
    if out.starts_with(|c: char| c.is_ascii_digit()) {
        out.insert(0, 'n');
    }
    match out.as_str() {
        "type" => "ty".to_owned(),
        "ref" => "reference".to_owned(),
        "enum" => "values".to_owned(),
        "const" => "value".to_owned(),
        // `gen` is a keyword since edition 2024; `new` is a function of every struct.
        "gen" | "new" => format!("{out}_"),
        _ if syn::parse_str::<syn::Ident>(&out).is_err() => format!("{out}_"),
        _ => out,
    }
}

/// Converts to a type name: `date-time` → `DateTime`, `toolUse` → `ToolUse`. Capitals inside a word stay as they are.
#[must_use]
pub(crate) fn pascal(json: &str) -> String {
    let mut out = String::new();
    for word in words(json) {
        let mut chars = word.chars();
        if let Some(first) = chars.next() {
            out.extend(first.to_uppercase());
            out.push_str(chars.as_str());
        }
    }
    if out.starts_with(|c: char| c.is_ascii_digit()) {
        out.insert(0, 'N');
    }
    out
}

/// Returns whether `name` can be the name of a type or a variant: [`pascal`] does not change it.
#[must_use]
pub(crate) fn is_pascal(name: &str) -> bool {
    pascal(name) == name
}

/// Returns the words of the last path segment of `json`, capitals kept; at least one.
fn words(json: &str) -> Vec<String> {
    let has_word = |text: &str| text.contains(|c: char| c.is_ascii_alphanumeric() || !c.is_ascii());
    let last = json.rsplit('/').next().unwrap_or(json);
    if !has_word(json) {
        return match json.is_empty() {
            true => vec!["empty".to_owned()],
            false => json.chars().map(symbol).collect(),
        };
    }
    let text = if has_word(last) { last } else { json };
    let mut words = Vec::new();
    let mut word = String::new();
    let chars: Vec<char> = text.chars().collect();
    for (at, c) in chars.iter().enumerate() {
        if !c.is_ascii_alphanumeric() {
            words.push(std::mem::take(&mut word));
            if !c.is_ascii() {
                words.push(symbol(*c));
            }
            continue;
        }
        // A capital starts a word after a small letter, or before one inside a run of capitals (`URLParams`).
        let after_small =
            at > 0 && (chars[at - 1].is_ascii_lowercase() || chars[at - 1].is_ascii_digit());
        let before_small = chars
            .get(at + 1)
            .is_some_and(|next| next.is_ascii_lowercase());
        let in_capitals = at > 0 && chars[at - 1].is_ascii_uppercase();
        if c.is_ascii_uppercase() && (after_small || (in_capitals && before_small)) {
            words.push(std::mem::take(&mut word));
        }
        word.push(*c);
    }
    words.push(word);
    words.retain(|word| !word.is_empty());
    words
}

/// Returns the name of a character that is not an ASCII letter or digit.
fn symbol(c: char) -> String {
    let name = match c {
        ' ' => "space",
        '!' => "bang",
        '"' => "quote",
        '#' => "hash",
        '$' => "dollar",
        '%' => "percent",
        '&' => "and",
        '\'' => "apostrophe",
        '(' => "open",
        ')' => "close",
        '*' => "star",
        '+' => "plus",
        ',' => "comma",
        '-' => "minus",
        '.' => "dot",
        '/' => "slash",
        ':' => "colon",
        ';' => "semicolon",
        '<' => "less",
        '=' => "equal",
        '>' => "greater",
        '?' => "question",
        '@' => "at",
        '[' => "bracket",
        '\\' => "backslash",
        ']' => "unbracket",
        '^' => "caret",
        '_' => "underscore",
        '`' => "backtick",
        '{' => "brace",
        '|' => "bar",
        '}' => "unbrace",
        '~' => "tilde",
        c => return format!("u{:x}", u32::from(c)),
    };
    name.to_owned()
}

/// Names of types that generated code uses for something else: those of the prelude, of the schema crate's support, of its own items, and
/// of generic parameters.
const TAKEN_TYPES: &[&str] = &[
    "A",
    "Box",
    "Case",
    "Cases",
    "Client",
    "ClientHandler",
    "ClientMethods",
    "ClientNotification",
    "ClientNotificationSeed",
    "ClientRequest",
    "ClientRequestSeed",
    "Clone",
    "Conform",
    "Context",
    "Copy",
    "D",
    "Debug",
    "DecodeError",
    "Default",
    "Direction",
    "Drop",
    "Encode",
    "Eq",
    "Err",
    "ErrorObject",
    "Extras",
    "Flow",
    "Fn",
    "FnMut",
    "FnOnce",
    "Format",
    "From",
    "Future",
    "H",
    "Hash",
    "IDENTIFIER",
    "Into",
    "Iterator",
    "Json",
    "JsonKind",
    "JsonObject",
    "Map",
    "MapAccess",
    "Member",
    "Members",
    "Meta",
    "Method",
    "NAMES",
    "Need",
    "None",
    "ObjectWriter",
    "Ok",
    "Option",
    "Ord",
    "PartialEq",
    "PartialOrd",
    "Path",
    "ProgressToken",
    "Record",
    "RequestId",
    "Result",
    "Revision",
    "Revisions",
    "Rules",
    "S",
    "Self",
    "Send",
    "Server",
    "ServerHandler",
    "ServerNotification",
    "ServerNotificationSeed",
    "ServerRequest",
    "ServerRequestSeed",
    "Shape",
    "Sized",
    "Some",
    "String",
    "Sync",
    "T",
    "TYPES",
    "ToOwned",
    "ToString",
    "TryFrom",
    "TryInto",
    "Unpin",
    "V",
    "Vec",
    "View",
    "Walk",
];

/// Returns whether generated code uses the type name `name` for something else.
#[must_use]
pub(crate) fn is_taken_type(name: &str) -> bool {
    TAKEN_TYPES.contains(&name)
}

/// Variables of the generated readers, and functions of the generated structs.
const TAKEN_MEMBERS: [&str; 4] = ["extras", "extras_mut", "key", "members"];

/// Variants that generated enumerations and unions have in addition to those of the schema.
const TAKEN_VARIANTS: [&str; 3] = ["Other", "Self", "Unknown"];

/// Returns the Rust names of the members of one struct, in the order of `members`, which must be sorted.
pub(crate) fn members(members: &[&str], fixed: impl Fn(&str) -> Option<String>) -> Vec<String> {
    let spelled = |json: &&str| match fixed(json) {
        Some(name) => name,
        None => free(snake(json), |name| TAKEN_MEMBERS.contains(&name)),
    };
    choose(members, spelled, "_")
}

/// Returns the Rust names of the variants of one enumeration or union, in the order of `names`.
pub(crate) fn variants(names: &[&str]) -> Vec<String> {
    choose(
        names,
        |name| free(pascal(name), |name| TAKEN_VARIANTS.contains(&name)),
        "",
    )
}

/// Functions of the trait that the functions for a client's messages are added to.
const TAKEN_FUNCTIONS: [&str; 2] = ["send_notification", "send_request"];

/// Returns the names of the functions that send the messages `wires`, which must be sorted: `resources/templates/list` →
/// `resources_templates_list`, after `prefix`.
pub(crate) fn functions(prefix: &str, wires: &[&str]) -> Vec<String> {
    let spelled = |wire: &&str| {
        let name = snake(&format!("{prefix}{wire}").replace('/', "_"));
        free(name, |name| TAKEN_FUNCTIONS.contains(&name))
    };
    choose(wires, spelled, "_")
}

/// Returns `name`, with an underscore at its end if it `is_taken`.
pub(crate) fn free(name: String, is_taken: impl Fn(&str) -> bool) -> String {
    match is_taken(&name) {
        true => format!("{name}_"),
        false => name,
    }
}

/// Returns one name for each of `names`: the spelled one. If several have the same spelling, a name that equals its spelling comes first;
/// the others get the numbers from 2 on, in their order.
fn choose(names: &[&str], spelled: impl Fn(&&str) -> String, separator: &str) -> Vec<String> {
    let spellings: Vec<String> = names.iter().map(spelled).collect();
    let mut chosen: Vec<Option<String>> = vec![None; names.len()];
    let mut used = Used::default();
    for as_written in [true, false] {
        for (i, spelling) in spellings.iter().enumerate() {
            if chosen[i].is_none() && (!as_written || names[i] == spelling) {
                chosen[i] = Some(used.numbered(spelling, separator));
            }
        }
    }
    chosen.into_iter().flatten().collect()
}

/// The names that are used in one namespace.
#[derive(Debug, Default)]
pub(crate) struct Used {
    names: BTreeSet<String>,
    /// The last number that was used, by name.
    last: BTreeMap<String, usize>,
}

impl Used {
    /// Marks `name` as used.
    pub(crate) fn insert(&mut self, name: &str) {
        self.names.insert(name.to_owned());
    }

    /// Returns `name`, or the first of `name2`, `name3`, … that is not used, and marks it as used.
    pub(crate) fn numbered(&mut self, name: &str, separator: &str) -> String {
        if self.names.insert(name.to_owned()) {
            return name.to_owned();
        }
        loop {
            let number = self.last.entry(name.to_owned()).or_insert(1);
            *number += 1;
            let chosen = format!("{}{separator}{number}", name.trim_end_matches('_'));
            if self.names.insert(chosen.clone()) {
                return chosen;
            }
        }
    }
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
            ("foo-bar", "foo_bar"),
            ("1x", "n1x"),
            ("", "empty"),
            ("<=", "less_equal"),
            ("_", "underscore"),
            ("a/", "a"),
            ("/", "slash"),
            ("größe", "gr_uf6_udf_e"),
            ("self", "self_"),
            ("Self", "self_"),
            ("mut", "mut_"),
            ("gen", "gen_"),
            ("super", "super_"),
        ] {
            assert_eq!(snake(json), want, "{json:?}");
        }
        for (json, want) in [
            ("date-time", "DateTime"),
            ("input_required", "InputRequired"),
            ("toolUse", "ToolUse"),
            ("_meta", "Meta"),
            ("properties[]", "Properties"),
            ("<=", "LessEqual"),
            ("1x", "N1x"),
            ("", "Empty"),
            ("²", "Ub2"),
            ("a\nb", "AB"),
            ("\n", "Ua"),
        ] {
            assert_eq!(pascal(json), want, "{json:?}");
        }
    }

    #[test]
    fn names_that_clash_are_numbered() {
        assert_eq!(variants(&["A", "a", "a-", "b"]), ["A", "A2", "A3", "B"]);
        assert_eq!(variants(&["a", "A"]), ["A2", "A"], "as written comes first");
        assert_eq!(variants(&["A2", "A", "a"]), ["A2", "A", "A3"]);
        assert_eq!(
            variants(&["Other", "self", "unknown"]),
            ["Other_", "Self_", "Unknown_"]
        );
        let none = |_: &str| None;
        assert_eq!(members(&["a", "a-", "key"], none), ["a", "a_2", "key_"]);
        assert_eq!(members(&["ty", "type"], none), ["ty", "ty_2"]);
        let wires = ["a/bC", "a_b/c", "ping", "send/request", "type"];
        assert_eq!(
            functions("", &wires),
            ["a_b_c", "a_b_c_2", "ping", "send_request_", "ty"]
        );
        assert_eq!(
            functions("ext_", &["a/list", "type"]),
            ["ext_a_list", "ext_type"]
        );
        assert_eq!(members(&["Self", "self"], none), ["self_", "self_2"]);
    }
}
