//! `#[server]` on an `impl` block: the block, and an implementation of `ServerMethods` that lists its tools, prompts and resources.

use proc_macro2::{Ident, TokenStream, TokenTree};
use quote::{ToTokens, format_ident, quote};
use syn::{
    Attribute, Generics, ImplItem, Path, Signature, Token, Type, Visibility, braced,
    ext::IdentExt,
    parse::{Parse, ParseStream},
    token::Brace,
};

use crate::{
    attr::{Attr, server_attr},
    callable::{Callable, take_attr},
    diagnostics::Diagnostics,
    function::Function,
    kind::Kind,
    render,
    scope::Scope,
    unawaited,
};

pub(crate) fn expand(args: TokenStream, item: &TokenStream) -> TokenStream {
    let mut diag = Diagnostics::default();
    let krate = render::crate_path(server_attr(args, &mut diag).as_ref());
    let mut block: Block = match syn::parse2(item.clone()) {
        Ok(block) => block,
        Err(error) => {
            diag.push(error);
            let errors = diag.into_tokens();
            return quote!(#item #errors);
        }
    };
    if let Some((path, _)) = &block.trait_ {
        diag.error(
            path,
            "`#[server]` goes on the inherent `impl` block of a type: its tools, prompts and resources are methods of that type",
        );
    }
    let callables = callables(&mut block, &mut diag);
    for (index, callable) in callables.iter().enumerate() {
        check_name(callable, &callables[..index], &mut diag);
    }
    let listing = listing(&block, &callables, &krate);
    let errors = diag.into_tokens();
    quote!(#block #listing #errors)
}

fn callables(block: &mut Block, diag: &mut Diagnostics) -> Vec<Callable> {
    let mut callables = Vec::new();
    let mut marked = 0;
    for item in &mut block.items {
        let Item::Fn(function) = item else { continue };
        let Some((kind, args)) = take_attr(&mut function.attrs, diag) else {
            continue;
        };
        marked += 1;
        let attr = Attr::parse(kind, args, &function.sig.ident, diag);
        if let Some(krate) = &attr.krate {
            diag.error(
                krate,
                "`crate` is given once for all: `#[server(crate = …)]`",
            );
        }
        let scope = Scope::Impl(&block.generics);
        let callable = Callable::lower(attr, &function.attrs, &mut function.sig, scope, diag);
        unawaited::check(&function.sig, &function.body, diag);
        callables.extend(callable.map(|callable| callable.with_asks(&function.body, scope)));
        function.attrs.insert(0, render::owns_arguments());
    }
    for callable in &mut callables {
        for parameter in &mut callable.parameters {
            parameter
                .completion
                .take_if(|one| !one.resolve(|name| signature(block, name), diag));
        }
    }
    if marked == 0 {
        diag.error(
            &block.self_ty,
            "this `#[server]` has nothing to serve: mark its methods `#[tool]`, `#[prompt]` or `#[resource]`",
        );
    }
    callables
}

/// Returns the function `name` of the block.
fn signature<'b>(block: &'b Block, name: &Ident) -> Option<&'b Signature> {
    let mut signatures = block.items.iter().filter_map(|item| match item {
        Item::Fn(function) => Some(&function.sig),
        Item::Other(_) => None,
    });
    signatures.find(|sig| sig.ident == *name)
}

/// Reports that one of `earlier` has the name of `callable`, unless `#[cfg]` may exclude one of them. Resources are named by their URIs.
fn check_name(callable: &Callable, earlier: &[Callable], diag: &mut Diagnostics) {
    let Callable { kind, ident, .. } = callable;
    let key = key(callable);
    let twin = earlier.iter().find(|other| {
        let excluded = !other.cfgs.is_empty() && !callable.cfgs.is_empty();
        other.kind == *kind && self::key(other) == key && !excluded
    });
    let Some(twin) = twin else { return };
    let message = format!("`{}` and `{ident}` are both the {kind} `{key}`", twin.ident);
    match (&callable.attr.resource.uri, &callable.attr.name) {
        (Some(uri), _) => diag.error(&uri.text, message),
        (None, Some(name)) => diag.error(name, message),
        (None, None) => diag.error(ident, message),
    }
}

/// Returns the name or the URI by which clients call it.
fn key(callable: &Callable) -> String {
    match &callable.attr.resource.uri {
        Some(uri) => uri.text.value(),
        None => callable.name.clone(),
    }
}

fn listing(block: &Block, callables: &[Callable], krate: &TokenStream) -> TokenStream {
    let (generics, _, where_clause) = block.generics.split_for_impl();
    let self_ty = &block.self_ty;
    let cfgs: Vec<&Attribute> = block
        .attrs
        .iter()
        .filter(|attr| attr.path().is_ident("cfg"))
        .collect();
    let owner = owner(self_ty);
    let methods = Kind::ALL.map(|kind| {
        let specs = callables.iter().filter(|callable| callable.kind == kind);
        let specs: Vec<TokenStream> = specs
            .map(|callable| {
                let (cfgs, ident) = (&callable.cfgs, &callable.ident);
                let spec = render::spec(callable, &quote!(Self::#ident), owner.as_deref(), krate);
                quote!(#(#cfgs)* #spec)
            })
            .collect();
        if specs.is_empty() {
            // The default method of the trait returns an empty list.
            return TokenStream::new();
        }
        let (method, spec_type) = (format_ident!("{kind}s"), kind.type_name("Spec"));
        quote! {
            fn #method() -> #krate::__private::Vec<#krate::__private::#spec_type> {
                use #krate::__private as __tf;
                __tf::Vec::from([#(#specs),*])
            }
        }
    });
    quote! {
        #(#cfgs)*
        #[allow(warnings)]
        impl #generics #krate::__private::ServerMethods for #self_ty #where_clause {
            #(#methods)*
        }
    }
}

/// Returns the last segment of the type's path.
fn owner(self_ty: &Type) -> Option<String> {
    match self_ty {
        Type::Path(path) => path
            .path
            .segments
            .last()
            .map(|last| last.ident.unraw().to_string()),
        _ => None,
    }
}

/// An `impl` block in which only the functions are parsed.
struct Block {
    attrs: Vec<Attribute>,
    unsafety: Option<Token![unsafe]>,
    impl_token: Token![impl],
    generics: Generics,
    trait_: Option<(Path, Token![for])>,
    self_ty: Type,
    inner_attrs: Vec<Attribute>,
    items: Vec<Item>,
}

enum Item {
    Fn(Box<Function>),
    /// Constants, types, macro calls.
    Other(TokenStream),
}

impl Parse for Block {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let attrs = Attribute::parse_outer(input)?;
        let unsafety = input.parse()?;
        if !input.peek(Token![impl]) {
            return Err(input
                .error("`#[server]` goes on an `impl` block, whose `#[tool]` methods it serves"));
        }
        let impl_token = input.parse()?;
        let mut generics: Generics = match input.peek(Token![<]) && !input.peek2(Token![>]) {
            true => input.parse()?,
            false => Generics::default(),
        };
        let first: Type = input.parse()?;
        let (trait_, self_ty) = match input.parse::<Option<Token![for]>>()? {
            Some(for_token) => match first {
                Type::Path(path) => (Some((path.path, for_token)), input.parse()?),
                other => return Err(syn::Error::new_spanned(other, "expected a trait")),
            },
            None => (None, first),
        };
        generics.where_clause = input.parse()?;
        let content;
        braced!(content in input);
        let inner_attrs = content.call(Attribute::parse_inner)?;
        let mut items = Vec::new();
        while !content.is_empty() {
            items.push(content.parse()?);
        }
        Ok(Self {
            attrs,
            unsafety,
            impl_token,
            generics,
            trait_,
            self_ty,
            inner_attrs,
            items,
        })
    }
}

impl Parse for Item {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let fork = input.fork();
        if let Ok(attrs) = Attribute::parse_outer(&fork)
            && let Ok(vis) = fork.parse::<Visibility>()
            && let Ok(sig) = fork.parse()
            && fork.peek(Brace)
            // A group without delimiters if it is a `$body:block` of a macro.
            && let Ok(body) = fork.parse::<TokenTree>()
        {
            use syn::parse::discouraged::Speculative;
            input.advance_to(&fork);
            return Ok(Self::Fn(Box::new(Function {
                attrs,
                vis,
                sig,
                body: body.into(),
            })));
        }
        let item: ImplItem = input.parse()?;
        Ok(Self::Other(item.into_token_stream()))
    }
}

impl ToTokens for Block {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        let Self {
            attrs,
            unsafety,
            impl_token,
            generics,
            trait_,
            self_ty,
            inner_attrs,
            items,
        } = self;
        let (params, _, where_clause) = generics.split_for_impl();
        let trait_ = trait_
            .as_ref()
            .map(|(path, for_token)| quote!(#path #for_token));
        tokens.extend(quote! {
            #(#attrs)* #unsafety #impl_token #params #trait_ #self_ty #where_clause { #(#inner_attrs)* #(#items)* }
        });
    }
}

impl ToTokens for Item {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        match self {
            Self::Fn(function) => {
                let Function {
                    attrs,
                    vis,
                    sig,
                    body,
                } = &**function;
                tokens.extend(quote!(#(#attrs)* #vis #sig #body));
            }
            Self::Other(other) => other.to_tokens(tokens),
        }
    }
}
