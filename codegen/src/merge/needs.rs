//! The constraints of the revisions on a value, beyond its merged type.

use std::collections::BTreeSet;

use super::{Merger, Node};
use crate::{
    model::{Bits, Form, Need, Needs, TypeRef},
    normalise::{Bounds, Schema},
    problem::Problem,
};

/// Maximum depth of the form of raw JSON; deeper forms are recursive.
const DEEPEST: usize = 12;

impl<'a> Merger<'a> {
    /// Returns the constraints of `nodes`, the schemas at one position, beyond `ty`.
    pub(super) fn needs(
        &mut self,
        at: &str,
        ty: &TypeRef,
        nodes: &[Node<'a>],
    ) -> Result<Needs, Problem> {
        let mut needs = Needs::new();
        let nodes: Vec<Node<'a>> = nodes
            .iter()
            .map(|node| self.resolve(node.clone()))
            .collect();
        match ty {
            TypeRef::Bool | TypeRef::Constant(_) | TypeRef::Named(_) => {}
            TypeRef::Nullable(inner) => {
                let members = nodes.iter().flat_map(|node| self.members(node));
                let members: Vec<Node<'a>> = members
                    .filter(|member| *member.schema != Schema::Null)
                    .collect();
                return self.needs(at, inner, &members);
            }
            TypeRef::Integer | TypeRef::Number => {
                for node in &nodes {
                    match node.schema {
                        Schema::Integer(bounds) => {
                            if *ty == TypeRef::Number {
                                add(&mut needs, node.revision, Need::Integral);
                            }
                            bound(&mut needs, node.revision, bounds);
                        }
                        Schema::Number(bounds) => bound(&mut needs, node.revision, bounds),
                        _ => {}
                    }
                }
            }
            TypeRef::String => {
                for node in &nodes {
                    let Schema::String(text) = node.schema else {
                        continue;
                    };
                    if let Some(values) = &text.values {
                        add(&mut needs, node.revision, Need::OneOf(values.clone()));
                    }
                    if let Some(least) = text.min_length {
                        add(&mut needs, node.revision, Need::MinLength(least));
                    }
                    if let Some(most) = text.max_length {
                        add(&mut needs, node.revision, Need::MaxLength(most));
                    }
                    match text.format.as_deref() {
                        None => {}
                        Some(format @ ("uri" | "uri-template" | "byte")) => {
                            add(&mut needs, node.revision, Need::Format(format.to_owned()));
                        }
                        Some(format) => {
                            self.decisions
                                .insert(format!("{at}: the format `{format}` is not checked"));
                        }
                    }
                }
            }
            TypeRef::Leaf(leaf) => {
                for node in &nodes {
                    let form = match leaf.as_str() {
                        // The hand-written type guarantees the form of its definition.
                        "RequestId" | "ProgressToken" => Form::Any,
                        _ => self.form(node, DEEPEST)?,
                    };
                    let declared = match leaf.as_str() {
                        "Json" => Form::Any,
                        _ => Form::object(),
                    };
                    if form != Form::Any && form != declared {
                        add(&mut needs, node.revision, Need::Form(form));
                    }
                }
            }
            TypeRef::Vec(inner) => {
                let mut items = Vec::new();
                for node in &nodes {
                    let Schema::Array(array) = node.schema else {
                        continue;
                    };
                    if let Some(least) = array.min_items {
                        add(&mut needs, node.revision, Need::MinItems(least));
                    }
                    if let Some(most) = array.max_items {
                        add(&mut needs, node.revision, Need::MaxItems(most));
                    }
                    items.push(node.down(&array.items, "items"));
                }
                each(&mut needs, &self.needs(&format!("{at}[]"), inner, &items)?);
            }
            TypeRef::Map(inner) => {
                let mut values = Vec::new();
                for node in &nodes {
                    if let Schema::Object(object) = node.schema {
                        values.push(node.down(&object.additional, "additionalProperties"));
                    }
                }
                each(
                    &mut needs,
                    &self.needs(&format!("{at}{{}}"), inner, &values)?,
                );
            }
        }
        Ok(needs)
    }

    /// Returns the form of raw JSON that `node` allows.
    fn form(&self, node: &Node<'a>, deepest: usize) -> Result<Form, Problem> {
        let node = self.resolve(node.clone());
        match self.leaf_of(&node) {
            Some("Json") => return Ok(Form::Any),
            Some("JsonObject") => return Ok(Form::object()),
            _ => {}
        }
        if deepest == 0 {
            let message = "the form of raw JSON is recursive here; name its definition in the overlay (`definitions`)";
            return Err(self.problem(&node, message));
        }
        Ok(match node.schema {
            Schema::Any => Form::Any,
            Schema::Bool => Form::Kind("Bool"),
            Schema::Null => Form::Kind("Null"),
            Schema::Integer(_) => Form::Integer,
            Schema::Number(_) => Form::Kind("Number"),
            Schema::String(text) => match &text.values {
                Some(values) => Form::OneOf(values.clone()),
                None => Form::Kind("String"),
            },
            Schema::Array(array) => Form::Array(Box::new(
                self.form(&node.down(&array.items, "items"), deepest - 1)?,
            )),
            Schema::Object(object) => {
                let mut members = Vec::new();
                for (name, schema) in &object.properties {
                    let form = self.form(&node.down(schema, name), deepest - 1)?;
                    members.push((name.clone(), object.required.contains(name), form));
                }
                let others = node.down(&object.additional, "additionalProperties");
                Form::Object(members, Box::new(self.form(&others, deepest - 1)?))
            }
            Schema::Never | Schema::Ref(_) | Schema::Union(_) => {
                let message =
                    "raw JSON of this form cannot be checked; only one type at each place can";
                return Err(self.problem(&node, message));
            }
        })
    }
}

fn bound(needs: &mut Needs, revision: usize, bounds: &Bounds) {
    if let Some(least) = &bounds.minimum {
        add(needs, revision, Need::Minimum(least.to_string()));
    }
    if let Some(most) = &bounds.maximum {
        add(needs, revision, Need::Maximum(most.to_string()));
    }
}

fn each(needs: &mut Needs, inner: &Needs) {
    let revisions: BTreeSet<usize> = inner
        .iter()
        .flat_map(|(bits, _)| (0..8).filter(|revision| bits.has(*revision)))
        .collect();
    for revision in revisions {
        add(needs, revision, Need::Each(inner.clone()));
    }
}

fn add(needs: &mut Needs, revision: usize, need: Need) {
    match needs.iter_mut().find(|(_, known)| *known == need) {
        Some((bits, _)) => bits.add(revision),
        None => needs.push((Bits::of(revision), need)),
    }
}
