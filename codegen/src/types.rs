//! Pass 4: the field types of all structs, through typify.
//!
//! typify gets only what it handles reliably: a document that contains only structs with required members. Names are neutral (`T12`, `m3`),
//! because typify changes the case of names and ignores a replacement if it spells the key differently. Unions, enumerations and
//! hand-written types are replacements. typify determines the layout: the type of each field, and a `Box` where structs contain themselves.

use std::{
    collections::{BTreeMap, BTreeSet},
    panic::{AssertUnwindSafe, catch_unwind},
};

use serde_json::{Map, Value, json};
use typify::{TypeDetails, TypeSpace, TypeSpaceImpl, TypeSpaceSettings};

use crate::{
    model::{Field, Model, Shape, TypeDef, TypeRef},
    problem::Problem,
};

/// Rust types of fields, by struct and JSON name of the member; without the `Option` of optional members.
pub(crate) type FieldTypes = BTreeMap<(String, String), String>;

/// Returns the field types of all structs of `model`.
///
/// # Errors
/// typify refuses or panics on a struct; the problem names it.
pub(crate) fn field_types(model: &Model) -> Result<FieldTypes, Problem> {
    let structs: BTreeMap<&str, &[Field]> = model
        .types
        .values()
        .filter_map(|ty| match &ty.shape {
            Shape::Struct { fields } => Some((ty.name.as_str(), fields.as_slice())),
            Shape::Union { .. } | Shape::Enum { .. } => None,
        })
        .collect();
    match run(&structs) {
        Ok(mut types) => {
            box_cycles(model, &mut types);
            Ok(types)
        }
        Err(message) => Err(blame(model, &structs, &message)),
    }
}

/// Boxes the fields through which a struct contains itself by way of unions, because typify does not see these.
fn box_cycles(model: &Model, types: &mut FieldTypes) {
    let names: Vec<&str> = model.types.keys().map(String::as_str).collect();
    let number: BTreeMap<&str, usize> = names
        .iter()
        .enumerate()
        .map(|(i, name)| (*name, i))
        .collect();
    let mut edges: Vec<Vec<usize>> = vec![Vec::new(); names.len()];
    for (i, ty) in model.types.values().enumerate() {
        let held: Vec<&str> = match &ty.shape {
            Shape::Struct { fields } => declared(fields)
                .filter(|field| !is_boxed(types, &ty.name, field))
                .filter_map(|field| by_value(&field.ty))
                .collect(),
            Shape::Union { variants, .. } => variants
                .iter()
                .filter_map(|variant| by_value(&variant.ty))
                .collect(),
            Shape::Enum { .. } => Vec::new(),
        };
        edges[i].extend(held.iter().filter_map(|name| number.get(name)));
    }
    let group = groups(&edges);
    for ty in model.types.values() {
        let Shape::Struct { fields } = &ty.shape else {
            continue;
        };
        for field in declared(fields) {
            let Some(held) = by_value(&field.ty) else {
                continue;
            };
            let (Some(from), Some(to)) = (number.get(&*ty.name), number.get(held)) else {
                continue;
            };
            if group[*from] == group[*to] && !is_boxed(types, &ty.name, field) {
                let spelled = match field.ty {
                    TypeRef::Nullable(_) => format!("Option<Box<{held}>>"),
                    _ => format!("Box<{held}>"),
                };
                types.insert((ty.name.clone(), field.json_name.clone()), spelled);
            }
        }
    }
}

fn is_boxed(types: &FieldTypes, name: &str, field: &Field) -> bool {
    let key = (name.to_owned(), field.json_name.clone());
    types
        .get(&key)
        .is_some_and(|spelled| spelled.contains("Box<"))
}

/// Returns the generated type that a value of `ty` contains directly, not behind a pointer.
fn by_value(ty: &TypeRef) -> Option<&str> {
    match ty {
        TypeRef::Named(name) => Some(name),
        TypeRef::Nullable(inner) => by_value(inner),
        _ => None,
    }
}

/// Returns a number for each node of a graph, the same for nodes that reach each other (Kosaraju's algorithm).
fn groups(edges: &[Vec<usize>]) -> Vec<usize> {
    let mut back: Vec<Vec<usize>> = vec![Vec::new(); edges.len()];
    for (from, targets) in edges.iter().enumerate() {
        targets.iter().for_each(|to| back[*to].push(from));
    }
    let mut seen = vec![false; edges.len()];
    let mut order = Vec::new();
    for start in 0..edges.len() {
        let mut path = vec![(start, 0)];
        while let Some((node, next)) = path.pop() {
            if next == 0 && std::mem::replace(&mut seen[node], true) {
                continue;
            }
            match edges[node].get(next) {
                Some(to) => {
                    path.push((node, next + 1));
                    path.push((*to, 0));
                }
                None => order.push(node),
            }
        }
    }
    let mut group = vec![usize::MAX; edges.len()];
    for start in order.into_iter().rev() {
        let mut open = vec![start];
        while let Some(node) = open.pop() {
            if group[node] == usize::MAX {
                group[node] = start;
                open.extend(&back[node]);
            }
        }
    }
    group
}

/// Finds the struct that typify fails on, by passing one struct at a time.
fn blame(model: &Model, structs: &BTreeMap<&str, &[Field]>, message: &str) -> Problem {
    for (name, fields) in structs {
        if let Err(message) = run(&BTreeMap::from([(*name, *fields)])) {
            let source = model
                .types
                .get(*name)
                .and_then(|ty: &TypeDef| ty.sources.last());
            let (file, pointer) = match source {
                Some((revision, pointer)) => (model.revisions[*revision].clone(), pointer.clone()),
                None => (String::new(), String::new()),
            };
            return Problem::at(pointer, format!("typify failed on `{name}`: {message}"))
                .in_file(file);
        }
    }
    Problem::at(
        "",
        format!("typify failed on all structs together: {message}"),
    )
}

fn run(structs: &BTreeMap<&str, &[Field]>) -> Result<FieldTypes, String> {
    // Every possible type of a field, numbered: structs first, then the replacements of definitions.
    let mut names: Vec<String> = structs.keys().map(|name| (*name).to_owned()).collect();
    let mut replaced = BTreeSet::new();
    for field in structs.values().copied().flatten() {
        each_name(&field.ty, &mut |name| {
            if !structs.contains_key(name) {
                replaced.insert(name.to_owned());
            }
        });
    }
    names.extend(replaced);
    let numbers: BTreeMap<&str, usize> = names
        .iter()
        .enumerate()
        .map(|(i, name)| (name.as_str(), i))
        .collect();
    let number = |name: &str| numbers.get(name).copied().unwrap_or_default();

    let mut settings = TypeSpaceSettings::default();
    settings.with_map_type("Map");
    let mut definitions = Map::new();
    for (i, name) in names.iter().enumerate() {
        let schema = match structs.get(name.as_str()) {
            Some(fields) => document(fields, &number),
            None => {
                settings.with_replacement(
                    format!("T{i}"),
                    name,
                    std::iter::empty::<TypeSpaceImpl>(),
                );
                json!({"type": "object"})
            }
        };
        definitions.insert(format!("T{i}"), schema);
    }
    let root = json!({
        "$schema": "http://json-schema.org/draft-07/schema#",
        "definitions": definitions,
    });
    let root = serde_json::from_value(root).map_err(|error| error.to_string())?;
    let space = catch_unwind(AssertUnwindSafe(|| {
        let mut space = TypeSpace::new(&settings);
        space.add_root_schema(root).map(|_| space)
    }));
    let space = match space {
        Ok(Ok(space)) => space,
        Ok(Err(error)) => return Err(error.to_string()),
        Err(_) => return Err("it panicked".to_owned()),
    };

    let mut types = FieldTypes::new();
    for ty in space.iter_types() {
        let TypeDetails::Struct(details) = ty.details() else {
            continue;
        };
        let Some(name) = numbered(&ty.name(), 'T').and_then(|i| names.get(i)) else {
            continue;
        };
        let Some(fields) = structs.get(name.as_str()) else {
            return Err(format!("the replacement of `{name}` was not used"));
        };
        let declared: Vec<&Field> = declared(fields).collect();
        for property in details.properties_info() {
            let Some(field) = numbered(property.name, 'm').and_then(|i| declared.get(i)) else {
                continue;
            };
            let ident = space
                .get_type(&property.type_id)
                .map_err(|error| error.to_string())?
                .ident();
            let parsed = syn::parse2(ident).map_err(|error| error.to_string())?;
            types.insert(
                (name.clone(), field.json_name.clone()),
                spelled(&parsed, &names)?,
            );
        }
    }
    // typify must not have omitted or merged a member.
    for (name, fields) in structs {
        for field in declared(fields) {
            let key = ((*name).to_owned(), field.json_name.clone());
            if !types.contains_key(&key) {
                return Err(format!(
                    "it lost the member `{}` of `{name}`",
                    field.json_name
                ));
            }
        }
    }
    Ok(types)
}

/// Returns the members that are fields.
fn declared(fields: &[Field]) -> impl Iterator<Item = &Field> {
    fields
        .iter()
        .filter(|field| !matches!(field.ty, TypeRef::Constant(_)))
}

fn document(fields: &[Field], number: &dyn Fn(&str) -> usize) -> Value {
    let mut properties = Map::new();
    let mut required = Vec::new();
    for (i, field) in declared(fields).enumerate() {
        properties.insert(format!("m{i}"), schema(&field.ty, number));
        required.push(format!("m{i}"));
    }
    json!({"type": "object", "properties": properties, "required": required, "additionalProperties": false})
}

fn schema(ty: &TypeRef, number: &dyn Fn(&str) -> usize) -> Value {
    let reference = |name: &str| json!({"$ref": format!("#/definitions/T{}", number(name))});
    match ty {
        TypeRef::Bool => json!({"type": "boolean"}),
        TypeRef::Integer => json!({"type": "integer"}),
        TypeRef::Number => json!({"type": "number"}),
        TypeRef::String | TypeRef::Constant(_) => json!({"type": "string"}),
        TypeRef::Leaf(name) | TypeRef::Named(name) => reference(name),
        TypeRef::Vec(inner) => json!({"type": "array", "items": schema(inner, number)}),
        TypeRef::Map(inner) => {
            json!({"type": "object", "additionalProperties": schema(inner, number)})
        }
        TypeRef::Nullable(inner) => json!({"oneOf": [{"type": "null"}, schema(inner, number)]}),
    }
}

fn each_name(ty: &TypeRef, visit: &mut dyn FnMut(&str)) {
    match ty {
        TypeRef::Leaf(name) | TypeRef::Named(name) => visit(name),
        TypeRef::Vec(inner) | TypeRef::Map(inner) | TypeRef::Nullable(inner) => {
            each_name(inner, visit)
        }
        TypeRef::Bool
        | TypeRef::Integer
        | TypeRef::Number
        | TypeRef::String
        | TypeRef::Constant(_) => {}
    }
}

fn numbered(name: &str, letter: char) -> Option<usize> {
    name.strip_prefix(letter)?.parse().ok()
}

/// Returns a type of typify in the notation of the bindings.
fn spelled(ty: &syn::Type, names: &[String]) -> Result<String, String> {
    let unexpected = || "it gave a field a type that is not a path".to_owned();
    let syn::Type::Path(path) = ty else {
        return Err(unexpected());
    };
    let last = path.path.segments.last().ok_or_else(unexpected)?;
    let mut arguments = Vec::new();
    if let syn::PathArguments::AngleBracketed(angle) = &last.arguments {
        for argument in &angle.args {
            if let syn::GenericArgument::Type(ty) = argument {
                arguments.push(spelled(ty, names)?);
            }
        }
    }
    let name = last.ident.to_string();
    let name = numbered(&name, 'T')
        .and_then(|i| names.get(i))
        .cloned()
        .unwrap_or(name);
    Ok(match (name.as_str(), arguments.as_slice()) {
        ("Map", [_, value]) => format!("Map<{value}>"),
        (_, []) => name,
        _ => format!("{name}<{}>", arguments.join(", ")),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Bits;

    fn field(json_name: &str, ty: TypeRef) -> Field {
        Field {
            json_name: json_name.to_owned(),
            rust_name: json_name.to_owned(),
            ty,
            known: Bits(1),
            required: Bits(1),
            default: None,
            constraints: BTreeMap::new(),
            needs: Vec::new(),
            required_if: None,
            known_if: None,
            always: true,
        }
    }

    #[test]
    fn layout_of_every_kind_of_field() {
        let named = |name: &str| TypeRef::Named(name.to_owned());
        let boxed = |ty: TypeRef| Box::new(ty);
        let fields = [
            field("a", TypeRef::Vec(boxed(named("Outer")))),
            field("b", TypeRef::Map(boxed(TypeRef::Leaf("Json".to_owned())))),
            field("c", TypeRef::Nullable(boxed(TypeRef::Integer))),
            field("d", named("Union")),
            field("e", TypeRef::Constant("x".to_owned())),
            field("f", TypeRef::Nullable(boxed(named("Outer")))),
            field("type", TypeRef::Number),
        ];
        let types = run(&BTreeMap::from([("Outer", fields.as_slice())])).unwrap();
        let of = |member: &str| {
            types
                .get(&("Outer".to_owned(), member.to_owned()))
                .map(String::as_str)
        };
        assert_eq!(of("a"), Some("Vec<Outer>"));
        assert_eq!(of("b"), Some("Map<Json>"));
        assert_eq!(of("c"), Some("Option<i64>"));
        assert_eq!(of("d"), Some("Union"));
        assert_eq!(of("e"), None);
        assert_eq!(of("f"), Some("Option<Box<Outer>>"));
        assert_eq!(of("type"), Some("f64"));
    }
}
