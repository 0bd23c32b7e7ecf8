//! The macros of Trueform: [`tool`], [`server`] and `tools!`.
//!
//! Use them through the `trueform` crate, which documents them where it re-exports them. Every macro works in three
//! steps: parse (syntax), lower (all rules, all messages), render (cannot fail). The emitted code is thin; it calls
//! code in `trueform::__private`.

mod attr;
mod diagnostics;
mod function;
mod list;
mod parameter;
mod render;
mod scope;
mod server;
#[cfg(test)]
mod tests;
mod text;
mod tool;

use proc_macro::TokenStream;

/// Makes a function a tool; see `trueform::tool`.
#[proc_macro_attribute]
pub fn tool(args: TokenStream, item: TokenStream) -> TokenStream {
    shown(function::expand(args.into(), &item.into()))
}

/// Makes the `#[tool]` methods of an `impl` block tools; see `trueform::server`.
#[proc_macro_attribute]
pub fn server(args: TokenStream, item: TokenStream) -> TokenStream {
    shown(server::expand(args.into(), &item.into()))
}

/// The work of `trueform::tools!`, which passes its `$crate` first.
#[doc(hidden)]
#[proc_macro]
pub fn tools(input: TokenStream) -> TokenStream {
    shown(list::expand(input.into()))
}

/// Prints the expansion while `TRUEFORM_MACROS_DEBUG` is set.
fn shown(tokens: proc_macro2::TokenStream) -> TokenStream {
    if std::env::var_os("TRUEFORM_MACROS_DEBUG").is_some() {
        eprintln!("{tokens}");
    }
    tokens.into()
}
