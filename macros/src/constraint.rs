//! The bounds that `#[schemars]` attributes set for an argument. schemars leaves out a bound that the type of a value does not
//! have, so each is compared with the type here, and with the schema when the server is built.

use quote::ToTokens;
use syn::{Attribute, GenericArgument, Meta, PathArguments, Token, Type, punctuated::Punctuated};

use crate::diagnostics::Diagnostics;

/// A bound, and where the schema of the argument has it.
pub(crate) struct Constraint {
    /// The attribute, such as `range`, or `inner(length)`.
    pub(crate) written: String,
    /// JSON pointers into the schema; one of them is there if the bound has an effect.
    pub(crate) pointers: Vec<String>,
}

/// What a bound restricts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Class {
    Number,
    Text,
    List,
    Flag,
    Map,
}

impl Class {
    /// With an article.
    const fn word(self) -> &'static str {
        match self {
            Self::Number => "a number",
            Self::Text => "a string",
            Self::List => "a list",
            Self::Flag => "a flag",
            Self::Map => "a map",
        }
    }

    /// What bounds it instead.
    const fn advice(self) -> &'static str {
        match self {
            Self::Number => "`range(min = …, max = …)` bounds numbers",
            Self::Text => "`length(min = …, max = …)` and `pattern(\"…\")` bound strings",
            Self::List => "`length(min = …, max = …)` bounds lists, and `inner(…)` their items",
            Self::Flag | Self::Map => "no such attribute bounds its values",
        }
    }
}

/// The bounds that `attrs` set for an argument of type `ty`. Those that `ty` cannot have are reported.
pub(crate) fn constraints(
    attrs: &[Attribute],
    ty: &Type,
    diag: &mut Diagnostics,
) -> Vec<Constraint> {
    let metas: Vec<Meta> = attrs
        .iter()
        .filter(|attr| attr.path().is_ident("schemars"))
        .filter_map(|attr| attr.parse_args_with(list).ok()) // Not a list of plain attributes: not checked here.
        .flatten()
        .collect();
    // What a function makes of the schema is not known here.
    if metas.iter().any(|meta| meta.path().is_ident("transform")) {
        return Vec::new();
    }
    let is_replaced =
        |meta: &Meta| meta.path().is_ident("with") || meta.path().is_ident("schema_with");
    // The schema is that of another type, or what a function returns.
    let ty = (!metas.iter().any(is_replaced)).then_some(ty);
    let mut found = Vec::new();
    collect(&metas, ty, ("", ""), &mut found, diag);
    found
}

fn list(input: syn::parse::ParseStream<'_>) -> syn::Result<Punctuated<Meta, Token![,]>> {
    Punctuated::parse_terminated(input)
}

/// Appends the bounds of `metas` for a value of type `ty`, if that is known. `within` are the names of the attributes around, and
/// the pointer to the schema of the value.
fn collect<'m>(
    metas: impl IntoIterator<Item = &'m Meta>,
    ty: Option<&Type>,
    within: (&str, &str),
    found: &mut Vec<Constraint>,
    diag: &mut Diagnostics,
) {
    let class = ty.and_then(class);
    for meta in metas {
        let Some(name) = meta.path().get_ident().map(ToString::to_string) else {
            continue;
        };
        let (bounded, keywords) = match &*name {
            "range" => (&[Class::Number][..], ends(meta, &["imum"])),
            "length" => (
                &[Class::Text, Class::List][..],
                ends(meta, &["Length", "Items"]),
            ),
            "pattern" | "regex" | "contains" => (&[Class::Text][..], vec!["pattern".to_owned()]),
            "email" | "url" | "ip" | "ipv4" | "ipv6" => {
                (&[Class::Text][..], vec!["format".to_owned()])
            }
            "inner" => (&[Class::List][..], Vec::new()),
            _ => continue,
        };
        if let Some((class, ty)) = class.filter(|(class, _)| !bounded.contains(class)) {
            diag.error(
                meta,
                format_args!(
                    "`{name}` has no effect here, because `{}` is {}: {}",
                    ty.to_token_stream().to_string().replace(' ', ""),
                    class.word(),
                    class.advice()
                ),
            );
            continue;
        }
        let (around, pointer) = within;
        if let ("inner", Meta::List(inner)) = (&*name, meta) {
            let Ok(inner) = inner.parse_args_with(list) else {
                continue; // schemars reports the fault.
            };
            let item = class.and_then(|(_, ty)| item(ty));
            let within = (format!("{around}inner("), format!("{pointer}/items"));
            collect(&inner, item, (&within.0, &within.1), found, diag);
            continue;
        }
        let close = ")".repeat(around.matches('(').count());
        found.push(Constraint {
            written: format!("{around}{name}{close}"),
            pointers: keywords
                .iter()
                .map(|keyword| format!("{pointer}/{keyword}"))
                .collect(),
        });
    }
}

/// The keywords of the first end that `meta` bounds: all ends are left out together.
fn ends(meta: &Meta, suffixes: &[&str]) -> Vec<String> {
    let is_upper_only = match meta {
        Meta::List(ends) => ends.parse_args_with(list).is_ok_and(|ends| {
            !ends.is_empty() && ends.iter().all(|end| end.path().is_ident("max"))
        }),
        _ => false,
    };
    let end = if is_upper_only { "max" } else { "min" };
    suffixes
        .iter()
        .map(|suffix| format!("{end}{suffix}"))
        .collect()
}

/// What the values of `ty` are, and the type inside of options and boxes that says it. `None` for types whose name does not say it.
fn class(ty: &Type) -> Option<(Class, &Type)> {
    let path = match ty {
        Type::Paren(inner) => return class(&inner.elem),
        Type::Group(inner) => return class(&inner.elem),
        Type::Array(_) => return Some((Class::List, ty)),
        Type::Path(path) => path,
        _ => return None,
    };
    let name = path.path.segments.last()?.ident.to_string();
    let class_of_name = match &*name {
        "Option" | "Box" | "Rc" | "Arc" => return class(first_argument(ty)?),
        "i8" | "i16" | "i32" | "i64" | "i128" | "isize" | "u8" | "u16" | "u32" | "u64" | "u128"
        | "usize" | "f32" | "f64" => Class::Number,
        "String" | "char" => Class::Text,
        "bool" => Class::Flag,
        "Vec" | "VecDeque" | "HashSet" | "BTreeSet" => Class::List,
        "HashMap" | "BTreeMap" => Class::Map,
        _ => return None,
    };
    Some((class_of_name, ty))
}

/// The type of the items of the list `ty`.
fn item(ty: &Type) -> Option<&Type> {
    match ty {
        Type::Array(array) => Some(&array.elem),
        _ => first_argument(ty),
    }
}

fn first_argument(ty: &Type) -> Option<&Type> {
    let Type::Path(path) = ty else {
        return None;
    };
    let PathArguments::AngleBracketed(arguments) = &path.path.segments.last()?.arguments else {
        return None;
    };
    arguments.args.iter().find_map(|argument| match argument {
        GenericArgument::Type(ty) => Some(ty),
        _ => None,
    })
}
