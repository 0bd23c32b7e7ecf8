//! Visits of the parts of a value that checks cover, for the types of the core that results contain.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write as _,
};

use super::Context;
use crate::model::{Bits, Field, Rule, Shape, TypeDef, TypeRef, Variant};

pub(super) fn emit(cx: &Context<'_>, out: &mut String) {
    let types = visited(cx);
    for ty in types.values() {
        let _ = write!(
            out,
            "impl parts::Parts for {} {{\nfn each_part<'a>(&'a self, visit: &mut dyn FnMut(parts::Part<'a>)) {{\n",
            ty.name
        );
        match &ty.shape {
            Shape::Struct { fields } => record(ty, fields, &types, out),
            Shape::Union { variants, rule } => union(ty, variants, rule, &types, out),
            Shape::Enum { .. } => {}
        }
        out.push_str("}\n}\n");
    }
}

/// Returns the types that results contain and that have such parts, directly or inside them.
fn visited<'a>(cx: &Context<'a>) -> BTreeMap<&'a str, &'a TypeDef> {
    let mut held: BTreeSet<&str> = BTreeSet::new();
    let results = cx.model.methods.values().filter_map(|m| m.result.as_ref());
    let mut next: Vec<&str> = results.filter_map(TypeRef::named).collect();
    while let Some(name) = next.pop() {
        if let Some(ty) = cx.model.types.get(name)
            && held.insert(name)
        {
            uses(ty, &mut |name| next.push(name));
        }
    }
    let mut visited: BTreeMap<&str, &TypeDef> = BTreeMap::new();
    loop {
        let before = visited.len();
        for name in &held {
            let ty = &cx.model.types[*name];
            let mut inner = false;
            uses(ty, &mut |name| inner |= visited.contains_key(name));
            if inner || has_part(ty) {
                visited.insert(&ty.name, ty);
            }
        }
        if visited.len() == before {
            return visited;
        }
    }
}

fn uses<'a>(ty: &'a TypeDef, visit: &mut dyn FnMut(&'a str)) {
    match &ty.shape {
        Shape::Struct { fields } => fields
            .iter()
            .filter_map(|field| field.ty.named())
            .for_each(visit),
        Shape::Union { variants, .. } => variants
            .iter()
            .filter_map(|variant| variant.ty.named())
            .for_each(visit),
        Shape::Enum { .. } => {}
    }
}

fn has_part(ty: &TypeDef) -> bool {
    match &ty.shape {
        Shape::Struct { fields } => fields
            .iter()
            .any(|field| is_member(field) && (field.json_name == META || is_item(ty, field.known))),
        Shape::Union { variants, .. } => variants.iter().any(|variant| is_item(ty, variant.known)),
        Shape::Enum { .. } => false,
    }
}

const META: &str = "_meta";

fn is_member(field: &Field) -> bool {
    !matches!(field.ty, TypeRef::Constant(_))
}

/// Returns whether some revision of the type is not in `known`.
fn is_item(ty: &TypeDef, known: Bits) -> bool {
    !known.covers(ty.known)
}

fn record(ty: &TypeDef, fields: &[Field], types: &BTreeMap<&str, &TypeDef>, out: &mut String) {
    for field in fields.iter().filter(|field| is_member(field)) {
        let (json, name) = (&field.json_name, &field.rust_name);
        if is_item(ty, field.known) {
            let part = format!(
                "visit(parts::Part::Item {{ of: {:?}, item: {json:?} }});",
                ty.name
            );
            let _ = match field.always {
                true => writeln!(out, "{part}"),
                false => writeln!(out, "if self.{name}.is_some() {{ {part} }}"),
            };
        }
        if json == META {
            // A `_meta` with known members keeps all other members as extras.
            let keys = match field.ty {
                TypeRef::Named(_) => "meta.extras().iter()",
                _ => "meta.iter()",
            };
            let each = format!("{keys}.for_each(|(key, _)| visit(parts::Part::MetaKey(key)));");
            let _ = match field.always {
                true => writeln!(out, "let meta = &self.{name};\n{each}"),
                false => writeln!(out, "if let Some(meta) = &self.{name} {{ {each} }}"),
            };
        }
        if field.ty.named().is_some_and(|ty| types.contains_key(ty)) {
            let _ = writeln!(out, "self.{name}.each_part(visit);");
        }
    }
}

fn union(
    ty: &TypeDef,
    variants: &[Variant],
    rule: &Rule,
    types: &BTreeMap<&str, &TypeDef>,
    out: &mut String,
) {
    out.push_str("match self {\n");
    for variant in variants {
        let item = match is_item(ty, variant.known) {
            true => format!(
                "visit(parts::Part::Item {{ of: {:?}, item: {:?} }});",
                ty.name, variant.name
            ),
            false => String::new(),
        };
        let inner = variant.ty.named().is_some_and(|ty| types.contains_key(ty));
        let (value, each) = match inner {
            true => ("value", "value.each_part(visit);"),
            false => ("_", ""),
        };
        let _ = writeln!(
            out,
            "Self::{}({value}) => {{ {item} {each} }}",
            variant.name
        );
    }
    if !matches!(rule, Rule::Json(_)) {
        out.push_str("Self::Unknown(_) => {}\n");
    }
    out.push_str("}\n");
}
