//! The keys of `#[tool(…)]`, `#[prompt(…)]`, `#[resource(…)]` and `#[server(…)]`, and their values.
//!
//! Nothing here returns an error: faults are reported to [`Diagnostics`], and valid keys are still used.

mod resource;
#[cfg(test)]
mod tests;
mod timeout;

use proc_macro2::{Ident, Span, TokenStream, TokenTree};
use quote::ToTokens;
use syn::{
    Expr, ExprLit, Lit, LitStr, Meta, Path, Token, Type,
    parse::{ParseStream, Parser},
};

use crate::{
    asks,
    diagnostics::Diagnostics,
    kind::Kind,
    text::{is_tool_name, near_miss, quoted},
};

use self::timeout::timeout;
pub(crate) use self::{resource::ResourceKeys, timeout::Timeout};

/// The arguments of the attribute.
pub(crate) struct Attr {
    pub(crate) kind: Kind,
    pub(crate) name: Option<LitStr>,
    pub(crate) title: Option<LitStr>,
    pub(crate) description: Option<LitStr>,
    pub(crate) icons: Vec<Icon>,
    pub(crate) meta: Vec<(String, Lit, bool)>,
    pub(crate) timeout: Option<Timeout>,
    /// The span of `blocking`.
    pub(crate) blocking: Option<Span>,
    /// Names of constants of `RequiredCapabilities`.
    pub(crate) needs: Vec<Ident>,
    /// Types that the function asks clients for.
    pub(crate) asks: Vec<Type>,
    pub(crate) krate: Option<Path>,
    pub(crate) tool: ToolKeys,
    pub(crate) resource: ResourceKeys,
}

/// The keys of tools only.
#[derive(Default)]
pub(crate) struct ToolKeys {
    /// The annotations: name, value, span.
    pub(crate) hints: Vec<(&'static str, bool, Span)>,
    /// The name of a variant of `Profile`.
    pub(crate) profile: Option<Ident>,
    /// The name of a variant of `TaskMode`.
    pub(crate) task: Option<Ident>,
}

#[derive(Default)]
pub(crate) struct Icon {
    pub(crate) src: Option<LitStr>,
    pub(crate) mime_type: Option<LitStr>,
    pub(crate) sizes: Option<LitStr>,
    pub(crate) theme: Option<LitStr>,
}

const NEEDS: &[&str] = &[
    "sampling",
    "sampling_tools",
    "elicitation",
    "elicitation_url",
    "roots",
];
/// Each profile: its name in the attribute, and its variant.
const PROFILES: &[(&str, &str)] = &[("as_written", "AsWritten"), ("portable", "Portable")];
/// Each way in which calls run as tasks: its name in the attribute, and its variant.
const TASKS: &[(&str, &str)] = &[("optional", "Optional"), ("required", "Required")];
const ICON_KEYS: &[&str] = &["src", "mime_type", "sizes", "theme"];

impl Attr {
    /// Parses the attribute. `ident` is the function's name.
    pub(crate) fn parse(
        kind: Kind,
        tokens: TokenStream,
        ident: &Ident,
        diag: &mut Diagnostics,
    ) -> Self {
        let mut attr = Self {
            kind,
            name: None,
            title: None,
            description: None,
            icons: Vec::new(),
            meta: Vec::new(),
            timeout: None,
            blocking: None,
            needs: Vec::new(),
            asks: Vec::new(),
            krate: None,
            tool: ToolKeys::default(),
            resource: ResourceKeys::default(),
        };
        let mut pieces = pieces(tokens);
        if kind == Kind::Resource {
            attr.resource.uri = resource::take_uri(&mut pieces, ident, diag);
        }
        let mut seen = Vec::new();
        for meta in metas(pieces, diag) {
            let Some(key) = key(kind, meta.path(), diag) else {
                continue;
            };
            if seen.contains(&key) {
                diag.error(meta.path(), format_args!("`{key}` is given twice"));
                continue;
            }
            seen.push(key);
            attr.set(key, &meta, diag);
        }
        attr.check(diag);
        attr
    }

    fn set(&mut self, key: &'static str, meta: &Meta, diag: &mut Diagnostics) {
        match key {
            "name" => self.name = name(self.kind, meta, diag),
            "title" => self.title = string(meta, diag),
            "description" => self.description = string(meta, diag),
            "icons" => self.icons = icons(meta, diag),
            "meta" => self.meta = open_meta(meta, diag),
            "timeout" => self.timeout = timeout(meta, diag),
            "blocking" => {
                if flag(meta, diag) == Some(true) {
                    self.blocking = Some(span_of(meta.path()));
                }
            }
            "needs" => self.needs = needs(meta, diag),
            "asks" => self.asks = asks::listed(meta, diag),
            "profile" => {
                self.tool.profile = one_of(meta, PROFILES, ("profile", "profiles"), diag);
            }
            "task" => {
                self.tool.task = one_of(meta, TASKS, ("kind of task", "kinds of tasks"), diag);
            }
            "crate" => self.krate = path(meta, diag),
            key if self.kind == Kind::Resource => self.resource.set(key, meta, diag),
            hint => {
                if let Some(value) = flag(meta, diag) {
                    self.tool.hints.push((hint, value, span_of(meta.path())));
                }
            }
        }
    }

    fn check(&self, diag: &mut Diagnostics) {
        let set = |hint| {
            self.tool
                .hints
                .iter()
                .find(|(name, value, _)| *name == hint && *value)
        };
        if let (Some(_), Some((.., place))) = (set("read_only"), set("destructive")) {
            diag.error_at(
                *place,
                "a tool that is `read_only` destroys nothing: drop one of the two",
            );
        }
        self.resource.check(diag);
    }
}

/// Returns the arguments of `#[server(…)]`: the path of the crate.
pub(crate) fn server_attr(tokens: TokenStream, diag: &mut Diagnostics) -> Option<Path> {
    let mut krate = None;
    for meta in metas(pieces(tokens), diag) {
        if known(meta.path(), &["crate"], ("key", "keys"), diag).is_some() {
            krate = path(&meta, diag);
        }
    }
    krate
}

/// Parses `pieces` as items. Those that do not parse are reported.
pub(crate) fn metas(pieces: Vec<TokenStream>, diag: &mut Diagnostics) -> Vec<Meta> {
    let mut metas = Vec::new();
    for piece in pieces {
        match syn::parse2(piece.clone()) {
            Ok(meta) => metas.push(meta),
            Err(_) => diag.error(piece, "expected `key`, `key = value` or `key(…)`"),
        }
    }
    metas
}

/// Splits `tokens` at commas.
pub(crate) fn pieces(tokens: TokenStream) -> Vec<TokenStream> {
    let mut pieces = vec![TokenStream::new()];
    for token in tokens {
        match &token {
            TokenTree::Punct(punct) if punct.as_char() == ',' => pieces.push(TokenStream::new()),
            _ => pieces.last_mut().expect("starts with one").extend([token]),
        }
    }
    pieces.retain(|piece| !piece.is_empty());
    pieces
}

/// Looks up `path` among the keys of `kind`.
fn key(kind: Kind, path: &Path, diag: &mut Diagnostics) -> Option<&'static str> {
    let keys = kind.keys();
    let owner = path.get_ident().and_then(|word| {
        let mut others = Kind::ALL.into_iter().filter(|other| *other != kind);
        others.find(|other| other.keys().iter().any(|key| word == key))
    });
    match owner {
        Some(owner) if !keys.iter().any(|key| path.is_ident(key)) => {
            let (word, list) = (path.to_token_stream(), quoted(keys.iter().copied()));
            diag.error(
                path,
                format_args!("`{word}` is for {owner}s, not for {kind}s\nknown keys: {list}"),
            );
            None
        }
        _ => known(path, keys, ("key", "keys"), diag),
    }
}

/// Looks up `path` among `allowed`; the message describes them in the singular and the plural.
pub(crate) fn known(
    path: &Path,
    allowed: &[&'static str],
    (one, many): (&str, &str),
    diag: &mut Diagnostics,
) -> Option<&'static str> {
    let word = path.to_token_stream().to_string().replace(' ', "");
    if let Some(key) = allowed.iter().find(|key| **key == word) {
        return Some(key);
    }
    let hint = near_miss(&word, allowed)
        .map(|key| format!("; did you mean `{key}`?"))
        .unwrap_or_default();
    let list = quoted(allowed.iter().copied());
    diag.error(
        path,
        format_args!("unknown {one} `{word}`{hint}\nknown {many}: {list}"),
    );
    None
}

fn string(meta: &Meta, diag: &mut Diagnostics) -> Option<LitStr> {
    let key = word(meta);
    let text = match meta {
        Meta::NameValue(pair) => match &pair.value {
            Expr::Lit(ExprLit {
                lit: Lit::Str(text),
                ..
            }) => Ok(text.clone()),
            other => Err(other.to_token_stream()),
        },
        other => Err(other.to_token_stream()),
    };
    match text {
        Ok(text) if text.value().trim().is_empty() => {
            diag.error(text, format_args!("`{key}` is empty"));
            None
        }
        Ok(text) => Some(text),
        Err(at) => {
            diag.error(
                at,
                format_args!("expected `{key} = \"…\"`, a string literal"),
            );
            None
        }
    }
}

fn flag(meta: &Meta, diag: &mut Diagnostics) -> Option<bool> {
    let key = word(meta);
    let at = match meta {
        Meta::Path(_) => return Some(true),
        Meta::NameValue(pair) => match &pair.value {
            Expr::Lit(ExprLit {
                lit: Lit::Bool(value),
                ..
            }) => return Some(value.value),
            other => other.to_token_stream(),
        },
        Meta::List(list) => list.to_token_stream(),
    };
    diag.error(
        at,
        format_args!("expected `{key}`, `{key} = true` or `{key} = false`"),
    );
    None
}

fn path(meta: &Meta, diag: &mut Diagnostics) -> Option<Path> {
    let at = match meta {
        Meta::NameValue(pair) => match &pair.value {
            Expr::Path(value) => return Some(value.path.clone()),
            other => other.to_token_stream(),
        },
        other => other.to_token_stream(),
    };
    diag.error(
        at,
        "expected `crate = path`, for example `crate = ::my_sdk::mcp`",
    );
    None
}

fn name(kind: Kind, meta: &Meta, diag: &mut Diagnostics) -> Option<LitStr> {
    let name = string(meta, diag)?;
    if kind == Kind::Tool && !is_tool_name(&name.value()) {
        diag.error(&name, illegal_name(&name.value()));
        return None;
    }
    Some(name)
}

/// Returns why `name` is not the name of a tool.
pub(crate) fn illegal_name(name: &str) -> String {
    format!(
        "`{name}` is not a tool name: it has 1 to 128 of the characters `A`-`Z`, `a`-`z`, `0`-`9`, `_`, `-` and `.`"
    )
}

fn icons(meta: &Meta, diag: &mut Diagnostics) -> Vec<Icon> {
    const FORM: &str = "expected `icons(\"https://…\", icon(src = \"…\", mime_type = \"…\", sizes = \"…\", theme = \"…\"))`";
    let Meta::List(list) = meta else {
        diag.error(meta, FORM);
        return Vec::new();
    };
    let mut icons = Vec::new();
    for piece in pieces(list.tokens.clone()) {
        if let Ok(src) = syn::parse2::<LitStr>(piece.clone()) {
            icons.push(Icon {
                src: Some(src),
                ..Icon::default()
            });
            continue;
        }
        match syn::parse2::<Meta>(piece.clone()) {
            Ok(Meta::List(inner)) if inner.path.is_ident("icon") => {
                icons.extend(icon(&inner.tokens, &inner.path, diag))
            }
            _ => diag.error(piece, FORM),
        }
    }
    icons
}

fn icon(tokens: &TokenStream, at: &Path, diag: &mut Diagnostics) -> Option<Icon> {
    let mut icon = Icon::default();
    for meta in metas(pieces(tokens.clone()), diag) {
        match known(meta.path(), ICON_KEYS, ("icon key", "icon keys"), diag)? {
            "src" => icon.src = string(&meta, diag),
            "mime_type" => icon.mime_type = string(&meta, diag),
            "sizes" => icon.sizes = string(&meta, diag),
            _ => icon.theme = theme(&meta, diag),
        }
    }
    if icon.src.is_none() {
        diag.error(
            at,
            "an icon needs `src = \"…\"`, an `https:` or `data:` URI",
        );
        return None;
    }
    Some(icon)
}

fn theme(meta: &Meta, diag: &mut Diagnostics) -> Option<LitStr> {
    let theme = string(meta, diag)?;
    if !matches!(theme.value().as_str(), "light" | "dark") {
        diag.error(&theme, "an icon's theme is `light` or `dark`");
        return None;
    }
    Some(theme)
}

/// Parses `key = literal` items; the flag says that the number is negative.
fn open_meta(meta: &Meta, diag: &mut Diagnostics) -> Vec<(String, Lit, bool)> {
    const FORM: &str = "expected `meta(\"com.example/key\" = literal, …)`";
    let Meta::List(list) = meta else {
        diag.error(meta, FORM);
        return Vec::new();
    };
    let mut entries: Vec<(String, Lit, bool)> = Vec::new();
    for piece in pieces(list.tokens.clone()) {
        match entry.parse2(piece.clone()) {
            Ok((key, ..)) if entries.iter().any(|(known, ..)| *known == key) => {
                diag.error(piece, format_args!("`{key}` is given twice"));
            }
            Ok(entry) => entries.push(entry),
            Err(_) => diag.error(piece, FORM),
        }
    }
    entries
}

fn entry(input: ParseStream<'_>) -> syn::Result<(String, Lit, bool)> {
    let key = match input.peek(LitStr) {
        true => input.parse::<LitStr>()?.value(),
        false => input.parse::<Ident>()?.to_string(),
    };
    input.parse::<Token![=]>()?;
    let negative = input.parse::<Option<Token![-]>>()?.is_some();
    match input.parse()? {
        lit @ (Lit::Int(_) | Lit::Float(_)) => Ok((key, lit, negative)),
        lit @ (Lit::Str(_) | Lit::Bool(_)) if !negative => Ok((key, lit, false)),
        lit => Err(syn::Error::new_spanned(lit, "not JSON")),
    }
}

fn needs(meta: &Meta, diag: &mut Diagnostics) -> Vec<Ident> {
    let Meta::List(list) = meta else {
        diag.error(
            meta,
            format_args!(
                "expected `needs(…)` with some of {}",
                quoted(NEEDS.iter().copied())
            ),
        );
        return Vec::new();
    };
    let mut needs = Vec::new();
    for meta in metas(pieces(list.tokens.clone()), diag) {
        if let Some(need) = known(
            meta.path(),
            NEEDS,
            ("client capability", "client capabilities"),
            diag,
        ) {
            needs.push(Ident::new(&need.to_ascii_uppercase(), span_of(meta.path())));
        }
    }
    needs
}

/// Returns the variant that `meta` names among `choices`, each with its name in the attribute. `words` describe them in the singular and
/// the plural.
fn one_of(
    meta: &Meta,
    choices: &[(&'static str, &'static str)],
    words: (&str, &str),
    diag: &mut Diagnostics,
) -> Option<Ident> {
    let names: Vec<&'static str> = choices.iter().map(|(name, _)| *name).collect();
    let at = match meta {
        Meta::NameValue(pair) => match &pair.value {
            Expr::Path(value) => {
                let named = known(&value.path, &names, words, diag)?;
                let (_, variant) = choices.iter().find(|(name, _)| *name == named)?;
                return Some(Ident::new(variant, span_of(&value.path)));
            }
            other => other.to_token_stream(),
        },
        other => other.to_token_stream(),
    };
    let key = word(meta);
    let forms: Vec<String> = names
        .iter()
        .map(|name| format!("`{key} = {name}`"))
        .collect();
    diag.error(at, format_args!("expected {}", forms.join(" or ")));
    None
}

fn word(meta: &Meta) -> String {
    meta.path().to_token_stream().to_string()
}

pub(crate) fn span_of(tokens: impl ToTokens) -> Span {
    tokens
        .into_token_stream()
        .into_iter()
        .next()
        .map_or_else(Span::call_site, |token| token.span())
}
