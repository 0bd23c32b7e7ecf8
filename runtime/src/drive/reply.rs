//! The reply of the engine to a message: a response, or work to drive.

use std::fmt;

use crate::{feature::job::Job, gate::Outgoing};

/// How the engine treats a message.
pub(crate) enum Reply {
    /// Nothing is answered. HTTP: 202.
    Silent,
    Ready(Outgoing),
    Running(Box<dyn Job>),
    /// Work for a notification, which is never answered. HTTP: 202.
    Background(Box<dyn Job>),
    /// One reply each for the messages of a batch.
    Batch(Vec<Reply>),
}

impl fmt::Debug for Reply {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Silent => f.write_str("Silent"),
            Self::Ready(response) => f.debug_tuple("Ready").field(response).finish(),
            Self::Running(job) | Self::Background(job) => {
                f.debug_tuple("Running").field(&job.exchange().id).finish()
            }
            Self::Batch(replies) => f.debug_tuple("Batch").field(replies).finish(),
        }
    }
}
