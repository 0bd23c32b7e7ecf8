//! Golden expansions: the output of each macro, for a reviewer to read. `UPDATE_EXPECT=1 cargo test` rewrites them. Also checks that every
//! message has a UI test.

use std::path::Path;

use expect_test::expect_file;
use proc_macro2::{TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::{Attribute, File, Item, Meta, Stmt};

use crate::kind::Kind;

macro_rules! goldens {
    ($($name:ident)*) => {$(
        #[test]
        fn $name() {
            let source = include_str!(concat!("../tests/expand/", stringify!($name), ".rs"));
            check(source, &expect_file![concat!("../tests/expand/", stringify!($name), ".out.rs")]);
        }
    )*};
}

goldens!(
    add asks injected attributes parameters server blocking list mistakes
    prompt resource resource_attributes server_of_all prompt_mistakes resource_mistakes
);

#[track_caller]
fn check(source: &str, golden: &expect_test::ExpectFile) {
    let expanded = expand(source, None);
    golden.assert_eq(&pretty(&expanded));
    // Every path uses the override, so the crate may have any name.
    let renamed = expand(source, Some(quote!(crate = ::my_sdk::mcp)));
    assert!(!mentions_trueform(renamed.clone()), "{}", pretty(&renamed));
}

/// Expands the macros in `source`, with `extra` added to the arguments of the attributes.
#[expect(clippy::needless_pass_by_value, reason = "made anew for each case")]
fn expand(source: &str, extra: Option<TokenStream>) -> TokenStream {
    let file: File = syn::parse_str(source).unwrap();
    file.items
        .into_iter()
        .map(|item| expand_item(item, extra.as_ref()))
        .collect()
}

fn expand_item(mut item: Item, extra: Option<&TokenStream>) -> TokenStream {
    match &mut item {
        Item::Fn(function) => {
            let mut kinds = Kind::ALL.into_iter();
            let marked = kinds.find_map(|kind| {
                let args = remove(&mut function.attrs, kind.word())?;
                Some((kind, args))
            });
            let item = item.to_token_stream();
            match marked {
                Some((kind, args)) => crate::function::expand(kind, with(args, extra), &item),
                None => item,
            }
        }
        Item::Impl(block) => match remove(&mut block.attrs, "server") {
            Some(args) => crate::server::expand(with(args, extra), &item.to_token_stream()),
            None => item.to_token_stream(),
        },
        Item::Const(constant) => {
            let list = constant.expr.to_token_stream();
            let krate = if extra.is_some() {
                quote!(::my_sdk::mcp)
            } else {
                quote!(::trueform)
            };
            let Stmt::Macro(list) = syn::parse2(quote!(#list;)).unwrap() else {
                panic!("not a macro call")
            };
            let mut kinds = Kind::ALL.into_iter();
            let kind = kinds.find(|kind| list.mac.path.is_ident(&format!("{kind}s")));
            let list = list.mac.tokens;
            let expanded = crate::list::expand(kind.unwrap(), quote!(#krate; #list));
            let name = &constant.ident;
            quote!(const #name: () = #expanded;)
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
    prettyplease::unparse(
        &syn::parse2(tokens.clone()).unwrap_or_else(|error| panic!("{error} in {tokens}")),
    )
}

fn mentions_trueform(tokens: TokenStream) -> bool {
    tokens.into_iter().any(|token| match token {
        TokenTree::Ident(ident) => ident == "trueform",
        TokenTree::Group(group) => mentions_trueform(group.stream()),
        TokenTree::Literal(literal) => literal.to_string().contains("trueform::"),
        TokenTree::Punct(_) => false,
    })
}

#[test]
fn every_message_has_a_ui_test() {
    let sources = [
        include_str!("arg.rs"),
        include_str!("asks.rs"),
        include_str!("attr.rs"),
        include_str!("attr/resource.rs"),
        include_str!("attr/timeout.rs"),
        include_str!("callable.rs"),
        include_str!("function.rs"),
        include_str!("kind.rs"),
        include_str!("list.rs"),
        include_str!("parameter.rs"),
        include_str!("server.rs"),
        include_str!("variables.rs"),
    ];
    let reported = answers(Path::new(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/tests/ui/fail"
    )));
    let mut messages = Vec::new();
    for source in sources {
        collect_texts(source.parse().unwrap(), &mut messages);
    }
    assert!(
        messages.len() > 40,
        "the messages are no longer found: {messages:?}"
    );
    // These are not shown to users: a parse error that is caught, a proof in an `expect`.
    let silent = ["not JSON", "expected a trait", "starts with one"];
    for message in messages
        .iter()
        .filter(|message| !silent.contains(&message.as_str()))
    {
        assert!(
            reported.contains(message.as_str()),
            "no UI test shows `{message}`"
        );
    }
}

/// Collects all strings in `tokens` that are sentences, each represented by its longest piece between placeholders.
fn collect_texts(tokens: TokenStream, texts: &mut Vec<String>) {
    let mut after_pound = false;
    for token in tokens {
        match &token {
            TokenTree::Group(group) if !after_pound => collect_texts(group.stream(), texts),
            TokenTree::Literal(literal) => {
                let Ok(text) = syn::parse_str::<syn::LitStr>(&literal.to_string()) else {
                    continue;
                };
                let text = text.value().replace("\n", "{}");
                let piece = text
                    .split(['{', '}'])
                    .max_by_key(|piece| piece.len())
                    .unwrap_or_default()
                    .trim();
                if piece.contains(' ') {
                    texts.push(piece.to_owned());
                }
            }
            _ => {}
        }
        // For `#[…]` and `#![…]`: doc comments are not messages.
        after_pound = match &token {
            TokenTree::Punct(punct) => {
                punct.as_char() == '#' || (after_pound && punct.as_char() == '!')
            }
            _ => false,
        };
    }
}

/// Returns the expected output of all UI tests.
fn answers(folder: &Path) -> String {
    let mut all = String::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            all.push_str(&answers(&path));
        } else if path
            .extension()
            .is_some_and(|extension| extension == "stderr")
        {
            all.push_str(&std::fs::read_to_string(path).unwrap());
        }
    }
    all
}
