//! The URI and the keys of `#[resource(…)]`.

use proc_macro2::{Ident, Span, TokenStream};
use quote::ToTokens;
use syn::{Expr, ExprLit, Lit, LitStr, Meta, MetaNameValue, Path};

use super::{flag, known, metas, pieces, span_of, string, timeout::duration};
use crate::{
    diagnostics::Diagnostics,
    text::{is_date, is_mime_type},
    variables::Uri,
};

/// The arguments of resources only.
#[derive(Default)]
pub(crate) struct ResourceKeys {
    pub(crate) uri: Option<Uri>,
    pub(crate) mime_type: Option<LitStr>,
    /// The size in bytes, with the span of the key.
    pub(crate) size: Option<(u64, Span)>,
    /// Roles of the protocol.
    pub(crate) audience: Vec<&'static str>,
    pub(crate) priority: Option<f64>,
    pub(crate) last_modified: Option<LitStr>,
    /// The time to live in milliseconds.
    pub(crate) ttl: Option<u64>,
    pub(crate) public: bool,
    /// The span of the key.
    pub(crate) file_like: Option<Span>,
}

pub(super) const ROLES: &[&str] = &["user", "assistant"];

impl ResourceKeys {
    pub(super) fn set(&mut self, key: &'static str, meta: &Meta, diag: &mut Diagnostics) {
        match key {
            "mime_type" => self.mime_type = mime_type(meta, diag),
            "size" => self.size = size(meta, diag).map(|size| (size, span_of(meta.path()))),
            "audience" => self.audience = audience(meta, diag),
            "priority" => self.priority = priority(meta, diag),
            "last_modified" => self.last_modified = last_modified(meta, diag),
            "ttl" => self.ttl = string(meta, diag).and_then(|text| duration(&text, diag)),
            "public" => self.public = flag(meta, diag) == Some(true),
            _ => {
                if flag(meta, diag) == Some(true) {
                    self.file_like = Some(span_of(meta.path()));
                }
            }
        }
    }

    pub(super) fn check(&self, diag: &mut Diagnostics) {
        let Some(uri) = &self.uri else { return };
        match (uri.is_template(), self.size, self.file_like) {
            (true, Some((_, at)), _) => diag.error_at(
                at,
                "a template stands for many resources, each of its own size: drop `size`",
            ),
            (false, _, Some(at)) => diag.error_at(
                at,
                "`file_like` is about the values of variables, and this URI has no variables",
            ),
            _ => {}
        }
    }
}

/// Removes the URI from `pieces`. Returns `None` if a fault was reported; `ident` is the function's name.
pub(super) fn take_uri(
    pieces: &mut Vec<TokenStream>,
    ident: &Ident,
    diag: &mut Diagnostics,
) -> Option<Uri> {
    let is_keyed = |piece: &TokenStream| {
        syn::parse2::<MetaNameValue>(piece.clone()).is_ok_and(|pair| pair.path.is_ident("uri"))
    };
    if let Some(at) = pieces.iter().position(is_keyed) {
        diag.error(
            pieces.remove(at),
            "the URI has no key and stands first: `#[resource(\"scheme://path\", …)]`",
        );
        return None;
    }
    let is_literal = |piece: &TokenStream| syn::parse2::<Lit>(piece.clone()).is_ok();
    let Some(at) = pieces.iter().position(is_literal) else {
        diag.error(
            ident,
            "a resource needs a URI, a string literal before all keys: `#[resource(\"scheme://path\", …)]`",
        );
        return None;
    };
    let piece = pieces.remove(at);
    let Ok(text) = syn::parse2::<LitStr>(piece.clone()) else {
        diag.error(piece, "expected the URI, a string literal");
        return None;
    };
    if at > 0 {
        diag.error(&text, "the URI stands before all keys");
    }
    Uri::lower(text, diag)
}

fn mime_type(meta: &Meta, diag: &mut Diagnostics) -> Option<LitStr> {
    let text = string(meta, diag)?;
    if !is_mime_type(&text.value()) {
        diag.error(
            &text,
            format_args!(
                "`{}` is not a MIME type: expected `type/subtype`, such as `text/markdown`",
                text.value()
            ),
        );
        return None;
    }
    Some(text)
}

fn size(meta: &Meta, diag: &mut Diagnostics) -> Option<u64> {
    let at = match value(meta) {
        Ok(Lit::Int(size)) if size.suffix().is_empty() => match size.base10_parse() {
            Ok(size) => return Some(size),
            Err(_) => size.to_token_stream(),
        },
        Ok(other) => other.to_token_stream(),
        Err(at) => at,
    };
    diag.error(at, "expected `size = 1024`, a number of bytes");
    None
}

fn priority(meta: &Meta, diag: &mut Diagnostics) -> Option<f64> {
    let (number, at) = match value(meta) {
        Ok(Lit::Float(lit)) if lit.suffix().is_empty() => {
            (lit.base10_parse().ok(), lit.to_token_stream())
        }
        Ok(Lit::Int(lit)) if lit.suffix().is_empty() => {
            (lit.base10_parse().ok(), lit.to_token_stream())
        }
        Ok(other) => (None, other.to_token_stream()),
        Err(at) => (None, at),
    };
    let priority = number.filter(|number| (0.0..=1.0).contains(number));
    if priority.is_none() {
        diag.error(
            at,
            "expected `priority = 0.5`, a number from 0 (optional) to 1 (required)",
        );
    }
    priority
}

fn last_modified(meta: &Meta, diag: &mut Diagnostics) -> Option<LitStr> {
    let text = string(meta, diag)?;
    if !is_date(&text.value()) {
        diag.error(
            &text,
            format_args!(
                "`{}` is not a date: expected `2026-01-31` or `2026-01-31T15:00:58Z`",
                text.value()
            ),
        );
        return None;
    }
    Some(text)
}

fn audience(meta: &Meta, diag: &mut Diagnostics) -> Vec<&'static str> {
    let paths: Vec<Path> = match meta {
        Meta::NameValue(MetaNameValue {
            value: Expr::Path(role),
            ..
        }) => vec![role.path.clone()],
        Meta::List(list) if !list.tokens.is_empty() => {
            let metas = metas(pieces(list.tokens.clone()), diag);
            metas.iter().map(|meta| meta.path().clone()).collect()
        }
        other => {
            diag.error(
                other,
                "expected `audience = user`, `audience = assistant` or `audience(user, assistant)`",
            );
            Vec::new()
        }
    };
    let mut roles = Vec::new();
    for path in paths {
        match known(&path, ROLES, ("role", "roles"), diag) {
            Some(role) if roles.contains(&role) => {
                diag.error(path, format_args!("`{role}` is given twice"));
            }
            role => roles.extend(role),
        }
    }
    roles
}

/// Returns the literal after the key; the error contains the tokens in its place.
fn value(meta: &Meta) -> Result<&Lit, TokenStream> {
    match meta {
        Meta::NameValue(pair) => match &pair.value {
            Expr::Lit(ExprLit { lit, .. }) => Ok(lit),
            other => Err(other.to_token_stream()),
        },
        other => Err(other.to_token_stream()),
    }
}
