//! What a server offers. Each feature is a room of one shape: it gathers what was registered (`build`), declares its
//! capability at a revision (`declare`), keeps one [`Listing`](listing::Listing) for each of its lists, and reports changes to
//! [`subscriptions`].
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
