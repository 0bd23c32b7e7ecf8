//! `tools![add, module::sub]`: a `ToolSet` of functions marked `#[tool]`. `prompts!` and `resources!` likewise.
//!
//! The macros that users call are `macro_rules!` in the runtime: they know their own crate as `$crate` and pass it on.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote, quote_spanned};
use syn::{
    Attribute, Path, Token,
    parse::{ParseStream, Parser},
};

use crate::{attr::span_of, diagnostics::Diagnostics, kind::Kind};

pub(crate) fn expand(kind: Kind, input: TokenStream) -> TokenStream {
    let mut diag = Diagnostics::default();
    let parser = |input: ParseStream<'_>| List::parse(kind, input);
    let List { krate, listed } = match parser.parse2(input) {
        Ok(list) => list,
        Err(error) => return error.into_compile_error(),
    };
    let (function_trait, set) = (kind.type_name("Function"), kind.type_name("Set"));
    let mut specs = Vec::new();
    let mut seen: Vec<String> = Vec::new();
    for Listed { attrs, path } in &listed {
        let name = path.to_token_stream().to_string();
        if attrs.is_empty() && seen.contains(&name) {
            diag.error(
                path,
                format_args!("`{}` is listed twice", name.replace(' ', "")),
            );
            continue;
        }
        if let Some(owner) = owner(path) {
            let name = name.replace(' ', "");
            diag.error(
                path,
                format_args!(
                    "`{name}` names a method, and `tools!` lists functions: mark the `impl` block of `{owner}` with `#[server]`, and \
                     register a value of the type: `.tools(value)`. If `{owner}` is a module, import the function"
                ),
            );
            continue;
        }
        seen.push(name);
        let spec =
            quote_spanned!(span_of(path)=> <#path as #krate::__private::#function_trait>::spec());
        specs.push(quote!(#(#attrs)* #spec));
    }
    let errors = diag.into_tokens();
    quote!({
        #errors
        #krate::__private::#set::from_specs(#krate::__private::Vec::from([#(#specs),*]))
    })
}

/// Returns the type whose method `path` names, judged by spelling: names of types begin with a capital letter, names of modules do not.
fn owner(path: &Path) -> Option<String> {
    let before = path.segments.iter().rev().nth(1)?.ident.to_string();
    let is_type = before.starts_with(char::is_uppercase) && before.contains(char::is_lowercase);
    is_type.then_some(before)
}

struct List {
    krate: TokenStream,
    listed: Vec<Listed>,
}

struct Listed {
    /// `#[cfg]`s.
    attrs: Vec<Attribute>,
    path: Path,
}

impl List {
    fn parse(kind: Kind, input: ParseStream<'_>) -> syn::Result<Self> {
        let mut krate = TokenStream::new();
        while !input.peek(Token![;]) {
            krate.extend([input.parse::<proc_macro2::TokenTree>()?]);
        }
        input.parse::<Token![;]>()?;
        Ok(Self {
            krate,
            listed: listed(kind, input)?,
        })
    }
}

fn listed(kind: Kind, input: ParseStream<'_>) -> syn::Result<Vec<Listed>> {
    let mut listed = Vec::new();
    while !input.is_empty() {
        listed.push(Listed::parse(kind, input)?);
        if !input.is_empty() {
            input.parse::<Token![,]>()?;
        }
    }
    Ok(listed)
}

impl Listed {
    fn parse(kind: Kind, input: ParseStream<'_>) -> syn::Result<Self> {
        let attrs = input.call(Attribute::parse_outer)?;
        match input.parse() {
            Ok(path) => Ok(Self { attrs, path }),
            Err(error) => Err(syn::Error::new(
                error.span(),
                format_args!("expected the path of a function marked `#[{kind}]`"),
            )),
        }
    }
}
