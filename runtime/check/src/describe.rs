//! Describes a schema node briefly: the `expected` of a violation.

use serde_json::Value;

use super::{
    node::{Node, NodeId, Nodes, Rules, StringRules, TypeSet},
    violation::counted,
};

/// Alternatives listed before `…`.
const MOST: usize = 12;

/// Longest literal shown, in characters.
const LONGEST_LITERAL: usize = 64;

/// Maximum depth to which references and branches are followed.
const DEEPEST: usize = 4;

/// Describes a node: `integer`, `one of "a", "b"`, `string or null`, `object with `kind``.
pub(super) fn describe(nodes: &Nodes, id: NodeId) -> String {
    describe_at(nodes, id, DEEPEST)
}

fn describe_at(nodes: &Nodes, id: NodeId, depth: usize) -> String {
    let rules = match nodes.node(id) {
        Node::Any => return "any value".to_owned(),
        Node::Never => return "no value".to_owned(),
        Node::Rules(rules) => rules,
    };
    if let Some(constant) = &rules.constant {
        return literal(constant);
    }
    if let Some(options) = &rules.options {
        return one_of(options.iter());
    }
    let own = own_words(rules);
    let Some(apply) = rules.apply.as_ref().filter(|_| 0 < depth) else {
        return own.unwrap_or_else(any_value);
    };
    // The object's own keywords are more specific than those of its references.
    if rules.types != TypeSet::ALL
        && let Some(own) = own
    {
        return own;
    }
    if let Some(target) = apply.reference {
        return describe_at(nodes, target, depth - 1);
    }
    if let Some(branches) = apply.any.as_ref().or(apply.one.as_ref()) {
        return alternatives(nodes, branches, depth - 1);
    }
    match apply.all.first() {
        Some(&first) => describe_at(nodes, first, depth - 1),
        None => own.unwrap_or_else(any_value),
    }
}

fn any_value() -> String {
    "a value that its schema allows".to_owned()
}

fn own_words(rules: &Rules) -> Option<String> {
    let text_only = matches!(rules.types, TypeSet::STRING | TypeSet::ALL);
    if let Some(words) = rules
        .string
        .as_ref()
        .filter(|_| text_only)
        .and_then(|string| string_words(string))
    {
        return Some(words);
    }
    let required: Vec<&str> = match &rules.object {
        Some(object) if rules.types.intersects(TypeSet::OBJECT) => {
            object.required.iter().map(|name| &**name).collect()
        }
        _ => Vec::new(),
    };
    if !required.is_empty() && (rules.types == TypeSet::OBJECT || rules.types == TypeSet::ALL) {
        return Some(format!("object with {}", names(required.into_iter())));
    }
    (rules.types != TypeSet::ALL).then(|| rules.types.words())
}

fn string_words(rules: &StringRules) -> Option<String> {
    if let Some(format) = rules.format {
        return Some(format.words().to_owned());
    }
    if let Some(pattern) = &rules.pattern {
        return Some(format!("string matching `{}`", cut(pattern.source())));
    }
    match (rules.min, rules.max) {
        (0, None) => None,
        (min, None) => Some(format!("string of at least {}", counted(min, "character"))),
        (0, Some(max)) => Some(format!("string of at most {}", counted(max, "character"))),
        (min, Some(max)) => Some(format!("string of {min} to {}", counted(max, "character"))),
    }
}

/// Returns the branches' descriptions, without repeats.
pub(super) fn alternatives(nodes: &Nodes, branches: &[NodeId], depth: usize) -> String {
    let mut words: Vec<String> = Vec::new();
    for &branch in branches.iter().take(MOST) {
        let one = describe_at(nodes, branch, depth);
        if !words.contains(&one) {
            words.push(one);
        }
    }
    if MOST < branches.len() {
        words.push("…".to_owned());
    }
    or_list(&words)
}

/// Returns `"a"`, or `one of "a", "b"`.
pub(super) fn one_of<'a>(options: impl Iterator<Item = &'a Value>) -> String {
    let mut words: Vec<String> = options.take(MOST + 1).map(literal).collect();
    if MOST < words.len() {
        words.truncate(MOST);
        words.push("…".to_owned());
    }
    match words.as_slice() {
        [] => "no value".to_owned(),
        [only] => only.clone(),
        _ => format!("one of {}", words.join(", ")),
    }
}

/// Returns `` `a`, `b` ``, cut off after a dozen.
pub(super) fn names<'a>(names: impl Iterator<Item = &'a str>) -> String {
    let mut words: Vec<String> = names
        .take(MOST + 1)
        .map(|name| format!("`{}`", cut(name)))
        .collect();
    if MOST < words.len() {
        words.truncate(MOST);
        words.push("…".to_owned());
    }
    words.join(", ")
}

pub(super) fn literal(value: &Value) -> String {
    match value {
        Value::Array(items) if !items.is_empty() => cut(&value.to_string()).into_owned(),
        Value::Object(members) if !members.is_empty() => cut(&value.to_string()).into_owned(),
        Value::String(text) if LONGEST_LITERAL < text.chars().count() => format!("{:?}", cut(text)),
        _ => value.to_string(),
    }
}

impl TypeSet {
    /// Returns the names in the usual order: `integer or null`, `number`.
    pub(super) fn words(self) -> String {
        let names: Vec<&str> = [
            (Self::STRING, "string"),
            (Self::NUMBER, "number"),
            (Self::INTEGER, "integer"),
            (Self::BOOLEAN, "boolean"),
            (Self::ARRAY, "array"),
            (Self::OBJECT, "object"),
            (Self::NULL, "null"),
        ]
        .into_iter()
        .filter(|&(set, _)| set.intersection(self) == set)
        .filter(|&(set, _)| set != Self::INTEGER || !self.intersects(Self::FRACTION))
        .map(|(_, name)| name)
        .collect();
        or_list(&names)
    }
}

/// Returns `a`, `a or b`, `a, b or c`.
pub(super) fn or_list<S: AsRef<str>>(words: &[S]) -> String {
    match words {
        [] => "no value".to_owned(),
        [only] => only.as_ref().to_owned(),
        [first @ .., last] => {
            let first: Vec<&str> = first.iter().map(AsRef::as_ref).collect();
            format!("{} or {}", first.join(", "), last.as_ref())
        }
    }
}

fn cut(text: &str) -> std::borrow::Cow<'_, str> {
    match text.char_indices().nth(LONGEST_LITERAL) {
        Some((end, _)) => format!("{}…", &text[..end]).into(),
        None => text.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_read_like_sentences() {
        assert_eq!(or_list(&["a"]), "a");
        assert_eq!(or_list(&["a", "b"]), "a or b");
        assert_eq!(or_list(&["a", "b", "c"]), "a, b or c");
        assert_eq!(
            TypeSet::NUMBER.union(TypeSet::NULL).words(),
            "number or null"
        );
        assert_eq!(
            TypeSet::INTEGER.union(TypeSet::STRING).words(),
            "string or integer"
        );
    }
}
