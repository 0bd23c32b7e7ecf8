//! The rules about which members an object has.

use serde_json::{Map, Value};

use super::{
    super::{
        describe::names,
        node::ObjectRules,
        path::Path,
        suggest::closest,
        violation::{Found, Violation},
    },
    Out, violation,
};

pub(crate) fn unknown_member(
    rules: &ObjectRules,
    members: &Map<String, Value>,
    name: &str,
    at: &Path<'_>,
) -> Violation {
    let words = match rules.names.len() {
        0 if rules.patterns.is_empty() => "no properties".to_owned(),
        0 => {
            let patterns: Vec<&str> = rules
                .patterns
                .iter()
                .map(|(pattern, _)| pattern.source())
                .collect();
            format!(
                "only properties whose name matches {}",
                names(patterns.into_iter())
            )
        }
        _ => format!("only {}", names(rules.names.iter().map(|name| &**name))),
    };
    let absent = rules
        .names
        .iter()
        .map(|name| &**name)
        .filter(|name| !members.contains_key(*name));
    Violation {
        suggestion: closest(name, absent).map(|meant| format!("`{meant}`")),
        ..violation(
            at,
            "additionalProperties",
            words,
            Found::unknown_property(name),
        )
    }
}

pub(super) fn object_size(
    rules: &ObjectRules,
    len: usize,
    value: &Value,
    at: &Path<'_>,
    out: &mut Out,
) -> bool {
    let bound = |count: usize| {
        if count == 1 {
            "1 property".to_owned()
        } else {
            format!("{count} properties")
        }
    };
    let mut ok = true;
    if len < rules.min {
        let words = || format!("at least {}", bound(rules.min));
        ok = out.push(|| violation(at, "minProperties", words(), Found::size(value)));
    }
    if let Some(max) = rules.max.filter(|max| *max < len) {
        let words = || format!("at most {}", bound(max));
        ok = out.push(|| violation(at, "maxProperties", words(), Found::size(value)));
    }
    ok
}
