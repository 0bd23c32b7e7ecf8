//! Requests that a handler sends to the client it serves. Only clients of the legacy era can be sent requests.

use std::{any::Any, time::Duration};

use trueform_schema::{
    Conform, DecodeError, Era, Method, Revision,
    methods::{AnyNotification, AnyRequest, Rules},
};

use super::{AskError, Replay, stated::Stated};
use crate::{
    exchange::{Context, answer::Answer},
    gate::{self, CheckedParams, NotificationKind, Outgoing},
    needs::{RequiredCapabilities, declares_extension},
    peer::{NotQueued, Settled},
    projection,
};

impl Context {
    /// Sends a request to the client and waits for its answer, at most for the time that
    /// [`Server::ask_timeout`](crate::Server::ask_timeout) sets, which is five minutes by default. The wait ends earlier if the client
    /// closes the stream of the call, cannot resume it, and sends nothing in its session for [`MAX_SILENCE`](crate::MAX_SILENCE). If the
    /// wait ends without an answer, the request is cancelled. While it waits, the call does not count as running.
    ///
    /// This is the low-level form, only for clients until 2025-11-25. Clients of 2026-07-28, which
    /// [`Server::connect`](crate::Server::connect) creates by default, get no requests: the error is [`AskError::NotAtThisRevision`].
    /// [`ask`](Self::ask), [`sample`](Self::sample) and [`roots`](Self::roots) reach both.
    ///
    /// The answers to elicitation, sampling and the question for roots are checked against the schema of the revision, whatever
    /// [`Server::lenient`](crate::Server::lenient) and [`Server::incoming`](crate::Server::incoming) accept elsewhere. The content of an
    /// accepted form is checked against its `requestedSchema`. An answer that does not fit is [`AskError::Malformed`]; the client is not
    /// asked again. These requests count as questions of the call, see [`Server::ask_rounds`](crate::Server::ask_rounds).
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
        let limit = self.0.host.settings.ask.timeout;
        self.request_within::<R>(params, limit).await
    }

    /// Like [`request`](Self::request), with its own time limit.
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
        let stated = Stated::of(&params, self.0.revision())?;
        let rules = R::rules(self.0.revision());
        let rounds = self.0.host.settings.ask.rounds;
        let counted = is_question(Method::from_wire(R::METHOD)).then(|| self.0.replay());
        if let Some(replay) = counted {
            replay.check_round(rounds)?;
        }
        let answer = self.send(R::METHOD, rules, sent, limit)?;
        let round = counted.map(Replay::begin_round);
        gate::log_loss(&params, sent, self.0.revision(), R::METHOD);
        // Not held while waiting: params need not be shareable between threads.
        drop((params, projected));
        let settled = answer.await?;
        drop(round);
        match settled {
            Settled::Result(result) => {
                let decoded = self.decoded::<R>(result.get());
                let decoded = decoded.map_err(AskError::Malformed)?;
                stated.check(&decoded).map_err(AskError::Malformed)?;
                Ok(decoded)
            }
            Settled::Error(error) => Err(AskError::Refused(error)),
            Settled::Malformed(problem) => Err(AskError::Malformed(DecodeError::new("", problem))),
            Settled::Closed => Err(AskError::Gone),
        }
    }

    /// Reads the result `text` of a request to the client.
    ///
    /// # Errors
    /// The text is not a valid result, or a rule of the method forbids it.
    fn decoded<R: AnyRequest>(&self, text: &str) -> Result<R::Result, DecodeError> {
        let (exchange, revision) = (&self.0, self.0.revision());
        let core = Method::from_wire(R::METHOD);
        let held_to = match is_question(core) {
            true => exchange.answers_held_to(),
            false => exchange.host.settings.incoming,
        };
        let decoded = held_to.result(R::METHOD, revision, text)?;
        if let Some(core) = core {
            gate::check_answer(core, text)?;
        }
        Ok(decoded)
    }

    /// Sends a notification that belongs to this request, such as one of an extension. It arrives before the response.
    ///
    /// Never waits: if a client reads too slowly, notifications are dropped. For progress and log messages, use [`Context::progress`] and
    /// [`Context::log`], which follow the rules of these messages. A client of 2026-07-28 is notified of changes only through its
    /// subscriptions.
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

    /// Checks that the client declared the extension `identifier`.
    fn check_extension(&self, identifier: Option<&'static str>) -> Result<(), AskError> {
        let declared = self.0.peer().capabilities.extensions.as_ref();
        match identifier {
            Some(identifier) if !declares_extension(declared, identifier) => {
                Err(AskError::ExtensionNotDeclared(identifier))
            }
            _ => Ok(()),
        }
    }

    pub(super) fn send(
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
        // W-7
        let written = match exchange.related_task() {
            Some(related) => written.with_meta(&related),
            None => written,
        };
        if let Some(core) = Method::from_wire(method) {
            let task = RequiredCapabilities::of_task(core, revision, written.get());
            let context = RequiredCapabilities::of_context(core, revision, written.get());
            let needs = RequiredCapabilities::of_request(core, written.get()).and(task);
            let needs = needs.and(context);
            let missing = needs.missing_from(&exchange.peer().capabilities);
            if !missing.is_empty() {
                return Err(AskError::NotDeclared(missing));
            }
            gate::let_question_out(policy, core, written.get()).map_err(AskError::NotAllowed)?;
        }
        // The client does not read messages of a request that has ended.
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

/// Returns whether a request of `method` asks the client for something, so that the author acts on the answer.
fn is_question(method: Option<Method>) -> bool {
    matches!(
        method,
        Some(Method::Elicit | Method::CreateMessage | Method::ListRoots)
    )
}

/// Returns how the notification `method` of the core is sent, if not by [`Context::notify`].
// M-4, N-2, U-2
fn other_way(method: &str, revision: Revision) -> Option<&'static str> {
    match Method::from_wire(method).filter(|method| method.rules(revision).is_some())? {
        Method::Progress => Some("`Context::progress` sends it"),
        Method::LoggingMessage => Some("`Context::log` sends it"),
        Method::Cancelled => Some("the server sends it where it gives a request up"),
        _ if revision.era() == Era::Modern => Some("it goes to subscriptions"),
        // B-8: only for what the server declared, and to all clients that may be notified.
        Method::ToolListChanged
        | Method::PromptListChanged
        | Method::ResourceListChanged
        | Method::ResourceUpdated => Some("it goes to all clients that may hear of the change"),
        _ => None,
    }
}
