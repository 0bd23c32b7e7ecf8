//! Sets of tools, and what can be made one.

use std::{any::Any, sync::Arc};

use super::{
    call::Server,
    injected::RequiredState,
    rejected::Rejected,
    route::{Place, ToolRoute},
    spec::ToolSpec,
};
use crate::{feature::listing::name_taken, lint::Profile};

/// Tools to be registered, and what is wrong with them. Nothing here fails: building the server reports all problems.
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
    /// Tools whose name was taken; kept for what else is wrong with them.
    clashing: Vec<ToolRoute>,
    rejected: Vec<Rejected>,
    problems: Vec<String>,
}

/// The tools of a set in their profiles, and what was found.
pub(crate) struct Gathered {
    pub(crate) routes: Vec<ToolRoute>,
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
        for rejected in other.rejected {
            self.add_rejected(rejected);
        }
        // Of a name that another of theirs has, so it was compared with ours.
        self.clashing.extend(other.clashing);
    }

    /// The same tools under other names: `prefix_name`.
    #[must_use]
    pub fn prefixed(self, prefix: &str) -> Self {
        let mut this = Self {
            problems: self.problems,
            ..Self::default()
        };
        let prefixed = |name: &str| format!("{prefix}_{name}");
        for route in self.routes {
            let name = prefixed(route.name());
            this.add(route.renamed(name));
        }
        for mut rejected in self.rejected {
            rejected.name = prefixed(&rejected.name);
            this.add_rejected(rejected);
        }
        for route in self.clashing {
            let name = prefixed(route.name());
            match route.renamed(name) {
                Ok(route) => this.clashing.push(route),
                // Reported for the tool that has the name.
                Err(rejected) => this.rejected.push(rejected),
            }
        }
        this
    }

    pub(super) fn add(&mut self, tool: Result<ToolRoute, Rejected>) {
        let (name, place) = match &tool {
            Ok(route) => (route.name(), route.place()),
            Err(rejected) => (&*rejected.name, &rejected.place),
        };
        let clash = self
            .place_of(name)
            .map(|taken| name_taken::<ToolRoute>(name, taken, place));
        let is_free = clash.is_none();
        match tool {
            Ok(route) if is_free => self.routes.push(route),
            Ok(route) => self.clashing.push(route),
            Err(mut rejected) => {
                self.problems.append(&mut rejected.problems);
                rejected.clashes = !is_free;
                self.rejected.push(rejected);
            }
        }
        self.problems.extend(clash);
    }

    /// Adds what another set rejected and has reported.
    fn add_rejected(&mut self, rejected: Rejected) {
        match rejected.clashes {
            true => self.rejected.push(rejected),
            false => self.add(Err(rejected)),
        }
    }

    /// Where the first tool of this name was written.
    fn place_of(&self, name: &str) -> Option<&Place> {
        let route = self.routes.iter().find(|route| route.name() == name);
        let rejected = self.rejected.iter().find(|rejected| rejected.name == name);
        route
            .map(ToolRoute::place)
            .or(rejected.map(|rejected| &rejected.place))
    }

    /// The tools, in `profile` if they have none of their own, and everything that is wrong with them.
    pub(crate) fn gathered_in(self, profile: Profile) -> Gathered {
        let mut this = Gathered {
            routes: Vec::with_capacity(self.routes.len()),
            clashing: self.clashing,
            rejected: self.rejected,
            problems: self.problems,
        };
        for route in self.routes {
            match route.in_profile(profile) {
                Ok(route) => this.routes.push(route),
                Err(mut rejected) => {
                    this.problems.append(&mut rejected.problems);
                    this.rejected.push(rejected);
                }
            }
        }
        this
    }
}

impl Gathered {
    /// The tools that can be listed one by one, those whose name is taken too.
    pub(crate) fn listable(&self) -> impl Iterator<Item = &ToolRoute> {
        self.routes.iter().chain(&self.clashing)
    }

    /// State that the server must have, and which tool wants it: its name and place.
    pub(crate) fn required_states(&self) -> impl Iterator<Item = (&str, &Place, RequiredState)> {
        let whole = self
            .listable()
            .map(|route| (route.name(), route.place(), route.required_states()));
        let rejected = self
            .rejected
            .iter()
            .map(|tool| (&*tool.name, &tool.place, &*tool.states));
        whole
            .chain(rejected)
            .flat_map(|(name, place, states)| states.iter().map(move |&state| (name, place, state)))
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
