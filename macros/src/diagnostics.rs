//! Collects error messages, so that one compilation shows all of them.

use std::fmt;

use proc_macro2::{Span, TokenStream};
use quote::ToTokens;

#[derive(Default)]
pub(crate) struct Diagnostics(Option<syn::Error>);

impl Diagnostics {
    /// Reports `message`, underlining `tokens`.
    pub(crate) fn error(&mut self, tokens: impl ToTokens, message: impl fmt::Display) {
        self.push(syn::Error::new_spanned(tokens, message));
    }

    /// Reports `message`, underlining `span`.
    pub(crate) fn error_at(&mut self, span: Span, message: impl fmt::Display) {
        self.push(syn::Error::new(span, message));
    }

    pub(crate) fn push(&mut self, error: syn::Error) {
        match &mut self.0 {
            Some(all) => all.combine(error),
            none => *none = Some(error),
        }
    }

    /// Returns all reports as one error, if there are any.
    pub(crate) fn take(self) -> Option<syn::Error> {
        self.0
    }

    /// Returns one `compile_error!` for each report.
    pub(crate) fn into_tokens(self) -> TokenStream {
        self.take()
            .map(syn::Error::into_compile_error)
            .unwrap_or_default()
    }
}
