//! Finds questions that a function creates and discards. Such a question is not asked, and rustc does not warn about `let _`.

use proc_macro2::{Delimiter, Ident, TokenStream, TokenTree};
use syn::{FnArg, Pat, Signature, Type};

use crate::diagnostics::Diagnostics;

/// The methods of `Context` that return futures which ask or do something.
const METHODS: [&str; 9] = [
    "ask",
    "ask_url",
    "sample",
    "roots",
    "question",
    "once",
    "try_once",
    "request",
    "request_within",
];

/// Reports each `let _ = context.ask(…);`, `_ = context.ask(…);` and `drop(context.ask(…))` in `body`, where `context` is a parameter of the type `Context`.
pub(crate) fn check(sig: &Signature, body: &TokenStream, diag: &mut Diagnostics) {
    let contexts: Vec<String> = sig.inputs.iter().filter_map(context).collect();
    if !contexts.is_empty() {
        level(&contexts, body.clone(), sig.asyncness.is_some(), diag);
    }
}

/// Returns the name of a parameter of the type `Context`.
fn context(input: &FnArg) -> Option<String> {
    let FnArg::Typed(input) = input else {
        return None;
    };
    match (&*input.pat, &*input.ty) {
        (Pat::Ident(name), Type::Path(ty)) if ty.path.segments.last()?.ident == "Context" => {
            Some(name.ident.to_string())
        }
        _ => None,
    }
}

fn level(contexts: &[String], tokens: TokenStream, is_async: bool, diag: &mut Diagnostics) {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    for at in 0..tokens.len() {
        let method = match &tokens[at..] {
            [
                TokenTree::Ident(keyword),
                TokenTree::Ident(name),
                equals,
                rest @ ..,
            ] if keyword == "let" && name == "_" && is_punct(equals, '=') => {
                question(contexts, rest).filter(|(_, after)| {
                    let next = after.first();
                    next.is_none_or(|next| is_punct(next, ';'))
                })
            }
            [TokenTree::Ident(name), equals, rest @ ..]
                if name == "_" && is_punct(equals, '=') && !follows_let(&tokens, at) =>
            {
                question(contexts, rest).filter(|(_, after)| {
                    let next = after.first();
                    next.is_none_or(|next| is_punct(next, ';'))
                })
            }
            [TokenTree::Ident(function), TokenTree::Group(group), ..]
                if function == "drop" && group.delimiter() == Delimiter::Parenthesis =>
            {
                let dropped: Vec<TokenTree> = group.stream().into_iter().collect();
                let method = question(contexts, &dropped)
                    .filter(|(_, after)| after.is_empty())
                    .map(|(method, _)| method);
                method.map(|method| (method, &tokens[at..at]))
            }
            _ => None,
        };
        if let Some((method, _)) = method {
            let cure = match is_async {
                true => "await it",
                false => "make the function `async` and await it",
            };
            diag.error(
                &method,
                format_args!("`{method}` does nothing unless it is awaited: {cure}"),
            );
        }
        if let TokenTree::Group(group) = &tokens[at] {
            level(contexts, group.stream(), is_async, diag);
        }
    }
}

/// Returns the name of the method, if `tokens` begin with `context.ask(…)` or a similar call, and the tokens after that.
fn question<'t>(contexts: &[String], tokens: &'t [TokenTree]) -> Option<(Ident, &'t [TokenTree])> {
    let [
        TokenTree::Ident(context),
        dot,
        TokenTree::Ident(method),
        rest @ ..,
    ] = tokens
    else {
        return None;
    };
    let is_question = is_punct(dot, '.')
        && contexts.iter().any(|name| context == name)
        && METHODS.iter().any(|name| method == name);
    if !is_question {
        return None;
    }
    // The first parentheses are the arguments, or belong to a type in the turbofish before them.
    let is_arguments = |token: &TokenTree| matches!(token, TokenTree::Group(group) if group.delimiter() == Delimiter::Parenthesis);
    let at = match rest.first() {
        Some(first) if is_arguments(first) => 0,
        Some(first) if is_punct(first, ':') => {
            let is_closed = |at: &usize| is_arguments(&rest[*at]) && is_punct(&rest[at - 1], '>');
            (1..rest.len()).find(is_closed)?
        }
        _ => return None,
    };
    Some((method.clone(), &rest[at + 1..]))
}

/// Returns whether the token before `at` is `let`.
fn follows_let(tokens: &[TokenTree], at: usize) -> bool {
    let before = at.checked_sub(1).map(|before| &tokens[before]);
    matches!(before, Some(TokenTree::Ident(keyword)) if keyword == "let")
}

fn is_punct(token: &TokenTree, char: char) -> bool {
    matches!(token, TokenTree::Punct(punct) if punct.as_char() == char)
}

#[cfg(test)]
mod tests {
    use quote::quote;

    use super::*;

    #[track_caller]
    fn found(sig: TokenStream, body: &TokenStream) -> String {
        let sig: Signature = syn::parse2(sig).unwrap();
        let mut diag = Diagnostics::default();
        check(&sig, body, &mut diag);
        let errors = diag.take().into_iter().flatten();
        errors
            .map(|error| error.to_string())
            .collect::<Vec<_>>()
            .join("; ")
    }

    // a question that is not awaited is not asked.
    #[test]
    fn questions_thrown_away() {
        let sync = quote!(fn f(a: u8, context: Context));
        let later = quote!(async fn f(ctx: trueform::Context));
        for (sig, body, expected) in [
            (
                &sync,
                quote!({
                    let _ = context.ask::<Vec<(A, B)>>("a", "?");
                }),
                "ask",
            ),
            (
                &sync,
                quote!({
                    if x {
                        _ = context.roots();
                    }
                }),
                "roots",
            ),
            (
                &sync,
                quote!({
                    let _later = context.roots();
                }),
                "",
            ),
            (&sync, quote!({ drop(context.sample("a", p)) }), "sample"),
            (
                &later,
                quote!({
                    let _ = ctx.once("a", async { 1 });
                }),
                "once",
            ),
            (
                &later,
                quote!({
                    let _ = ctx.ask::<A>("a", "?").await;
                }),
                "",
            ),
            (
                &later,
                quote!({
                    let _ = ctx.ask_url("a", "?", "u").await?;
                    drop(ctx.roots().await);
                }),
                "",
            ),
            (
                &later,
                quote!({
                    let asked = ctx.ask::<A>("a", "?");
                    asked.await
                }),
                "",
            ),
            (
                &later,
                quote!({
                    let _ = ctx.log(level, "a");
                    drop(ctx.progress(1.0, None, None));
                    drop(ctx);
                }),
                "",
            ),
            (
                &later,
                quote!({
                    let _ = other.ask("a");
                    let _ = context.ask("a");
                }),
                "",
            ),
            (
                &sync,
                quote!({
                    let _ = block_on(context.request::<Ping>(p));
                }),
                "",
            ),
        ] {
            let words = found(sig.clone(), &body);
            match expected {
                "" => assert_eq!(words, "", "{body}"),
                _ => assert!(
                    words.starts_with(&format!("`{expected}` does nothing")),
                    "{body}: {words}"
                ),
            }
        }
        let words = found(
            sync,
            &quote!({
                let _ = context.roots();
                let _ = context.roots();
            }),
        );
        assert_eq!(
            words.matches("make the function `async`").count(),
            2,
            "{words}"
        );
    }
}
