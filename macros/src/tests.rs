//! Golden expansions: what each macro emits, for a reviewer to read. `UPDATE_EXPECT=1 cargo test` rewrites them.

use expect_test::expect_file;
use proc_macro2::{TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::{Attribute, File, Item, Meta, Stmt};

macro_rules! goldens {
    ($($name:ident)*) => {$(
        #[test]
        fn $name() {
            let source = include_str!(concat!("../tests/expand/", stringify!($name), ".rs"));
            check(source, &expect_file![concat!("../tests/expand/", stringify!($name), ".out.rs")]);
        }
    )*};
}

goldens!(add injected attributes parameters server blocking list mistakes);

#[track_caller]
fn check(source: &str, golden: &expect_test::ExpectFile) {
    let expanded = expand(source, None);
    golden.assert_eq(&pretty(&expanded));
    // Every path goes through the override, so the crate may have any name.
    let renamed = expand(source, Some(quote!(crate = ::my_sdk::mcp)));
    assert!(!mentions_trueform(renamed.clone()), "{}", pretty(&renamed));
}

/// Expands the macros in `source`, with `extra` added to the arguments of the attributes.
fn expand(source: &str, extra: Option<TokenStream>) -> TokenStream {
    let file: File = syn::parse_str(source).unwrap();
    file.items.into_iter().map(|item| expand_item(item, extra.as_ref())).collect()
}

fn expand_item(mut item: Item, extra: Option<&TokenStream>) -> TokenStream {
    match &mut item {
        Item::Fn(function) => match remove(&mut function.attrs, "tool") {
            Some(args) => crate::function::expand(with(args, extra), item.to_token_stream()),
            None => item.to_token_stream(),
        },
        Item::Impl(block) => match remove(&mut block.attrs, "server") {
            Some(args) => crate::server::expand(with(args, extra), item.to_token_stream()),
            None => item.to_token_stream(),
        },
        Item::Const(constant) => {
            let list = constant.expr.to_token_stream();
            let krate = if extra.is_some() { quote!(::my_sdk::mcp) } else { quote!(::trueform) };
            let Stmt::Macro(list) = syn::parse2(quote!(#list;)).unwrap() else { panic!("not a macro call") };
            let list = list.mac.tokens;
            let expanded = crate::list::expand(quote!(#krate; #list));
            quote!(const TOOLS: () = #expanded;)
        }
        other => other.to_token_stream(),
    }
}

fn remove(attrs: &mut Vec<Attribute>, name: &str) -> Option<TokenStream> {
    let at = attrs.iter().position(|attr| attr.path().is_ident(name))?;
    match attrs.remove(at).meta {
        Meta::List(list) => Some(list.tokens),
        _ => Some(TokenStream::new()),
    }
}

fn with(args: TokenStream, extra: Option<&TokenStream>) -> TokenStream {
    match (extra, args.is_empty()) {
        (Some(extra), true) => extra.clone(),
        (Some(extra), false) => quote!(#args, #extra),
        (None, _) => args,
    }
}

fn pretty(tokens: &TokenStream) -> String {
    prettyplease::unparse(&syn::parse2(tokens.clone()).unwrap_or_else(|error| panic!("{error} in {tokens}")))
}

fn mentions_trueform(tokens: TokenStream) -> bool {
    tokens.into_iter().any(|token| match token {
        TokenTree::Ident(ident) => ident == "trueform",
        TokenTree::Group(group) => mentions_trueform(group.stream()),
        TokenTree::Literal(literal) => literal.to_string().contains("trueform::"),
        TokenTree::Punct(_) => false,
    })
}
