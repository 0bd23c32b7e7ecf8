//! A function as a tool, a prompt or a resource: the data for rendering, and the rules that it must obey.

use proc_macro2::{Ident, TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::{
    Attribute, FnArg, GenericParam, Generics, Meta, ReceiverKind, ReturnType, Safety, Signature,
    Type, ext::IdentExt,
};

use crate::{
    asks,
    attr::{Attr, illegal_name},
    diagnostics::Diagnostics,
    kind::Kind,
    parameter::Parameter,
    scope::Scope,
    text::{Text, is_tool_name},
    variables::check_variables,
};

/// A tool, a prompt or a resource that obeys all rules.
pub(crate) struct Callable {
    pub(crate) kind: Kind,
    pub(crate) ident: Ident,
    pub(crate) name: String,
    pub(crate) description: Text,
    pub(crate) attr: Attr,
    /// The `#[cfg]`s of the function. The rendered items have them too.
    pub(crate) cfgs: Vec<Attribute>,
    pub(crate) receiver: bool,
    pub(crate) parameters: Vec<Parameter>,
    pub(crate) output: TokenStream,
    pub(crate) mode: Mode,
    /// Types of forms that calls in the body name.
    pub(crate) asks: Vec<TokenStream>,
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

impl Callable {
    /// Checks the function and removes from `sig` the docs and attributes of parameters that only the expansion needs.
    /// Returns `None` if a fault was reported.
    pub(crate) fn lower(
        attr: Attr,
        attrs: &[Attribute],
        sig: &mut Signature,
        scope: Scope<'_>,
        diag: &mut Diagnostics,
    ) -> Option<Self> {
        let mut own = Diagnostics::default();
        let kind = attr.kind;
        let name = name(&attr, &sig.ident, &mut own);
        let description = description(&attr, attrs, &sig.ident, &mut own);
        check_qualifiers(kind, sig, &mut own);
        check_generics(kind, &sig.generics, &mut own);
        let mode = mode(&attr, sig, &mut own);
        let receiver = receiver(kind, sig, scope, &mut own);
        let mut parameters = Vec::new();
        let mut all_lowered = true;
        for input in &mut sig.inputs {
            if let FnArg::Typed(input) = input {
                let parameter = Parameter::lower(kind, input, scope, &mut own);
                all_lowered &= parameter.is_some();
                parameters.extend(parameter);
            }
        }
        // The variable that seems to be missing may be a parameter that was not lowered.
        if let (Some(uri), true) = (&attr.resource.uri, all_lowered) {
            check_variables(uri, &parameters, &mut own);
        }
        let output = output(kind, &sig.output, &mut own);
        if let Some(error) = own.take() {
            diag.push(error);
            return None;
        }
        if kind == Kind::Resource && attr.resource.uri.is_none() {
            return None; // Reported where the attribute was parsed.
        }
        Some(Self {
            kind,
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
            asks: Vec::new(),
        })
    }

    /// Adds the types of forms that `body` asks for and `asks(…)` does not list.
    pub(crate) fn with_asks(mut self, body: &TokenStream, scope: Scope<'_>) -> Self {
        let generics = match scope {
            Scope::Free => None,
            Scope::Impl(generics) => Some(generics),
        };
        let listed: Vec<String> = self
            .attr
            .asks
            .iter()
            .map(|ty| ty.to_token_stream().to_string())
            .collect();
        self.asks = asks::found(body, generics);
        self.asks.retain(|ty| !listed.contains(&ty.to_string()));
        self
    }
}

/// Removes the attributes `#[tool]`, `#[prompt]` and `#[resource]` from `attrs` and returns the kind and the arguments of the first.
pub(crate) fn take_attr(
    attrs: &mut Vec<Attribute>,
    diag: &mut Diagnostics,
) -> Option<(Kind, TokenStream)> {
    let mut found = None;
    for attr in attrs.iter() {
        let Some(kind) = kind_of(attr) else { continue };
        match (&attr.meta, &found) {
            (_, Some((first, _))) => diag.error(attr, twice(*first, kind)),
            (Meta::Path(_), None) => found = Some((kind, TokenStream::new())),
            (Meta::List(list), None) => found = Some((kind, list.tokens.clone())),
            (Meta::NameValue(pair), None) => {
                let keys = format!("`#[{kind}({}key = value, …)]`", kind.before_keys());
                let (form, args) = match kind {
                    Kind::Tool | Kind::Prompt => {
                        (format!("`#[{kind}]` or {keys}"), TokenStream::new())
                    }
                    // The value is used as the URI, so that its absence is not reported too.
                    Kind::Resource => (keys, pair.value.to_token_stream()),
                };
                diag.error(attr, format_args!("expected {form}"));
                found = Some((kind, args));
            }
        }
    }
    attrs.retain(|attr| kind_of(attr).is_none());
    found
}

fn kind_of(attr: &Attribute) -> Option<Kind> {
    Kind::of_attribute(&attr.path().segments.last()?.ident)
}

/// Returns why a function cannot be marked `first` and `second`.
pub(crate) fn twice(first: Kind, second: Kind) -> String {
    match first == second {
        true => format!("a function is one {first}: `#[{first}]` is given twice"),
        false => format!(
            "a function is a {first} or a {second}, not both: mark a second function, which calls this one"
        ),
    }
}

fn name(attr: &Attr, ident: &Ident, diag: &mut Diagnostics) -> String {
    if let Some(name) = &attr.name {
        return name.value();
    }
    let name = ident.unraw().to_string();
    if attr.kind == Kind::Tool && !is_tool_name(&name) {
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
    attr: &Attr,
    attrs: &[Attribute],
    ident: &Ident,
    diag: &mut Diagnostics,
) -> Option<Text> {
    let description = match &attr.description {
        Some(text) => Some(Text::literal(text.value().trim())),
        None => Text::of_docs(attrs),
    };
    if description.is_none() {
        let (kind, before) = (attr.kind, attr.kind.before_keys());
        diag.error(
            ident,
            format_args!(
                "a {kind} needs a description, by which {}: \
                 write a doc comment, or `#[{kind}({before}description = \"…\")]`",
                kind.choice()
            ),
        );
    }
    description
}

fn check_qualifiers(kind: Kind, sig: &Signature, diag: &mut Diagnostics) {
    if let Safety::Unsafe(token) = &sig.safety {
        diag.error(
            token,
            format_args!("a {kind} is safe to call: its arguments come from a peer"),
        );
    }
    if let Some(abi) = &sig.abi {
        diag.error(
            abi,
            format_args!("a {kind} is a Rust function: drop the `extern`"),
        );
    }
    if let Some(variadic) = &sig.variadic {
        diag.error(
            variadic,
            format_args!("a {kind} has a fixed list of parameters"),
        );
    }
}

fn check_generics(kind: Kind, generics: &Generics, diag: &mut Diagnostics) {
    for parameter in &generics.params {
        let ident = match parameter {
            GenericParam::Lifetime(_) => continue,
            GenericParam::Type(parameter) => &parameter.ident,
            GenericParam::Const(parameter) => &parameter.ident,
        };
        diag.error(
            parameter,
            format_args!(
                "a {kind} has one {}, so it cannot be generic over `{ident}`: use a concrete type",
                kind.signature()
            ),
        );
    }
}

fn mode(attr: &Attr, sig: &Signature, diag: &mut Diagnostics) -> Mode {
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

/// Returns whether the function has a receiver, which must be `&self`.
fn receiver(kind: Kind, sig: &Signature, scope: Scope<'_>, diag: &mut Diagnostics) -> bool {
    let Some(receiver) = sig.receiver() else {
        return false;
    };
    if let Scope::Free = scope {
        diag.error(
            receiver,
            format_args!(
                "`#[{kind}]` on a method only works inside an `impl` block marked `#[server]`, and not if a macro or `cfg_attr` makes it there"
            ),
        );
        return true;
    }
    match &receiver.kind {
        ReceiverKind::Reference(_, _, None) => {}
        ReceiverKind::Reference(..) => {
            diag.error(
                receiver,
                format_args!(
                    "a {kind} takes `&self`: calls run concurrently, so put mutable state behind a lock"
                ),
            );
        }
        _ => diag.error(
            receiver,
            format_args!("a {kind} takes `&self`: the server is shared by all calls"),
        ),
    }
    true
}

fn output(kind: Kind, output: &ReturnType, diag: &mut Diagnostics) -> TokenStream {
    let ty = match output {
        ReturnType::Default => return quote!(()),
        ReturnType::Type(_, ty) => ty,
    };
    if let Type::ImplTrait(_) = **ty {
        let reason = match kind {
            Kind::Tool => ", from which its output schema comes",
            Kind::Prompt | Kind::Resource => "",
        };
        diag.error(
            ty,
            format_args!("a {kind} names its result type{reason}: use a concrete type"),
        );
    }
    without_lifetimes(ty.to_token_stream())
}

/// Returns `tokens` with every named lifetime except `'static` replaced by `'_`, because the shim is outside the function that declares
/// them.
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
