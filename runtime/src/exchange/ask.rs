//! Requests that a handler sends to the client it serves. Only legacy clients can be asked: a modern one is answered with
//! what the server needs to know instead.

use std::{any::Any, fmt, time::Duration};

use trueform_schema::{
    Conform, DecodeError, Era, ErrorObject, Method, Revision,
    methods::{AnyNotification, AnyRequest, Rules},
};

use super::{Context, answer::Answer};
use crate::{
    gate::{self, CheckedParams, NotificationKind, Outgoing},
    needs::{RequiredCapabilities, declares_extension},
    peer::{NotQueued, Settled},
    projection,
};

/// Why the client did not answer.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum AskError {
    /// The server cannot send this request or notification at the revision of the request that it serves. Clients of 2026-07-28
    /// are asked within results, which tools cannot return yet.
    // A-18
    NotAtThisRevision,
    /// The params cannot be expressed at the revision of this request; the log says what is wrong.
    NotAllowed(String),
    /// The client has not said yet that it is ready, by `notifications/initialized`; until then it may only be pinged.
    TooSoon,
    /// The client did not declare that it can do this.
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
    /// As many requests to clients as may be open are not answered yet; the limit is
    /// [`Server::max_asks`](crate::Server::max_asks).
    TooMany(usize),
    /// The client has disconnected, or does not read what it is sent, or no longer waits for the call.
    Gone,
}

impl Context {
    /// Sends a request to the client and waits for its answer, at most for the limit that
    /// [`Server::ask_timeout`](crate::Server::ask_timeout) sets, which is five minutes by default. It ends earlier if the client
    /// closes the stream of the call, cannot resume it, and its session is silent for [`MAX_SILENCE`](crate::MAX_SILENCE). A
    /// request that is no longer waited for is cancelled. While it waits, the call does not count as one at work.
    ///
    /// Clients until 2025-11-25 can be asked: for sampling, for elicitation, for their roots. Clients of 2026-07-28, which
    /// [`Server::connect`](crate::Server::connect) makes by default, are asked within results instead, which tools
    /// cannot return yet: the answer is [`AskError::NotAtThisRevision`].
    ///
    /// ```
    /// use serde_json::json;
    /// use trueform::client::{Answering, ClientHandler, ClientOptions};
    /// use trueform::prelude::*;
    /// use trueform::schema::{
    ///     ClientCapabilities, ElicitAction, ElicitOutcome, ElicitRequestParams, Json as RawJson, methods::Elicit,
    /// };
    ///
    /// /// Books a table, for as many people as the user says.
    /// #[tool]
    /// async fn book(context: Context) -> Result<String, ToolError> {
    ///     // Or `ElicitRequestFormParams::new(…)`, member by member.
    ///     let form: ElicitRequestParams = serde_json::from_value(json!({
    ///         "message": "For how many?",
    ///         "requestedSchema": { "type": "object", "properties": { "people": { "type": "integer", "minimum": 1 } } },
    ///     }))?;
    ///     match context.request::<Elicit>(form).await? {
    ///         ElicitOutcome::Complete(answer) if answer.action == ElicitAction::Accept => {
    ///             let people = serde_json::to_value(&answer)?["content"]["people"].clone();
    ///             Ok(format!("booked for {people}"))
    ///         }
    ///         _ => Ok("not booked".to_owned()),
    ///     }
    /// }
    ///
    /// struct Four;
    ///
    /// impl ClientHandler for Four {
    ///     fn answer(&self, _: &str, _: Option<RawJson>) -> Answering<'_> {
    ///         let answer = json!({ "action": "accept", "content": { "people": 4 } });
    ///         Box::pin(std::future::ready(Ok(RawJson::from(answer))))
    ///     }
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let capabilities: ClientCapabilities = serde_json::from_value(json!({ "elicitation": {} }))?;
    /// let asked = ClientOptions::at(Revision::V2025_11_25).capabilities(capabilities).handler(Four);
    /// let client = Server::new("tables", "1.0.0").tools(tools![book]).connect_as(asked).await?;
    /// let booked = client.call_tool("book", ()).await?;
    /// assert!(serde_json::to_string(&booked)?.contains("booked for 4"));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`AskError`]; nothing is sent to a client that could not answer.
    pub async fn request<R: AnyRequest>(&self, params: R::Params) -> Result<R::Result, AskError> {
        let limit = self.0.host.settings.ask_timeout;
        self.request_within::<R>(params, limit).await
    }

    /// As [`request`](Self::request), with a time limit of its own.
    ///
    /// # Errors
    /// As [`request`](Self::request).
    pub async fn request_within<R: AnyRequest>(
        &self,
        params: R::Params,
        limit: Duration,
    ) -> Result<R::Result, AskError> {
        let projected = (&params as &dyn Any)
            .downcast_ref()
            .and_then(|sampling| projection::sampling(sampling, self.0.revision()));
        let sent: &dyn Conform = match &projected {
            Some(older) => older,
            None => &params,
        };
        self.check_extension(R::EXTENSION)?;
        let rules = R::rules(self.0.revision());
        let answer = self.send(R::METHOD, rules, sent, limit)?;
        gate::log_loss(&params, sent, self.0.revision(), R::METHOD);
        // Not held while waiting: params need not be shareable between threads.
        drop((params, projected));
        match answer.await? {
            Settled::Result(result) => {
                let inbound = self.0.host.settings.incoming;
                inbound
                    .result(R::METHOD, self.0.revision(), result.get())
                    .map_err(AskError::Malformed)
            }
            Settled::Error(error) => Err(AskError::Refused(error)),
            Settled::Malformed(problem) => Err(AskError::Malformed(DecodeError::new("", problem))),
            Settled::Closed => Err(AskError::Gone),
        }
    }

    /// Sends a notification that belongs to this request, such as one of an extension. It arrives before the response.
    ///
    /// Never waits: when a client reads too slowly, notifications are dropped. Progress and log messages have methods of
    /// their own, [`Context::progress`] and [`Context::log`], which keep the rules that they have. A client of 2026-07-28 hears
    /// of changes through its subscriptions only.
    ///
    /// # Errors
    /// [`AskError::NotAtThisRevision`] if the server does not send it at the revision of this request,
    /// [`AskError::ExtensionNotDeclared`] if the client did not declare the extension that it belongs to,
    /// [`AskError::NotAllowed`] for params that the revision does not allow and for a notification that is not sent with a
    /// request, [`AskError::Gone`] if the request is over or the client does not read.
    pub fn notify<N: AnyNotification>(&self, params: &N::Params) -> Result<(), AskError> {
        let exchange = &self.0;
        let revision = exchange.revision();
        let kind = NotificationKind::of::<N>(revision);
        if !kind.exists() {
            return Err(AskError::NotAtThisRevision);
        }
        self.check_extension(N::EXTENSION)?;
        if let Some(way) = other_way(N::METHOD, revision) {
            let problem = format!("`{}` is not sent with a request: {way}", N::METHOD);
            return Err(AskError::NotAllowed(problem));
        }
        let policy = exchange.host.settings.outgoing;
        CheckedParams::new(params, revision, policy, N::METHOD)
            .map_err(|error| AskError::NotAllowed(error.message))?;
        match exchange.notify(&kind, params) {
            true => Ok(()),
            false => Err(AskError::Gone),
        }
    }

    /// Whether the client declared the extension `identifier`.
    fn check_extension(&self, identifier: Option<&'static str>) -> Result<(), AskError> {
        let declared = self.0.peer().capabilities.extensions.as_ref();
        match identifier {
            Some(identifier) if !declares_extension(declared, identifier) => {
                Err(AskError::ExtensionNotDeclared(identifier))
            }
            _ => Ok(()),
        }
    }

    fn send(
        &self,
        method: &'static str,
        rules: Option<&Rules>,
        params: &dyn Conform,
        limit: Duration,
    ) -> Result<Answer<'_>, AskError> {
        let exchange = &self.0;
        let revision = exchange.revision();
        let session = match (&exchange.session, rules) {
            (Some(session), Some(rules))
                if revision.era() == Era::Legacy && rules.direction.from_server() =>
            {
                session
            }
            _ => return Err(AskError::NotAtThisRevision),
        };
        // B-7
        if method != Method::Ping.as_str() && !session.is_confirmed() {
            return Err(AskError::TooSoon);
        }
        let policy = exchange.host.settings.outgoing;
        let written = CheckedParams::new(params, revision, policy, method)
            .map_err(|error| AskError::NotAllowed(error.message))?;
        if let Some(core) = Method::from_wire(method) {
            let task = RequiredCapabilities::of_task(core, revision, written.get());
            let needs = RequiredCapabilities::of_request(core, written.get()).and(task);
            let missing = needs.missing_from(&exchange.peer().capabilities);
            if !missing.is_empty() {
                return Err(AskError::NotDeclared(missing));
            }
        }
        // The client does not read what belongs to a request that is over.
        if !exchange.is_open() {
            return Err(AskError::Gone);
        }
        let mut answer = Answer::begin(exchange, session, limit)?;
        let message = Outgoing::request(answer.id(), method, Some(&written));
        let message = message.counted(&exchange.host.unread);
        match exchange.outbox().push(message) {
            Ok(()) => Ok(answer),
            Err(NotQueued::Closed | NotQueued::Full) => {
                answer.was_not_sent();
                Err(AskError::Gone)
            }
        }
    }
}

/// How the notification `method` of the core is sent, if not by [`Context::notify`].
// M-4, N-2, U-2
fn other_way(method: &str, revision: Revision) -> Option<&'static str> {
    match Method::from_wire(method).filter(|method| method.rules(revision).is_some())? {
        Method::Progress => Some("`Context::progress` sends it"),
        Method::LoggingMessage => Some("`Context::log` sends it"),
        Method::Cancelled => Some("the server sends it where it gives a request up"),
        _ if revision.era() == Era::Modern => Some("it goes to subscriptions"),
        // B-8: only for what the server declared, and to all that may hear of it.
        Method::ToolListChanged
        | Method::PromptListChanged
        | Method::ResourceListChanged
        | Method::ResourceUpdated => Some("it goes to all clients that may hear of the change"),
        _ => None,
    }
}

impl fmt::Display for AskError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotAtThisRevision => f.write_str(
                "servers do not send this at the protocol revision of this client; \
                 from 2026-07-28 on no client can be sent a request: \
                 take what is needed as an argument of the tool, \
                 or have the client connect at 2025-11-25 or an older revision",
            ),
            Self::TooSoon => f.write_str(
                "the client has not sent `notifications/initialized` yet; ask it after that",
            ),
            Self::NotAllowed(problem) => f.write_str(problem),
            Self::NotDeclared(missing) => write!(f, "the client did not declare {missing}"),
            Self::ExtensionNotDeclared(identifier) => {
                write!(f, "the client did not declare the extension `{identifier}`")
            }
            Self::Refused(error) => write!(
                f,
                "the client answered with error {}: {}",
                error.code, error.message
            ),
            Self::Malformed(error) => write!(f, "the client's answer is malformed: {error}"),
            Self::TimedOut(limit) => write!(f, "the client did not answer within {limit:?}"),
            Self::TooMany(limit) => write!(
                f,
                "{limit} requests to clients are not answered yet, which is the limit of this server"
            ),
            Self::Gone => f.write_str(
                "the client cannot be reached from this call: it has disconnected, does not read \
                 what it is sent, or no longer waits for the call; end the call",
            ),
        }
    }
}

impl std::error::Error for AskError {}
