//! What authors write as prompts: functions whose arguments are text and that return messages for the model.
//!
//! A prompt is registered once, as a `PromptRoute`: its definition for `prompts/list`, the checks of its arguments, and a function
//! pointer over type-erased state. The `#[prompt]` and `#[server]` macros emit calls to the builder in `spec`.

mod dynamic;
mod result;
mod room;
mod route;
mod set;
mod spec;

pub(crate) use self::room::{Prompts, TOPIC};
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
