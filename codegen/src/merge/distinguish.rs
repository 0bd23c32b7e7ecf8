//! Derives the rule of a union from its members: they differ in their JSON type, or in a constant that all of them require.

use super::position::MOST_MEMBERS;
use std::collections::BTreeSet;

use super::{Merger, Node};
use crate::{
    normalise::{Object, Schema},
    overlay::UnionRule,
};

impl<'a> Merger<'a> {
    /// Returns the rule for `members`, none of which is null; `None` if no rule can be derived, and for the core, whose rules are written.
    pub(super) fn distinguish(&self, members: &[Node<'a>]) -> Option<UnionRule> {
        self.sources.core?;
        let mut members: Vec<Node<'a>> = members
            .iter()
            .map(|member| self.resolve(member.clone()))
            .collect();
        // If an extension has several revisions, a member of each of them is one member. Revisions come in their order.
        let is_repeated = |node: &Node<'a>, other: &Node<'a>| {
            node.at == other.at && other.revision < node.revision
        };
        let all = members.clone();
        members.retain(|node| !all.iter().any(|other| is_repeated(node, other)));
        let types: Option<BTreeSet<&str>> = members
            .iter()
            .map(|member| json_type(member.schema))
            .collect();
        if types?.len() == members.len() {
            return Some(UnionRule {
                json: true,
                ..UnionRule::default()
            });
        }
        let objects: Option<Vec<&Object>> = members
            .iter()
            .map(|member| match member.schema {
                Schema::Object(object) => Some(&**object),
                _ => None,
            })
            .collect();
        let objects = objects?;
        let is_tag = |tag: &&String| {
            let values: Option<BTreeSet<&str>> = objects
                .iter()
                .map(|object| match object.required.contains(*tag) {
                    true => object.properties.get(*tag)?.constant(),
                    false => None,
                })
                .collect();
            values.is_some_and(|values| values.len() == objects.len())
        };
        let tag = objects.first()?.properties.keys().find(is_tag)?;
        Some(UnionRule {
            tag: Some(tag.clone()),
            ..UnionRule::default()
        })
    }

    /// Returns the members of the union `node`; in an extension, those of unions inside it too. For any other node, returns the node
    /// itself.
    pub(super) fn members(&self, node: &Node<'a>) -> Vec<Node<'a>> {
        if self.sources.core.is_none() {
            return node.members();
        }
        let mut found = Vec::new();
        self.collect_members(node, &mut found);
        found
    }

    /// Appends the members of `node`, and of unions among them, to `found`. Unions that refer to others may have very many members, so it
    /// stops when the maximum is exceeded.
    fn collect_members(&self, node: &Node<'a>, found: &mut Vec<Node<'a>>) {
        if MOST_MEMBERS < found.len() {
            return;
        }
        let node = self.resolve(node.clone());
        match node.schema {
            Schema::Union(_) => {
                for member in node.members() {
                    self.collect_members(&member, found);
                }
            }
            _ => found.push(node),
        }
    }
}

/// Returns the JSON type of the values of `schema`, if it is a single one.
pub(super) fn json_type(schema: &Schema) -> Option<&'static str> {
    Some(match schema {
        Schema::Bool => "boolean",
        Schema::Integer(_) | Schema::Number(_) => "number",
        Schema::String(_) => "string",
        Schema::Array(_) => "array",
        Schema::Object(_) => "object",
        _ => return None,
    })
}
