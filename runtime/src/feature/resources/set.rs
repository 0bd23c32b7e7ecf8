//! Sets of resources and templates, and the types that convert into one.

use std::sync::Arc;

use super::{draft::ResourceDraft, spec::ResourceSpec};
use crate::feature::{function::MethodReceiver, methods::ServerMethods};

/// Resources and templates to be registered. These methods do not fail: building the server reports all problems.
///
/// ```
/// use trueform::{prelude::*, resource::ResourceSet};
///
/// /// How to use the shop.
/// #[resource("shop://readme")]
/// fn readme() -> &'static str {
///     "Buy things."
/// }
///
/// let set: ResourceSet = resources![readme];
/// assert_eq!(set.uris().collect::<Vec<_>>(), ["shop://readme"]);
/// ```
#[derive(Debug, Default)]
pub struct ResourceSet(pub(super) Vec<ResourceDraft>);

/// A [`ResourceSet`] of functions marked [`#[resource]`](macro@crate::resource), in the order they are listed. Functions are named by
/// their paths; `#[cfg(…)]` may stand before each.
#[macro_export]
macro_rules! resources {
    ($($list:tt)*) => {
        $crate::__private::resources!($crate; $($list)*)
    };
}

/// A value that [`Server::resources`](crate::Server::resources) accepts.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no resources",
    label = "no resources",
    note = "`resources![config, …]`, a value whose `impl` block is marked `#[server]`, `DynamicResource`, `DynamicTemplate` and \
            `resource::Folder` do"
)]
pub trait IntoResources {
    /// Converts the value into resources and templates.
    fn into_resources(self) -> ResourceSet;
}

/// What `#[resource]` generates for a function, under the function's name.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a resource",
    label = "not marked `#[resource]`"
)]
pub trait ResourceFunction {
    /// Returns the resource or template.
    fn spec() -> ResourceSpec;
}

impl ResourceSet {
    /// Creates an empty set.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    #[doc(hidden)]
    #[must_use]
    pub fn from_specs(specs: Vec<ResourceSpec>) -> Self {
        // Functions have no receiver; their code never asks for one.
        Self::with_receiver(specs, &(Arc::new(()) as MethodReceiver))
    }

    pub(crate) fn with_receiver(specs: Vec<ResourceSpec>, receiver: &MethodReceiver) -> Self {
        let drafts = specs.into_iter().map(|spec| spec.draft(receiver));
        Self(drafts.collect())
    }

    /// Returns the URIs of the resources and templates, in order.
    pub fn uris(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|draft| &*draft.shown.uri)
    }

    /// Returns the names of the resources and templates, in order. Names need not be unique.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|draft| &*draft.shown.name)
    }

    /// Adds the resources of `other`, after the existing ones.
    pub fn extend(&mut self, other: impl IntoResources) {
        self.0.extend(other.into_resources().0);
    }
}

impl IntoResources for ResourceSet {
    fn into_resources(self) -> ResourceSet {
        self
    }
}

impl<S: ServerMethods> IntoResources for S {
    fn into_resources(self) -> ResourceSet {
        Arc::new(self).into_resources()
    }
}

/// Resources of a value that is also used elsewhere.
impl<S: ServerMethods> IntoResources for Arc<S> {
    fn into_resources(self) -> ResourceSet {
        ResourceSet::with_receiver(S::resources(), &(self as MethodReceiver))
    }
}

impl<T: IntoResources> IntoResources for Vec<T> {
    fn into_resources(self) -> ResourceSet {
        let mut set = ResourceSet::new();
        let all = self.into_iter();
        all.for_each(|resources| set.extend(resources));
        set
    }
}
