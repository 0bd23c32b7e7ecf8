//! What a server offers. Each feature is a room of one shape: it gathers what was registered (`build`), declares its
//! capability (`declare`), keeps one [`Listing`](listing::Listing) for each of its lists, and reports changes to
//! [`subscriptions`]. Writing the capabilities for a revision leaves out what that revision does not have.
//!
//! [`callable`] runs what a feature looks up, whatever it is: a tool, a method of an extension.

pub(crate) mod callable;
pub(crate) mod extension;
pub(crate) mod failure;
pub mod layer;
pub(crate) mod listing;
pub(crate) mod logging;
pub(crate) mod metrics;
mod slow;
pub(crate) mod subscriptions;
pub mod tools;

use trueform_schema::ServerCapabilities;

use self::{extension::Extensions, subscriptions::Topic, tools::Tools};

/// What the engine asks of every feature.
pub(crate) trait Room {
    /// Declares the capability of the feature.
    fn declare(&self, capabilities: &mut ServerCapabilities);

    /// The kinds of change that peers can hear of, one for each list that changes.
    fn topics(&self) -> &'static [Topic] {
        &[]
    }
}

/// The features that a server offers.
#[derive(Debug)]
pub(crate) struct Features {
    /// `None` if the server offers no tools.
    pub(crate) tools: Option<Tools>,
    pub(crate) extensions: Extensions,
}

impl Features {
    fn rooms(&self) -> impl Iterator<Item = &dyn Room> {
        let rooms: [Option<&dyn Room>; _] = [
            self.tools.as_ref().map(|room| room as _),
            Some(&self.extensions),
        ];
        rooms.into_iter().flatten()
    }

    /// What the server declares it can do (B-9), at the newest revision.
    pub(crate) fn capabilities(&self) -> ServerCapabilities {
        let mut capabilities = ServerCapabilities::default();
        logging::declare(&mut capabilities);
        for room in self.rooms() {
            room.declare(&mut capabilities);
        }
        capabilities
    }

    /// The kinds of change that peers can hear of.
    pub(crate) fn topics(&self) -> impl Iterator<Item = &'static Topic> {
        self.rooms().flat_map(Room::topics)
    }
}
