//! The macros of Trueform: [`tool`], [`prompt`], [`resource`], [`server`], and `tools!`, `prompts!` and `resources!`.
//!
//! Use them through the `trueform` crate, which documents them where it re-exports them. Every macro works in three steps: parse (syntax),
//! lower (all rules, all messages), render (cannot fail). The emitted code is small; it calls code in `trueform::__private`.

mod arg;
mod asks;
mod attr;
mod callable;
mod constraint;
mod diagnostics;
mod function;
mod kind;
mod list;
mod parameter;
mod render;
mod scope;
mod server;
#[cfg(test)]
mod tests;
mod text;
mod unawaited;
mod variables;

use proc_macro::TokenStream;

use self::kind::Kind;

/// Makes a function a tool; see `trueform::tool`.
#[proc_macro_attribute]
pub fn tool(args: TokenStream, item: TokenStream) -> TokenStream {
    shown(function::expand(Kind::Tool, args.into(), &item.into()))
}

/// Makes a function a prompt; see `trueform::prompt`.
#[proc_macro_attribute]
pub fn prompt(args: TokenStream, item: TokenStream) -> TokenStream {
    shown(function::expand(Kind::Prompt, args.into(), &item.into()))
}

/// Makes a function a resource; see `trueform::resource`.
#[proc_macro_attribute]
pub fn resource(args: TokenStream, item: TokenStream) -> TokenStream {
    shown(function::expand(Kind::Resource, args.into(), &item.into()))
}

/// Makes the marked methods of an `impl` block tools, prompts and resources; see `trueform::server`.
#[proc_macro_attribute]
pub fn server(args: TokenStream, item: TokenStream) -> TokenStream {
    shown(server::expand(args.into(), &item.into()))
}

/// Expands `trueform::tools!`, which passes its `$crate` first.
#[doc(hidden)]
#[proc_macro]
pub fn tools(input: TokenStream) -> TokenStream {
    shown(list::expand(Kind::Tool, input.into()))
}

/// Expands `trueform::prompts!`, which passes its `$crate` first.
#[doc(hidden)]
#[proc_macro]
pub fn prompts(input: TokenStream) -> TokenStream {
    shown(list::expand(Kind::Prompt, input.into()))
}

/// Expands `trueform::resources!`, which passes its `$crate` first.
#[doc(hidden)]
#[proc_macro]
pub fn resources(input: TokenStream) -> TokenStream {
    shown(list::expand(Kind::Resource, input.into()))
}

/// Prints the expansion while `TRUEFORM_MACROS_DEBUG` is set.
fn shown(tokens: proc_macro2::TokenStream) -> TokenStream {
    if std::env::var_os("TRUEFORM_MACROS_DEBUG").is_some() {
        eprintln!("{tokens}");
    }
    tokens.into()
}
