//! Suggestions for the arguments of prompts and the variables of resource templates, while a user types them.
//!
//! The suggestions for an argument come from a function or from a fixed list, such as the values of an enumeration.

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

/// Items that the expansions of macros use.
pub(crate) mod macro_support {
    pub use super::{
        function::Blocking,
        source::{
            Completer, IntoCompletion, completer, completing_server, injected, method_completer,
            values,
        },
    };
}
