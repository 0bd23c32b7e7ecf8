//! Generates code from a checked function. Reports nothing.
//!
//! Tokens of the user keep their spans. Generated code that may cause a compiler error has the span of its cause: a parameter's type, the
//! result type, the name of the function.

use proc_macro2::{Ident, Literal, Span, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::{Attribute, Path, parse_quote, spanned::Spanned as _};

use crate::{
    arg::{Completion, Method, Source},
    attr::{Icon, ResourceKeys, span_of},
    callable::{Callable, Mode},
    constraint::Constraint,
    kind::Kind,
    parameter::Parameter,
};

/// Returns the path of the crate that the expansion calls.
pub(crate) fn crate_path(krate: Option<&Path>) -> TokenStream {
    match krate {
        Some(path) => path.to_token_stream(),
        None => quote!(::trueform),
    }
}

/// Returns the attribute added to a marked function. Arguments are decoded from a peer's text, so the function must own them, and
/// `clippy::needless_pass_by_value` does not apply. It precedes the attributes of the user, which take priority.
pub(crate) fn owns_arguments() -> Attribute {
    parse_quote!(#[allow(clippy::needless_pass_by_value)])
}

/// Returns an expression of type `ToolSpec`, `PromptSpec` or `ResourceSpec`, in a scope where `__tf` is `trueform::__private`. `callee` is
/// the function's path.
pub(crate) fn spec(
    callable: &Callable,
    callee: &TokenStream,
    owner: Option<&str>,
    krate: &TokenStream,
) -> TokenStream {
    let Callable {
        kind,
        ident,
        name,
        description,
        ..
    } = callable;
    let function = match owner {
        Some(owner) => format!("{owner}::{ident}"),
        None => ident.to_string(),
    };
    // Has the span of the name, so that the location is that of the function, not of the attribute.
    let place = quote_spanned!(ident.span()=> ::core::file!(), ::core::line!());
    let inputs = callable
        .parameters
        .iter()
        .enumerate()
        .map(|(index, parameter)| input(index, parameter));
    let completions = callable.parameters.iter().filter_map(complete);
    let options = options(callable);
    let returns = (*kind == Kind::Tool).then(|| {
        let output = &callable.output;
        let schema =
            quote_spanned!(span_of(output)=> <#output as __tf::IntoToolResult>::output_schema);
        quote!(.returns(#schema))
    });
    let handler = handler(callable, callee);
    let hidden = hidden_types(callable, krate);
    let begin = kind.begin();
    let uri = callable.attr.resource.uri.as_ref().map(|uri| &uri.text);
    let uri = uri.map(|uri| quote!(#uri,));
    let spec = quote! {
        __tf::#begin(#uri #name, #description, #function, #place)
            #(#inputs)*
            #(#completions)*
            #options
            #returns
            .call(#handler)
    };
    match hidden.is_empty() {
        true => spec,
        false => quote!({ #hidden #spec }),
    }
}

fn input(index: usize, parameter: &Parameter) -> TokenStream {
    let name = parameter.name();
    let description = match &parameter.description {
        Some(text) => text.to_token_stream(),
        None => quote!(""),
    };
    let qualified = qualified(index, parameter);
    let constraints = parameter.constraints.iter();
    let constraints = constraints
        .map(|Constraint { written, pointers }| quote!(.constrained(#written, &[#(#pointers),*])));
    quote!(.input(#name, #description, #qualified::describe) #(#constraints)*)
}

/// Returns `.complete(…)`, if the argument has completion.
fn complete(parameter: &Parameter) -> Option<TokenStream> {
    let Completion {
        at,
        source,
        blocking,
    } = parameter.completion.as_ref()?;
    let name = parameter.argument_name()?;
    let completer = match source {
        // The span is that of the path, so that the compiler underlines a function that cannot complete.
        Source::Function(path) => match blocking {
            Some(_) => quote_spanned!(path.span()=> __tf::completer(__tf::Blocking(#path))),
            None => quote_spanned!(path.span()=> __tf::completer(#path)),
        },
        Source::Method(method) => completing_method(method, blocking.is_some()),
        Source::Values(values) => quote_spanned!(*at=> __tf::values(&[#(#values),*])),
    };
    Some(quote!(.complete(#name, #completer)))
}

/// Returns the completer of a method: a closure that takes the injected values, calls the method and converts its result, and one that
/// returns which state the method needs.
fn completing_method(method: &Method, is_blocking: bool) -> TokenStream {
    let local = |name: &str| Ident::new(name, Span::mixed_site());
    let (receiver, server, query) = (local("__receiver"), local("__server"), local("__query"));
    let needed = local("__needed");
    let Method {
        path,
        injected,
        is_async,
    } = method;
    let values: Vec<Ident> = (0..injected.len())
        .map(|index| local(&format!("__{index}")))
        .collect();
    let takes = injected.iter().zip(&values).map(
        |(ty, value)| quote_spanned!(ty.span()=> let #value = __tf::injected::<#ty>(&#query)?;),
    );
    let requires = injected
        .iter()
        .map(|ty| quote_spanned!(ty.span()=> <#ty as __tf::FromContext>::require(#needed);));
    let span = path.span();
    let called = quote_spanned!(span=> #path(&#server, #query, #(#values),*));
    let called = match is_async {
        true => quote_spanned!(span=> #called.await),
        false => called,
    };
    let outcome = quote_spanned!(span=> __tf::IntoCompletion::into_completion(#called));
    let finish = match (is_async, is_blocking) {
        (true, _) => quote_spanned!(span=> __tf::later(async move { #outcome })),
        (false, true) => quote_spanned!(span=> __tf::blocking(move || #outcome)),
        (false, false) => quote_spanned!(span=> __tf::ready(#outcome)),
    };
    quote! {
        __tf::method_completer(
            |#receiver, #query| {
                let #server = __tf::completing_server::<Self>(#receiver);
                #(#takes)*
                #finish
            },
            |#needed| { #(#requires)* },
        )
    }
}

/// Returns `<T as Parameter<_>>`, with the span of `T`.
fn qualified(index: usize, parameter: &Parameter) -> TokenStream {
    let ty = &parameter.ty;
    let span = ty.span();
    match (&parameter.ident, parameter.attrs.is_empty()) {
        (Some(_), true) => quote_spanned!(span=> <#ty as __tf::Parameter<_>>),
        (Some(_), false) => {
            let hidden = hidden_name(index);
            quote_spanned!(span=> <__tf::Field<#hidden> as __tf::Parameter<_>>)
        }
        (None, _) => quote_spanned!(span=> <#ty as __tf::UnnamedParameter<_>>),
    }
}

fn hidden_name(index: usize) -> Ident {
    format_ident!("Parameter{index}", span = Span::mixed_site())
}

/// Generates a struct for each parameter with attributes. Its only field has the attributes, and serde and schemars process them.
fn hidden_types(callable: &Callable, krate: &TokenStream) -> TokenStream {
    let krate = krate.to_string().replace(' ', "");
    let (serde, schemars) = (
        format!("{krate}::__private::serde"),
        format!("{krate}::__private::schemars"),
    );
    let structs = callable
        .parameters
        .iter()
        .enumerate()
        .filter(|(_, parameter)| !parameter.attrs.is_empty());
    structs
        .map(
            |(
                index,
                Parameter {
                    ident, ty, attrs, ..
                },
            )| {
                let name = hidden_name(index);
                quote! {
                    #[derive(__tf::serde::Deserialize, __tf::schemars::JsonSchema)]
                    #[serde(crate = #serde)]
                    #[schemars(crate = #schemars)]
                    struct #name { #(#attrs)* #ident: #ty }
                }
            },
        )
        .collect()
}

fn options(callable: &Callable) -> TokenStream {
    let attr = &callable.attr;
    let mut options = TokenStream::new();
    if let Some(title) = &attr.title {
        options.extend(quote!(.title(#title)));
    }
    for (hint, value, span) in &attr.tool.hints {
        let hint = Ident::new(hint, *span);
        options.extend(quote!(.#hint(#value)));
    }
    options.extend(resource_options(&attr.resource));
    for Icon {
        src,
        mime_type,
        sizes,
        theme,
    } in &attr.icons
    {
        let [mime_type, sizes, theme] = [mime_type, sizes, theme].map(option);
        options.extend(quote!(.icon(#src, #mime_type, #sizes, #theme)));
    }
    for (key, value, negative) in &attr.meta {
        let minus = negative.then(|| quote!(-));
        options.extend(quote!(.meta(#key, &#minus #value)));
    }
    if let Some(timeout) = attr.timeout {
        let limit = Literal::u64_unsuffixed(timeout.limit);
        let hard_limit = option(&timeout.hard_limit.map(Literal::u64_unsuffixed));
        let reset = timeout.reset_by_progress;
        options.extend(quote!(.timeout(#limit, #reset, #hard_limit)));
    }
    for need in &attr.needs {
        options.extend(quote!(.needs(__tf::RequiredCapabilities::#need)));
    }
    for ty in &attr.asks {
        let form = quote_spanned!(ty.span()=> __tf::form::<#ty>);
        options.extend(quote!(.asks(#form)));
    }
    for ty in &callable.asks {
        // Methods of other types may be called `ask` too. So a type that is not a form is accepted.
        let form = quote_spanned!(span_of(ty)=> __tf::AskCall::<#ty>::form);
        options.extend(quote!(.asks({ use __tf::OtherCall as _; #form })));
    }
    if let Some(task) = &attr.tool.task {
        options.extend(quote!(.task(__tf::TaskMode::#task)));
    }
    if let Some(profile) = &attr.tool.profile {
        options.extend(quote!(.profile(__tf::Profile::#profile)));
    }
    options
}

fn resource_options(keys: &ResourceKeys) -> TokenStream {
    let ResourceKeys {
        uri: _,
        mime_type,
        size,
        audience,
        priority,
        last_modified,
        ttl,
        public,
        file_like,
    } = keys;
    let mut options = TokenStream::new();
    if let Some(mime_type) = mime_type {
        options.extend(quote!(.mime_type(#mime_type)));
    }
    if let Some((size, _)) = size {
        let size = Literal::u64_unsuffixed(*size);
        options.extend(quote!(.size(#size)));
    }
    for role in audience {
        let method = format_ident!("audience_{role}");
        options.extend(quote!(.#method()));
    }
    if let Some(priority) = priority {
        let priority = Literal::f64_unsuffixed(*priority);
        options.extend(quote!(.priority(#priority)));
    }
    if let Some(last_modified) = last_modified {
        options.extend(quote!(.last_modified(#last_modified)));
    }
    if let Some(ttl) = ttl {
        let ttl = Literal::u64_unsuffixed(*ttl);
        options.extend(quote!(.ttl(#ttl)));
    }
    if *public {
        options.extend(quote!(.public()));
    }
    if file_like.is_some() {
        options.extend(quote!(.file_like()));
    }
    options
}

fn option(value: &Option<impl ToTokens>) -> TokenStream {
    match value {
        Some(value) => quote!(::core::option::Option::Some(#value)),
        None => quote!(::core::option::Option::None),
    }
}

/// Returns the closure that takes the parameters, calls the function and converts its result.
fn handler(callable: &Callable, callee: &TokenStream) -> TokenStream {
    let local = |name: &str| Ident::new(name, Span::mixed_site());
    // A constant of the same name in scope would turn a binding into a comparison, so these names must be unique.
    let (call, server) = (local("__call"), local("__server"));
    let arguments: Vec<Ident> = (0..callable.parameters.len())
        .map(|index| local(&format!("__{index}")))
        .collect();
    let takes = callable
        .parameters
        .iter()
        .enumerate()
        .map(|(index, parameter)| {
            let (argument, qualified) = (&arguments[index], qualified(index, parameter));
            let index = Literal::usize_unsuffixed(index);
            // The `?` has the span of the type too, so that a type that is not a valid parameter is reported once.
            let mut take = quote_spanned!(parameter.ty.span()=> #qualified::take(#call, #index)?);
            if let (Some(ident), false) = (&parameter.ident, parameter.attrs.is_empty()) {
                take.extend(quote!(.0.#ident));
            }
            quote!(let #argument = #take;)
        });
    let span = callable.ident.span();
    let by_reference = match callable.mode {
        Mode::Ready => quote!(#call.server::<Self>()),
        Mode::Later | Mode::Blocking => quote!(&#server),
    };
    let receiver = callable.receiver.then(|| quote!(#by_reference,));
    let shared = (callable.receiver && callable.mode != Mode::Ready)
        .then(|| quote!(let #server = #call.shared_server::<Self>();));
    let called = quote_spanned!(span=> #callee(#receiver #(#arguments),*));
    let called = match callable.mode {
        Mode::Later => quote_spanned!(span=> #called.await),
        Mode::Ready | Mode::Blocking => called,
    };
    let output = &callable.output;
    let output_span = span_of(output);
    let (conversion, convert) = callable.kind.conversion(output_span);
    let outcome = quote_spanned!(output_span=> <#output as __tf::#conversion>::#convert(#called));
    let finish = match callable.mode {
        Mode::Ready => quote!(__tf::ready(#outcome)),
        Mode::Later => quote_spanned!(span=> __tf::later(async move { #outcome })),
        Mode::Blocking => quote_spanned!(span=> __tf::blocking(move || #outcome)),
    };
    let call = match callable.receiver || !callable.parameters.is_empty() {
        true => call.to_token_stream(),
        false => quote!(_),
    };
    quote!(|#call| { #shared #(#takes)* #finish })
}
