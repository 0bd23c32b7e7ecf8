//! The checks of each type: only the constraints that Rust types cannot express, as calls of `trueform_schema::conform`.

use std::fmt::Write as _;

use super::Context;
use crate::model::{
    Bits, EnumValue, Field, Form, InVariants, Need, Needs, Older, Rule, Shape, TypeDef, TypeRef,
    Variant,
};

pub(super) fn emit(cx: &Context<'_>, ty: &TypeDef, out: &mut String) {
    let _ = write!(
        out,
        "impl Conform for {} {{\nfn conform(&self, walk: &mut Walk<'_>, path: &Path<'_>) -> Flow {{\n",
        ty.name
    );
    match &ty.shape {
        Shape::Struct { fields } => record(cx, ty, fields, out),
        Shape::Union { variants, rule } => union(cx, variants, rule, out),
        Shape::Enum { values } => text(cx, values, out),
    }
    out.push_str("}\n}\n");
}

fn record(cx: &Context<'_>, ty: &TypeDef, fields: &[Field], out: &mut String) {
    let all = cx.all();
    if ty.known != all {
        let _ = writeln!(out, "walk.available(path, {}, self)?;", cx.set(ty.known));
    }
    let mut lines = String::new();
    for field in fields {
        let (key, name) = (&field.json_name, &field.rust_name);
        if matches!(field.ty, TypeRef::Constant(_)) {
            continue;
        }
        if !field.always && !field.required.is_empty() && field.default.is_none() {
            let required = cx.set(field.required);
            let _ = writeln!(
                lines,
                "object.required({key:?}, {required}, self.{name}.is_some())?;"
            );
        }
        if let Some(condition) = condition(cx, field, fields) {
            let _ = writeln!(
                lines,
                "object.required({key:?}, {condition}, self.{name}.is_some())?;"
            );
        }
        let known = match field.known.covers(ty.known) {
            true => "Revisions::ALL".to_owned(),
            false => cx.set(field.known),
        };
        if has_more(&field.ty) {
            let _ = writeln!(lines, "object.member({key:?}, {known}, &self.{name})?;");
        }
        if !field.needs.is_empty() {
            let needs = needs(cx, &field.needs);
            let _ = writeln!(
                lines,
                "object.needing({key:?}, {known}, {needs}, &self.{name})?;"
            );
        }
    }
    let end = match ty.closed.is_empty() {
        true => "end(&self.extras, Self::MEMBERS)".to_owned(),
        false => format!(
            "closed({}, &self.extras, Self::MEMBERS, &{:?})",
            cx.set(ty.closed),
            always_open(cx, &ty.name)
        ),
    };
    let _ = match lines.is_empty() {
        true => writeln!(out, "walk.object(path).{end}"),
        false => write!(
            out,
            "let mut object = walk.object(path);\n{lines}object.{end}\n"
        ),
    };
}

/// Returns members that the protocol has in messages, even if the schema of the params or of the result allows only the members that it
/// names.
fn always_open(cx: &Context<'_>, name: &str) -> &'static [&'static str] {
    let is_of = |ty: &TypeRef| {
        let Some(message) = ty.named() else {
            return false;
        };
        message == name
            || match cx.model.get(message).map(|ty| &ty.shape) {
                Some(Shape::Union { variants, .. }) => variants
                    .iter()
                    .any(|variant| variant.ty.named() == Some(name)),
                _ => false,
            }
    };
    let mut methods = cx.model.methods.values();
    if methods
        .clone()
        .any(|method| method.result.as_ref().is_some_and(is_of))
    {
        return &["_meta", "resultType"];
    }
    match methods.any(|method| is_of(&method.params)) {
        true => &["_meta"],
        false => &[],
    }
}

/// Returns the revisions that require the member `field` only for some variants of the struct.
fn condition(cx: &Context<'_>, field: &Field, fields: &[Field]) -> Option<String> {
    let condition = field.required_if.as_ref()?;
    let Tagged { tag, values, .. } = tagged(cx, condition, fields)?;
    let known = cx.set(condition.revisions);
    Some(format!(
        "match self.{tag} {{ {values} => {known}, _ => Revisions::NONE }}"
    ))
}

/// How some variants of a struct are recognised in Rust.
pub(super) struct Tagged<'a> {
    /// The field with the tag.
    pub(super) tag: &'a str,
    /// The type of the tag.
    pub(super) kind: &'a str,
    /// The pattern of its values in the variants.
    pub(super) values: String,
}

/// `None` if the tag is not an enumeration.
pub(super) fn tagged<'a>(
    cx: &Context<'_>,
    variants: &InVariants,
    fields: &'a [Field],
) -> Option<Tagged<'a>> {
    let tag = fields
        .iter()
        .find(|other| other.json_name == variants.tag)?;
    let kind = tag.ty.named()?;
    let Shape::Enum { values } = &cx.model.get(kind)?.shape else {
        return None;
    };
    let names: Vec<String> = values
        .iter()
        .filter(|value| variants.values.contains(&value.value))
        .map(|value| format!("{kind}::{}", value.name))
        .collect();
    Some(Tagged {
        tag: &tag.rust_name,
        kind,
        values: names.join(" | "),
    })
}

fn union(cx: &Context<'_>, variants: &[Variant], rule: &Rule, out: &mut String) {
    out.push_str("match self {\n");
    for variant in variants {
        let name = &variant.name;
        let known = cx.set(variant.known);
        let check = match variant.older {
            Older::Nothing => format!("walk.variant(path, {known}, value)"),
            Older::Item => format!("walk.many(path, {known}, value)"),
            Older::Rewritten => format!("walk.rewritten(path, {known}, value)"),
        };
        let _ = match variant.needs.is_empty() {
            true => writeln!(out, "Self::{name}(value) => {check},"),
            false => writeln!(
                out,
                "Self::{name}(value) => {{ {check}?; value.meets({}, walk, path) }}",
                needs(cx, &variant.needs)
            ),
        };
    }
    if !matches!(rule, Rule::Json(_)) {
        out.push_str("Self::Unknown(json) => walk.unknown(path, json),\n");
    }
    out.push_str("}\n");
}

fn text(cx: &Context<'_>, values: &[EnumValue], out: &mut String) {
    out.push_str("let known = match self {\nSelf::Other(_) => Revisions::NONE,\n");
    let mut sets: Vec<Bits> = values.iter().map(|value| value.known).collect();
    sets.sort_unstable();
    sets.dedup();
    for set in sets {
        let of_set = values.iter().filter(|value| value.known == set);
        let names: Vec<String> = of_set
            .map(|value| format!("Self::{}", value.name))
            .collect();
        let _ = writeln!(out, "{} => {},", names.join(" | "), cx.set(set));
    }
    out.push_str("};\nwalk.value(path, known, self)\n");
}

/// Returns whether values of the type have checks of their own.
fn has_more(ty: &TypeRef) -> bool {
    match ty {
        TypeRef::Number | TypeRef::Named(_) => true,
        TypeRef::Vec(inner) | TypeRef::Map(inner) | TypeRef::Nullable(inner) => has_more(inner),
        TypeRef::Bool
        | TypeRef::Integer
        | TypeRef::String
        | TypeRef::Constant(_)
        | TypeRef::Leaf(_) => false,
    }
}

fn needs(cx: &Context<'_>, needs: &Needs) -> String {
    let list: Vec<String> = needs
        .iter()
        .map(|(revisions, need)| format!("({}, {})", cx.set(*revisions), spell(cx, need)))
        .collect();
    format!("&[{}]", list.join(", "))
}

fn spell(cx: &Context<'_>, need: &Need) -> String {
    match need {
        Need::Integral => "Need::Integral".to_owned(),
        Need::Minimum(least) => format!("Need::Minimum({})", float(least)),
        Need::Maximum(most) => format!("Need::Maximum({})", float(most)),
        Need::MinItems(least) => format!("Need::MinItems({least})"),
        Need::MaxItems(most) => format!("Need::MaxItems({most})"),
        Need::MinLength(least) => format!("Need::MinLength({least})"),
        Need::MaxLength(most) => format!("Need::MaxLength({most})"),
        Need::Format(format) => {
            let name = match format.as_str() {
                "uri" => "Uri",
                "uri-template" => "UriTemplate",
                _ => "Byte",
            };
            format!("Need::Format(Format::{name})")
        }
        Need::OneOf(values) => format!("Need::OneOf(&{values:?})"),
        Need::Form(form) => format!("Need::Shape(&{})", shape(form)),
        Need::Each(inner) => format!("Need::Each({})", needs(cx, inner)),
    }
}

fn shape(form: &Form) -> String {
    match form {
        Form::Any => "Shape::Any".to_owned(),
        Form::Kind(kind) => format!("Shape::Kind(JsonKind::{kind})"),
        Form::Integer => "Shape::Integer".to_owned(),
        Form::OneOf(values) => format!("Shape::OneOf(&{values:?})"),
        Form::Array(items) => format!("Shape::Array(&{})", shape(items)),
        Form::Object(members, others) => {
            let members: Vec<String> = members
                .iter()
                .map(|(name, required, form)| {
                    format!("Member({name:?}, {required}, {})", shape(form))
                })
                .collect();
            format!(
                "Shape::Object(&[{}], &{})",
                members.join(", "),
                shape(others)
            )
        }
    }
}

/// Returns a number of a schema as a float literal.
fn float(number: &str) -> String {
    match number.contains(['.', 'e', 'E']) {
        true => number.to_owned(),
        false => format!("{number}.0"),
    }
}
