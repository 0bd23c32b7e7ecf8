//! What authors write as prompts: functions whose arguments are text and that return messages for the model.
//!
//! The page of [`#[prompt]`](macro@crate::prompt) has the keys and an example. [`user`] and [`assistant`] make messages, and
//! [`DynamicPrompt`] is for what is known at run time only.

mod dynamic;
mod result;
mod room;
mod route;
mod set;
mod spec;

pub(crate) use self::room::{Prompts, TOPIC};
pub use trueform_schema::PromptMessage;

pub use self::{
    dynamic::DynamicPrompt,
    result::{IntoPromptMessage, IntoPromptResult, assistant, user},
    set::{IntoPrompts, PromptSet},
};

/// What expansions of the macros call, apart from the traits above.
pub(crate) mod macro_support {
    pub use super::{
        set::PromptFunction,
        spec::{PromptSpec, prompt},
    };
}
