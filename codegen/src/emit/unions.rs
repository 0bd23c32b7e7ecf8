//! Unions: one variant per member type, `Unknown` for variants of future revisions, and reading by the union's rule.

use std::fmt::Write as _;

use super::{Context, rust};
use crate::{
    model::{Bits, Field, Older, Rule, Shape, TypeDef, TypeRef, Variant},
    problem::Problem,
};

/// Writes the union and returns the algorithm of `support` that reads it.
pub(super) fn emit(
    cx: &Context<'_>,
    ty: &TypeDef,
    variants: &[Variant],
    rule: &Rule,
    out: &mut String,
) -> Result<&'static str, Problem> {
    let name = &ty.name;
    let open = !matches!(rule, Rule::Json(_));
    cx.doc(name, &cx.neutral(name), ty.known, Bits(0), out);
    let _ = writeln!(
        out,
        "#[derive(Clone, Debug, PartialEq)]\n#[non_exhaustive]\npub enum {name} {{"
    );
    for variant in variants {
        let path = format!("{name}.{}", variant.name);
        cx.doc(
            &path,
            &format!("A `{}`.", rust(&variant.ty)),
            variant.known,
            ty.known,
            out,
        );
        let _ = writeln!(out, "{}({}),", variant.name, rust(&variant.ty));
    }
    if open {
        out.push_str(
            "/// An alternative that no known revision defines, as received.\nUnknown(Json),\n",
        );
    }
    out.push_str("}\n");
    for variant in variants {
        if variants
            .iter()
            .filter(|other| other.ty == variant.ty)
            .count()
            == 1
        {
            let _ = writeln!(
                out,
                "impl From<{0}> for {name} {{ fn from(value: {0}) -> Self {{ Self::{1}(value) }} }}",
                rust(&variant.ty),
                variant.name
            );
        }
    }
    let _ = write!(
        out,
        "impl Encode for {name} {{\nfn encode(&self, view: View<'_>, out: &mut Vec<u8>) {{\nmatch self {{\n"
    );
    for variant in variants {
        let name = &variant.name;
        let _ = match variant.older {
            Older::Nothing => writeln!(out, "Self::{name}(value) => value.encode(view, out),"),
            older => {
                let write = if older == Older::Item {
                    "many"
                } else {
                    "rewritten"
                };
                let known = cx.set(variant.known);
                writeln!(
                    out,
                    "Self::{name}(value) => support::{write}(value, {known}, view, out),"
                )
            }
        };
    }
    if open {
        out.push_str("Self::Unknown(json) => json.encode(view, out),\n");
    }
    out.push_str("}\n}\n}\n");
    accessors(cx, name, variants, open, out);
    read(cx, name, variants, rule, out)
}

/// Accessors of members that every variant has with the same type.
const SHARED: [&str; 2] = ["_meta", "annotations"];

fn accessors(cx: &Context<'_>, name: &str, variants: &[Variant], open: bool, out: &mut String) {
    let mut functions = String::new();
    for member in SHARED {
        let fields: Option<Vec<(&Variant, &Field, String)>> = variants
            .iter()
            .map(|variant| {
                let ty = variant.ty.named()?;
                let Shape::Struct { fields } = &cx.model.types.get(ty)?.shape else {
                    return None;
                };
                let field = fields.iter().find(|field| field.json_name == member)?;
                Some((variant, field, cx.field_type(ty, field)))
            })
            .collect();
        let Some(fields) = fields else { continue };
        let Some((_, first, ty)) = fields.first() else {
            continue;
        };
        if fields.iter().any(|(_, _, other)| other != ty) {
            continue;
        }
        let _ = writeln!(
            functions,
            "/// The `{member}` of the value, for every variant.\n#[must_use]\n\
             pub fn {}(&self) -> Option<&{ty}> {{\nmatch self {{",
            first.rust_name
        );
        for (variant, field, _) in &fields {
            let value = match field.always {
                true => format!("Some(&value.{})", field.rust_name),
                false => format!("value.{}.as_ref()", field.rust_name),
            };
            let _ = writeln!(functions, "Self::{}(value) => {value},", variant.name);
        }
        if open {
            functions.push_str("Self::Unknown(_) => None,\n");
        }
        functions.push_str("}\n}\n");
    }
    if !functions.is_empty() {
        let _ = writeln!(out, "impl {name} {{\n{functions}}}");
    }
}

/// The overlay's name for the usual result, if other results may replace it.
const COMPLETE: &str = "Complete";

fn read(
    cx: &Context<'_>,
    name: &str,
    variants: &[Variant],
    rule: &Rule,
    out: &mut String,
) -> Result<&'static str, Problem> {
    let record = |i: usize| format!("Record::read(members).map(Self::{})", variants[i].name);
    let unknown = "members.unknown().map(Self::Unknown)";
    let is_struct = |ty: &TypeRef| match ty {
        TypeRef::Named(name) => matches!(
            cx.model.get(name).map(|ty| &ty.shape),
            None | Some(Shape::Struct { .. })
        ),
        _ => false,
    };
    if !matches!(rule, Rule::Json(_))
        && let Some(variant) = variants.iter().find(|variant| !is_struct(&variant.ty))
    {
        let message = format!(
            "variant `{}` of `{name}` is not an object with members of its own, so the union needs another rule, such as one by \
             JSON type",
            variant.name
        );
        return Err(Problem::at("", message).in_file(cx.facts_file()));
    }
    match rule {
        Rule::Tag {
            member,
            values,
            absent,
        } => {
            let _ = write!(
                out,
                "impl support::Tagged for {name} {{\nconst TAG: &'static str = {member:?};\n\
                 fn pick<'de, A: MapAccess<'de>>(tag: Option<&str>, members: &mut Members<'de, A>) -> Result<Self, A::Error> {{\n\
                 match tag {{\n"
            );
            for (value, i) in values {
                let _ = writeln!(out, "Some({value:?}) => {},", record(*i));
            }
            let _ = writeln!(out, "Some(_) => {unknown},");
            let _ = match absent {
                Some(i) => writeln!(out, "None => {},", record(*i)),
                None => writeln!(out, "None => Err(members.untagged({member:?})),"),
            };
            out.push_str("}\n}\n}\n");
            Ok("tagged")
        }
        Rule::Present(members) => {
            let names: Vec<String> = members.keys().map(|name| format!("{name:?}")).collect();
            let _ = write!(
                out,
                "impl support::Present for {name} {{\nconst DECIDERS: &'static [&'static str] = &[{}];\n\
                 fn pick<'de, A: MapAccess<'de>>(member: Option<&str>, members: &mut Members<'de, A>) -> Result<Self, A::Error> {{\n\
                 match member {{\n",
                names.join(", ")
            );
            for (member, i) in members {
                let _ = writeln!(out, "Some({member:?}) => {},", record(*i));
            }
            let _ = write!(out, "_ => {unknown},\n}}\n}}\n}}\n");
            Ok("present")
        }
        Rule::Cases(cases) => {
            let _ = write!(
                out,
                "impl support::Cases for {name} {{\n\
                 fn pick<'de, A: MapAccess<'de>>(members: &mut Members<'de, A>) -> Result<Self, A::Error> {{\n"
            );
            let mut always = false;
            for (case, i) in cases {
                let mut conditions = Vec::new();
                for (member, values) in &case.tags {
                    let values: Vec<String> =
                        values.iter().map(|value| format!("{value:?}")).collect();
                    conditions.push(format!("members.is({member:?}, &[{}])", values.join(", ")));
                }
                conditions.extend(
                    case.has
                        .iter()
                        .map(|member| format!("members.has({member:?})")),
                );
                match conditions.is_empty() {
                    true => {
                        always = true;
                        out.push_str(&record(*i));
                        break;
                    }
                    false => {
                        let _ = writeln!(
                            out,
                            "if {} {{ return {}; }}",
                            conditions.join(" && "),
                            record(*i)
                        );
                    }
                }
            }
            if !always {
                // A result without the member that identifies its kind is treated as an unfinished result of the usual kind, unless it
                // names another kind. The reader of the usual kind reports what is missing.
                if let Some(i) = variants.iter().position(|variant| variant.name == COMPLETE) {
                    let _ = writeln!(
                        out,
                        "if !members.has(\"resultType\") || members.is(\"resultType\", &[\"complete\"]) {{ return {}; }}",
                        record(i)
                    );
                }
                out.push_str(unknown);
            }
            out.push_str("\n}\n}\n");
            Ok("cases")
        }
        Rule::Json(types) => {
            let expected: Vec<&str> = types.keys().map(String::as_str).collect();
            let _ = writeln!(
                out,
                "impl support::ByType for {name} {{\nconst EXPECTED: &'static str = {:?};",
                expected.join(" or ")
            );
            for (kind, i) in types {
                let variant = &variants[*i].name;
                let _ = match kind.as_str() {
                    "string" => writeln!(
                        out,
                        "fn string(text: &str) -> Option<Self> {{ Some(Self::{variant}(text.into())) }}"
                    ),
                    "number" if variants[*i].ty == TypeRef::Integer => writeln!(
                        out,
                        "fn integer(integer: i64) -> Option<Self> {{ Some(Self::{variant}(integer)) }}\n\
                         fn number(number: f64) -> Option<Self> {{ support::integral(number).map(Self::{variant}) }}"
                    ),
                    "number" => writeln!(
                        out,
                        "fn number(number: f64) -> Option<Self> {{ Some(Self::{variant}(number)) }}"
                    ),
                    "boolean" => writeln!(
                        out,
                        "fn boolean(value: bool) -> Option<Self> {{ Some(Self::{variant}(value)) }}"
                    ),
                    "array" => writeln!(
                        out,
                        "fn array<'de, A: serde::de::SeqAccess<'de>>(items: A) -> Result<Self, A::Error> {{ \
                         serde::Deserialize::deserialize(serde::de::value::SeqAccessDeserializer::new(items)).map(Self::{variant}) }}"
                    ),
                    _ => writeln!(
                        out,
                        "fn object<'de, A: MapAccess<'de>>(members: A) -> Result<Self, A::Error> {{ \
                         serde::Deserialize::deserialize(serde::de::value::MapAccessDeserializer::new(members)).map(Self::{variant}) }}"
                    ),
                };
            }
            out.push_str("}\n");
            Ok("by_type")
        }
    }
}
