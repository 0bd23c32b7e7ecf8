//! The other side of a connection, a session or a stateless request: what it declared about itself, its requests in flight, the requests to
//! it, and the messages that wait for it. This module does not depend on any feature or transport.

mod asked;
mod caller;
mod inflight;
mod kept;
mod level;
mod outbox;
mod session;
mod watched;

pub(crate) use self::{
    asked::{Settled, Waiting},
    caller::Caller,
    inflight::{Cancel, Cancelled, IdRefused},
    level::is_known as is_known_level,
    outbox::{Due, NotQueued, Outbox, Subject},
    session::{Negotiated, Opening, Phase, Session, ShortId},
    watched::{ReservedBytes, SubscriptionBytes, TooManySubscriptions},
};
pub use self::{
    kept::{MAX_CLIENT_NAME, MAX_SESSION_FACTS},
    level::DEFAULT_LOG_LEVEL,
    outbox::{OUTBOX_BYTES, OUTBOX_LIMIT},
    watched::{
        MAX_RESOURCE_SUBSCRIPTION_BYTES, MAX_RESOURCE_SUBSCRIPTION_BYTES_IN_ALL,
        MAX_RESOURCE_SUBSCRIPTIONS,
    },
};
pub(crate) use crate::gate::PeerFacts;
