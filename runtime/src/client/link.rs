//! One connection of a client: who waits for which answer, and the two tasks that move bytes.
//!
//! Knows JSON-RPC and the handful of members by which messages find their way (`id`, `progressToken`, `subscriptionId`). What a
//! method of the server does, the generated dispatch selects.

use std::{
    collections::HashMap,
    fmt, io,
    pin::Pin,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError, Weak,
        atomic::{AtomicI64, Ordering},
    },
};

use serde::Deserialize;
use tokio::{
    io::{AsyncRead, AsyncWrite},
    sync::{Notify, oneshot},
};
use trueform_schema::{
    ErrorObject, Json, RequestId, methods,
    serve::client::{dispatch, dispatch_notification},
};

use super::{
    ClientOptions,
    error::{ClientError, LocalError, is_error_without_id, unfit_answer},
    gate::{ClientGate, Passed, Unfit},
    handler::ClientHandler,
    mailbox::Mailbox,
    notified::Notified,
    served::{Asked, Serving},
    server_requests::{Question, ServerRequests},
    sink::MessageSink,
};
use crate::{
    contained::{contained, contained_future},
    gate::{self, CheckedParams, Outgoing},
    jsonrpc::{self, ErrorDetail, Incoming, Kind, Malformed, Message},
    transport::lines::{Line, Lines},
};

/// What a request waits for.
pub(super) type Outcome = Result<Json, ClientError>;
/// Called with each progress report of a request.
pub(super) type OnProgress = Box<dyn FnMut(Notified) + Send>;

/// State that the client and its two tasks share.
pub(super) struct Link {
    state: Mutex<State>,
    next_id: AtomicI64,
    /// Messages that no waiting request claimed, as they were written.
    unclaimed: Mailbox<String>,
    pub(super) server_requests: ServerRequests,
    handler: Arc<dyn ClientHandler>,
    pub(super) gate: ClientGate,
}

struct State {
    out: Option<MessageSink>,
    waiting: HashMap<RequestId, Waiter>,
    /// Who receives the notifications that belong to no subscription.
    listeners: Vec<Weak<Mailbox<Notified>>>,
    subscriptions: HashMap<RequestId, Arc<Mailbox<Notified>>>,
    closed: bool,
}

/// What is left to do about a line when its messages are dealt with. A batch is one line.
#[derive(Default)]
struct Leftover {
    /// No waiting request claimed it, or not all of it.
    unclaimed: bool,
    /// The log has said what is wrong with it, not yet what it looks like.
    unfit: bool,
}

struct Waiter {
    answer: oneshot::Sender<Outcome>,
    progress: Option<OnProgress>,
    progressed: Arc<Notify>,
}

/// A request on its way. Dropped before its answer came, it is cancelled.
pub(super) struct Pending {
    pub(super) link: Arc<Link>,
    pub(super) id: RequestId,
    pub(super) answer: oneshot::Receiver<Outcome>,
    /// Notified whenever progress is reported.
    pub(super) progressed: Arc<Notify>,
    cancellable: bool,
    done: bool,
}

impl Link {
    /// Starts the tasks.
    pub(super) fn start(
        reader: impl AsyncRead + Send + Unpin + 'static,
        writer: impl AsyncWrite + Send + Unpin + 'static,
        options: &ClientOptions,
    ) -> (Arc<Self>, tokio::task::JoinHandle<()>) {
        let (out, writing) = MessageSink::new(writer, options.write_timeout);
        let state = State {
            out: Some(out),
            waiting: HashMap::new(),
            listeners: Vec::new(),
            subscriptions: HashMap::new(),
            closed: false,
        };
        let link = Arc::new(Self {
            state: Mutex::new(state),
            next_id: AtomicI64::new(0),
            unclaimed: Mailbox::new(None),
            server_requests: ServerRequests::default(),
            handler: options.handler.clone(),
            gate: ClientGate::new(options),
        });
        tokio::spawn(written(writing, Arc::downgrade(&link)));
        let reading = tokio::spawn(read(reader, link.clone(), options.max_message));
        (link, reading)
    }

    /// An id that this connection has not used.
    pub(super) fn new_id(&self) -> RequestId {
        RequestId::Integer(self.next_id.fetch_add(1, Ordering::Relaxed) + 1)
    }

    /// Sends a request.
    pub(super) fn request(
        self: &Arc<Self>,
        id: RequestId,
        method: &str,
        params: Option<&CheckedParams>,
        progress: Option<OnProgress>,
        cancellable: bool,
    ) -> Result<Pending, ClientError> {
        let message = Outgoing::request(&id, method, params);
        let (sender, answer) = oneshot::channel();
        let progressed = Arc::new(Notify::new());
        let mut state = self.lock();
        if state.closed {
            return Err(LocalError::Closed.into());
        }
        state.waiting.insert(
            id.clone(),
            Waiter {
                answer: sender,
                progress,
                progressed: progressed.clone(),
            },
        );
        let pending = Pending {
            link: self.clone(),
            id,
            answer,
            progressed,
            cancellable,
            done: false,
        };
        let sent = state.send(message);
        drop(state);
        sent.map(|()| pending)
    }

    /// Sends a notification.
    pub(super) fn notify(
        &self,
        method: &str,
        params: Option<&CheckedParams>,
    ) -> Result<(), ClientError> {
        self.send(Outgoing::written_notification(method, params))
    }

    /// Sends a message, with a line end.
    pub(super) fn send(&self, message: Outgoing) -> Result<(), ClientError> {
        self.lock().send(message)
    }

    /// Receives all notifications from now on.
    pub(super) fn notifications(&self) -> Arc<Mailbox<Notified>> {
        let listener = Arc::new(Mailbox::new(Some("notifications")));
        let mut state = self.lock();
        state.listeners.retain(|other| other.strong_count() > 0);
        match state.closed {
            true => listener.close(),
            false => state.listeners.push(Arc::downgrade(&listener)),
        }
        listener
    }

    /// Receives the notifications of the subscription that the request `id` opens.
    pub(super) fn subscribe(&self, id: &RequestId) -> Arc<Mailbox<Notified>> {
        let subscriber = Arc::new(Mailbox::new(Some("notifications of a subscription")));
        let mut state = self.lock();
        state.subscriptions.insert(id.clone(), subscriber.clone());
        subscriber
    }

    /// The next message that no waiting request claimed; `None` when the connection is closed.
    pub(super) async fn next_unclaimed(&self) -> Option<String> {
        self.unclaimed.take().await
    }

    /// Sends nothing more: the server sees the end of the stream, once what was sent before is written.
    pub(super) fn close_sending(&self) {
        self.lock().out = None;
    }

    /// Ends everything: nothing is sent any more, and waiting requests end because the connection is closed.
    pub(super) fn close(&self) {
        let (waiting, subscriptions, listeners) = {
            let mut state = self.lock();
            state.closed = true;
            state.out = None;
            (
                std::mem::take(&mut state.waiting),
                std::mem::take(&mut state.subscriptions),
                std::mem::take(&mut state.listeners),
            )
        };
        for waiter in waiting.into_values() {
            waiter.settle(Err(LocalError::Closed.into()));
        }
        let listeners = listeners.iter().filter_map(Weak::upgrade);
        for reader in listeners.chain(subscriptions.into_values()) {
            reader.close();
        }
        self.server_requests.clear();
        self.unclaimed.close();
    }

    fn receive(self: &Arc<Self>, line: &[u8]) {
        let inbound = self.gate.inbound;
        let mut leftover = Leftover::default();
        match jsonrpc::parse(line) {
            Ok(Incoming::Single(frame)) => match inbound.envelope(&frame, line) {
                Ok(()) => self.dispatch(frame, &mut leftover),
                Err(malformed) => self.malformed(malformed, &mut leftover),
            },
            Ok(Incoming::Batch(frames)) => {
                let admitted = self.gate.lets_in_batches();
                for frame in inbound.batch(frames, line) {
                    let frame = frame.and_then(|frame| match &admitted {
                        Ok(()) => Ok(frame),
                        Err(error) => Err(frame.refused(error.clone())),
                    });
                    match frame {
                        Ok(frame) => self.dispatch(frame, &mut leftover),
                        Err(malformed) => self.malformed(malformed, &mut leftover),
                    }
                }
            }
            Err(malformed) => self.malformed(malformed, &mut leftover),
        }
        self.dispose(line, &leftover);
    }

    fn dispose(&self, line: &[u8], leftover: &Leftover) {
        if leftover.unfit {
            gate::log_raw(line);
        }
        if leftover.unclaimed {
            let line = String::from_utf8_lossy(line).into_owned();
            self.unclaimed.put(line);
        }
    }

    fn dispatch(self: &Arc<Self>, frame: Message<'_>, leftover: &mut Leftover) {
        match frame {
            Message::Response {
                id: Some(id),
                outcome,
            } => {
                let waiter = self.lock().waiting.remove(&id);
                let Some(waiter) = waiter else {
                    leftover.unclaimed = true;
                    return;
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
                leftover.unclaimed = !self.settle_only(outcome);
            }
            Message::Notification { method, params } => {
                leftover.unclaimed = true;
                match self.gate.notification(&method, params) {
                    Ok((passed, params)) => {
                        let method = method.into();
                        self.notified(passed, Notified { method, params });
                    }
                    Err(Unfit) => leftover.unfit = true,
                }
            }
            Message::Request { id, method, params } => {
                leftover.unclaimed = true;
                if !self.gate.answers() {
                    tracing::debug!(id = %jsonrpc::ShortRequestId(&id), method = &*jsonrpc::shortened(&method), "a request of the server is not answered");
                    leftover.unfit = true;
                    return;
                }
                // an answer to the second would be taken for one to the first.
                if self.server_requests.contains(&id) {
                    tracing::warn!(id = %jsonrpc::ShortRequestId(&id), "a request with the id of one that is being answered was dropped");
                    leftover.unfit = true;
                    return;
                }
                match self.gate.question(&method, params) {
                    Ok((Passed::Decoded(request), params)) => {
                        dispatch(&Serving(self), Asked { id: &id, params }, request);
                    }
                    Ok((Passed::Raw, params)) => self.ask_handler(&id, &method, params),
                    Err(error) => {
                        leftover.unfit = true;
                        self.respond(self.gate.refusal(&id, &error));
                    }
                }
            }
        }
    }

    /// Ends the only open request with `outcome`, which came under no id: it can be about nothing else. Returns whether there is
    /// exactly one.
    // A-7, GAP-7
    fn settle_only(&self, outcome: Outcome) -> bool {
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

    /// Takes a notification: those of a subscription go to it, all others through the dispatch.
    fn notified(
        self: &Arc<Self>,
        passed: Passed<trueform_schema::ServerNotification>,
        notified: Notified,
    ) {
        let marks = notified
            .params
            .as_ref()
            .and_then(|params| params.parse::<Marks>().ok())
            .unwrap_or_default();
        if let Some(id) = marks.meta.subscription_id {
            // The subscription may have been dropped a moment ago.
            let subscriber = self.lock().subscriptions.get(&id).cloned();
            if let Some(subscriber) = subscriber {
                subscriber.put(notified);
            }
            return;
        }
        match passed {
            Passed::Decoded(notification) => {
                dispatch_notification(&Serving(self), notified, notification)
            }
            Passed::Raw => self.publish(&notified),
        }
    }

    /// Hands a notification to those that listen.
    pub(super) fn publish(&self, notified: &Notified) {
        let listeners = {
            let mut state = self.lock();
            state.listeners.retain(|other| other.strong_count() > 0);
            state.listeners.clone()
        };
        for listener in listeners.iter().filter_map(Weak::upgrade) {
            listener.put(notified.clone());
        }
    }

    /// Notifies the request whose progress `token` stands for; tokens are the ids of their requests.
    pub(super) fn progressed(&self, token: &RequestId, notified: &Notified) {
        // The callback is taken out so that it runs without the lock.
        let found = self
            .lock()
            .waiting
            .get_mut(token)
            .map(|waiter| (waiter.progress.take(), waiter.progressed.clone()));
        let Some((callback, progressed)) = found else {
            return;
        };
        progressed.notify_one();
        let Some(mut callback) = callback else {
            return;
        };
        let reported = contained("a progress callback", || callback(notified.clone()));
        // One that panicked is not called again.
        let callback = match (reported, self.lock().waiting.get_mut(token)) {
            (Some(()), Some(waiter)) => waiter.progress.replace(callback),
            (_, _) => Some(callback),
        };
        contained("a progress callback", move || drop(callback));
    }

    /// Answers a request of the server with what the handler answers.
    pub(super) fn ask_handler(
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
        let answering = contained(WHO, || self.handler.answer(method, params));
        let answer = match answering {
            Some(answering) => contained_future(WHO, answering).await,
            None => None,
        };
        answer.unwrap_or_else(|| Err(jsonrpc::internal("the client's handler failed")))
    }

    /// Answers `question`, unless the server has cancelled it meanwhile.
    fn settle(&self, question: &Question, response: Outgoing) {
        if self.server_requests.leave(question) {
            self.respond(response);
        }
    }

    pub(super) fn respond(&self, response: Outgoing) {
        // Nothing is left to answer when the connection is closed.
        if let Some(out) = &self.lock().out {
            let _ = out.answer(response);
        }
    }

    fn malformed(&self, malformed: Malformed, leftover: &mut Leftover) {
        let Malformed { kind, id, error } = malformed;
        tracing::warn!(
            ?kind,
            id = id
                .as_ref()
                .map(|id| tracing::field::display(jsonrpc::ShortRequestId(id))),
            problem = &*error.message,
            "the server sent something malformed"
        );
        *leftover = Leftover {
            unclaimed: true,
            unfit: true,
        };
        match (kind, id) {
            // The id is the server's: a request of ours that has the same is another matter.
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

    fn lock(&self) -> MutexGuard<'_, State> {
        // Nothing that can panic runs under the lock.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Waiter {
    /// Hands the outcome to the request that waits, which may have gone in the meantime.
    fn settle(self, outcome: Outcome) {
        // Before the answer, after which nothing of the caller's runs any more.
        contained("a progress callback", || drop(self.progress));
        let _ = self.answer.send(outcome);
    }
}

impl State {
    fn send(&self, message: Outgoing) -> Result<(), ClientError> {
        match self.out.as_ref().map(|out| out.send(message)) {
            Some(Ok(())) => Ok(()),
            Some(Err(_)) | None => Err(LocalError::Closed.into()),
        }
    }
}

impl Pending {
    /// Notes that the answer is here, so that dropping cancels nothing.
    pub(super) fn done(&mut self) {
        self.done = true;
    }
}

impl Drop for Pending {
    fn drop(&mut self) {
        if self.done {
            return;
        }
        // What is removed is dropped without the lock: a callback may hold whatever the caller gave it.
        let (subscription, waiter) = {
            let mut state = self.link.lock();
            let subscription = state.subscriptions.remove(&self.id);
            (subscription, state.waiting.remove(&self.id))
        };
        drop(subscription);
        let was_waiting = waiter.is_some();
        // O-1, O-3: only what is still unanswered, and never `initialize`.
        if was_waiting && self.cancellable {
            let params = serde_json::json!({ "requestId": self.id });
            let params = CheckedParams::stamped(Json::from(params));
            let _ = self.link.notify(
                <methods::Cancelled as methods::Notification>::METHOD.as_str(),
                Some(&params),
            );
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

/// Closes the connection when the reading ends, however it does.
struct ClosesAtEnd(Arc<Link>);

impl Drop for ClosesAtEnd {
    fn drop(&mut self) {
        self.0.close();
    }
}

async fn read(mut reader: impl AsyncRead + Send + Unpin, link: Arc<Link>, max_message: usize) {
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
        }
    };
    if let Some(line) = lines.last() {
        take(link, line);
    }
    if let Err(error) = outcome {
        tracing::debug!(%error, "the connection to the server failed");
    }
}

/// Waits for the end of `writing`. A server that has gone may have answered before, so what it wrote is still read; one that does
/// not read for too long is given up.
async fn written(writing: impl Future<Output = io::Result<()>>, link: Weak<Link>) {
    let Err(error) = writing.await else {
        return;
    };
    tracing::debug!(%error, "the connection to the server failed");
    if error.kind() == io::ErrorKind::TimedOut
        && let Some(link) = link.upgrade()
    {
        link.close();
    }
}

fn take(link: &Arc<Link>, line: Line<'_>) {
    match line {
        Line::Whole(line) => link.receive(line),
        Line::TooLong(prefix) => {
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

impl fmt::Debug for Link {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = self.lock();
        f.debug_struct("Link")
            .field("waiting", &state.waiting.len())
            .field("closed", &state.closed)
            .finish_non_exhaustive()
    }
}
