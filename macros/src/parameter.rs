//! One parameter of a tool, prompt or resource. Its type determines later, by a trait, whether it is an argument or injected.

use proc_macro2::{Ident, TokenStream, TokenTree};
use quote::ToTokens;
use syn::{
    Attribute, GenericParam, Generics, Meta, MetaNameValue, Pat, PatIdent, PatType, Token, Type,
    ext::IdentExt, punctuated::Punctuated,
};

use crate::{
    arg::{Completion, completion},
    constraint::{Constraint, constraints},
    diagnostics::Diagnostics,
    kind::Kind,
    scope::Scope,
    text::{Text, literal},
};

pub(crate) struct Parameter {
    /// `None` for a pattern, which is allowed for injected parameters only.
    pub(crate) ident: Option<Ident>,
    pub(crate) description: Option<Text>,
    pub(crate) ty: Type,
    /// `#[serde]` and `#[schemars]` attributes.
    pub(crate) attrs: Vec<Attribute>,
    /// What they bound.
    pub(crate) constraints: Vec<Constraint>,
    pub(crate) completion: Option<Completion>,
}

impl Parameter {
    /// Returns the name in the signature; empty for a pattern.
    pub(crate) fn name(&self) -> String {
        self.ident
            .as_ref()
            .map(|ident| ident.unraw().to_string())
            .unwrap_or_default()
    }

    /// Returns the name that the peer uses if this is an argument: attributes may rename it. `None` for a pattern.
    pub(crate) fn argument_name(&self) -> Option<String> {
        let renamed = ["schemars", "serde"].into_iter().find_map(|derive| {
            let mut attrs = self.attrs.iter();
            attrs.find_map(|attr| renamed(attr.path().is_ident(derive).then_some(attr)?))
        });
        let ident = self.ident.as_ref()?;
        Some(renamed.unwrap_or_else(|| ident.unraw().to_string()))
    }

    /// Removes the docs and the attributes of `input` that are for the expansion.
    pub(crate) fn lower(
        kind: Kind,
        input: &mut PatType,
        scope: Scope<'_>,
        diag: &mut Diagnostics,
    ) -> Option<Self> {
        let mut own = Diagnostics::default();
        let description = Text::of_docs(&input.attrs);
        let (attrs, mut rest): (Vec<_>, Vec<_>) = std::mem::take(&mut input.attrs)
            .into_iter()
            .partition(is_schema_attr);
        let args: Vec<_> = rest
            .extract_if(.., |attr| attr.path().is_ident("arg"))
            .collect();
        rest.retain(|attr| !attr.path().is_ident("doc"));
        input.attrs = rest;
        for attr in &input.attrs {
            check_attr(kind, attr, &mut own);
        }
        let completion = completion(kind, &args, &mut own);
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
        if let (None, Some(attr)) = (&ident, attrs.first().or(args.first())) {
            own.error(
                attr,
                "a pattern has no name that this could describe: name the parameter",
            );
        }
        check_type(kind, &input.ty, &mut own);
        let constraints = constraints(&attrs, &input.ty, &mut own);
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
            constraints,
            completion,
        })
    }
}

fn is_schema_attr(attr: &Attribute) -> bool {
    attr.path().is_ident("serde") || attr.path().is_ident("schemars")
}

/// Returns the value of `rename` in `#[serde(…)]` or `#[schemars(…)]`.
fn renamed(attr: &Attribute) -> Option<String> {
    let metas = attr
        .parse_args_with(Punctuated::<Meta, Token![,]>::parse_terminated)
        .ok()?;
    metas.iter().find_map(|meta| match meta {
        Meta::NameValue(pair) if pair.path.is_ident("rename") => literal(&pair.value),
        Meta::List(list) if list.path.is_ident("rename") => {
            let pairs = list
                .parse_args_with(Punctuated::<MetaNameValue, Token![,]>::parse_terminated)
                .ok()?;
            let mut pairs = pairs.iter();
            let pair = pairs.find(|pair| pair.path.is_ident("deserialize"))?;
            literal(&pair.value)
        }
        _ => None,
    })
}

fn check_attr(kind: Kind, attr: &Attribute, diag: &mut Diagnostics) {
    if attr.path().is_ident("cfg") || attr.path().is_ident("cfg_attr") {
        diag.error(
            attr,
            format_args!(
                "the parameters of a {kind} are the same in every build: put `#[cfg]` on two {kind}s instead"
            ),
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

fn check_type(kind: Kind, ty: &Type, diag: &mut Diagnostics) {
    match ty {
        Type::Reference(reference) => {
            let owned = owned(&reference.elem);
            diag.error(
                ty,
                format_args!("{kind}s own their arguments: use `{owned}`"),
            );
        }
        Type::Paren(inner) => check_type(kind, &inner.elem, diag),
        Type::Group(inner) => check_type(kind, &inner.elem, diag),
        Type::ImplTrait(_) => diag.error(
            ty,
            format_args!(
                "a {kind} has one {}, so its parameters have one type: name it",
                kind.signature()
            ),
        ),
        _ => {
            if let Some(lifetime) = named_lifetime(ty.to_token_stream()) {
                diag.error(
                    ty,
                    format_args!("{kind}s own their arguments: nothing lives for `'{lifetime}`"),
                );
            }
        }
    }
}

/// Returns the owned type for a reference to `ty`.
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

/// Returns a name in `ty` that the `impl` block declares.
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
