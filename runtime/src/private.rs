//! Items that the expansions of Trueform's macros use. Not a public interface: it may change in any release.

// `#[tool]` and `#[server]`: each parameter, the result, the tool itself.
pub use std::vec::Vec;

pub use crate::{
    feature::{
        completion::macro_support::*,
        form::macro_support::*,
        function::macro_support::*,
        methods::ServerMethods,
        prompts::{IntoPromptResult, PromptSet, macro_support::*},
        resources::{IntoResourceResult, ResourceSet, macro_support::*},
        tasks::TaskMode,
        tools::{IntoToolResult, ToolSet, macro_support::*},
    },
    lint::Profile,
    needs::RequiredCapabilities,
};

// A parameter with attributes becomes a struct that derives from these.
pub use schemars;
pub use serde;

// `tools!`, `prompts!`, `resources!`
pub use trueform_macros::{prompts, resources, tools};
