//! One inbound request in flight: who sent it, where its messages go, whether it is still active, and its public interface, [`Context`].
//! This module does not depend on any feature or transport.

mod answer;
pub(crate) mod apart;
mod ask;
mod context;
mod ids;
mod progress;
mod request;
mod sent;

pub(crate) use self::answer::Occupied;
pub(crate) use self::ask::{Asker, FormSchema, RESPONSES, SetAside, blocking, polling};
pub(crate) use self::ids::IdScope;
pub(crate) use self::request::{Exchange, MessageSink, Ticket, TransportData};
pub use self::{
    answer::MAX_SILENCE,
    ask::{AskError, Asked, InputRequired},
    context::Context,
    sent::Sent,
};
