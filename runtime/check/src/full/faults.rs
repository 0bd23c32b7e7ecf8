//! Converts the reason why `jsonschema` cannot compile a document to a `SchemaError`.

use jsonschema::{ReferencingError, ValidationError, error::ValidationErrorKind};
use serde_json::Value;

use super::super::{
    SchemaError,
    SchemaErrorKind::{Dialect, Malformed, Remote, Unresolved},
    compile::remote_reason,
    path::push_escaped,
};

/// Longest explanation that is passed on, in characters.
const LONGEST: usize = 300;

pub(super) fn fault(root: &Value, error: &ValidationError<'_>) -> SchemaError {
    let pointer = error.instance_path().as_str();
    match error.kind() {
        ValidationErrorKind::Referencing(ReferencingError::Unretrievable { uri, .. }) => {
            let (place, target) = whose_target(root, uri).unwrap_or_default();
            let target = if target.is_empty() { uri } else { target };
            SchemaError::new(place, Remote, remote_reason(target))
        }
        ValidationErrorKind::Referencing(ReferencingError::UnknownSpecification {
            specification,
        }) => {
            let (place, _) = whose_target(root, specification).unwrap_or_default();
            let reason = format!("dialect `{specification}` is not supported");
            SchemaError::new(place, Dialect, reason)
        }
        ValidationErrorKind::Referencing(reference) => {
            let reason = format!(
                "a reference leads nowhere in this schema: {}",
                plain(reference)
            );
            SchemaError::new(pointer, Unresolved, reason)
        }
        ValidationErrorKind::Format { format } if format == "regex" => {
            let reason = format!("{} is not a usable pattern", plain(error.instance()));
            SchemaError::new(pointer, Malformed, reason)
        }
        _ => {
            let reason = format!("not as its dialect has it: {}", plain(error));
            SchemaError::new(pointer, Malformed, reason)
        }
    }
}

fn plain(words: &dyn std::fmt::Display) -> String {
    let mut words = words.to_string().replace('\n', " ");
    if let Some((end, _)) = words.char_indices().nth(LONGEST) {
        words.truncate(end);
        words.push('…');
    }
    words
}

/// Returns the place of the keyword that refers to `uri`, and its spelling there.
fn whose_target<'v>(root: &'v Value, uri: &str) -> Option<(String, &'v str)> {
    let mut todo = vec![(root, String::new())];
    while let Some((value, pointer)) = todo.pop() {
        let Value::Object(members) = value else {
            if let Value::Array(items) = value {
                let places = items.iter().enumerate();
                todo.extend(places.map(|(i, item)| (item, format!("{pointer}/{i}"))));
            }
            continue;
        };
        for (name, value) in members {
            let mut pointer = pointer.clone();
            push_escaped(&mut pointer, name);
            let refers = matches!(name.as_str(), "$ref" | "$dynamicRef" | "$schema");
            if let Some(target) = value.as_str().filter(|_| refers) {
                let document = target.split('#').next().unwrap_or(target);
                if !document.is_empty() && uri.ends_with(document) {
                    return Some((pointer, target));
                }
            }
            todo.push((value, pointer));
        }
    }
    None
}
