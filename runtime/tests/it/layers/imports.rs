//! Reads which modules of a crate the modules of that crate name.
//!
//! The source is read as tokens, so comments and strings say nothing. Files are found the way the compiler finds them: from
//! `lib.rs` along the `mod` declarations. Items behind `#[cfg(test)]` are left out; those behind other conditions count.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
};

use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};

/// A module, as the segments of its path below the crate.
pub(crate) type Module = Vec<String>;

/// What the modules of one crate declare and name.
#[derive(Debug, Default)]
pub(crate) struct Imports {
    modules: BTreeSet<Module>,
    /// The names that `use` declarations bring into a module, and what they stand for.
    names: BTreeMap<(Module, String), Vec<String>>,
    /// Every path into the crate, below the crate, with the module that names it.
    paths: BTreeSet<(Module, Vec<String>)>,
}

impl Imports {
    /// Reads the crate whose root is `file`.
    pub(crate) fn of_crate(file: &Path) -> Self {
        let mut imports = Self::default();
        imports.file(
            &Vec::new(),
            file,
            file.parent().expect("a file in a folder"),
        );
        imports
    }

    /// Reads a crate of one file.
    pub(crate) fn of_source(source: &str) -> Self {
        let mut imports = Self::default();
        imports.modules.insert(Vec::new());
        let tokens = source.parse().expect("it is Rust");
        imports.items(&Vec::new(), tokens, Path::new("/nowhere"));
        imports
    }

    /// The modules directly below `parent`.
    pub(crate) fn children(&self, parent: &[String]) -> BTreeSet<String> {
        let below =
            |module: &&Module| module.len() == parent.len() + 1 && module.starts_with(parent);
        let children = self.modules.iter().filter(below);
        children
            .map(|module| module[parent.len()].clone())
            .collect()
    }

    /// Which children of `parent` name which: pairs of importer and imported. What stands in the file of `parent` itself is
    /// named by the last segment of `parent`; at the root of the crate it is left out, because that only says what is public.
    pub(crate) fn edges(&self, parent: &[&str]) -> BTreeSet<(String, String)> {
        let parent: Module = parent.iter().map(|&segment| segment.to_owned()).collect();
        let side = |module: &[String]| match module.strip_prefix(&*parent)? {
            [child, ..] => Some(child.clone()),
            [] => parent.last().cloned(),
        };
        let paths = self.paths.iter().filter_map(|(from, path)| {
            let to = self.target(from, path);
            Some((side(from)?, side(&to)?))
        });
        paths.filter(|(from, to)| from != to).collect()
    }

    /// The module that a path names or that it names something of. A name that a module above the importer only brings in from
    /// elsewhere is looked up there: `super` and the root of the crate are how a module reaches its neighbours.
    fn target(&self, from: &[String], path: &[String]) -> Module {
        let mut path = path.to_vec();
        // A `use` that stands for itself would go round for ever.
        for _ in 0..16 {
            let depth = (0..=path.len())
                .rev()
                .find(|&depth| self.modules.contains(&path[..depth]))
                .expect("the root is a module");
            let module = path[..depth].to_vec();
            let named = path
                .get(depth)
                .and_then(|name| self.names.get(&(module.clone(), name.clone())));
            match named {
                Some(stands_for) if from.starts_with(&module) => {
                    let rest = path.split_off(depth + 1);
                    path = [stands_for.clone(), rest].concat();
                }
                _ => return module,
            }
        }
        panic!("`{}` goes round", path.join("::"));
    }

    /// Reads a file; its child modules are in `folder`.
    fn file(&mut self, module: &Module, file: &Path, folder: &Path) {
        self.modules.insert(module.clone());
        let source =
            fs::read_to_string(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        let tokens: TokenStream = source
            .parse()
            .unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        self.items(module, tokens, folder);
    }

    /// Reads tokens within `module`, whatever they are: items, bodies, or what a macro is given.
    fn items(&mut self, module: &Module, tokens: TokenStream, folder: &Path) {
        let tokens: Vec<TokenTree> = tokens.into_iter().collect();
        let mut at = 0;
        let mut path_attribute = None;
        while at < tokens.len() {
            if let Some(attribute) = attribute(&tokens[at..]) {
                at += 2;
                if is_test(&attribute) {
                    at += length_of_item(&tokens[at..]);
                    path_attribute = None;
                } else if let Some(file) = file_of(attribute) {
                    path_attribute = Some(file);
                }
                continue;
            }
            let ident = ident(&tokens[at..]);
            match ident.as_deref() {
                Some("mod") => {
                    let Some(name) = self::ident(&tokens[at + 1..]) else {
                        at += 1;
                        continue;
                    };
                    let child = [&**module, std::slice::from_ref(&name)].concat();
                    let below = folder.join(&name);
                    match tokens.get(at + 2) {
                        Some(TokenTree::Group(body)) => {
                            self.modules.insert(child.clone());
                            self.items(&child, body.stream(), &below);
                        }
                        _ => {
                            let file = path_attribute.take().map_or_else(
                                || below.with_extension("rs"),
                                |file| folder.join(file),
                            );
                            self.file(&child, &file, &below);
                        }
                    }
                    at += 3;
                }
                // Not the `use<…>` of a type.
                Some("use") if !is_punct(&tokens[at + 1], '<') => {
                    let end = until_semicolon(&tokens[at..]);
                    self.use_tree(module, &Vec::new(), &tokens[at + 1..at + end - 1]);
                    at += end;
                }
                Some("crate" | "self" | "super") if !follows_path_or_dollar(&tokens[..at]) => {
                    let (path, length) = path(&tokens[at..]);
                    if 1 < path.len() {
                        self.named(module, &path);
                    }
                    at += length;
                }
                _ => {
                    if let TokenTree::Group(group) = &tokens[at] {
                        self.items(module, group.stream(), folder);
                    }
                    at += 1;
                }
            }
        }
    }

    /// Reads what follows `use`, or one branch of it below `prefix`.
    fn use_tree(&mut self, module: &Module, prefix: &[String], tokens: &[TokenTree]) {
        let (segments, length) = path(tokens);
        let path = [prefix, &segments].concat();
        match &tokens[length..] {
            [TokenTree::Group(group)] if group.delimiter() == Delimiter::Brace => {
                let inner: Vec<TokenTree> = group.stream().into_iter().collect();
                let branches = inner.split(|token| is_punct(token, ','));
                for branch in branches.filter(|branch| !branch.is_empty()) {
                    self.use_tree(module, &path, branch);
                }
            }
            [star] if is_punct(star, '*') => _ = self.named(module, &path),
            rest => {
                let mut path = path;
                // `use a::{self}` names `a`.
                if 1 < path.len() && path.last().is_some_and(|last| last == "self") {
                    path.pop();
                }
                let name = match ident(rest).as_deref() {
                    Some("as") => ident(&rest[1..]),
                    _ => path.last().cloned(),
                };
                if let (Some(below), Some(name)) = (self.named(module, &path), name) {
                    self.names.insert((module.clone(), name), below);
                }
            }
        }
    }

    /// Remembers that `module` names `path`, and answers where that leads, below the crate; nothing if it leads to another
    /// crate.
    fn named(&mut self, module: &Module, path: &[String]) -> Option<Vec<String>> {
        let mut rest = path;
        let mut base = match path.first()?.as_str() {
            "crate" => Vec::new(),
            "self" | "super" => module.clone(),
            _ => return None,
        };
        while let [first, after @ ..] = rest {
            match first.as_str() {
                "crate" | "self" => {}
                "super" => _ = base.pop().expect("the root has no parent"),
                _ => break,
            }
            rest = after;
        }
        let below = [&*base, rest].concat();
        self.paths.insert((module.clone(), below.clone()));
        Some(below)
    }
}

/// `tokens` without what only tests compile, and without attributes, which doc comments are.
pub(crate) fn without_tests(tokens: TokenStream) -> TokenStream {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    let mut kept = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        if let Some(attribute) = attribute(&tokens[at..]) {
            at += 2;
            if is_test(&attribute) {
                at += length_of_item(&tokens[at..]);
            }
            continue;
        }
        kept.push(match &tokens[at] {
            TokenTree::Group(group) => {
                Group::new(group.delimiter(), without_tests(group.stream())).into()
            }
            token => token.clone(),
        });
        at += 1;
    }
    kept.into_iter().collect()
}

/// The segments of the path that `tokens` begin with, and how many tokens they take, with the `::` after the last if a group,
/// a star or a list of types follows it.
fn path(tokens: &[TokenTree]) -> (Vec<String>, usize) {
    let mut segments = Vec::new();
    let mut at = 0;
    if is_double_colon(tokens) {
        // From the list of crates: no path of this one.
        segments.push("::".to_owned());
        at = 2;
    }
    while let Some(segment) = ident(&tokens[at..]) {
        segments.push(segment);
        at += 1;
        if !is_double_colon(&tokens[at..]) {
            break;
        }
        at += 2;
    }
    (segments, at)
}

fn ident(tokens: &[TokenTree]) -> Option<String> {
    match tokens.first()? {
        TokenTree::Ident(ident) => Some(ident.to_string()),
        _ => None,
    }
}

fn is_double_colon(tokens: &[TokenTree]) -> bool {
    matches!(tokens, [first, second, ..] if is_punct(first, ':') && is_punct(second, ':'))
}

fn is_punct(token: &TokenTree, character: char) -> bool {
    matches!(token, TokenTree::Punct(punct) if punct.as_char() == character)
}

/// Whether what came before makes `crate` or `self` something else than the start of a path: `$crate` stands
/// in the code of the macro's users, and a path has one start.
fn follows_path_or_dollar(before: &[TokenTree]) -> bool {
    match before {
        [.., dollar] if is_punct(dollar, '$') => true,
        [.., first, second] => is_punct(first, ':') && is_punct(second, ':'),
        _ => false,
    }
}

/// The content of the outer attribute that `tokens` begin with.
fn attribute(tokens: &[TokenTree]) -> Option<TokenStream> {
    match tokens {
        [hash, TokenTree::Group(group), ..]
            if is_punct(hash, '#') && group.delimiter() == Delimiter::Bracket =>
        {
            Some(group.stream())
        }
        _ => None,
    }
}

/// Whether an attribute switches its item on in tests only.
fn is_test(attribute: &TokenStream) -> bool {
    let text = attribute.to_string().replace(' ', "");
    text == "cfg(test)" || text.starts_with("cfg(all(test,") || text.starts_with("cfg(all(doctest,")
}

/// The file that an attribute `path = "…"` names.
fn file_of(attribute: TokenStream) -> Option<PathBuf> {
    let tokens: Vec<TokenTree> = attribute.into_iter().collect();
    match (ident(&tokens).as_deref(), tokens.get(2)) {
        (Some("path"), Some(TokenTree::Literal(file))) => {
            Some(PathBuf::from(file.to_string().trim_matches('"')))
        }
        _ => None,
    }
}

/// How many tokens the item takes that `tokens` begin with, further attributes with it.
fn length_of_item(tokens: &[TokenTree]) -> usize {
    let mut at = 0;
    while attribute(&tokens[at..]).is_some() {
        at += 2;
    }
    let begins_with = |word| {
        tokens[at..]
            .iter()
            .take(4)
            .any(|token| matches!(token, TokenTree::Ident(ident) if ident == word))
    };
    if ["use", "const", "static", "type"]
        .into_iter()
        .any(begins_with)
        && !begins_with("fn")
    {
        return at + until_semicolon(&tokens[at..]);
    }
    let end = tokens[at..].iter().position(|token| match token {
        TokenTree::Group(group) => group.delimiter() == Delimiter::Brace,
        TokenTree::Punct(punct) => [';', ','].contains(&punct.as_char()),
        _ => false,
    });
    end.map_or(tokens.len(), |end| at + end + 1)
}

fn until_semicolon(tokens: &[TokenTree]) -> usize {
    tokens
        .iter()
        .position(|token| is_punct(token, ';'))
        .map_or(tokens.len(), |end| end + 1)
}
