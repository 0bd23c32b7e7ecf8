//! `#[arg(complete = …)]` on a parameter of a prompt or a resource.

use proc_macro2::{Ident, Span};
use quote::ToTokens;
use syn::{
    Attribute, Expr, ExprLit, ExprPath, FnArg, Lit, LitStr, Meta, ReceiverKind, Signature, Type,
};

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
    /// The span of `blocking`, if the function holds its thread.
    pub(crate) blocking: Option<Span>,
}

/// The source of the values.
pub(crate) enum Source {
    Function(ExprPath),
    /// A method of the same `impl` block.
    Method(Method),
    Values(Vec<LitStr>),
}

/// A method with the parameters `&self`, the query, and injected values.
pub(crate) struct Method {
    pub(crate) path: ExprPath,
    /// The types after the query.
    pub(crate) injected: Vec<Type>,
    pub(crate) is_async: bool,
}

impl Completion {
    /// Converts a source `Self::name` to the method of that name, if `find` has one that takes `self`. Returns `false` if a fault was
    /// reported.
    pub(crate) fn resolve<'s>(
        &mut self,
        find: impl FnOnce(&Ident) -> Option<&'s Signature>,
        diag: &mut Diagnostics,
    ) -> bool {
        let Source::Function(path) = &self.source else {
            return true;
        };
        let Some((sig, receiver)) = own_name(path)
            .and_then(find)
            .and_then(|sig| Some((sig, sig.receiver()?)))
        else {
            return true;
        };
        let mut own = Diagnostics::default();
        if !matches!(receiver.kind, ReceiverKind::Reference(_, _, None)) {
            own.error(
                receiver,
                "a method that completes takes `&self`: the server is shared by all requests",
            );
        }
        let mut types = sig.inputs.iter().filter_map(|input| match input {
            FnArg::Typed(input) => Some((*input.ty).clone()),
            FnArg::Receiver(_) => None,
        });
        if types.next().is_none() {
            own.error(
                &sig.ident,
                "a method that completes takes a `CompletionQuery` after `&self`",
            );
        }
        if let (Some(blocking), Some(_)) = (self.blocking, sig.asyncness) {
            own.error_at(
                blocking,
                "`blocking` is for functions that hold their thread; an `async` one does not: drop one of the two",
            );
        }
        self.source = Source::Method(Method {
            path: path.clone(),
            injected: types.collect(),
            is_async: sig.asyncness.is_some(),
        });
        match own.take() {
            None => true,
            Some(error) => {
                diag.push(error);
                false
            }
        }
    }
}

/// Returns `name`, if `path` is `Self::name`.
fn own_name(path: &ExprPath) -> Option<&Ident> {
    let segments = &path.path.segments;
    let is_own = path.qself.is_none() && segments.len() == 2 && segments[0].ident == "Self";
    (is_own && segments[1].arguments.is_none()).then(|| &segments[1].ident)
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
        let mut blocking = None;
        for meta in metas(items, diag) {
            let keys = &["complete", "blocking"];
            let Some(key) = known(meta.path(), keys, ("key", "keys"), diag) else {
                continue;
            };
            let is_twice = match key {
                "complete" => std::mem::replace(&mut seen, true),
                _ => blocking.replace(span_of(meta.path())).is_some(),
            };
            if is_twice {
                diag.error(meta.path(), format_args!("`{key}` is given twice"));
            } else if key == "complete" {
                completion = source(&meta, diag).map(|source| Completion {
                    at: span_of(meta.path()),
                    source,
                    blocking: None,
                });
            } else if !matches!(meta, Meta::Path(_)) {
                diag.error(&meta, "expected `blocking` alone");
            }
        }
        match (blocking, &mut completion) {
            (Some(at), _) if !seen => {
                diag.error_at(
                    at,
                    "`blocking` says how a function of `complete = …` runs: name one",
                );
            }
            (
                Some(at),
                Some(Completion {
                    source: Source::Values(_),
                    ..
                }),
            ) => {
                diag.error_at(at, "a list is there at once: drop `blocking`");
            }
            (blocking, Some(completion)) => completion.blocking = blocking,
            (_, None) => {}
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

/// Returns `values`, unless the list is empty or has a duplicate.
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
