//! What `#[server]` generates for an `impl` block.

use std::{any::Any, sync::Arc};

use super::{
    function::MethodReceiver,
    prompts::{PromptSet, macro_support::PromptSpec},
    resources::{ResourceSet, macro_support::ResourceSpec},
    tools::{ToolSet, macro_support::ToolSpec},
};

/// What `#[server]` implements: the methods of a type that are tools, prompts and resources.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no tools, prompts or resources",
    label = "not a server",
    note = "mark its `impl` block `#[server]` and its methods `#[tool]`, `#[prompt]` or `#[resource]`"
)]
pub trait ServerMethods: Any + Send + Sync {
    /// Returns the tools.
    #[must_use]
    fn tools() -> Vec<ToolSpec> {
        Vec::new()
    }

    /// Returns the prompts.
    #[must_use]
    fn prompts() -> Vec<PromptSpec> {
        Vec::new()
    }

    /// Returns the resources and templates.
    #[must_use]
    fn resources() -> Vec<ResourceSpec> {
        Vec::new()
    }
}

/// A value that [`Server::features`](crate::Server::features) accepts: a value whose `impl` block is marked `#[server]`, or an `Arc` of
/// one.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no tools, prompts or resources",
    label = "not a server",
    note = "mark its `impl` block `#[server]` and its methods `#[tool]`, `#[prompt]` or `#[resource]`"
)]
pub trait IntoFeatures {
    #[doc(hidden)]
    fn into_features(self) -> FeatureSets;
}

/// The tools, prompts and resources of a block, with the same receiver.
#[derive(Debug, Default)]
pub struct FeatureSets {
    pub(crate) tools: Option<ToolSet>,
    pub(crate) prompts: Option<PromptSet>,
    pub(crate) resources: Option<ResourceSet>,
}

impl<S: ServerMethods> IntoFeatures for S {
    fn into_features(self) -> FeatureSets {
        Arc::new(self).into_features()
    }
}

impl<S: ServerMethods> IntoFeatures for Arc<S> {
    fn into_features(self) -> FeatureSets {
        let receiver = self as MethodReceiver;
        let (tools, prompts, resources) = (S::tools(), S::prompts(), S::resources());
        FeatureSets {
            tools: (!tools.is_empty()).then(|| ToolSet::with_receiver(tools, &receiver)),
            prompts: (!prompts.is_empty()).then(|| PromptSet::with_receiver(prompts, &receiver)),
            resources: (!resources.is_empty())
                .then(|| ResourceSet::with_receiver(resources, &receiver)),
        }
    }
}
