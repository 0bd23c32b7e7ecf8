//! Merges two schemas without changing the accepted values.

use serde_json::{Map, Value};

use crate::check::positions::is_annotation;

/// Returns `target` with annotations added. They come first, because the author wrote them first.
pub(super) fn merged(
    target: Map<String, Value>,
    annotations: Map<String, Value>,
) -> Map<String, Value> {
    let mut out = annotations;
    for (keyword, value) in target {
        out.entry(keyword).or_insert(value);
    }
    out
}

/// Returns `anyOf: [X, null]` as X with `null` in its list of types, if X only restricts values of its types.
pub(super) fn with_null_as_type(schema: Map<String, Value>) -> Map<String, Value> {
    nullable(&schema).unwrap_or(schema)
}

fn nullable(schema: &Map<String, Value>) -> Option<Map<String, Value>> {
    let keyword = ["anyOf", "oneOf"]
        .into_iter()
        .find(|keyword| schema.contains_key(*keyword))?;
    if schema
        .keys()
        .any(|other| other != keyword && !is_annotation(other))
    {
        return None;
    }
    let (a, b) = match schema.get(keyword)?.as_array()?.as_slice() {
        [a, b] => (a.as_object()?, b.as_object()?),
        _ => return None,
    };
    let inner = match (is_null(a), is_null(b)) {
        (false, true) => a,
        (true, false) => b,
        _ => return None,
    };
    let types = match inner.get("type")? {
        Value::String(name) => vec![name.as_str()],
        Value::Array(names) => names
            .iter()
            .map(Value::as_str)
            .collect::<Option<Vec<&str>>>()?,
        _ => return None,
    };
    if types.contains(&"null") || inner.keys().any(|keyword| restricts_null(keyword)) {
        return None;
    }
    let mut inner = inner.clone();
    inner.insert(
        "type".to_owned(),
        types.into_iter().chain(["null"]).collect::<Vec<_>>().into(),
    );
    if let Some(Value::Array(options)) = inner.get_mut("enum") {
        options.push(Value::Null);
    }
    let annotations = schema.iter().filter(|(other, _)| *other != keyword);
    Some(merged(
        inner,
        annotations
            .map(|(keyword, value)| (keyword.clone(), value.clone()))
            .collect(),
    ))
}

/// Returns whether only `null` fits the schema, according to its type.
pub(super) fn is_null(schema: &Map<String, Value>) -> bool {
    schema.get("type").is_some_and(|name| name == "null")
        && schema
            .keys()
            .all(|keyword| keyword == "type" || is_annotation(keyword))
}

/// Returns whether the keyword can refuse `null` regardless of `type`; `enum` is extended instead.
fn restricts_null(keyword: &str) -> bool {
    matches!(
        keyword,
        "const" | "allOf" | "anyOf" | "oneOf" | "not" | "if" | "then" | "else" | "$ref"
    )
}

/// Merges the branches of a root's combinators into the root, if it then accepts the same values.
pub(super) fn merge_branches(root: &mut Map<String, Value>) {
    // A branch can have combinators of its own. This terminates, because every merge removes one.
    while let Some(merged) = ["allOf", "anyOf", "oneOf"]
        .into_iter()
        .find_map(|keyword| without(root, keyword))
    {
        *root = merged;
    }
}

fn without(root: &Map<String, Value>, keyword: &str) -> Option<Map<String, Value>> {
    let branches = root.get(keyword)?.as_array()?;
    if keyword != "allOf" && branches.len() != 1 {
        return None;
    }
    let mut rest = root.clone();
    rest.shift_remove(keyword);
    branches.iter().try_fold(rest, |rest, branch| {
        conjoined(rest, branch.as_object()?.clone())
    })
}

/// Returns the intersection of two schemas, if it can be written by listing the keywords of both in one schema.
fn conjoined(mut a: Map<String, Value>, b: Map<String, Value>) -> Option<Map<String, Value>> {
    if a.keys()
        .all(|keyword| keyword == "type" || is_annotation(keyword))
    {
        return match (a.get("type"), b.get("type")) {
            (Some(own), Some(theirs)) if own != theirs => None,
            _ => Some(merged(b, a)),
        };
    }
    let plain = |keyword: &String| {
        matches!(keyword.as_str(), "type" | "properties" | "required") || is_annotation(keyword)
    };
    // These depend on the `properties` beside them.
    let closed = ["additionalProperties", "unevaluatedProperties"]
        .into_iter()
        .any(|keyword| a.contains_key(keyword));
    if closed || !b.keys().all(plain) {
        return None;
    }
    for (keyword, theirs) in b {
        match (keyword.as_str(), a.get_mut(&keyword), theirs) {
            ("properties", Some(Value::Object(own)), Value::Object(theirs)) => {
                for (name, schema) in theirs {
                    if *own.entry(name).or_insert_with(|| schema.clone()) != schema {
                        return None;
                    }
                }
            }
            ("required", Some(Value::Array(own)), Value::Array(theirs)) => {
                let fresh: Vec<Value> = theirs
                    .into_iter()
                    .filter(|name| !own.contains(name))
                    .collect();
                own.extend(fresh);
            }
            ("type", Some(own), theirs) if *own == theirs => {}
            ("type" | "properties" | "required", Some(_), _) => return None,
            (_, Some(_), _) => {}
            (keyword, None, theirs) if is_annotation(keyword) => drop(theirs),
            (_, None, theirs) => {
                a.insert(keyword, theirs);
            }
        }
    }
    Some(a)
}
