//! Prompts: functions whose arguments are text and that return messages for the model.
//!
//! The page of [`#[prompt]`](macro@crate::prompt) has the keys and an example. [`user`] and [`assistant`] create messages.
//! [`DynamicPrompt`] is for prompts that are known only at run time.

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

/// Items that the expansions of macros use, apart from the traits above.
pub(crate) mod macro_support {
    pub use super::{
        set::PromptFunction,
        spec::{PromptSpec, prompt},
    };
}
