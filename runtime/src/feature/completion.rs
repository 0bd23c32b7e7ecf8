//! Suggestions for the arguments of prompts and the variables of resource templates, while a user types them.
//!
//! An argument says where its suggestions come from: a function, or a fixed list, which the values of an enumeration are too.

mod function;
mod query;
mod room;
mod source;

pub use self::{
    function::{Blocking, CompletionFunction},
    query::CompletionQuery,
    source::IntoCompletion,
};
pub(crate) use self::{
    room::{Argument, Completions, unknown_argument},
    source::{Completer, missing_states},
};

// L-2
/// Most suggestions that one answer holds.
pub const MAX_SUGGESTIONS: usize = 100;

/// What expansions of the macros call.
pub(crate) mod macro_support {
    pub use super::{
        function::Blocking,
        source::{
            Completer, IntoCompletion, completer, completing_server, injected, method_completer,
            values,
        },
    };
}
