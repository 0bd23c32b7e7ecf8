//! Why a client did not answer.

use std::{fmt, time::Duration};

use trueform_schema::{DecodeError, ErrorObject, Revision};

use crate::{jsonrpc, needs::RequiredCapabilities};

/// Why the client did not answer.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum AskError {
    /// The server cannot send this request or notification at the revision of the request that it serves, or the result of a request of
    /// this method cannot ask. Clients of 2026-07-28 get no requests; [`Context::ask`](crate::Context::ask) and similar methods reach them,
    /// if the feature `ask` is enabled.
    //
    NotAtThisRevision,
    /// The params cannot be expressed at the revision of this request, or the type has no form at any revision. The text says what is
    /// wrong.
    NotAllowed(String),
    /// The form of the type cannot be expressed at the revision of this request, only at other revisions.
    // DEC-9
    NoForm {
        /// The revision of the request.
        revision: Revision,
        /// What the revision lacks, with the name of the field.
        problem: String,
    },
    /// The handler asks where it must not ask: in a spawned task, in a function that blocks, within a [`once`](crate::Context::once), or
    /// under a key that it has used already. The text says what to do.
    Misused(String),
    /// The call has used all its rounds of questions to its client, including repeated questions. The limit is
    /// [`Server::ask_rounds`](crate::Server::ask_rounds).
    // T-11
    TooManyRounds(u32),
    /// The results that [`once`](crate::Context::once) keeps do not fit into the state that is sent with the questions. The limit is
    /// [`Server::ask_state`](crate::Server::ask_state).
    StateTooLarge {
        /// The size of the results to keep, in bytes of JSON.
        bytes: usize,
        /// The limit, in bytes.
        limit: usize,
    },
    /// The result of a [`once`](crate::Context::once) cannot be written as JSON, or the kept result does not have its type.
    NotKept(String),
    /// The task store did not accept the question of a task, so the client does not see it. The log has the reason.
    // W-15
    NotStored,
    /// The client has not sent `notifications/initialized` yet. Until then, it may only be sent pings.
    TooSoon,
    /// The client did not declare the capability for this.
    // B-8
    NotDeclared(RequiredCapabilities),
    /// The client did not declare the extension that this belongs to.
    // C-14
    ExtensionNotDeclared(&'static str),
    /// The client answered with an error.
    Refused(ErrorObject),
    /// The answer does not have the form of the method's result, or the revision does not allow it.
    Malformed(DecodeError),
    /// The client did not answer within the limit.
    TimedOut(Duration),
    /// Too many requests to clients are open. The limit is [`Server::max_asks`](crate::Server::max_asks).
    TooMany(usize),
    /// The client has disconnected, does not read its messages, or no longer waits for the call; or the server is stopping and accepts no
    /// more answers.
    Gone,
}

impl fmt::Display for AskError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotAtThisRevision => f.write_str(
                "servers do not send this at the protocol revision of this client; \
                 from 2026-07-28 on no client can be sent a request: \
                 ask by `Context::ask`, `ask_url`, `sample` or `roots`, which tools, prompts and resources can with the feature `ask`, \
                 or take what is needed as an argument",
            ),
            Self::Misused(problem) | Self::NotKept(problem) => f.write_str(problem),
            Self::TooManyRounds(limit) => write!(
                f,
                "the client was asked {limit} times in this call, which is the limit of this server, and there is one more question"
            ),
            Self::StateTooLarge { bytes, limit } => write!(
                f,
                "the results that `once` keeps take {bytes} bytes of JSON; at most {limit} may be kept: keep less, such as an id"
            ),
            Self::NotStored => f.write_str(
                "the client was not asked: the question could not be stored with the task",
            ),
            Self::TooSoon => f.write_str(
                "the client has not sent `notifications/initialized` yet; ask it after that",
            ),
            Self::NotAllowed(problem) | Self::NoForm { problem, .. } => f.write_str(problem),
            Self::NotDeclared(missing) => write!(f, "the client did not declare {missing}"),
            Self::ExtensionNotDeclared(identifier) => {
                write!(f, "the client did not declare the extension `{identifier}`")
            }
            Self::Refused(error) => write!(
                f,
                "the client answered with error {}: {}",
                error.code,
                jsonrpc::sentence(&error.message)
            ),
            Self::Malformed(error) => {
                let problem = error.to_string();
                let problem = jsonrpc::sentence(&problem);
                write!(f, "the client's answer is malformed: {problem}")
            }
            Self::TimedOut(limit) => write!(f, "the client did not answer within {limit:?}"),
            Self::TooMany(limit) => write!(
                f,
                "{limit} requests to clients are not answered yet, which is the limit of this server"
            ),
            Self::Gone => f.write_str(
                "the client cannot be reached from this call: it has disconnected, does not read \
                 what it is sent, or no longer waits for the call, or the server stops; end the call",
            ),
        }
    }
}

impl std::error::Error for AskError {}
