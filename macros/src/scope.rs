//! Where a marked function is declared.

use syn::Generics;

#[derive(Clone, Copy)]
pub(crate) enum Scope<'a> {
    /// In a module.
    Free,
    /// In an `impl` block with these generics.
    Impl(&'a Generics),
}
