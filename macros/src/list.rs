//! `tools![add, module::sub]`: a `ToolSet` of functions marked `#[tool]`.
//!
//! The macro that users call is a `macro_rules!` in the runtime: it knows its own crate as `$crate` and passes it on.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote, quote_spanned};
use syn::{
    Attribute, Path, Token,
    parse::{Parse, ParseStream},
    punctuated::Punctuated,
};

use crate::{attr::span_of, diagnostics::Diagnostics};

pub(crate) fn expand(input: TokenStream) -> TokenStream {
    let mut diag = Diagnostics::default();
    let List { krate, tools } = match syn::parse2(input) {
        Ok(list) => list,
        Err(error) => return error.into_compile_error(),
    };
    let mut specs = Vec::new();
    let mut seen: Vec<String> = Vec::new();
    for Listed { attrs, path } in &tools {
        let name = path.to_token_stream().to_string();
        if attrs.is_empty() && seen.contains(&name) {
            diag.error(
                path,
                format_args!("`{}` is listed twice", name.replace(' ', "")),
            );
            continue;
        }
        seen.push(name);
        let spec =
            quote_spanned!(span_of(path)=> <#path as #krate::__private::ToolFunction>::spec());
        specs.push(quote!(#(#attrs)* #spec));
    }
    let errors = diag.into_tokens();
    quote!({
        #errors
        #krate::__private::ToolSet::from_specs(#krate::__private::Vec::from([#(#specs),*]))
    })
}

struct List {
    krate: TokenStream,
    tools: Punctuated<Listed, Token![,]>,
}

struct Listed {
    /// `#[cfg]`s.
    attrs: Vec<Attribute>,
    path: Path,
}

impl Parse for List {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let mut krate = TokenStream::new();
        while !input.peek(Token![;]) {
            krate.extend([input.parse::<proc_macro2::TokenTree>()?]);
        }
        input.parse::<Token![;]>()?;
        Ok(Self {
            krate,
            tools: Punctuated::parse_terminated(input)?,
        })
    }
}

impl Parse for Listed {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let attrs = input.call(Attribute::parse_outer)?;
        match input.parse() {
            Ok(path) => Ok(Self { attrs, path }),
            Err(error) => Err(syn::Error::new(
                error.span(),
                "expected the path of a function marked `#[tool]`",
            )),
        }
    }
}
