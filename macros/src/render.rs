//! A checked tool as code. Reports nothing.
//!
//! User tokens keep their spans. Generated code that may cause a compiler error has the span of its cause: a parameter's type, the
//! result type, the name of the function.

use proc_macro2::{Ident, Literal, Span, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::{Attribute, Path, parse_quote, spanned::Spanned as _};

use crate::{
    attr::{Icon, span_of},
    parameter::Parameter,
    tool::{Mode, Tool},
};

/// The path of the crate that the expansion calls.
pub(crate) fn crate_path(krate: Option<&Path>) -> TokenStream {
    match krate {
        Some(path) => path.to_token_stream(),
        None => quote!(::trueform),
    }
}

/// The attribute added to a tool function. Arguments are decoded from a peer's text, so a tool must own them, and
/// `clippy::needless_pass_by_value` does not apply. It precedes the attributes of the user, which take priority.
pub(crate) fn owns_arguments() -> Attribute {
    parse_quote!(#[allow(clippy::needless_pass_by_value)])
}

/// An expression of type `ToolSpec`, in a scope where `__tf` is `trueform::__private`. `callee` is the function's path.
pub(crate) fn spec(
    tool: &Tool,
    callee: &TokenStream,
    owner: Option<&str>,
    krate: &TokenStream,
) -> TokenStream {
    let Tool {
        ident,
        name,
        description,
        ..
    } = tool;
    let function = match owner {
        Some(owner) => format!("{owner}::{ident}"),
        None => ident.to_string(),
    };
    // Has the span of the name, so that the location is that of the function, not of the attribute.
    let place = quote_spanned!(ident.span()=> ::core::file!(), ::core::line!());
    let inputs = tool
        .parameters
        .iter()
        .enumerate()
        .map(|(index, parameter)| input(index, parameter));
    let options = options(tool);
    let output = &tool.output;
    let output = quote_spanned!(span_of(output)=> <#output as __tf::IntoToolResult>::output_schema);
    let handler = handler(tool, callee);
    let hidden = hidden_types(tool, krate);
    let spec = quote! {
        __tf::tool(#name, #description, #function, #place)
            #(#inputs)*
            #options
            .returns(#output)
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
    let parameter = qualified(index, parameter);
    quote!(.input(#name, #description, #parameter::describe))
}

/// `<T as Parameter<_>>`, at the span of `T`.
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

/// A struct for each parameter with attributes: its one field carries them, and serde and schemars do the rest.
fn hidden_types(tool: &Tool, krate: &TokenStream) -> TokenStream {
    let krate = krate.to_string().replace(' ', "");
    let (serde, schemars) = (
        format!("{krate}::__private::serde"),
        format!("{krate}::__private::schemars"),
    );
    let structs = tool
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

fn options(tool: &Tool) -> TokenStream {
    let attr = &tool.attr;
    let mut options = TokenStream::new();
    if let Some(title) = &attr.title {
        options.extend(quote!(.title(#title)));
    }
    for (hint, value, span) in &attr.hints {
        let hint = Ident::new(hint, *span);
        options.extend(quote!(.#hint(#value)));
    }
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
    if let Some(profile) = &attr.profile {
        options.extend(quote!(.profile(__tf::Profile::#profile)));
    }
    options
}

fn option(value: &Option<impl ToTokens>) -> TokenStream {
    match value {
        Some(value) => quote!(::core::option::Option::Some(#value)),
        None => quote!(::core::option::Option::None),
    }
}

/// The closure that takes the parameters, calls the function and converts its result.
fn handler(tool: &Tool, callee: &TokenStream) -> TokenStream {
    let local = |name: &str| Ident::new(name, Span::mixed_site());
    // A constant of the same name in scope would turn a binding into a comparison, so the names must be unused ones.
    let (call, server) = (local("__call"), local("__server"));
    let arguments: Vec<Ident> = (0..tool.parameters.len())
        .map(|index| local(&format!("__{index}")))
        .collect();
    let takes = tool
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
    let span = tool.ident.span();
    let by_reference = match tool.mode {
        Mode::Ready => quote!(#call.server::<Self>()),
        Mode::Later | Mode::Blocking => quote!(&#server),
    };
    let receiver = tool.receiver.then(|| quote!(#by_reference,));
    let shared = (tool.receiver && tool.mode != Mode::Ready)
        .then(|| quote!(let #server = #call.shared_server::<Self>();));
    let called = quote_spanned!(span=> #callee(#receiver #(#arguments),*));
    let called = match tool.mode {
        Mode::Later => quote_spanned!(span=> #called.await),
        Mode::Ready | Mode::Blocking => called,
    };
    let output = &tool.output;
    let outcome = quote_spanned!(span_of(output)=> <#output as __tf::IntoToolResult>::into_tool_result(#called));
    let finish = match tool.mode {
        Mode::Ready => quote!(__tf::ready(#outcome)),
        Mode::Later => quote_spanned!(span=> __tf::later(async move { #outcome })),
        Mode::Blocking => quote_spanned!(span=> __tf::blocking(move || #outcome)),
    };
    let call = match tool.receiver || !tool.parameters.is_empty() {
        true => call.to_token_stream(),
        false => quote!(_),
    };
    quote!(|#call| { #shared #(#takes)* #finish })
}
