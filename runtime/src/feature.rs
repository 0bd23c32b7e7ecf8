//! What a server offers. Each feature has a [`Room`] of the same structure: it collects what was registered (`build`), declares its
//! capability (`declare`), keeps one [`Listing`](listing::Listing) for each of its lists, and reports changes to [`subscriptions`]. When
//! the capabilities are written for a revision, members that the revision does not have are left out.
//!
//! [`call`] runs what a feature finds, if it is [`Callable`](callable::Callable): a tool, a prompt, a resource, a method of an extension.

pub(crate) mod asking;
pub(crate) mod caching;
pub(crate) mod call;
pub(crate) mod callable;
pub mod completion;
pub(crate) mod content;
pub(crate) mod extension;
pub(crate) mod failure;
pub(crate) mod form;
pub(crate) mod function;
pub(crate) mod job;
pub mod layer;
pub(crate) mod listing;
pub(crate) mod logging;
pub(crate) mod lost;
pub(crate) mod methods;
pub(crate) mod offered;
pub mod prompts;
pub mod resources;
mod slow;
pub(crate) mod subscriptions;
pub mod tasks;
pub mod tools;
pub mod visibility;

use std::sync::Arc;

use trueform_schema::{Era, ErrorObject, Json, Method, Revision, ServerCapabilities};

use self::{
    completion::Completions, extension::Extensions, logging::Logging, prompts::Prompts,
    resources::Resources, subscriptions::Topic, tasks::Tasks, tools::Tools, visibility::Sight,
};
use crate::{
    jsonrpc::{self, ErrorDetail},
    needs::{RequiredCapabilities, Undeclared},
};

/// Returns the error for a client of `era` that did not declare what its message needs. Only the modern era has a code for it (C-10). In
/// the legacy era, a tool returns a result instead (DEC-9).
#[cold]
pub(crate) fn undeclared(era: Era, missing: impl Into<Undeclared>) -> ErrorObject {
    let Undeclared { what, required } = missing.into();
    match era {
        Era::Modern => jsonrpc::capability_missing(&what, &required),
        Era::Legacy => {
            let expected = format!("a client that declared {what}");
            let detail = ErrorDetail::new("/method", "capability", expected, "one that did not");
            let problem = format!(
                "this request needs the client capability {what}, which this client did not declare"
            );
            let mut data = detail.data().to_value();
            data["requiredCapabilities"] = required;
            jsonrpc::invalid_params(problem, &detail).with_data(Json::from(data))
        }
    }
}

/// What the engine needs from every feature.
pub(crate) trait Room {
    /// Declares the capability of the feature at `revision`. Members that the revision does not have are left out when it is
    /// written.
    fn declare(&self, revision: Revision, capabilities: &mut ServerCapabilities);

    /// Returns the kinds of change that peers can be notified of, one for each list that changes.
    fn topics(&self) -> &'static [Topic] {
        &[]
    }

    /// What the client must have declared for a request of `method` that names `name`. Empty if the caller does not see `name`.
    fn needs(
        &self,
        _method: Method,
        _name: &str,
        _sight: Option<&Sight<'_>>,
    ) -> RequiredCapabilities {
        RequiredCapabilities::NONE
    }
}

/// The features that a server offers.
#[derive(Debug)]
pub(crate) struct Features {
    /// `None` if the server offers no tools.
    pub(crate) tools: Option<Tools>,
    /// `None` if the server offers no prompts.
    pub(crate) prompts: Option<Prompts>,
    /// `None` if the server offers no resources.
    pub(crate) resources: Option<Resources>,
    /// `None` if nothing suggests values for an argument.
    pub(crate) completions: Option<Completions>,
    /// `None` if no call becomes a task.
    pub(crate) tasks: Option<Arc<Tasks>>,
    pub(crate) extensions: Extensions,
}

impl Features {
    fn rooms(&self) -> impl Iterator<Item = &dyn Room> {
        let rooms: [Option<&dyn Room>; _] = [
            Some(&Logging),
            self.tools.as_ref().map(|room| room as _),
            self.prompts.as_ref().map(|room| room as _),
            self.resources.as_ref().map(|room| room as _),
            self.completions.as_ref().map(|room| room as _),
            self.tasks.as_ref().map(|room| &**room as _),
            Some(&self.extensions),
        ];
        rooms.into_iter().flatten()
    }

    /// Returns the capabilities that the server declares (B-9) at `revision`.
    pub(crate) fn capabilities(&self, revision: Revision) -> ServerCapabilities {
        let mut capabilities = ServerCapabilities::default();
        for room in self.rooms() {
            room.declare(revision, &mut capabilities);
        }
        capabilities
    }

    /// Returns the kinds of change that peers can be notified of.
    pub(crate) fn topics(&self) -> impl Iterator<Item = &'static Topic> {
        self.rooms().flat_map(Room::topics)
    }

    /// What the client must have declared for a request of `method` that names `name`.
    pub(crate) fn needs(
        &self,
        method: Method,
        name: &str,
        sight: Option<&Sight<'_>>,
    ) -> RequiredCapabilities {
        let needs = self.rooms().map(|room| room.needs(method, name, sight));
        needs.fold(RequiredCapabilities::NONE, RequiredCapabilities::and)
    }
}
