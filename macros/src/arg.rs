//! `#[arg(complete = …)]` on a parameter of a prompt or a resource.

use proc_macro2::Span;
use quote::ToTokens;
use syn::{Attribute, Expr, ExprLit, ExprPath, Lit, LitStr, Meta};

use crate::{
    attr::{known, metas, pieces, span_of},
    diagnostics::Diagnostics,
    kind::Kind,
};

/// How the values of an argument are completed.
pub(crate) struct Completion {
    /// The span of the key.
    pub(crate) at: Span,
    pub(crate) source: Source,
}

/// Where the values come from.
pub(crate) enum Source {
    Function(ExprPath),
    Values(Vec<LitStr>),
}

/// Reads the `#[arg(…)]` attributes of one parameter.
pub(crate) fn completion(
    kind: Kind,
    attrs: &[Attribute],
    diag: &mut Diagnostics,
) -> Option<Completion> {
    let mut completion = None;
    let mut seen = false;
    for attr in attrs {
        if kind == Kind::Tool {
            diag.error(
                attr,
                "`#[arg]` is for prompts and resources: the protocol does not complete the arguments of tools",
            );
            continue;
        }
        let items = match &attr.meta {
            Meta::List(list) => pieces(list.tokens.clone()),
            Meta::Path(_) | Meta::NameValue(_) => Vec::new(),
        };
        if items.is_empty() {
            diag.error(attr, "expected `#[arg(complete = …)]`");
            continue;
        }
        for meta in metas(items, diag) {
            let Some(key) = known(meta.path(), &["complete"], ("key", "keys"), diag) else {
                continue;
            };
            if std::mem::replace(&mut seen, true) {
                diag.error(meta.path(), format_args!("`{key}` is given twice"));
                continue;
            }
            completion = source(&meta, diag).map(|source| Completion {
                at: span_of(meta.path()),
                source,
            });
        }
    }
    completion
}

fn source(meta: &Meta, diag: &mut Diagnostics) -> Option<Source> {
    let at = match meta {
        Meta::NameValue(pair) => match &pair.value {
            Expr::Path(path) => return Some(Source::Function(path.clone())),
            Expr::Array(array) => match array.elems.iter().map(text).collect() {
                Some(values) => return checked(values, array, diag).map(Source::Values),
                None => array.to_token_stream(),
            },
            other => other.to_token_stream(),
        },
        other => other.to_token_stream(),
    };
    diag.error(
        at,
        "expected `complete = function` or `complete = [\"first\", \"second\"]`",
    );
    None
}

fn text(expr: &Expr) -> Option<LitStr> {
    match expr {
        Expr::Lit(ExprLit {
            lit: Lit::Str(text),
            ..
        }) => Some(text.clone()),
        _ => None,
    }
}

/// `values`, unless there are none or one is there twice.
fn checked(
    values: Vec<LitStr>,
    array: impl ToTokens,
    diag: &mut Diagnostics,
) -> Option<Vec<LitStr>> {
    if values.is_empty() {
        diag.error(
            array,
            "this completes nothing: list the values, or drop the attribute",
        );
        return None;
    }
    let twice = values.iter().enumerate().find(|(index, value)| {
        let earlier = &values[..*index];
        earlier.iter().any(|other| other.value() == value.value())
    });
    if let Some((_, value)) = twice {
        diag.error(value, format_args!("`{}` is listed twice", value.value()));
        return None;
    }
    Some(values)
}
