//! How each member, alternative and value is treated at the revisions that lack it or constrain it further: one row per rule.
//!
//! The rows come from the model, so that none is missing. The bindings apply the rules. The hand-written rewrites describe their own form.

use crate::{
    docs,
    inputs::Inputs,
    model::{Bits, Field, Form, Model, Need, Needs, Older, Shape, TypeDef, TypeRef, Variant},
};

/// One rule.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Row {
    /// The subject in the specification, such as `tools`; empty if `docs.toml` does not link the type to one.
    pub topic: String,
    /// The Rust name of the type.
    pub of: String,
    /// The member on the wire, the variant in Rust, or the value on the wire.
    pub item: String,
    /// The revisions that the rule applies to.
    pub at: Bits,
    /// The treatment.
    pub becomes: Becomes,
}

/// How a revision treats a member, alternative or value.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Becomes {
    /// The revision does not have the member: it is not written.
    LeftOut,
    /// This is written if the author set nothing.
    Filled(String),
    /// Written in the form of the hand-written `Rewrite` of this type.
    Rewritten(String),
    /// A list of one is written as its item; other lists are refused.
    Item,
    /// An alternative or value that the revision does not have is refused.
    Refused,
    /// The revision requires the member: a value without it is refused.
    Required,
    /// The revision constrains the value more than its type does.
    Narrowed(String),
}

/// The member of a result's `_meta` that the encoder fills.
pub(crate) const SERVER_INFO: &str = "io.modelcontextprotocol/serverInfo";

/// Returns the rules of `model`, by type and member.
#[must_use]
pub fn rows(model: &Model, inputs: &Inputs) -> Vec<Row> {
    model
        .types
        .values()
        .flat_map(|ty| {
            let topic = inputs
                .docs
                .get(&ty.name)
                .and_then(|words| docs::topic(words));
            let row = |(item, at, becomes): (&str, Bits, Becomes)| Row {
                topic: topic.unwrap_or_default().to_owned(),
                of: ty.name.clone(),
                item: item.to_owned(),
                at,
                becomes,
            };
            let rows: Vec<Row> = of_type(ty).into_iter().map(row).collect();
            rows
        })
        .collect()
}

fn of_type(ty: &TypeDef) -> Vec<(&str, Bits, Becomes)> {
    let mut rows = match &ty.shape {
        Shape::Struct { fields } => fields
            .iter()
            .flat_map(|field| of_field(ty, field))
            .collect(),
        Shape::Union { variants, .. } => variants
            .iter()
            .flat_map(|variant| of_variant(ty, variant))
            .collect(),
        Shape::Enum { values } => values
            .iter()
            .map(|value| {
                (
                    &*value.value,
                    without(ty.known, value.known),
                    Becomes::Refused,
                )
            })
            .collect::<Vec<_>>(),
    };
    rows.retain(|(_, at, _)| !at.is_empty());
    rows
}

fn of_field<'m>(ty: &TypeDef, field: &'m Field) -> Vec<(&'m str, Bits, Becomes)> {
    let name = &*field.json_name;
    let known = both(ty.known, field.known);
    let mut rows = vec![(name, without(ty.known, field.known), Becomes::LeftOut)];
    match &field.default {
        Some(default) => {
            rows.push((
                name,
                field.required,
                Becomes::Filled(format!("`{default}`")),
            ));
        }
        None if name == SERVER_INFO => {
            let words = "the identity of the server".to_owned();
            rows.push((name, field.known, Becomes::Filled(words)));
        }
        // Constants are always written.
        None if field.always || matches!(field.ty, TypeRef::Constant(_)) => {}
        None => rows.push((name, field.required, Becomes::Required)),
    }
    rows.extend(narrowed(known, &field.needs).map(|(at, words)| (name, at, words)));
    rows
}

fn of_variant<'m>(ty: &TypeDef, variant: &'m Variant) -> Vec<(&'m str, Bits, Becomes)> {
    let name = &*variant.name;
    let becomes = match (variant.older, variant.ty.named()) {
        (Older::Rewritten, Some(ty)) => Becomes::Rewritten(ty.to_owned()),
        (Older::Item, _) => Becomes::Item,
        _ => Becomes::Refused,
    };
    let mut rows = vec![(name, without(ty.known, variant.known), becomes)];
    let known = both(ty.known, variant.known);
    rows.extend(narrowed(known, &variant.needs).map(|(at, words)| (name, at, words)));
    rows
}

/// Returns the constraints that only some of the revisions `known` have.
fn narrowed(known: Bits, needs: &Needs) -> impl Iterator<Item = (Bits, Becomes)> {
    needs
        .iter()
        .filter(move |(at, _)| !at.covers(known))
        .map(|(at, need)| (*at, Becomes::Narrowed(words(need))))
}

fn words(need: &Need) -> String {
    match need {
        Need::Integral => "an integer".to_owned(),
        Need::Minimum(least) => format!("at least {least}"),
        Need::Maximum(most) => format!("at most {most}"),
        Need::MinItems(least) => format!("at least {least} items"),
        Need::MaxItems(most) => format!("at most {most} items"),
        Need::MinLength(least) => format!("at least {least} characters"),
        Need::MaxLength(most) => format!("at most {most} characters"),
        Need::Format(format) => format!("a string of format `{format}`"),
        Need::OneOf(values) => format!("one of {}", quoted(values)),
        Need::Form(form) => self::form(form),
        Need::Each(needs) => {
            let needs: Vec<String> = needs.iter().map(|(_, need)| words(need)).collect();
            format!("each {}", needs.join(", "))
        }
    }
}

fn form(form: &Form) -> String {
    match form {
        Form::Any => "anything".to_owned(),
        Form::Kind(kind) => kind.to_lowercase(),
        Form::Integer => "integer".to_owned(),
        Form::OneOf(values) => quoted(values),
        Form::Array(items) if **items == Form::Any => "array".to_owned(),
        Form::Array(items) => format!("array of {}", self::form(items)),
        Form::Object(members, others) => {
            let mut parts: Vec<String> = members
                .iter()
                .map(|(name, required, form)| {
                    let optional = if *required { "" } else { "?" };
                    format!("`{name}`{optional}: {}", self::form(form))
                })
                .collect();
            if **others != Form::Any {
                parts.push(format!("others: {}", self::form(others)));
            }
            match parts.is_empty() {
                true => "object".to_owned(),
                false => format!("object ({})", parts.join(", ")),
            }
        }
    }
}

fn quoted(values: &[String]) -> String {
    let values: Vec<String> = values.iter().map(|value| format!("`{value}`")).collect();
    values.join(" or ")
}

fn without(all: Bits, some: Bits) -> Bits {
    Bits(all.0 & !some.0)
}

fn both(a: Bits, b: Bits) -> Bits {
    Bits(a.0 & b.0)
}
