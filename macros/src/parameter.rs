//! One parameter of a tool. Whether it is an argument or injected is decided by its type, later, by trait.

use proc_macro2::{Ident, TokenStream, TokenTree};
use quote::ToTokens;
use syn::{
    Attribute, GenericParam, Generics, Meta, Pat, PatIdent, PatType, Token, Type, ext::IdentExt,
    punctuated::Punctuated,
};

use crate::{diagnostics::Diagnostics, scope::Scope, text::Text};

pub(crate) struct Parameter {
    /// `None` for a pattern, which is allowed for injected parameters only.
    pub(crate) ident: Option<Ident>,
    pub(crate) description: Option<Text>,
    pub(crate) ty: Type,
    /// `#[serde]` and `#[schemars]` attributes.
    pub(crate) attrs: Vec<Attribute>,
}

impl Parameter {
    /// The name the peer uses; empty for a pattern.
    pub(crate) fn name(&self) -> String {
        self.ident
            .as_ref()
            .map(|ident| ident.unraw().to_string())
            .unwrap_or_default()
    }

    /// Takes the docs and the schema attributes of `input`.
    pub(crate) fn lower(
        input: &mut PatType,
        scope: Scope<'_>,
        diag: &mut Diagnostics,
    ) -> Option<Self> {
        let mut own = Diagnostics::default();
        let description = Text::of_docs(&input.attrs);
        let (attrs, mut rest): (Vec<_>, Vec<_>) = std::mem::take(&mut input.attrs)
            .into_iter()
            .partition(is_schema_attr);
        rest.retain(|attr| !attr.path().is_ident("doc"));
        input.attrs = rest;
        for attr in &input.attrs {
            check_attr(attr, &mut own);
        }
        for attr in &attrs {
            check_schema_attr(attr, &mut own);
        }
        let ident = match &*input.pat {
            Pat::Ident(PatIdent {
                by_ref: None,
                subpat: None,
                ident,
                ..
            }) => Some(ident.clone()),
            _ => None,
        };
        if let (None, Some(attr)) = (&ident, attrs.first()) {
            own.error(
                attr,
                "a pattern has no name that this could describe: name the parameter",
            );
        }
        check_type(&input.ty, &mut own);
        if let (Scope::Impl(generics), Some(attr)) = (scope, attrs.first())
            && let Some(outer) = outer_name(&input.ty.to_token_stream(), generics)
        {
            own.error(
                attr,
                format_args!(
                    "a parameter with attributes becomes a type of its own, where `{outer}` is unknown: \
                     write the type out, or put it into the struct of an `Args<…>`"
                ),
            );
        }
        if let Some(error) = own.take() {
            diag.push(error);
            return None;
        }
        Some(Self {
            ident,
            description,
            ty: (*input.ty).clone(),
            attrs,
        })
    }
}

fn is_schema_attr(attr: &Attribute) -> bool {
    attr.path().is_ident("serde") || attr.path().is_ident("schemars")
}

fn check_attr(attr: &Attribute, diag: &mut Diagnostics) {
    if attr.path().is_ident("cfg") || attr.path().is_ident("cfg_attr") {
        diag.error(
            attr,
            "the parameters of a tool are the same in every build: put `#[cfg]` on two tools instead",
        );
    }
}

/// Refuses attributes without meaning for a single argument.
fn check_schema_attr(attr: &Attribute, diag: &mut Diagnostics) {
    let Ok(metas) = attr.parse_args_with(Punctuated::<Meta, Token![,]>::parse_terminated) else {
        return; // serde and schemars report the fault.
    };
    for meta in metas {
        let path = meta.path();
        if path.is_ident("flatten") {
            diag.error(
                path,
                "`flatten` needs a struct around it: take all arguments as one `Args<…>`",
            );
        } else if path.is_ident("alias") {
            diag.error(
                path,
                "a schema lists one name for each argument, so there are no aliases",
            );
        } else if path.is_ident("skip") || path.is_ident("skip_deserializing") {
            diag.error(
                path,
                "an argument is there to be given: make this parameter a constant of the function",
            );
        }
    }
}

fn check_type(ty: &Type, diag: &mut Diagnostics) {
    match ty {
        Type::Reference(reference) => {
            let owned = owned(&reference.elem);
            diag.error(ty, format_args!("tools own their arguments: use `{owned}`"));
        }
        Type::Paren(inner) => check_type(&inner.elem, diag),
        Type::Group(inner) => check_type(&inner.elem, diag),
        Type::ImplTrait(_) => diag.error(
            ty,
            "a tool has one schema, so its parameters have one type: name it",
        ),
        _ => {
            if let Some(lifetime) = named_lifetime(ty.to_token_stream()) {
                diag.error(
                    ty,
                    format_args!("tools own their arguments: nothing lives for `'{lifetime}`"),
                );
            }
        }
    }
}

/// The owned type for a reference to `ty`.
fn owned(ty: &Type) -> String {
    match ty {
        Type::Path(path) if path.path.is_ident("str") => "String".to_owned(),
        Type::Slice(slice) => format!("Vec<{}>", plain(&slice.elem)),
        other => plain(other),
    }
}

fn plain(tokens: &impl ToTokens) -> String {
    let text = tokens.to_token_stream().to_string();
    text.replace(" :: ", "::")
        .replace(" < ", "<")
        .replace(" >", ">")
        .replace(" ,", ",")
}

fn named_lifetime(tokens: TokenStream) -> Option<Ident> {
    let mut after_quote = false;
    for token in tokens {
        match token {
            TokenTree::Ident(ident) if after_quote && ident != "static" && ident != "_" => {
                return Some(ident);
            }
            TokenTree::Group(group) => {
                if let Some(found) = named_lifetime(group.stream()) {
                    return Some(found);
                }
            }
            other => {
                after_quote = matches!(&other, TokenTree::Punct(punct) if punct.as_char() == '\'');
                continue;
            }
        }
        after_quote = false;
    }
    None
}

/// A name in `ty` that is declared by the `impl` block.
fn outer_name(ty: &TokenStream, generics: &Generics) -> Option<Ident> {
    ty.clone().into_iter().find_map(|token| match token {
        TokenTree::Ident(ident)
            if ident == "Self" || generics.params.iter().any(|param| declares(param, &ident)) =>
        {
            Some(ident)
        }
        TokenTree::Group(group) => outer_name(&group.stream(), generics),
        _ => None,
    })
}

fn declares(parameter: &GenericParam, ident: &Ident) -> bool {
    match parameter {
        GenericParam::Type(parameter) => parameter.ident == *ident,
        GenericParam::Const(parameter) => parameter.ident == *ident,
        GenericParam::Lifetime(_) => false,
    }
}
