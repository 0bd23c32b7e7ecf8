//! Sets of tools, and what can be made one.

use std::{any::Any, sync::Arc};

use super::{call::Server, route::ToolRoute, spec::ToolSpec};
use crate::check::lint::Profile;

/// Tools to be registered, and what is wrong with them. Nothing here fails: building the server tells all problems.
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
pub struct ToolSet {
    routes: Vec<ToolRoute>,
    problems: Vec<String>,
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

/// What [`Server::tools`](crate::Server::tools) takes.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no tools",
    label = "no tools",
    note = "`tools![add, …]`, a value whose `impl` block is marked `#[server]`, and `DynamicTool` do"
)]
pub trait IntoTools {
    /// The tools.
    fn into_tools(self) -> ToolSet;
}

/// What `#[tool]` makes of a function, under the function's name.
#[diagnostic::on_unimplemented(message = "`{Self}` is not a tool", label = "not marked `#[tool]`")]
pub trait ToolFunction {
    /// The tool.
    fn spec() -> ToolSpec;
}

/// What `#[server]` implements.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no tools",
    label = "not a server",
    note = "mark its `impl` block `#[server]` and its methods `#[tool]`"
)]
pub trait ToolServer: Any + Send + Sync {
    /// The tools.
    fn specs() -> Vec<ToolSpec>;
}

impl ToolSet {
    /// No tools.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    #[doc(hidden)]
    #[must_use]
    pub fn from_specs(specs: Vec<ToolSpec>) -> Self {
        // Functions have no value; their code never asks for one.
        Self::with_server(specs, &(Arc::new(()) as Server))
    }

    fn with_server(specs: Vec<ToolSpec>, server: &Server) -> Self {
        let mut this = Self::new();
        for spec in specs {
            this.add(spec.register(server));
        }
        this
    }

    /// The names of the tools, in order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.routes.iter().map(ToolRoute::name)
    }

    /// Adds the tools of `other`, after those that are here.
    pub fn extend(&mut self, other: impl IntoTools) {
        let other = other.into_tools();
        self.problems.extend(other.problems);
        for route in other.routes {
            self.add(Ok(route));
        }
    }

    /// The same tools under other names: `prefix_name`.
    #[must_use]
    pub fn prefixed(self, prefix: &str) -> Self {
        let mut this = Self {
            routes: Vec::new(),
            problems: self.problems,
        };
        for route in self.routes {
            let name = format!("{prefix}_{}", route.name());
            this.add(route.renamed(name));
        }
        this
    }

    pub(super) fn add(&mut self, route: Result<ToolRoute, Vec<String>>) {
        match route {
            Err(problems) => self.problems.extend(problems),
            Ok(route) => match self
                .routes
                .iter()
                .find(|other| other.name() == route.name())
            {
                Some(taken) => self.problems.push(crate::server::name_taken(taken, &route)),
                None => self.routes.push(route),
            },
        }
    }

    /// The tools, in `profile` if they have none of their own, or everything that is wrong with them.
    pub(crate) fn into_routes_in(self, profile: Profile) -> Result<Vec<ToolRoute>, Vec<String>> {
        let Self {
            routes,
            mut problems,
        } = self;
        let mut finished = Vec::with_capacity(routes.len());
        for route in routes {
            match route.in_profile(profile) {
                Ok(route) => finished.push(route),
                Err(more) => problems.extend(more),
            }
        }
        match problems.is_empty() {
            true => Ok(finished),
            false => Err(problems),
        }
    }
}

impl IntoTools for ToolSet {
    fn into_tools(self) -> ToolSet {
        self
    }
}

impl<S: ToolServer> IntoTools for S {
    fn into_tools(self) -> ToolSet {
        Arc::new(self).into_tools()
    }
}

/// Tools over a value that others hold too.
impl<S: ToolServer> IntoTools for Arc<S> {
    fn into_tools(self) -> ToolSet {
        ToolSet::with_server(S::specs(), &(self as Server))
    }
}

impl<T: IntoTools> IntoTools for Vec<T> {
    fn into_tools(self) -> ToolSet {
        let mut set = ToolSet::new();
        self.into_iter().for_each(|tools| set.extend(tools));
        set
    }
}
