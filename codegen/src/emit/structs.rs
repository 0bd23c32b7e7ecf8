//! Structs: the fields, a constructor from the required members, setters, and reading and writing.

use std::fmt::Write as _;

use super::{
    Context,
    conform::{Tagged, tagged},
    json_inside, parameter, printable,
};
use crate::{
    model::{Bits, Field, TypeDef, TypeRef},
    projection::SERVER_INFO,
};

pub(super) fn emit(cx: &Context<'_>, ty: &TypeDef, fields: &[Field], out: &mut String) {
    declaration(cx, ty, fields, out);
    methods(cx, ty, fields, out);
    writer(cx, ty, fields, out);
    reader(ty, fields, out);
}

fn is_constant(field: &Field) -> bool {
    matches!(field.ty, TypeRef::Constant(_))
}

/// Whether the field is not an `Option`.
fn is_plain(field: &Field) -> bool {
    field.always
}

/// Whether a reader may find the member absent although it is always written: a result without `resultType` is complete. A
/// receiver without that leniency checks the text, where the absence shows.
fn may_be_absent(field: &Field) -> bool {
    let is_complete = matches!(&field.ty, TypeRef::Constant(value) if value == "complete");
    is_complete && field.json_name == "resultType"
}

fn declaration(cx: &Context<'_>, ty: &TypeDef, fields: &[Field], out: &mut String) {
    let name = &ty.name;
    cx.doc(name, &cx.neutral(name), ty.known, Bits(0), out);
    let default = match fields
        .iter()
        .any(|field| is_plain(field) && !is_constant(field))
    {
        true => "",
        false => ", Default",
    };
    let _ = writeln!(
        out,
        "#[derive(Clone, Debug, PartialEq{default})]\n#[non_exhaustive]\npub struct {name} {{"
    );
    for field in fields.iter().filter(|field| !is_constant(field)) {
        let path = format!("{name}.{}", field.json_name);
        cx.doc(
            &path,
            &format!("`{}`.", field.json_name),
            field.known,
            ty.known,
            out,
        );
        requirement(cx, field, ty.known, out);
        let spelled = cx.field_type(name, field);
        let spelled = if is_plain(field) {
            spelled
        } else {
            format!("Option<{spelled}>")
        };
        let _ = writeln!(out, "pub {}: {spelled},", field.rust_name);
    }
    out.push_str("extras: Extras,\n}\n");
}

/// The doc sentence on when an optional member is required.
fn requirement(cx: &Context<'_>, field: &Field, of: Bits, out: &mut String) {
    if is_plain(field) || field.required.is_empty() {
        return;
    }
    let when = match cx.model.period(field.required) {
        _ if field.required == of => "Required".to_owned(),
        period => format!("Required {}", lower(period.trim_end_matches('.'))),
    };
    let filled = match &field.default {
        Some(default) => format!("; written as `{default}` unless set"),
        None => String::new(),
    };
    let _ = writeln!(out, "///\n/// {when}{filled}.");
}

fn lower(text: &str) -> String {
    let mut chars = text.chars();
    chars
        .next()
        .map(|first| first.to_lowercase().chain(chars).collect())
        .unwrap_or_default()
}

fn methods(cx: &Context<'_>, ty: &TypeDef, fields: &[Field], out: &mut String) {
    let name = &ty.name;
    let own = || fields.iter().filter(|field| !is_constant(field));
    let mut params = Vec::new();
    let mut inits = String::new();
    for field in own() {
        match is_plain(field) {
            true => {
                let (declared, value) = parameter(&cx.field_type(name, field), &field.rust_name);
                params.push(format!("{}: {declared}", field.rust_name));
                let _ = match value == field.rust_name {
                    true => write!(inits, "{value},"),
                    false => write!(inits, "{}: {value},", field.rust_name),
                };
            }
            false => {
                let _ = write!(inits, "{}: None,", field.rust_name);
            }
        }
    }
    let body = match params.is_empty() {
        true => "Self::default()".to_owned(),
        false => format!("Self {{ {inits} extras: Extras::default() }}"),
    };
    let about = match params.is_empty() {
        true => "without members.",
        false => "with the members that every revision requires.",
    };
    let keys: Vec<String> = fields
        .iter()
        .map(|field| format!("{:?}", field.json_name))
        .collect();
    let article = match name.starts_with(['A', 'E', 'I', 'O', 'U']) {
        true => "An",
        false => "A",
    };
    let _ = write!(
        out,
        "impl {name} {{\nconst MEMBERS: &'static [&'static str] = &[{}];\n/// {article} `{name}` {about}\n#[must_use]\npub fn new({}) -> Self {{ {body} }}\n",
        keys.join(", "),
        params.join(", ")
    );
    for field in own().filter(|field| !is_plain(field)) {
        let (declared, value) = parameter(&cx.field_type(name, field), &field.rust_name);
        let _ = write!(
            out,
            "/// Sets [`{0}`](Self::{1}).\n#[must_use]\npub fn with_{1}(mut self, {1}: {declared}) -> Self {{ \
             self.{1} = Some({value}); self }}\n",
            printable(&field.json_name),
            field.rust_name
        );
    }
    out.push_str(
        "/// Unknown members.\n#[must_use]\npub fn extras(&self) -> &Extras { &self.extras }\n\
         /// Unknown members, mutable.\npub fn extras_mut(&mut self) -> &mut Extras { &mut self.extras }\n}\n",
    );
}

fn writer(cx: &Context<'_>, ty: &TypeDef, fields: &[Field], out: &mut String) {
    let _ = write!(
        out,
        "impl Encode for {} {{\nfn encode(&self, view: View<'_>, out: &mut Vec<u8>) {{\n\
         let {}object = ObjectWriter::new(view, out);\n",
        ty.name,
        if fields.is_empty() { "" } else { "mut " }
    );
    // Constants first, so that a reader of the object recognises its type early.
    let (constants, others): (Vec<&Field>, Vec<&Field>) =
        fields.iter().partition(|field| is_constant(field));
    for field in constants.into_iter().chain(others) {
        // The writers take names and constants as they stand inside a JSON string.
        let key = &json_inside(&field.json_name);
        let name = &field.rust_name;
        let everywhere = field.known.covers(ty.known);
        let known = || cx.set(field.known);
        let _ = match (&field.ty, &field.default) {
            (TypeRef::Constant(value), _) if everywhere => {
                writeln!(out, "object.constant({key:?}, {:?});", json_inside(value))
            }
            (TypeRef::Constant(value), _) => {
                writeln!(
                    out,
                    "object.constant_in({key:?}, {}, {:?});",
                    known(),
                    json_inside(value)
                )
            }
            (_, Some(default)) if !is_plain(field) => writeln!(
                out,
                "object.defaulted({key:?}, {}, {}, &self.{name}, {default:?});",
                known(),
                cx.set(field.required)
            ),
            _ if key == SERVER_INFO && !is_plain(field) => {
                writeln!(out, "object.stamp({key:?}, {}, &self.{name});", known())
            }
            _ if key == "_meta" && !is_plain(field) && stamped(cx, &field.ty).is_some() => {
                writeln!(
                    out,
                    "object.result_meta({key:?}, {}, &self.{name});",
                    cx.set(stamped(cx, &field.ty).unwrap_or_default())
                )
            }
            _ => {
                let verb = if is_plain(field) {
                    "required"
                } else {
                    "optional"
                };
                let written = match everywhere {
                    true => format!("object.{verb}({key:?}, &self.{name});"),
                    false => format!("object.{verb}_in({key:?}, {}, &self.{name});", known()),
                };
                match shown_if(cx, field, fields) {
                    Some(condition) => writeln!(out, "if {condition} {{ {written} }}"),
                    None => writeln!(out, "{written}"),
                }
            }
        };
    }
    out.push_str("object.end(&self.extras, Self::MEMBERS);\n}\n}\n");
}

/// When to write the member `field`, which only some variants of the struct have: to the others it is an unknown member. A variant
/// that this revision does not know may have it.
fn shown_if(cx: &Context<'_>, field: &Field, fields: &[Field]) -> Option<String> {
    // Every variant has `_meta`, and its members are open.
    let variants = field
        .known_if
        .as_ref()
        .filter(|_| field.json_name != "_meta")?;
    let Tagged { tag, kind, values } = tagged(cx, variants, fields)?;
    Some(format!(
        "!view.is_closed() || matches!(self.{tag}, {values} | {kind}::Other(_))"
    ))
}

/// The revisions in which `ty`, the type of a `_meta`, has the member for the server's identity.
fn stamped(cx: &Context<'_>, ty: &TypeRef) -> Option<Bits> {
    let TypeRef::Named(name) = ty else {
        return None;
    };
    match &cx.model.get(name)?.shape {
        crate::model::Shape::Struct { fields } => fields
            .iter()
            .find(|field| field.json_name == SERVER_INFO)
            .map(|field| field.known),
        _ => None,
    }
}

fn reader(ty: &TypeDef, fields: &[Field], out: &mut String) {
    let _ = write!(
        out,
        "impl Record for {} {{\nfn read<'de, A: MapAccess<'de>>(members: &mut Members<'de, A>) -> Result<Self, A::Error> {{\n",
        ty.name
    );
    for field in fields {
        let init = if is_constant(field) { "false" } else { "None" };
        let _ = writeln!(out, "let mut {} = {init};", field.rust_name);
    }
    out.push_str("let mut extras = Extras::default();\nwhile let Some(key) = members.key()? {\nmatch &*key {\n");
    for field in fields {
        let key = &field.json_name;
        let name = &field.rust_name;
        let _ = match &field.ty {
            TypeRef::Constant(value) => {
                writeln!(
                    out,
                    "{key:?} => members.constant({key:?}, {value:?}, &mut {name}),"
                )
            }
            TypeRef::Integer => writeln!(out, "{key:?} => members.integer({key:?}, &mut {name}),"),
            TypeRef::Nullable(inner) if **inner == TypeRef::Integer => {
                writeln!(
                    out,
                    "{key:?} => members.nullable_integer({key:?}, &mut {name}),"
                )
            }
            _ => writeln!(out, "{key:?} => members.put({key:?}, &mut {name}),"),
        };
    }
    // One `?` for all members: each one is compiled to a path of its own, which drops what was read.
    out.push_str("_ => members.extra(key, &mut extras),\n}?;\n}\n");
    let mut inits = String::new();
    for field in fields {
        let key = &field.json_name;
        let name = &field.rust_name;
        let _ = match (is_constant(field), is_plain(field)) {
            (true, true) if !may_be_absent(field) => {
                writeln!(out, "support::seen({key:?}, {name})?;")
            }
            (true, true) => writeln!(out, "let _ = {name};"),
            (true, false) => writeln!(out, "let _ = {name};"),
            (false, true) => write!(inits, "{name}: support::need({key:?}, {name})?,"),
            (false, false) => write!(inits, "{name},"),
        };
    }
    let _ = write!(
        out,
        "Ok(Self {{ {inits} extras: support::distinct(extras)? }})\n}}\n}}\n"
    );
}
