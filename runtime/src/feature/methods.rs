//! What `#[server]` makes of an `impl` block.

use std::any::Any;

use super::{
    prompts::macro_support::PromptSpec, resources::macro_support::ResourceSpec,
    tools::macro_support::ToolSpec,
};

/// What `#[server]` implements: the methods of a type that are tools, prompts and resources.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no tools, prompts or resources",
    label = "not a server",
    note = "mark its `impl` block `#[server]` and its methods `#[tool]`, `#[prompt]` or `#[resource]`"
)]
pub trait ServerMethods: Any + Send + Sync {
    /// The tools.
    #[must_use]
    fn tools() -> Vec<ToolSpec> {
        Vec::new()
    }

    /// The prompts.
    #[must_use]
    fn prompts() -> Vec<PromptSpec> {
        Vec::new()
    }

    /// The resources and templates.
    #[must_use]
    fn resources() -> Vec<ResourceSpec> {
        Vec::new()
    }
}
