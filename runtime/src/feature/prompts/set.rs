//! Sets of prompts, and the types that convert into one.

use std::sync::Arc;

use super::{
    route::{PromptDraft, PromptRoute},
    spec::PromptSpec,
};
use crate::{
    check::CompileOptions,
    feature::{function::MethodReceiver, listing::name_taken, methods::ServerMethods},
};

/// Prompts to be registered. These methods do not fail: building the server reports all problems.
///
/// ```
/// use trueform::{prelude::*, prompt::PromptSet};
///
/// /// Asks for a poem.
/// #[prompt]
/// fn poem(about: String) -> String {
///     format!("Write a poem about {about}.")
/// }
///
/// let set: PromptSet = prompts![poem];
/// assert_eq!(set.names().collect::<Vec<_>>(), ["poem"]);
/// ```
#[derive(Debug, Default)]
pub struct PromptSet(Vec<PromptDraft>);

/// A [`PromptSet`] of functions marked [`#[prompt]`](macro@crate::prompt), in the order they are listed. Functions are named by their
/// paths; `#[cfg(…)]` may stand before each.
#[macro_export]
macro_rules! prompts {
    ($($list:tt)*) => {
        $crate::__private::prompts!($crate; $($list)*)
    };
}

/// A value that [`Server::prompts`](crate::Server::prompts) accepts.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no prompts",
    label = "no prompts",
    note = "`prompts![review, …]`, a value whose `impl` block is marked `#[server]`, and `DynamicPrompt` do"
)]
pub trait IntoPrompts {
    /// Converts the value into prompts.
    fn into_prompts(self) -> PromptSet;
}

/// What `#[prompt]` generates for a function, under the function's name.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a prompt",
    label = "not marked `#[prompt]`"
)]
pub trait PromptFunction {
    /// Returns the prompt.
    fn spec() -> PromptSpec;
}

impl PromptSet {
    /// Creates an empty set.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    #[doc(hidden)]
    #[must_use]
    pub fn from_specs(specs: Vec<PromptSpec>) -> Self {
        // Functions have no receiver; their code never asks for one.
        Self::with_receiver(specs, &(Arc::new(()) as MethodReceiver))
    }

    pub(crate) fn with_receiver(specs: Vec<PromptSpec>, receiver: &MethodReceiver) -> Self {
        Self(specs.into_iter().map(|spec| spec.draft(receiver)).collect())
    }

    /// Returns the names of the prompts, in order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(PromptDraft::name)
    }

    /// Adds the prompts of `other`, after the existing ones.
    pub fn extend(&mut self, other: impl IntoPrompts) {
        self.0.extend(other.into_prompts().0);
    }

    /// Returns the same prompts with other names: `prefix_name`.
    ///
    /// ```
    /// use trueform::prelude::*;
    ///
    /// /// Review a piece of code.
    /// #[prompt]
    /// fn review(code: String) -> String {
    ///     format!("Review this:\n{code}")
    /// }
    ///
    /// let prompts = prompts![review].prefixed("code");
    /// assert_eq!(prompts.names().collect::<Vec<_>>(), ["code_review"]);
    /// ```
    #[must_use]
    pub fn prefixed(mut self, prefix: &str) -> Self {
        for draft in &mut self.0 {
            draft.prompt.name = format!("{prefix}_{}", draft.prompt.name);
        }
        self
    }

    pub(super) fn add(&mut self, draft: PromptDraft) {
        self.0.push(draft);
    }

    /// Compiles the arguments and returns the prompts. All their problems are appended to `problems`.
    pub(super) fn finished(
        self,
        options: CompileOptions,
        problems: &mut Vec<String>,
    ) -> Vec<PromptRoute> {
        let mut routes: Vec<PromptRoute> = Vec::with_capacity(self.0.len());
        for draft in self.0 {
            match draft.finished(options) {
                Err(found) => problems.extend(found),
                Ok(route) => {
                    let taken = routes.iter().find(|first| first.name() == route.name());
                    if let Some(first) = taken {
                        let (name, first, second) = (route.name(), first.place(), route.place());
                        problems.push(name_taken::<PromptRoute>(name, first, second));
                    }
                    routes.push(route);
                }
            }
        }
        routes
    }
}

impl IntoPrompts for PromptSet {
    fn into_prompts(self) -> PromptSet {
        self
    }
}

impl<S: ServerMethods> IntoPrompts for S {
    fn into_prompts(self) -> PromptSet {
        Arc::new(self).into_prompts()
    }
}

/// Prompts of a value that is also used elsewhere.
impl<S: ServerMethods> IntoPrompts for Arc<S> {
    fn into_prompts(self) -> PromptSet {
        PromptSet::with_receiver(S::prompts(), &(self as MethodReceiver))
    }
}

impl<T: IntoPrompts> IntoPrompts for Vec<T> {
    fn into_prompts(self) -> PromptSet {
        let mut set = PromptSet::new();
        self.into_iter().for_each(|prompts| set.extend(prompts));
        set
    }
}
