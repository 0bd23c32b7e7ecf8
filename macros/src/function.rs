//! `#[tool]`, `#[prompt]` or `#[resource]` on a free function: generates the function, and a type of the same name that has its spec.
//!
//! The type is a struct with braces: it does not use the value namespace, so the function can still be called, and one `use` imports both.

use proc_macro2::{Ident, TokenStream};
use quote::quote;
use syn::{
    Attribute, Signature, Visibility,
    parse::{Parse, ParseStream},
};

use crate::{
    attr::Attr,
    callable::{Callable, take_attr, twice},
    diagnostics::Diagnostics,
    kind::Kind,
    render,
    scope::Scope,
    unawaited,
};

pub(crate) fn expand(kind: Kind, args: TokenStream, item: &TokenStream) -> TokenStream {
    let mut diag = Diagnostics::default();
    let mut function: Function = match syn::parse2(item.clone()) {
        Ok(function) => function,
        Err(error) => {
            // The item is kept, so that the rest of the crate and the editor still see it.
            diag.push(syn::Error::new(
                error.span(),
                format_args!("`#[{kind}]` makes functions {kind}s: {error}"),
            ));
            let errors = diag.into_tokens();
            return quote!(#item #errors);
        }
    };
    if let Some((other, _)) = take_attr(&mut function.attrs, &mut diag) {
        diag.error(&function.sig.ident, twice(kind, other));
    }
    let attr = Attr::parse(kind, args, &function.sig.ident, &mut diag);
    let krate = render::crate_path(attr.krate.as_ref());
    let is_method = function.sig.receiver().is_some();
    let callable = Callable::lower(
        attr,
        &function.attrs,
        &mut function.sig,
        Scope::Free,
        &mut diag,
    );
    unawaited::check(&function.sig, &function.body, &mut diag);
    let callable = callable.map(|callable| callable.with_asks(&function.body, Scope::Free));
    let carrier = match is_method {
        // An `impl` block cannot contain a type.
        true => TokenStream::new(),
        false => carrier(kind, &function, callable.as_ref(), &krate),
    };
    let errors = diag.into_tokens();
    let owns_arguments = render::owns_arguments();
    let Function {
        attrs,
        vis,
        sig,
        body,
    } = &function;
    quote!(#owns_arguments #(#attrs)* #vis #sig #body #carrier #errors)
}

fn carrier(
    kind: Kind,
    function: &Function,
    callable: Option<&Callable>,
    krate: &TokenStream,
) -> TokenStream {
    let (vis, ident) = (&function.vis, &function.sig.ident);
    let cfgs: Vec<&Attribute> = function
        .attrs
        .iter()
        .filter(|attr| attr.path().is_ident("cfg"))
        .collect();
    let spec = match callable {
        Some(callable) => render::spec(callable, &callee(ident), None, krate),
        // The error is already reported. The type exists so that `tools!` and the like do not report another.
        None => quote!(::core::unreachable!()),
    };
    let (function_trait, spec_type) = (kind.type_name("Function"), kind.type_name("Spec"));
    quote! {
        #(#cfgs)*
        #[doc(hidden)]
        #[allow(warnings)]
        #vis struct #ident {}
        #(#cfgs)*
        #[allow(warnings)]
        impl #krate::__private::#function_trait for #ident {
            fn spec() -> #krate::__private::#spec_type {
                use #krate::__private as __tf;
                #spec
            }
        }
    }
}

fn callee(ident: &Ident) -> TokenStream {
    quote!(#ident)
}

/// A function with an unparsed body: faults in it are left to the compiler.
pub(crate) struct Function {
    pub(crate) attrs: Vec<Attribute>,
    pub(crate) vis: Visibility,
    pub(crate) sig: Signature,
    pub(crate) body: TokenStream,
}

impl Parse for Function {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        Ok(Self {
            attrs: Attribute::parse_outer(input)?,
            vis: input.parse()?,
            sig: input.parse()?,
            body: input.parse()?,
        })
    }
}
