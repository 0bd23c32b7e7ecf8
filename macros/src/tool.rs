//! A function as a tool: the data for rendering, and the rules that it must obey.

use proc_macro2::{Ident, TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::{
    Attribute, FnArg, GenericParam, Generics, Meta, ReceiverKind, ReturnType, Safety, Signature,
    Type, ext::IdentExt,
};

use crate::{
    attr::{ToolAttr, illegal_name},
    diagnostics::Diagnostics,
    parameter::Parameter,
    scope::Scope,
    text::{Text, is_tool_name},
};

/// A tool that obeys all rules.
pub(crate) struct Tool {
    pub(crate) ident: Ident,
    pub(crate) name: String,
    pub(crate) description: Text,
    pub(crate) attr: ToolAttr,
    /// The `#[cfg]`s of the function; the rendered items carry them too.
    pub(crate) cfgs: Vec<Attribute>,
    pub(crate) receiver: bool,
    pub(crate) parameters: Vec<Parameter>,
    pub(crate) output: TokenStream,
    pub(crate) mode: Mode,
}

/// How a call runs.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    /// In place: a plain function.
    Ready,
    /// As a future: an `async` function.
    Later,
    /// On a thread that may block.
    Blocking,
}

impl Tool {
    /// Checks the function and removes from `sig` the docs and schema attributes of parameters, which only the tool needs.
    /// Returns `None` if a fault was reported.
    pub(crate) fn lower(
        attr: ToolAttr,
        attrs: &[Attribute],
        sig: &mut Signature,
        scope: Scope<'_>,
        diag: &mut Diagnostics,
    ) -> Option<Self> {
        let mut own = Diagnostics::default();
        let name = name(&attr, &sig.ident, &mut own);
        let description = description(&attr, attrs, &sig.ident, &mut own);
        check_qualifiers(sig, &mut own);
        check_generics(&sig.generics, &mut own);
        let mode = mode(&attr, sig, &mut own);
        let receiver = receiver(sig, scope, &mut own);
        let mut parameters = Vec::new();
        for input in &mut sig.inputs {
            if let FnArg::Typed(input) = input {
                parameters.extend(Parameter::lower(input, scope, &mut own));
            }
        }
        let output = output(&sig.output, &mut own);
        if let Some(error) = own.take() {
            diag.push(error);
            return None;
        }
        Some(Self {
            ident: sig.ident.clone(),
            name,
            description: description?,
            cfgs: attrs
                .iter()
                .filter(|attr| attr.path().is_ident("cfg"))
                .cloned()
                .collect(),
            attr,
            receiver,
            parameters,
            output,
            mode,
        })
    }
}

/// Removes the `#[tool]` attributes from `attrs` and returns the arguments of the first.
pub(crate) fn take_attr(attrs: &mut Vec<Attribute>, diag: &mut Diagnostics) -> Option<TokenStream> {
    let is_tool = |attr: &Attribute| {
        attr.path()
            .segments
            .last()
            .is_some_and(|last| last.ident == "tool")
    };
    let mut found = None;
    for attr in attrs.iter().filter(|attr| is_tool(attr)) {
        match (&attr.meta, &found) {
            (_, Some(_)) => diag.error(attr, "a function is one tool: `#[tool]` is given twice"),
            (Meta::Path(_), None) => found = Some(TokenStream::new()),
            (Meta::List(list), None) => found = Some(list.tokens.clone()),
            (Meta::NameValue(_), None) => {
                diag.error(attr, "expected `#[tool]` or `#[tool(key = value, …)]`");
                found = Some(TokenStream::new());
            }
        }
    }
    attrs.retain(|attr| !is_tool(attr));
    found
}

fn name(attr: &ToolAttr, ident: &Ident, diag: &mut Diagnostics) -> String {
    if let Some(name) = &attr.name {
        return name.value();
    }
    let name = ident.unraw().to_string();
    if !is_tool_name(&name) {
        diag.error(
            ident,
            format_args!(
                "{}; set another: `#[tool(name = \"…\")]`",
                illegal_name(&name)
            ),
        );
    }
    name
}

fn description(
    attr: &ToolAttr,
    attrs: &[Attribute],
    ident: &Ident,
    diag: &mut Diagnostics,
) -> Option<Text> {
    let description = match &attr.description {
        Some(text) => Some(Text::literal(text.value().trim())),
        None => Text::of_docs(attrs),
    };
    if description.is_none() {
        diag.error(
            ident,
            "a tool needs a description, by which the model chooses it: \
             write a doc comment, or `#[tool(description = \"…\")]`",
        );
    }
    description
}

fn check_qualifiers(sig: &Signature, diag: &mut Diagnostics) {
    if let Safety::Unsafe(token) = &sig.safety {
        diag.error(
            token,
            "a tool is safe to call: its arguments come from a peer",
        );
    }
    if let Some(abi) = &sig.abi {
        diag.error(abi, "a tool is a Rust function: drop the `extern`");
    }
    if let Some(variadic) = &sig.variadic {
        diag.error(variadic, "a tool has a fixed list of parameters");
    }
}

fn check_generics(generics: &Generics, diag: &mut Diagnostics) {
    for parameter in &generics.params {
        let ident = match parameter {
            GenericParam::Lifetime(_) => continue,
            GenericParam::Type(parameter) => &parameter.ident,
            GenericParam::Const(parameter) => &parameter.ident,
        };
        diag.error(
            parameter,
            format_args!(
                "a tool has one schema, so it cannot be generic over `{ident}`: use a concrete type"
            ),
        );
    }
}

fn mode(attr: &ToolAttr, sig: &Signature, diag: &mut Diagnostics) -> Mode {
    match (attr.blocking, sig.asyncness) {
        (Some(blocking), Some(_)) => {
            diag.error_at(
                blocking,
                "`blocking` is for functions that hold their thread; an `async` one does not: drop one of the two",
            );
            Mode::Later
        }
        (Some(_), None) => Mode::Blocking,
        (None, Some(_)) => Mode::Later,
        (None, None) => {
            if let Some(timeout) = &attr.timeout {
                diag.error_at(
                    timeout.at,
                    "a plain `fn` runs to its end where it is called, so a `timeout` would do nothing: \
                     make it an `async fn`, or add `blocking`",
                );
            }
            Mode::Ready
        }
    }
}

/// Whether the function has a receiver, which must be `&self`.
fn receiver(sig: &Signature, scope: Scope<'_>, diag: &mut Diagnostics) -> bool {
    let Some(receiver) = sig.receiver() else {
        return false;
    };
    if let Scope::Free = scope {
        diag.error(
            receiver,
            "`#[tool]` on a method only works inside an `impl` block marked `#[server]`",
        );
        return true;
    }
    match &receiver.kind {
        ReceiverKind::Reference(_, _, None) => {}
        ReceiverKind::Reference(..) => {
            diag.error(
                receiver,
                "a tool takes `&self`: calls run concurrently, so put mutable state behind a lock",
            );
        }
        _ => diag.error(
            receiver,
            "a tool takes `&self`: the server is shared by all calls",
        ),
    }
    true
}

fn output(output: &ReturnType, diag: &mut Diagnostics) -> TokenStream {
    let ty = match output {
        ReturnType::Default => return quote!(()),
        ReturnType::Type(_, ty) => ty,
    };
    if let Type::ImplTrait(_) = **ty {
        diag.error(
            ty,
            "a tool names its result type, from which its output schema comes: use a concrete type",
        );
    }
    without_lifetimes(ty.to_token_stream())
}

/// `tokens` with every named lifetime except `'static` replaced by `'_`, because the shim is outside the function that declares them.
fn without_lifetimes(tokens: TokenStream) -> TokenStream {
    let mut after_quote = false;
    tokens
        .into_iter()
        .map(|token| match token {
            TokenTree::Ident(ident) if after_quote && ident != "static" => {
                after_quote = false;
                TokenTree::Ident(Ident::new("_", ident.span()))
            }
            TokenTree::Group(group) => {
                after_quote = false;
                let mut inner =
                    proc_macro2::Group::new(group.delimiter(), without_lifetimes(group.stream()));
                inner.set_span(group.span());
                TokenTree::Group(inner)
            }
            other => {
                after_quote = matches!(&other, TokenTree::Punct(punct) if punct.as_char() == '\'');
                other
            }
        })
        .collect()
}
