//! Sets of tools, and the types that convert into one.

use std::{
    collections::{HashMap, hash_map},
    sync::Arc,
};

use trueform_schema::Json;

use super::{
    draft::{SchemaSettings, ToolDraft},
    rejected::Rejected,
    route::ToolRoute,
    spec::ToolSpec,
};
use crate::feature::{
    function::{MethodReceiver, Place, RequiredState},
    listing::name_taken,
    methods::ServerMethods,
};

/// Tools to be registered, and their problems. These methods do not fail: building the server reports all problems.
///
/// ```
/// use trueform::{prelude::*, tool::ToolSet};
///
/// /// Adds two numbers.
/// #[tool]
/// fn add(a: i64, b: i64) -> i64 {
///     a + b
/// }
///
/// let set: ToolSet = tools![add];
/// assert_eq!(set.names().collect::<Vec<_>>(), ["add"]);
/// ```
#[derive(Debug, Default)]
pub struct ToolSet(Vec<Result<ToolDraft, Rejected>>);

/// The tools of a set in their profiles, and the problems that were found.
#[derive(Default)]
pub(crate) struct GatheredTools {
    pub(crate) routes: Vec<ToolRoute>,
    /// Tools whose name is already used; kept to report their other problems.
    clashing: Vec<ToolRoute>,
    rejected: Vec<Rejected>,
    /// Not empty if there is a tool that is not among `routes`.
    pub(crate) problems: Vec<String>,
}

/// A [`ToolSet`] of functions marked [`#[tool]`](macro@crate::tool), in the order they are listed.
///
/// Functions are named by their paths; `#[cfg(…)]` may stand before each.
///
/// ```
/// use trueform::prelude::*;
///
/// mod files {
///     /// Lists the files.
///     #[trueform::tool]
///     pub fn list() -> Vec<String> {
///         vec!["a.txt".to_owned()]
///     }
/// }
///
/// /// Adds two numbers.
/// #[tool]
/// fn add(a: i64, b: i64) -> i64 {
///     a + b
/// }
///
/// let set = tools![add, files::list];
/// assert_eq!(set.names().collect::<Vec<_>>(), ["add", "list"]);
/// ```
#[macro_export]
macro_rules! tools {
    ($($list:tt)*) => {
        $crate::__private::tools!($crate; $($list)*)
    };
}

/// A value that [`Server::tools`](crate::Server::tools) accepts.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no tools",
    label = "no tools",
    note = "`tools![add, …]`, a value whose `impl` block is marked `#[server]`, and `DynamicTool` do"
)]
pub trait IntoTools {
    /// Converts the value into tools.
    fn into_tools(self) -> ToolSet;
}

/// What `#[tool]` generates for a function, under the function's name.
#[diagnostic::on_unimplemented(message = "`{Self}` is not a tool", label = "not marked `#[tool]`")]
pub trait ToolFunction {
    /// Returns the tool.
    fn spec() -> ToolSpec;
}

impl ToolSet {
    /// Creates an empty set.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    #[doc(hidden)]
    #[must_use]
    pub fn from_specs(specs: Vec<ToolSpec>) -> Self {
        // Functions have no receiver; their code never asks for one.
        Self::with_receiver(specs, &(Arc::new(()) as MethodReceiver))
    }

    pub(crate) fn with_receiver(specs: Vec<ToolSpec>, receiver: &MethodReceiver) -> Self {
        Self(
            specs
                .into_iter()
                .map(|spec| spec.register(receiver))
                .collect(),
        )
    }

    /// Returns the names of the tools, in order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.iter().flatten().map(ToolDraft::name)
    }

    /// Adds the tools of `other`, after the existing ones.
    pub fn extend(&mut self, other: impl IntoTools) {
        self.0.extend(other.into_tools().0);
    }

    /// Returns the same tools with other names: `prefix_name`.
    ///
    /// ```
    /// use trueform::prelude::*;
    ///
    /// /// Add two numbers.
    /// #[tool]
    /// fn add(a: i64, b: i64) -> i64 {
    ///     a + b
    /// }
    ///
    /// let tools = tools![add].prefixed("math");
    /// assert_eq!(tools.names().collect::<Vec<_>>(), ["math_add"]);
    /// ```
    #[must_use]
    pub fn prefixed(self, prefix: &str) -> Self {
        let prefixed = |name: &str| format!("{prefix}_{name}");
        let tools = self.0.into_iter().map(|tool| match tool {
            Ok(mut draft) => {
                draft.definition.tool.name = prefixed(draft.name());
                Ok(draft)
            }
            Err(mut rejected) => {
                rejected.name = prefixed(&rejected.name);
                Err(rejected)
            }
        });
        Self(tools.collect())
    }

    /// Returns the same tools with the member `key` in the `_meta` of each. An existing member of that name is replaced.
    ///
    /// ```
    /// use serde_json::json;
    /// use trueform::{prelude::*, schema};
    ///
    /// /// Adds two numbers.
    /// #[tool]
    /// fn add(a: i64, b: i64) -> i64 {
    ///     a + b
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let cost = schema::Json::from(json!({ "cents": 1 }));
    /// let server = Server::new("calc", "1.0.0").tools(tools![add].with_meta("com.example/cost", cost));
    /// let listed = server.connect().await?.list_tools().await?;
    /// assert!(listed[0].meta.as_ref().is_some_and(|meta| meta.contains_key("com.example/cost")));
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn with_meta(mut self, key: &str, value: impl Into<Json>) -> Self {
        let value = value.into();
        for draft in self.0.iter_mut().flatten() {
            let meta = draft.definition.tool.meta.get_or_insert_default();
            meta.insert(key, value.clone());
        }
        self
    }

    pub(super) fn add(&mut self, tool: Result<ToolDraft, Rejected>) {
        self.0.push(tool);
    }

    /// Compiles the schemas, and returns the tools with all their problems.
    pub(crate) fn gathered(self, settings: SchemaSettings) -> GatheredTools {
        let mut this = GatheredTools::default();
        let mut places: HashMap<String, Place> = HashMap::with_capacity(self.0.len());
        for tool in self.0 {
            let tool = tool.and_then(|draft| draft.finished(settings));
            let (name, place) = match &tool {
                Ok(route) => (route.name(), route.place()),
                Err(rejected) => (&*rejected.name, &rejected.place),
            };
            let clash = match places.entry(name.to_owned()) {
                hash_map::Entry::Occupied(first) => {
                    Some(name_taken::<ToolRoute>(name, first.get(), place))
                }
                hash_map::Entry::Vacant(free) => {
                    free.insert(place.clone());
                    None
                }
            };
            match tool {
                Ok(route) if clash.is_none() => this.routes.push(route),
                Ok(route) => this.clashing.push(route),
                Err(mut rejected) => {
                    this.problems.append(&mut rejected.problems);
                    this.rejected.push(rejected);
                }
            }
            this.problems.extend(clash);
        }
        this
    }
}

impl GatheredTools {
    /// Returns the tools that can be listed one by one, including those whose name is already used.
    pub(crate) fn listable(&self) -> impl Iterator<Item = &ToolRoute> {
        self.routes.iter().chain(&self.clashing)
    }

    /// Returns the states that the server must have for each tool, with its name and place.
    pub(crate) fn required_states(&self) -> impl Iterator<Item = (&str, &Place, &[RequiredState])> {
        let whole = self
            .listable()
            .map(|route| (route.name(), route.place(), route.required_states()));
        let rejected = self
            .rejected
            .iter()
            .map(|tool| (&*tool.name, &tool.place, &*tool.states));
        whole.chain(rejected)
    }
}

impl IntoTools for ToolSet {
    fn into_tools(self) -> ToolSet {
        self
    }
}

impl<S: ServerMethods> IntoTools for S {
    fn into_tools(self) -> ToolSet {
        Arc::new(self).into_tools()
    }
}

/// Tools of a value that is also used elsewhere.
impl<S: ServerMethods> IntoTools for Arc<S> {
    fn into_tools(self) -> ToolSet {
        ToolSet::with_receiver(S::tools(), &(self as MethodReceiver))
    }
}

impl<T: IntoTools> IntoTools for Vec<T> {
    fn into_tools(self) -> ToolSet {
        let mut set = ToolSet::new();
        self.into_iter().for_each(|tools| set.extend(tools));
        set
    }
}
