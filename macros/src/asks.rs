//! The types of the forms that a function asks for: those of `asks(…)`, and those that calls of `ask` in its body, or the `let` around
//! them, name.
//!
//! A body is not parsed, because the parentheses of a macro such as `join!` may contain anything. Its tokens are searched. A type that
//! cannot be named outside the body, or may not exist there, is left out.

#[cfg(test)]
mod tests;

use std::collections::HashSet;

use proc_macro2::{Delimiter, Ident, TokenStream, TokenTree};
use quote::ToTokens;
use syn::{GenericParam, Generics, Meta, Token, Type, parse::Parser, punctuated::Punctuated};

use crate::diagnostics::Diagnostics;

const FORM: &str = "expected `asks(Type, …)` with the types that the function asks clients for, such as `asks(Booking)`";

/// Returns the types of `asks(…)`.
pub(crate) fn listed(meta: &Meta, diag: &mut Diagnostics) -> Vec<Type> {
    let Meta::List(list) = meta else {
        diag.error(meta, FORM);
        return Vec::new();
    };
    let types = Punctuated::<Type, Token![,]>::parse_terminated.parse2(list.tokens.clone());
    let mut found: Vec<Type> = Vec::new();
    let Ok(types) = types else {
        diag.error(meta, FORM);
        return found;
    };
    if types.is_empty() {
        diag.error(meta, FORM);
    }
    let mut known: HashSet<String> = HashSet::new();
    for ty in types {
        let text = ty.to_token_stream().to_string().replace(' ', "");
        if !is_named(&ty) {
            diag.error(ty, FORM);
        } else if known.contains(&text) {
            diag.error(ty, format_args!("`{text}` is listed twice"));
        } else {
            known.insert(text);
            found.push(ty);
        }
    }
    found
}

/// Returns whether a type is written out, without inference.
fn is_named(ty: &Type) -> bool {
    let is_of_a_form = matches!(ty, Type::Path(_) | Type::Paren(_) | Type::Group(_))
        || matches!(ty, Type::Tuple(tuple) if tuple.elems.is_empty());
    let has_hole = |token: TokenTree| matches!(token, TokenTree::Ident(ident) if ident == "_");
    is_of_a_form && !flat(ty.to_token_stream()).into_iter().any(has_hole)
}

/// Returns the types `T` of calls `.ask::<T>(…)` in `body`, and of statements `let …: Asked<T> = ….ask(…)…;`. Leaves out those that only
/// the body can name: types that are declared or imported in it, types with generic parameters of it or of `generics`, and types in code
/// that `#[cfg]` may remove.
pub(crate) fn found(body: &TokenStream, generics: Option<&Generics>) -> Vec<TokenStream> {
    let mut scan = Scan::default();
    if let Some(generics) = generics {
        for parameter in &generics.params {
            match parameter {
                // No type of a form has a lifetime.
                GenericParam::Lifetime(_) => {}
                GenericParam::Type(parameter) => scan.add(&parameter.ident),
                GenericParam::Const(parameter) => scan.add(&parameter.ident),
            }
        }
    }
    scan.level(body.clone());
    let Scan { local, glob, asked } = scan;
    let mut found: Vec<TokenStream> = Vec::new();
    for ty in asked {
        let known = |other: &TokenStream| other.to_string() == ty.to_string();
        if !found.iter().any(known) && can_be_named(&ty, &local, glob) {
            found.push(ty);
        }
    }
    found
}

/// The names and types in a body.
#[derive(Default)]
struct Scan {
    /// Names that the body declares or imports.
    local: HashSet<String>,
    /// Whether the body has a glob import.
    glob: bool,
    /// Types that the body asks for.
    asked: Vec<TokenStream>,
}

impl Scan {
    fn level(&mut self, tokens: TokenStream) {
        let tokens: Vec<TokenTree> = tokens.into_iter().collect();
        let mut at = 0;
        while at < tokens.len() {
            if is_cfg(&tokens[at..]) {
                at = self.conditional(&tokens, at + 2);
                continue;
            }
            if let Some(ty) = asked(&tokens[at..]) {
                self.asked.push(ty);
            }
            self.annotated(&tokens[at..]);
            self.declared(&tokens[at..]);
            if let TokenTree::Group(group) = &tokens[at] {
                self.level(group.stream());
            }
            at += 1;
        }
    }

    /// Skips the statement that begins at `at`; names that it declares count. Returns the index of its end.
    fn conditional(&mut self, tokens: &[TokenTree], mut at: usize) -> usize {
        let is_let = matches!(tokens.get(at), Some(TokenTree::Ident(ident)) if ident == "let");
        while let Some(token) = tokens.get(at) {
            self.declared(&tokens[at..]);
            at += 1;
            let goes_on =
                matches!(tokens.get(at), Some(TokenTree::Ident(ident)) if ident == "else");
            match token {
                TokenTree::Punct(punct) if matches!(punct.as_char(), ';' | ',') => break,
                TokenTree::Group(group) if group.delimiter() == Delimiter::Brace => {
                    // A declaration in it may hide one outside.
                    let mut inner = Self::default();
                    inner.level(group.stream());
                    self.local.extend(inner.local);
                    self.glob |= inner.glob;
                    if !is_let && !goes_on {
                        break;
                    }
                }
                _ => {}
            }
        }
        at
    }

    /// Adds the types `T` of `Asked<T>` in the annotation of the `let` that is the first of `tokens`, if its value asks for a type that the
    /// call leaves to inference.
    fn annotated(&mut self, tokens: &[TokenTree]) {
        let [TokenTree::Ident(keyword), rest @ ..] = tokens else {
            return;
        };
        let end = rest.iter().position(|token| is_punct(token, ';'));
        let (true, Some(end)) = (keyword == "let", end) else {
            return;
        };
        let statement = &rest[..end];
        // The colons of a pattern are in braces, and those of paths come in pairs.
        let is_single = |at: usize| {
            let is_colon = |at: usize| statement.get(at).is_some_and(|token| is_punct(token, ':'));
            is_colon(at) && !is_colon(at + 1) && !at.checked_sub(1).is_some_and(is_colon)
        };
        let Some(colon) = (0..statement.len()).find(|&at| is_single(at)) else {
            return;
        };
        let mut depth = 0_u32;
        let equals = statement[colon..].iter().position(|token| {
            match token {
                TokenTree::Punct(punct) if punct.as_char() == '<' => depth += 1,
                TokenTree::Punct(punct) if punct.as_char() == '>' => {
                    depth = depth.saturating_sub(1)
                }
                _ => {}
            }
            depth == 0 && is_punct(token, '=')
        });
        let Some(equals) = equals.map(|equals| colon + equals) else {
            return;
        };
        if asks_for_inferred(&statement[equals..]) {
            answers(&statement[colon..equals], &mut self.asked);
        }
    }

    /// Adds the names that an item declares. The first of `tokens` is its keyword.
    fn declared(&mut self, tokens: &[TokenTree]) {
        let TokenTree::Ident(keyword) = &tokens[0] else {
            return;
        };
        match &*keyword.to_string() {
            "use" => {
                let end = tokens.iter().position(|token| is_punct(token, ';'));
                let tree = tokens[1..end.unwrap_or(tokens.len())].iter().cloned();
                for token in flat(tree.collect()) {
                    match token {
                        TokenTree::Ident(name) => self.add(&name),
                        TokenTree::Punct(punct) if punct.as_char() == '*' => self.glob = true,
                        _ => {}
                    }
                }
            }
            "struct" | "enum" | "union" | "type" | "mod" | "trait" => self.add_next(tokens),
            "fn" => {
                // Skips its generic parameters and their bounds.
                let mut depth = 0_u32;
                for token in tokens.iter().skip(2) {
                    match token {
                        TokenTree::Punct(punct) if punct.as_char() == '<' => depth += 1,
                        TokenTree::Punct(punct) if punct.as_char() == '>' => {
                            depth = depth.saturating_sub(1);
                        }
                        TokenTree::Ident(name) if depth != 0 => self.add(name),
                        _ => {}
                    }
                    if depth == 0 {
                        break;
                    }
                }
            }
            "impl" if tokens.get(1).is_some_and(|token| is_punct(token, '<')) => {
                let end = tokens.iter().position(|token| is_punct(token, '>'));
                for token in &tokens[1..end.unwrap_or(tokens.len())] {
                    if let TokenTree::Ident(name) = token {
                        self.add(name);
                    }
                }
            }
            _ => {}
        }
    }

    fn add_next(&mut self, tokens: &[TokenTree]) {
        if let Some(TokenTree::Ident(name)) = tokens.get(1) {
            self.add(name);
        }
    }

    fn add(&mut self, name: &Ident) {
        let name = name.to_string();
        if !matches!(&*name, "crate" | "self" | "super" | "as") {
            self.local.insert(name);
        }
    }
}

/// Returns whether `ty` means the same outside the body.
fn can_be_named(ty: &TokenStream, local: &HashSet<String>, glob: bool) -> bool {
    let tokens = flat(ty.clone());
    let mut in_path = false;
    for (index, token) in tokens.iter().enumerate() {
        match token {
            // A variable of a macro, or a lifetime.
            TokenTree::Punct(punct) if matches!(punct.as_char(), '$' | '\'') => return false,
            TokenTree::Ident(ident) if ident == "_" => return false,
            TokenTree::Ident(ident) if !in_path => {
                let begins_path =
                    matches!(tokens.get(index + 1), Some(next) if is_punct(next, ':'));
                let is_keyword = ["crate", "self", "super"].iter().any(|word| ident == word);
                if local.contains(&ident.to_string())
                    || (glob && !is_keyword && !is_primitive(ident))
                {
                    return false;
                }
                in_path = begins_path;
            }
            TokenTree::Punct(punct) if punct.as_char() == ':' => in_path = true,
            _ => in_path = false,
        }
    }
    true
}

fn is_primitive(ident: &Ident) -> bool {
    let name = ident.to_string();
    let digits = name.strip_prefix(['i', 'u', 'f']);
    matches!(&*name, "bool" | "char" | "String" | "Option" | "Vec")
        || digits.is_some_and(|digits| matches!(digits, "8" | "16" | "32" | "64" | "128" | "size"))
}

/// Returns the type, if `tokens` begin with `.ask::<Type>(…)`.
fn asked(tokens: &[TokenTree]) -> Option<TokenStream> {
    let [dot, TokenTree::Ident(ask), first, second, open, rest @ ..] = tokens else {
        return None;
    };
    let is_ask = is_punct(dot, '.')
        && ask == "ask"
        && is_punct(first, ':')
        && is_punct(second, ':')
        && is_punct(open, '<');
    if !is_ask {
        return None;
    }
    let (ty, after) = until_closed(rest)?;
    match after.first() {
        Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Parenthesis => Some(ty),
        _ => None,
    }
}

/// Adds the types `T` of `Asked<T>` in `tokens`.
fn answers(tokens: &[TokenTree], found: &mut Vec<TokenStream>) {
    for at in 0..tokens.len() {
        match &tokens[at..] {
            [TokenTree::Ident(asked), open, rest @ ..]
                if asked == "Asked" && is_punct(open, '<') =>
            {
                found.extend(until_closed(rest).map(|(ty, _)| ty));
            }
            [TokenTree::Group(group), ..] => {
                let tokens: Vec<TokenTree> = group.stream().into_iter().collect();
                answers(&tokens, found);
            }
            _ => {}
        }
    }
}

/// Returns whether there is a call `.ask(…)` or `.ask::<_>(…)` in `tokens`.
fn asks_for_inferred(tokens: &[TokenTree]) -> bool {
    (0..tokens.len()).any(|at| match &tokens[at..] {
        [dot, TokenTree::Ident(ask), rest @ ..] if is_punct(dot, '.') && ask == "ask" => {
            let is_inferred = asked(&tokens[at..]).is_some_and(|ty| ty.to_string() == "_");
            // `.map(…)` converts the answer to another type than the one that is asked for.
            let chain = rest.split(|token| is_punct(token, ',')).next().unwrap_or_default();
            let is_mapped = chain.windows(2).any(|two| matches!(two, [dot, TokenTree::Ident(map)] if is_punct(dot, '.') && map == "map"));
            let has_arguments = matches!(rest, [TokenTree::Group(group), ..] if group.delimiter() == Delimiter::Parenthesis);
            !is_mapped && (is_inferred || has_arguments)
        }
        [TokenTree::Group(group), ..] => {
            let tokens: Vec<TokenTree> = group.stream().into_iter().collect();
            asks_for_inferred(&tokens)
        }
        _ => false,
    })
}

/// Returns the type that `tokens` begin with, up to the `>` that closes the bracket opened before it, and the tokens after that.
fn until_closed(tokens: &[TokenTree]) -> Option<(TokenStream, &[TokenTree])> {
    let mut depth = 1_u32;
    let end = tokens.iter().enumerate().position(|(index, token)| {
        match token {
            TokenTree::Punct(punct) if punct.as_char() == '<' => depth += 1,
            // This is not the arrow of a function's type.
            TokenTree::Punct(punct)
                if punct.as_char() == '>'
                    && !(index.checked_sub(1))
                        .is_some_and(|before| is_punct(&tokens[before], '-')) =>
            {
                depth -= 1;
            }
            _ => {}
        }
        depth == 0
    })?;
    let ty: TokenStream = tokens[..end].iter().cloned().collect();
    syn::parse2::<Type>(ty.clone()).ok()?;
    Some((ty, &tokens[end + 1..]))
}

/// Returns whether `tokens` begin with `#[cfg(…)]` or `#[cfg_attr(…)]`.
fn is_cfg(tokens: &[TokenTree]) -> bool {
    let [hash, TokenTree::Group(group), ..] = tokens else {
        return false;
    };
    let first = group.stream().into_iter().next();
    is_punct(hash, '#')
        && group.delimiter() == Delimiter::Bracket
        && matches!(first, Some(TokenTree::Ident(ident)) if ident == "cfg" || ident == "cfg_attr")
}

fn is_punct(token: &TokenTree, char: char) -> bool {
    matches!(token, TokenTree::Punct(punct) if punct.as_char() == char)
}

/// Returns the tokens, with the contents of groups in place of the groups.
fn flat(tokens: TokenStream) -> Vec<TokenTree> {
    tokens
        .into_iter()
        .flat_map(|token| match token {
            TokenTree::Group(group) => flat(group.stream()),
            token => vec![token],
        })
        .collect()
}
