//! What a handler asks the client that it serves: by requests in the legacy era, within the result in the modern era.

mod asked;
mod asker;
mod canonical;
mod elicited;
mod error;
mod legacy;
mod once;
mod place;
mod question;
mod replay;
mod request;
mod required;
mod state;
mod stated;

pub use self::{asked::Asked, error::AskError, required::InputRequired};
pub(crate) use self::{
    asker::Asker,
    place::{blocking, polling},
    replay::{Replay, SetAside},
    state::RESPONSES,
    stated::FormSchema,
};
