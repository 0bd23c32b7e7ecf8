//! What comes in over a connection of a client, and where it goes: answers to the requests that wait for them, the server's
//! requests and notifications through the generated dispatch.

use std::{
    pin::Pin,
    sync::{Arc, Weak},
};

use serde::{Deserialize, de::IgnoredAny};
use tokio::{io::AsyncRead, task::coop::consume_budget};
use trueform_schema::{
    ErrorObject, Json, Method, RequestId, ServerNotification,
    serve::client::{dispatch, dispatch_notification},
};

use super::{ClosesAtEnd, Link, ServerAnswer};
use crate::{
    client::{
        ClientOptions,
        changes::Changing,
        error::{ClientError, is_error_without_id, unfit_answer},
        gate::{Nonconforming, Passed},
        notified::Notified,
        served::{ServerRequestContext, Serving},
        server_requests::Question,
        strays::StrayKind,
    },
    contained::{contained, contained_future},
    gate::{self, ToServer},
    jsonrpc::{self, ErrorDetail, Incoming, Kind, Malformed, Message},
    transport::lines::{Line, Lines},
};

/// What is left to do about a line when its messages are dealt with. A batch is one line.
#[derive(Default)]
struct Leftover {
    /// No waiting request claimed it, or not all of it.
    unclaimed: bool,
    /// The log has said what is wrong with it, not yet what it looks like.
    nonconforming: bool,
    /// What is counted of its messages.
    strays: Vec<StrayKind>,
}

impl Leftover {
    fn not_allowed(&mut self) {
        self.nonconforming = true;
        self.strays.push(StrayKind::NotAllowed);
    }
}

impl Link {
    /// Takes one message, or a batch.
    pub(in crate::client) fn receive(self: &Arc<Self>, line: &[u8]) {
        let inbound = self.gate.inbound;
        let mut leftover = Leftover::default();
        match jsonrpc::parse(line) {
            Ok(Incoming::Single(message)) => match inbound.envelope(&message, line) {
                Ok(()) => self.dispatch(message, &mut leftover),
                Err(malformed) => self.malformed(malformed, &mut leftover),
            },
            Ok(Incoming::Batch(messages)) => {
                let admitted = self.gate.lets_in_batches();
                for message in inbound.batch(messages, line) {
                    let message = message.and_then(|message| match &admitted {
                        Ok(()) => Ok(message),
                        Err(error) => Err(message.refused(error.clone())),
                    });
                    match message {
                        Ok(message) => self.dispatch(message, &mut leftover),
                        Err(malformed) => self.malformed(malformed, &mut leftover),
                    }
                }
            }
            Err(malformed) => self.malformed(malformed, &mut leftover),
        }
        self.dispose(line, &leftover);
    }

    fn dispose(&self, line: &[u8], leftover: &Leftover) {
        if leftover.nonconforming {
            gate::log_raw(line);
        }
        for kind in &leftover.strays {
            self.strays.add(*kind, line);
        }
        if leftover.unclaimed {
            let line = String::from_utf8_lossy(line).into_owned();
            self.unclaimed.put(line);
        }
    }

    fn dispatch(self: &Arc<Self>, message: Message<'_>, leftover: &mut Leftover) {
        match message {
            Message::Response {
                id: Some(id),
                outcome,
            } => {
                let waiter = self.lock().waiting.remove(&id);
                let Some(waiter) = waiter else {
                    return self.answers_nothing(Some(&id), leftover);
                };
                let outcome = outcome
                    .map(|result| Json::from(result.to_owned()))
                    .map_err(ClientError::Remote);
                waiter.settle(outcome);
            }
            Message::Response { id: None, outcome } => {
                let outcome = outcome
                    .map(|result| Json::from(result.to_owned()))
                    .map_err(ClientError::Remote);
                if !self.settle_only(outcome) {
                    self.answers_nothing(None, leftover);
                }
            }
            Message::Notification { method, params } => {
                leftover.unclaimed = true;
                match self.gate.notification(&method, params) {
                    Ok((passed, params)) => {
                        if Method::from_wire(&method).is_none() {
                            tracing::debug!(
                                method = &*jsonrpc::shortened(&method),
                                "a notification that no revision has"
                            );
                            leftover.nonconforming = true;
                            leftover.strays.push(StrayKind::UnknownNotification);
                        }
                        let method = method.into();
                        self.notified(passed, Notified { method, params });
                    }
                    Err(Nonconforming) => leftover.not_allowed(),
                }
            }
            Message::Request { id, method, params } => {
                leftover.unclaimed = true;
                if !self.gate.answers() {
                    tracing::debug!(id = %jsonrpc::ShortRequestId(&id), method = &*jsonrpc::shortened(&method), "a request of the server is not answered");
                    leftover.not_allowed();
                    return;
                }
                // an answer to the second would be taken for one to the first.
                if self.server_requests.contains(&id) {
                    tracing::warn!(id = %jsonrpc::ShortRequestId(&id), "a request with the id of one that is being answered was dropped");
                    leftover.not_allowed();
                    return;
                }
                match self.gate.question(&method, params) {
                    Ok((Passed::Decoded(request), params)) => {
                        dispatch(
                            &Serving(self),
                            ServerRequestContext { id: &id, params },
                            request,
                        );
                    }
                    Ok((Passed::Raw, params)) => self.ask_handler(&id, &method, params),
                    Err(error) => {
                        leftover.not_allowed();
                        self.respond(self.gate.refusal(&id, &error));
                    }
                }
            }
        }
    }

    /// Notes an answer that no request waits for.
    // O-2
    #[cold]
    fn answers_nothing(&self, id: Option<&RequestId>, leftover: &mut Leftover) {
        /// Most of them that the log has at level `WARN`.
        const LOGGED: u64 = 100;
        leftover.unclaimed = true;
        let shown = id.map(|id| tracing::field::display(jsonrpc::ShortRequestId(id)));
        if let Some(RequestId::Integer(id)) = id
            && self.has_given(*id)
        {
            tracing::debug!(id = shown, "an answer that nothing waits for any more");
            leftover.strays.push(StrayKind::LateAnswer);
            return;
        }
        match self.strays.count(StrayKind::UnknownId) < LOGGED {
            true => tracing::warn!(id = shown, "the server answers a request that was not sent"),
            false => tracing::debug!(id = shown, "the server answers a request that was not sent"),
        }
        leftover.nonconforming = true;
        leftover.strays.push(StrayKind::UnknownId);
    }

    /// Ends the only open request with `outcome`, which has no id and so can belong only to this request. Returns whether there is
    /// exactly one open request.
    // A-7, GAP-7
    fn settle_only(&self, outcome: ServerAnswer) -> bool {
        let mut state = self.lock();
        let ids: Vec<RequestId> = state.waiting.keys().take(2).cloned().collect();
        let [id] = &ids[..] else {
            return false;
        };
        let waiter = state.waiting.remove(id);
        drop(state);
        let Some(waiter) = waiter else { return false };
        waiter.settle(outcome);
        true
    }

    /// Takes a notification.
    fn notified(self: &Arc<Self>, passed: Passed<ServerNotification>, notified: Notified) {
        match passed {
            Passed::Decoded(notification) => {
                dispatch_notification(&Serving(self), notified, notification)
            }
            Passed::Raw => self.publish(notified),
        }
    }

    /// Takes the news that something has changed.
    pub(in crate::client) fn changed(&self, what: Changing, notified: Notified) {
        // Before the listener reads it again.
        self.changes.note(what);
        self.publish(notified);
    }

    /// Hands a notification to the subscription that it belongs to, or to all that listen.
    pub(in crate::client) fn publish(&self, notified: Notified) {
        let marks = notified
            .params
            .as_ref()
            .and_then(|params| params.parse::<Marks>().ok())
            .unwrap_or_default();
        if let Some(id) = marks.meta.subscription_id {
            let subscriber = self.lock().subscriptions.get(&id).cloned();
            return match subscriber {
                Some(subscriber) => subscriber.put(notified),
                None => self.belongs_to_nothing(&id, &notified),
            };
        }
        let listeners = {
            let mut state = self.lock();
            state.listeners.retain(|other| other.strong_count() > 0);
            state.listeners.clone()
        };
        for listener in listeners.iter().filter_map(Weak::upgrade) {
            listener.put(notified.clone());
        }
    }

    /// Notes a notification of the subscription `id`, which may have been dropped a moment ago.
    #[cold]
    fn belongs_to_nothing(&self, id: &RequestId, notified: &Notified) {
        tracing::debug!(
            id = %jsonrpc::ShortRequestId(id),
            method = &*jsonrpc::shortened(&notified.method),
            "a notification of a subscription that the client does not have"
        );
        self.is_stray(StrayKind::UnknownSubscription, notified);
    }

    /// Notes progress that no request waits for.
    #[cold]
    fn is_progress_of_nothing(&self, token: &RequestId, notified: &Notified) {
        let token_shown = jsonrpc::ShortRequestId(token);
        let kind = match token {
            RequestId::Integer(id) if self.has_given(*id) => StrayKind::LateProgress,
            _ => StrayKind::UnknownProgress,
        };
        tracing::debug!(token = %token_shown, ?kind, "progress that no request waits for");
        self.is_stray(kind, notified);
    }

    fn is_stray(&self, kind: StrayKind, notified: &Notified) {
        let mut line =
            ToServer::notification(&notified.method, notified.params.as_ref()).into_line();
        line.pop();
        self.strays.add(kind, &line);
    }

    /// Notifies the request whose progress `token` stands for; tokens are the ids of their requests.
    pub(in crate::client) fn progressed(&self, token: &RequestId, notified: &Notified) {
        // The callback is taken out so that it runs without the lock.
        let (is_known, callback, progressed) = {
            let mut state = self.lock();
            let is_known = state.lasting.contains_key(token) || state.waiting.contains_key(token);
            let lasting = state.lasting.get_mut(token).and_then(Option::take);
            let waiter = state.waiting.get_mut(token);
            let progressed = waiter.as_ref().and_then(|waiter| waiter.progressed.clone());
            let awaited = || waiter.and_then(|waiter| waiter.progress.take());
            (is_known, lasting.or_else(awaited), progressed)
        };
        if !is_known {
            return self.is_progress_of_nothing(token, notified);
        }
        if let Some(progressed) = progressed {
            progressed.notify_one();
        }
        let Some(mut callback) = callback else {
            return;
        };
        let reported = contained("a progress callback", || callback(notified.clone()));
        // One that panicked is not called again.
        let callback = {
            let mut state = self.lock();
            let state = &mut *state;
            let lasting = state.lasting.get_mut(token);
            let waiter = state.waiting.get_mut(token);
            let slot = lasting.or_else(|| waiter.map(|waiter| &mut waiter.progress));
            match (reported, slot) {
                (Some(()), Some(slot)) => slot.replace(callback),
                (_, _) => Some(callback),
            }
        };
        contained("a progress callback", move || drop(callback));
    }

    /// Answers a request of the server with what the handler answers.
    pub(in crate::client) fn ask_handler(
        self: &Arc<Self>,
        id: &RequestId,
        method: &str,
        params: Option<Json>,
    ) {
        let Some(mut question) = self.server_requests.enter(id) else {
            let most = ClientOptions::MOST_QUESTIONS;
            tracing::warn!(id = %jsonrpc::ShortRequestId(id), method = &*jsonrpc::shortened(method), most, "a request of the server was refused: too many are being answered");
            let problem = format!("too many requests wait: this client answers {most} at once");
            return self.respond(self.gate.refusal(id, &jsonrpc::internal(problem)));
        };
        let (link, method) = (self.clone(), method.to_owned());
        tokio::spawn(async move {
            let answer = tokio::select! {
                biased;
                // The sender is only dropped, which ends the wait.
                _ = &mut question.stopped => return,
                answer = link.handled(&method, params) => answer,
            };
            let response = link.gate.let_answer_out(&question.id, &method, answer);
            link.settle(&question, response);
        });
    }

    async fn handled(&self, method: &str, params: Option<Json>) -> Result<Json, ErrorObject> {
        const WHO: &str = "the client's handler";
        let answer = contained_future(WHO, || self.handler.answer(method, params)).await;
        answer.unwrap_or_else(|| Err(jsonrpc::internal("the client's handler failed")))
    }

    /// Answers `question`, unless the server has cancelled it meanwhile.
    fn settle(&self, question: &Question, response: ToServer) {
        if self.server_requests.leave(question) {
            self.respond(response);
        }
    }

    pub(in crate::client) fn respond(&self, response: ToServer) {
        // Nothing is left to answer when the connection is closed.
        if let Some(out) = &self.lock().out {
            let _ = out.answer(response);
        }
    }

    /// Takes the beginning of a line whose rest the server did not write. A request that it may be the answer to ends with the
    /// connection, whose end says more than the line.
    #[cold]
    fn cut_off(&self, line: &[u8]) {
        if self.wire.skipped() {
            let bytes = line.len();
            tracing::warn!(bytes, "the server ended within a line");
        }
        let leftover = Leftover {
            unclaimed: true,
            nonconforming: true,
            strays: vec![StrayKind::Malformed],
        };
        self.dispose(line, &leftover);
    }

    fn malformed(&self, malformed: Malformed, leftover: &mut Leftover) {
        let Malformed { kind, id, error } = malformed;
        let is_noise = matches!(kind, Kind::Unknown) && id.is_none();
        if !is_noise || self.wire.skipped() {
            tracing::warn!(
                ?kind,
                id = id
                    .as_ref()
                    .map(|id| tracing::field::display(jsonrpc::ShortRequestId(id))),
                problem = &*error.message,
                "the server sent something malformed"
            );
        }
        leftover.unclaimed = true;
        leftover.nonconforming = true;
        leftover.strays.push(StrayKind::Malformed);
        match (kind, id) {
            // The id is the server's: a request of ours that has the same is unrelated.
            (Kind::Request, Some(id)) if self.gate.answers() => {
                // One with that id may be at the handler, whose answer this would be taken for.
                if !self.server_requests.contains(&id) {
                    self.respond(self.gate.refusal(&id, &error));
                }
            }
            (Kind::Response, None) if is_error_without_id(&error) => {
                self.settle_only(Err(unfit_answer(&error).into()));
            }
            (Kind::Request | Kind::Notification, _) | (_, None) => {}
            (Kind::Response | Kind::Unknown, Some(id)) => {
                let waiter = self.lock().waiting.remove(&id);
                if let Some(waiter) = waiter {
                    waiter.settle(Err(unfit_answer(&error).into()));
                }
            }
        }
    }
}

/// The member by which a notification finds its subscription.
#[derive(Default, Deserialize)]
struct Marks {
    #[serde(default, rename = "_meta")]
    meta: MetaMarks,
}

#[derive(Default, Deserialize)]
struct MetaMarks {
    #[serde(default, rename = "io.modelcontextprotocol/subscriptionId")]
    subscription_id: Option<RequestId>,
}

pub(super) async fn read(
    mut reader: impl AsyncRead + Send + Unpin,
    link: Arc<Link>,
    max_message: usize,
) {
    let closing = ClosesAtEnd(link);
    let link = &closing.0;
    let mut lines = Lines::new(max_message);
    let outcome = loop {
        let read = std::future::poll_fn(|cx| lines.poll_read(cx, Pin::new(&mut reader))).await;
        match read {
            Ok(0) => break Ok(()),
            Ok(_) => {}
            Err(error) => break Err(error),
        }
        while let Some(line) = lines.next() {
            take(link, line);
            // A server that writes without a pause does not keep the thread from its other tasks and from its clock.
            consume_budget().await;
        }
        if lines.is_skipping() && link.wire.long_line() {
            tracing::warn!(
                max_message,
                "the server writes a line longer than `max_message`; it is skipped"
            );
        }
    };
    match lines.last() {
        Some(Line::Whole(line)) if serde_json::from_slice::<IgnoredAny>(line).is_err() => {
            link.cut_off(line);
        }
        Some(line) => take(link, line),
        None => {}
    }
    if let Err(error) = outcome {
        tracing::debug!(%error, "the connection to the server failed");
    }
}

fn take(link: &Arc<Link>, line: Line<'_>) {
    match line {
        Line::Whole(line) => link.receive(line),
        Line::TooLong(prefix) => {
            link.wire.long_line();
            let error = jsonrpc::invalid_request(
                "the message is too long",
                &ErrorDetail::new("", "size", "at most the client's `max_message`", "more"),
            );
            let mut leftover = Leftover::default();
            link.malformed(jsonrpc::malformed_from(&prefix, error), &mut leftover);
            link.dispose(&prefix, &leftover);
        }
    }
}
