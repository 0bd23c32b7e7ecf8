//! One connection of a client: who waits for which answer, and the two tasks that move bytes.
//!
//! Knows JSON-RPC and the handful of members by which messages find their way (`id`, `progressToken`, `subscriptionId`);
//! knows no method.

use std::{
    collections::{HashMap, VecDeque},
    fmt, io,
    pin::Pin,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicI64, Ordering},
    },
};

use serde::Deserialize;
use tokio::{
    io::{AsyncRead, AsyncWrite, AsyncWriteExt},
    sync::{Notify, broadcast, mpsc, oneshot},
};
use trueform_schema::{ErrorObject, Json, RequestId, View, methods};

use super::{
    ClientOptions,
    error::{ClientError, LocalError},
    gate::ClientGate,
    handler::ClientHandler,
    notified::Notified,
};
use crate::{
    gate,
    jsonrpc::{self, Fault, Frame, Incoming, Kind, Malformed, NoId},
    transport::lines::{Line, Lines},
};

/// Notifications, and messages that nobody claims, that are kept for a slow reader.
const KEPT: usize = 1024;

/// What a request waits for.
pub(super) type Outcome = Result<Json, ClientError>;
/// Called with each progress report of a request.
pub(super) type OnProgress = Box<dyn FnMut(Notified) + Send>;

/// State that the client and its two tasks share.
pub(super) struct Link {
    state: Mutex<State>,
    next_id: AtomicI64,
    /// Told when `State::unclaimed` or `State::closed` changes.
    arrived: Notify,
    handler: Arc<dyn ClientHandler>,
    pub(super) gate: ClientGate,
}

struct State {
    out: Option<mpsc::UnboundedSender<Vec<u8>>>,
    /// Gone once the connection is closed, so that its receivers end.
    notified: Option<broadcast::Sender<Notified>>,
    waiting: HashMap<RequestId, Waiter>,
    subscriptions: HashMap<RequestId, mpsc::UnboundedSender<Notified>>,
    /// Messages that no waiting request claimed, oldest first.
    unclaimed: VecDeque<String>,
    closed: bool,
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
    /// Told whenever progress is reported.
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
        let (out, queue) = mpsc::unbounded_channel();
        let state = State {
            out: Some(out),
            notified: Some(broadcast::channel(KEPT).0),
            waiting: HashMap::new(),
            subscriptions: HashMap::new(),
            unclaimed: VecDeque::new(),
            closed: false,
        };
        let link = Arc::new(Self {
            state: Mutex::new(state),
            next_id: AtomicI64::new(0),
            arrived: Notify::new(),
            handler: options.handler.clone(),
            gate: ClientGate::new(options),
        });
        tokio::spawn(write(writer, queue));
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
        params: Option<&Json>,
        progress: Option<OnProgress>,
        cancellable: bool,
    ) -> Result<Pending, ClientError> {
        let mut message = Vec::with_capacity(256);
        let params = params.map(|params| params as &dyn trueform_schema::Encode);
        jsonrpc::write_request(&id, method, params, View::ALL, &mut message);
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
    pub(super) fn notify(&self, method: &str, params: Option<&Json>) -> Result<(), ClientError> {
        let mut message = Vec::with_capacity(128);
        let params = params.map(|params| params as &dyn trueform_schema::Encode);
        jsonrpc::write_notification(method, params, View::ALL, &mut message);
        self.send(message)
    }

    /// Sends bytes as they are, with a line end.
    pub(super) fn send(&self, message: Vec<u8>) -> Result<(), ClientError> {
        self.lock().send(message)
    }

    /// Receives all notifications from now on.
    pub(super) fn notifications(&self) -> broadcast::Receiver<Notified> {
        match &self.lock().notified {
            Some(notified) => notified.subscribe(),
            None => broadcast::channel(1).1,
        }
    }

    /// Receives the notifications of the subscription that the request `id` opens.
    pub(super) fn subscribe(&self, id: &RequestId) -> mpsc::UnboundedReceiver<Notified> {
        let (sender, receiver) = mpsc::unbounded_channel();
        self.lock().subscriptions.insert(id.clone(), sender);
        receiver
    }

    /// The next message that no waiting request claimed; `None` when the connection is closed.
    pub(super) async fn next_unclaimed(&self) -> Option<String> {
        loop {
            let arrived = self.arrived.notified();
            {
                let mut state = self.lock();
                match state.unclaimed.pop_front() {
                    Some(message) => return Some(message),
                    None if state.closed => return None,
                    None => {}
                }
            }
            arrived.await;
        }
    }

    /// Sends nothing more: the server sees the end of the stream, once what was sent before is written.
    pub(super) fn close_sending(&self) {
        self.lock().out = None;
    }

    /// Ends everything: nothing is sent any more, whoever waits learns that the connection is closed.
    pub(super) fn close(&self) {
        let (waiting, subscriptions) = {
            let mut state = self.lock();
            state.closed = true;
            state.out = None;
            state.notified = None;
            (
                std::mem::take(&mut state.waiting),
                std::mem::take(&mut state.subscriptions),
            )
        };
        for waiter in waiting.into_values() {
            let _ = waiter.answer.send(Err(LocalError::Closed.into()));
        }
        drop(subscriptions);
        self.arrived.notify_waiters();
        self.arrived.notify_one();
    }

    fn receive(self: &Arc<Self>, line: &[u8]) {
        let inbound = self.gate.inbound;
        match jsonrpc::parse(line) {
            Ok(Incoming::Single(frame)) => match inbound.envelope(&frame, line) {
                Ok(()) => self.dispatch(frame, line),
                Err(malformed) => self.malformed(malformed, line),
            },
            Ok(Incoming::Batch(frames)) => {
                let admitted = self.gate.lets_in_batches();
                for frame in inbound.batch(frames, line) {
                    let frame = frame.and_then(|frame| match &admitted {
                        Ok(()) => Ok(frame),
                        Err(error) => Err(frame.refused(error.clone())),
                    });
                    match frame {
                        Ok(frame) => self.dispatch(frame, line),
                        Err(malformed) => self.malformed(malformed, line),
                    }
                }
            }
            Err(malformed) => self.malformed(malformed, line),
        }
    }

    fn dispatch(self: &Arc<Self>, frame: Frame<'_>, line: &[u8]) {
        match frame {
            Frame::Response {
                id: Some(id),
                outcome,
            } => {
                let outcome = outcome
                    .map(|result| Json::from(result.to_owned()))
                    .map_err(ClientError::Remote);
                let waiter = self.lock().waiting.remove(&id);
                match waiter {
                    // Whoever asked may have gone in the meantime.
                    Some(waiter) => _ = waiter.answer.send(outcome),
                    None => self.unclaimed(line),
                }
            }
            Frame::Response { id: None, .. } => self.unclaimed(line),
            Frame::Notification { method, params } => {
                if self.gate.lets_in(&method, params) {
                    self.notified(Notified {
                        method: method.into(),
                        params: params.map(|params| Json::from(params.to_owned())),
                    });
                } else {
                    gate::log_raw(line);
                }
                self.unclaimed(line);
            }
            Frame::Request { id, method, params } => {
                self.unclaimed(line);
                if !self.gate.answers() {
                    tracing::debug!(%id, method = &*method, "a request of the server is not answered");
                    gate::log_raw(line);
                    return;
                }
                match self.gate.question(&method, params) {
                    Ok(()) => self.answer(
                        id,
                        &method,
                        params.map(|params| Json::from(params.to_owned())),
                    ),
                    Err(error) => {
                        gate::log_raw(line);
                        self.respond(&id, Err(error));
                    }
                }
            }
        }
    }

    fn notified(&self, notified: Notified) {
        let marks = notified
            .params
            .as_ref()
            .and_then(|params| params.parse::<Marks>().ok())
            .unwrap_or_default();
        if let Some(id) = marks.meta.subscription_id {
            // The subscription may have been dropped a moment ago.
            if let Some(subscriber) = self.lock().subscriptions.get(&id) {
                let _ = subscriber.send(notified);
            }
            return;
        }
        if let Some(token) = &marks.progress_token {
            // Tokens are the ids of their requests. The callback is taken out so that it runs without the lock.
            let found = self
                .lock()
                .waiting
                .get_mut(token)
                .map(|waiter| (waiter.progress.take(), waiter.progressed.clone()));
            if let Some((callback, progressed)) = found {
                progressed.notify_one();
                if let Some(mut callback) = callback {
                    callback(notified.clone());
                    if let Some(waiter) = self.lock().waiting.get_mut(token) {
                        waiter.progress = Some(callback);
                    }
                }
            }
        }
        if let Some(sender) = &self.lock().notified {
            let _ = sender.send(notified);
        }
    }

    fn answer(self: &Arc<Self>, id: RequestId, method: &str, params: Option<Json>) {
        if method == <methods::Ping as methods::Request>::METHOD.as_str() {
            return self.respond(&id, Ok(Json::from(serde_json::json!({}))));
        }
        let (link, method) = (self.clone(), method.to_owned());
        tokio::spawn(async move {
            let answer = link.handler.answer(&method, params).await;
            link.respond(&id, link.gate.let_answer_out(&method, answer));
        });
    }

    fn respond(&self, id: &RequestId, answer: Result<Json, ErrorObject>) {
        let mut message = Vec::with_capacity(128);
        match answer {
            Ok(result) => jsonrpc::write_result(id, View::ALL, &mut message, |view, out| {
                trueform_schema::Encode::encode(&result, view, out);
            }),
            Err(error) => jsonrpc::write_error(Some(id), NoId::Absent, &error, &mut message),
        }
        // Nobody is left to answer to when the connection is closed.
        let _ = self.send(message);
    }

    fn malformed(&self, malformed: Malformed, line: &[u8]) {
        let Malformed { kind, id, error } = malformed;
        tracing::warn!(?kind, ?id, problem = %error.message, "the server sent something malformed");
        gate::log_raw(line);
        match (kind, id) {
            // The id is the server's: a request of ours that has the same is another matter.
            (Kind::Request, Some(id)) if self.gate.answers() => self.respond(&id, Err(error)),
            (Kind::Request | Kind::Notification, _) | (_, None) => {}
            (Kind::Response | Kind::Unknown, Some(id)) => {
                let waiter = self.lock().waiting.remove(&id);
                if let Some(waiter) = waiter {
                    let problem = trueform_schema::DecodeError::new("", error.message);
                    let _ = waiter.answer.send(Err(problem.into()));
                }
            }
        }
        self.unclaimed(line);
    }

    fn unclaimed(&self, line: &[u8]) {
        let mut state = self.lock();
        if state.unclaimed.len() == KEPT {
            state.unclaimed.pop_front();
        }
        state
            .unclaimed
            .push_back(String::from_utf8_lossy(line).into_owned());
        drop(state);
        self.arrived.notify_one();
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // Nothing that can panic runs under the lock.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn send(&self, message: Vec<u8>) -> Result<(), ClientError> {
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
        let was_waiting = {
            let mut state = self.link.lock();
            state.subscriptions.remove(&self.id);
            state.waiting.remove(&self.id).is_some()
        };
        // O-1, O-3: only what is still unanswered, and never `initialize`.
        if was_waiting && self.cancellable {
            let params = Json::from(serde_json::json!({ "requestId": self.id }));
            let _ = self.link.notify(
                <methods::Cancelled as methods::Notification>::METHOD.as_str(),
                Some(&params),
            );
        }
    }
}

/// The members by which a notification finds its way.
#[derive(Default, Deserialize)]
struct Marks {
    #[serde(default, rename = "progressToken")]
    progress_token: Option<RequestId>,
    #[serde(default, rename = "_meta")]
    meta: MetaMarks,
}

#[derive(Default, Deserialize)]
struct MetaMarks {
    #[serde(default, rename = "io.modelcontextprotocol/subscriptionId")]
    subscription_id: Option<RequestId>,
}

async fn read(mut reader: impl AsyncRead + Send + Unpin, link: Arc<Link>, max_message: usize) {
    let mut lines = Lines::new(max_message);
    let outcome = loop {
        let read = std::future::poll_fn(|cx| lines.poll_read(cx, Pin::new(&mut reader))).await;
        match read {
            Ok(0) => break Ok(()),
            Ok(_) => {}
            Err(error) => break Err(error),
        }
        while let Some(line) = lines.next() {
            take(&link, line);
        }
    };
    if let Some(line) = lines.last() {
        take(&link, line);
    }
    if let Err(error) = outcome {
        tracing::debug!(%error, "the connection to the server failed");
    }
    link.close();
}

fn take(link: &Arc<Link>, line: Line<'_>) {
    match line {
        Line::Whole(line) => link.receive(line),
        Line::TooLong(prefix) => {
            let error = jsonrpc::invalid_request(
                "the message is too long",
                &Fault::new("", "size", "at most the client's `max_message`", "more"),
            );
            link.malformed(jsonrpc::malformed_from(&prefix, error), &prefix);
        }
    }
}

async fn write(
    mut writer: impl AsyncWrite + Send + Unpin,
    mut queue: mpsc::UnboundedReceiver<Vec<u8>>,
) {
    let mut batch = Vec::new();
    while let Some(message) = queue.recv().await {
        batch.clear();
        append(&mut batch, &message);
        while let Ok(message) = queue.try_recv() {
            append(&mut batch, &message);
        }
        if let Err(error) = write_batch(&mut writer, &batch).await {
            tracing::debug!(%error, "the connection to the server failed");
            return;
        }
    }
    // The server may be gone already.
    let _ = writer.shutdown().await;
}

async fn write_batch(writer: &mut (impl AsyncWrite + Unpin), batch: &[u8]) -> io::Result<()> {
    writer.write_all(batch).await?;
    writer.flush().await
}

fn append(batch: &mut Vec<u8>, message: &[u8]) {
    batch.extend_from_slice(message);
    batch.push(b'\n');
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
