//! `$ref`: JSON pointers, anchors and the root's own `$id`, all inside of one document.

use std::collections::HashMap;

use serde_json::Value;
use trueform_schema::pointer::decode_fragment;

use super::{
    super::{
        SchemaErrorKind::{self, Malformed, Remote, Unresolved},
        node::NodeId,
        path::push_escaped,
        suggest::closest,
    },
    Compiler, Place,
};

impl<'v> Compiler<'v> {
    /// Returns the node that the `keyword`, such as `$ref`, refers to.
    pub(super) fn reference(&mut self, at: Place<'v, '_>, keyword: &str) -> Option<NodeId> {
        let pointer = at.below(keyword);
        let Some(target) = at.get(keyword)?.as_str() else {
            self.error(&pointer, Malformed, format!("`{keyword}` is a string"));
            return None;
        };
        if !self.follows_references() {
            return None;
        }
        let (document, fragment) = target.split_once('#').unwrap_or((target, ""));
        if !self.is_this_document(document) {
            self.error(&pointer, Remote, remote_reason(target));
            return None;
        }
        match self.resolve(fragment) {
            Some((value, place)) => Some(self.enqueue(value, place)),
            None => {
                let reason = self.unresolved(target, fragment);
                self.error(&pointer, Unresolved, reason);
                None
            }
        }
    }

    /// Returns why no engine can follow a reference to `target`. `None` if it can be followed, or if parts of the document are documents of
    /// their own, which the reference may mean.
    pub(super) fn fault_of_target(&mut self, target: &str) -> Option<(SchemaErrorKind, String)> {
        if has_inner_ids(self.root) {
            return None;
        }
        let (document, fragment) = target.split_once('#').unwrap_or((target, ""));
        if !self.is_this_document(document) {
            return Some((Remote, remote_reason(target)));
        }
        match self.resolve(fragment) {
            Some(_) => None,
            None => Some((Unresolved, self.unresolved(target, fragment))),
        }
    }

    fn is_this_document(&self, document: &str) -> bool {
        if document.is_empty() {
            return true;
        }
        let Some(id) = self.root.get("$id").and_then(Value::as_str) else {
            return false;
        };
        let id = id.split_once('#').map_or(id, |(id, _)| id);
        id == document
            || (!document.contains(':')
                && id
                    .rsplit_once('/')
                    .is_some_and(|(_, file)| file == document))
    }

    fn resolve(&mut self, fragment: &str) -> Option<(&'v Value, String)> {
        let fragment = decode_fragment(fragment)?;
        if fragment.is_empty() {
            return Some((self.root, String::new()));
        }
        if fragment.starts_with('/') {
            return self.root.pointer(&fragment).map(|value| (value, fragment));
        }
        let root = self.root;
        let anchors = self.anchors.get_or_insert_with(|| anchors(root));
        anchors.get(&*fragment).cloned()
    }

    fn unresolved(&self, target: &str, fragment: &str) -> String {
        let names = ["$defs", "definitions"].into_iter().flat_map(|keyword| {
            let defs = self.root.get(keyword).and_then(Value::as_object);
            defs.into_iter()
                .flatten()
                .map(move |(name, _)| (keyword, name.as_str()))
        });
        let wanted = fragment.rsplit('/').next().unwrap_or(fragment);
        match closest(wanted, names.clone().map(|(_, name)| name)) {
            Some(name) => {
                let keyword = names
                    .into_iter()
                    .find(|&(_, other)| other == name)
                    .map_or("$defs", |(keyword, _)| keyword);
                format!(
                    "`{target}` leads nowhere in this schema; did you mean `#/{keyword}/{name}`?"
                )
            }
            None => format!("`{target}` leads nowhere in this schema"),
        }
    }
}

/// Returns why a reference to `target` is refused.
pub(crate) fn remote_reason(target: &str) -> String {
    format!(
        "`{target}` is another document, and those are never fetched; copy it below `$defs` and refer to `#/$defs/…`"
    )
}

/// Returns whether a subschema has an `$id` that makes it a document of its own.
fn has_inner_ids(root: &Value) -> bool {
    let mut todo: Vec<&Value> = match root {
        Value::Object(members) => members.values().collect(),
        _ => return false,
    };
    while let Some(value) = todo.pop() {
        match value {
            Value::Object(members) => {
                let id = members.get("$id").and_then(Value::as_str);
                if id.is_some_and(|id| !id.starts_with('#')) {
                    return true;
                }
                todo.extend(members.values());
            }
            Value::Array(items) => todo.extend(items),
            _ => {}
        }
    }
    false
}

/// Returns whether the value of the keyword is data, not schemas.
pub(super) fn is_data(keyword: &str) -> bool {
    matches!(keyword, "enum" | "const" | "default" | "examples")
}

/// Returns every `$anchor`, and `$id`s of the form `#name`, the notation of draft-07.
fn anchors(root: &Value) -> HashMap<&str, (&Value, String)> {
    let mut found = HashMap::new();
    let mut todo = vec![(root, String::new())];
    while let Some((value, pointer)) = todo.pop() {
        match value {
            Value::Object(members) => {
                let anchor = |keyword: &str| members.get(keyword).and_then(Value::as_str);
                let names = [
                    anchor("$anchor"),
                    anchor("$dynamicAnchor"),
                    anchor("$id").and_then(|id| id.strip_prefix('#')),
                ];
                for name in names.into_iter().flatten().filter(|name| !name.is_empty()) {
                    found
                        .entry(name)
                        .or_insert_with(|| (value, pointer.clone()));
                }
                for (name, value) in members {
                    if !is_data(name) {
                        let mut pointer = pointer.clone();
                        push_escaped(&mut pointer, name);
                        todo.push((value, pointer));
                    }
                }
            }
            Value::Array(items) => {
                for (i, value) in items.iter().enumerate() {
                    todo.push((value, format!("{pointer}/{i}")));
                }
            }
            _ => {}
        }
    }
    found
}
