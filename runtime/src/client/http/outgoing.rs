//! What the client sends, and in which order: nothing that waits for a server keeps a cancellation waiting.

use std::{
    collections::{HashMap, VecDeque},
    future::poll_fn,
    pin::Pin,
    sync::{Arc, atomic::Ordering},
    task::Poll,
    time::Duration,
};

use tokio::{
    sync::{OwnedSemaphorePermit, Semaphore, oneshot},
    task::{AbortHandle, JoinSet, unconstrained},
    time::{Instant, Sleep, sleep_until, timeout, timeout_at},
};
use trueform_schema::{Method, RequestId, methods};

use super::{
    bridge::{Bridge, CLOSE_WITHIN, HEAD_WITHIN},
    sent::SentMessage,
    taker::Taker,
};
use crate::{
    client::{
        link::ClosesAtEnd,
        sink::{Outbox, Unsent},
    },
    jsonrpc,
};

/// How long what follows a notification waits for its response, so that it does not overtake it; so long also for the session's own
/// stream: 1 s. Not while an earlier notification has no response either.
const PATIENCE: Duration = Duration::from_secs(1);
/// How long what follows `notifications/initialized` waits for its response: 10 s. Servers refuse requests that come before it.
pub(super) const INITIALIZED_WITHIN: Duration = Duration::from_secs(10);
/// Most messages that are being delivered at once and have no answer: 64. Further ones wait, but keep no request waiting.
pub(super) const MAX_DELIVERIES: usize = 64;
/// Most cancellations that are being delivered at once: 64. Nothing else takes their places.
const MAX_CANCELLATIONS: usize = 64;
/// Longest wait for the response to a cancellation: 5 s. The request that it is about has been given up before it is sent.
const CANCELLED_WITHIN: Duration = Duration::from_secs(5);

/// The messages of one client, from its queue to their responses.
pub(super) struct Outgoing {
    bridge: Arc<Bridge>,
    /// What waits behind a gate, in order.
    held: VecDeque<Held>,
    gate: Option<Gate>,
    deliveries: Lane,
    /// Deliveries that took longer than what follows them waited.
    late: Vec<AbortHandle>,
    cancellations: Lane,
    tasks: JoinSet<Option<RequestId>>,
    by_id: HashMap<RequestId, Ongoing>,
    /// The task that reads the session's own stream.
    own_stream: Option<AbortHandle>,
    /// The client sends nothing more.
    ends: bool,
}

/// A message that waits. It counts among the unsent until it is dropped.
struct Held {
    sent: Arc<SentMessage>,
    unsent: Unsent,
}

/// Messages without an answer: those that are being delivered, and those that wait for that.
struct Lane {
    places: Arc<Semaphore>,
    waiting: VecDeque<Held>,
}

/// What keeps messages waiting.
struct Gate {
    opened: oneshot::Receiver<()>,
    latest: Pin<Box<Sleep>>,
    /// The delivery that is waited for; `None` for the session's own stream.
    delivery: Option<AbortHandle>,
    then_listens: bool,
}

struct Ongoing {
    task: AbortHandle,
    taker: Arc<Taker>,
    /// It ends with the connection, not by itself.
    listens: bool,
    /// Its answer opens a session, which is ended even if nothing waits for the answer.
    opens_session: bool,
}

impl Bridge {
    /// Moves messages until the client sends nothing more, and ends the session then.
    pub(super) async fn run(self: Arc<Self>, mut outbox: Outbox) {
        let _closes = ClosesAtEnd(self.link.clone());
        let mut outgoing = Outgoing::new(self.clone());
        if self.requests.session().is_some() {
            // A client that joined a session makes no handshake, after which its stream would be opened.
            outgoing.open_own_stream();
        }
        while let Some((message, unsent)) = outgoing.next_of(&mut outbox).await {
            let body = jsonrpc::trimmed(&message);
            if !body.is_empty() {
                let sent = SentMessage::new(body.to_vec());
                let resumption = sent
                    .request_id()
                    .and_then(|id| self.link.resumptions.take(id));
                let sent = Arc::new(sent.with_resumption(resumption));
                outgoing.take(Held { sent, unsent }).await;
            }
        }
        outgoing.end().await;
        // A session that is being opened is the one that ends, or is left. No other is opened from here on.
        let alone = timeout(CLOSE_WITHIN, self.renewals.attempt.lock()).await;
        if alone.is_err() {
            tracing::warn!("a session was being opened when the connection was closed");
        }
        // From here on, the task that opens a session also ends it.
        self.renewals.is_over.store(true, Ordering::SeqCst);
        if !self.leaves_session.load(Ordering::Relaxed)
            && let Some(delete) = self.requests.delete()
        {
            self.end_session(delete).await;
        }
    }
}

impl Outgoing {
    fn new(bridge: Arc<Bridge>) -> Self {
        Self {
            bridge,
            held: VecDeque::new(),
            gate: None,
            deliveries: Lane::new(MAX_DELIVERIES),
            late: Vec::new(),
            cancellations: Lane::new(MAX_CANCELLATIONS),
            tasks: JoinSet::new(),
            by_id: HashMap::new(),
            own_stream: None,
            ends: false,
        }
    }

    /// The next message of the client; `None` when it sends nothing more. Meanwhile what is held is sent as soon as it may be.
    async fn next_of(&mut self, outbox: &mut Outbox) -> Option<(Vec<u8>, Unsent)> {
        loop {
            tokio::select! {
                message = outbox.next() => return message,
                () = self.go_on(), if self.waits() => {}
            }
        }
    }

    /// Whether something is held.
    fn waits(&self) -> bool {
        let lanes = [&self.deliveries, &self.cancellations];
        self.gate.is_some() || lanes.iter().any(|lane| !lane.waiting.is_empty())
    }

    /// Waits for a gate to open or for a place, and sends what waited for it. May be dropped and called again: a message is taken out
    /// of its queue when nothing is left to wait for.
    async fn go_on(&mut self) {
        let opened = async {
            match &mut self.gate {
                Some(gate) => gate.opened().await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            in_time = opened => {
                self.pass_gate(in_time);
                self.send_held().await;
            }
            (held, place) = self.deliveries.next() => self.deliver(held, place).await,
            (held, place) = self.cancellations.next() => self.deliver_cancellation(held, place).await,
        }
    }

    fn pass_gate(&mut self, in_time: bool) {
        let Some(gate) = self.gate.take() else {
            return;
        };
        if let (false, Some(delivery)) = (in_time, gate.delivery) {
            self.late.push(delivery);
        }
        if gate.then_listens {
            if !in_time {
                warn_of_late_initialized();
            }
            self.open_own_stream();
        }
    }

    /// Sends what is held, up to the next gate.
    async fn send_held(&mut self) {
        while self.gate.is_none()
            && let Some(held) = self.held.pop_front()
        {
            self.send(held).await;
        }
    }

    /// Takes a message of the client.
    async fn take(&mut self, held: Held) {
        self.forget_ended();
        if held.sent.notifies::<methods::Cancelled>() {
            return self.cancel(held).await;
        }
        self.held.push_back(held);
        self.send_held().await;
    }

    async fn send(&mut self, held: Held) {
        match held.sent.request_id().cloned() {
            Some(id) => self.ask(held.sent, id).await,
            None => {
                if let Some((held, place)) = self.deliveries.enter(held) {
                    self.deliver(held, place).await;
                }
            }
        }
    }

    /// Cancels a request. It is not sent at all if it is still held.
    async fn cancel(&mut self, held: Held) {
        let id = held.sent.cancelled_id();
        if let Some(id) = &id {
            let before = self.held.len();
            self.held.retain(|held| held.sent.request_id() != Some(id));
            if self.held.len() < before {
                return;
            }
            if let Some(ongoing) = self.by_id.remove(id) {
                ongoing.task.abort();
                let session = self.bridge.requests.named_session();
                // O-1: the server does not have the request under this id, or its session has ended.
                if !ongoing.taker.has(session.as_ref()) {
                    return;
                }
            }
        }
        // O-3: in the modern era the end of the response is the cancellation.
        if !self.bridge.requests.is_modern()
            && let Some((held, place)) = self.cancellations.enter(held)
        {
            self.deliver_cancellation(held, place).await;
        }
    }

    async fn deliver_cancellation(&mut self, held: Held, place: OwnedSemaphorePermit) {
        self.begin(held, place, CANCELLED_WITHIN).await;
    }

    /// Sends a message that has no answer. What follows a notification waits for a while.
    async fn deliver(&mut self, held: Held, place: OwnedSemaphorePermit) {
        let is_initialized = held.sent.notifies::<methods::Initialized>();
        let is_notification = held.sent.is_notification();
        let Some((delivery, opened)) = self.begin(held, place, HEAD_WITHIN).await else {
            if is_initialized {
                self.open_own_stream();
            }
            return;
        };
        self.late.retain(|delivery| !delivery.is_finished());
        let waits = is_notification && self.late.is_empty() && self.gate.is_none();
        if is_initialized || waits {
            let patience = match is_initialized {
                true => INITIALIZED_WITHIN,
                false => PATIENCE,
            };
            self.gate = Some(Gate {
                opened,
                latest: Box::pin(sleep_until(Instant::now() + patience)),
                delivery: Some(delivery),
                then_listens: is_initialized,
            });
        }
    }

    /// Begins a delivery. What is returned with its task completes at its end; `None` if it has ended already.
    async fn begin(
        &mut self,
        held: Held,
        place: OwnedSemaphorePermit,
        within: Duration,
    ) -> Option<(AbortHandle, oneshot::Receiver<()>)> {
        let Held { sent, unsent } = held;
        let (bridge, request) = (self.bridge.clone(), self.bridge.requests.post(&sent));
        let (ended, end) = oneshot::channel();
        let delivering = Box::pin(async move {
            bridge.deliver(request, &[], within).await;
            drop((unsent, place));
            let _ = ended.send(());
            None
        });
        let delivering = begun(delivering).await?;
        Some((self.tasks.spawn(delivering), end))
    }

    /// Sends a request.
    async fn ask(&mut self, sent: Arc<SentMessage>, id: RequestId) {
        let listens = sent.is(Method::SubscriptionsListen);
        let opens_session = sent.is(Method::Initialize);
        let bridge = self.bridge.clone();
        let key = id.clone();
        let taker = Arc::<Taker>::default();
        let noted = taker.clone();
        let asking = Box::pin(async move {
            bridge.ask(&sent, &id, &noted).await;
            Some(id)
        });
        if let Some(asking) = begun(asking).await {
            let task = self.tasks.spawn(asking);
            let ongoing = Ongoing {
                task,
                taker,
                listens,
                opens_session,
            };
            self.by_id.insert(key, ongoing);
        }
    }

    /// Opens the stream of what belongs to no request, if the server has one.
    fn open_own_stream(&mut self) {
        if self.ends {
            return;
        }
        let (opened, open) = oneshot::channel();
        let listening = self.bridge.clone().listen(opened);
        let reading = self.tasks.spawn(async move {
            listening.await;
            None
        });
        self.own_stream = Some(reading);
        // What the server says at once finds it open. Servers that hold the head of the response back are not waited for.
        self.gate = Some(Gate {
            opened: open,
            latest: Box::pin(sleep_until(Instant::now() + PATIENCE)),
            delivery: None,
            then_listens: false,
        });
    }

    fn forget_ended(&mut self) {
        while let Some(ended) = self.tasks.try_join_next() {
            match ended {
                Ok(Some(id)) => drop(self.by_id.remove(&id)),
                Ok(None) => {}
                // Which one it was is not known.
                Err(_) => self.by_id.retain(|_, ongoing| !ongoing.task.is_finished()),
            }
        }
    }

    /// Sends what is held, and waits for the outstanding answers, within limits. If the client was dropped, it waits only for the answer
    /// to `initialize`.
    // G-4
    async fn end(mut self) {
        self.ends = true;
        self.held
            .retain(|held| !held.sent.is(Method::SubscriptionsListen));
        let streams = self.by_id.values().filter(|ongoing| ongoing.listens);
        for stream in streams.map(|ongoing| &ongoing.task).chain(&self.own_stream) {
            stream.abort();
        }
        let flushed = async {
            while self.waits() {
                self.go_on().await;
            }
        };
        let latest = Instant::now() + CLOSE_WITHIN;
        let mut in_time = timeout_at(latest, flushed).await.is_ok();
        let waits_for_all = !self.bridge.link.is_closed();
        let opening = self.by_id.values().filter(|ongoing| ongoing.opens_session);
        let opening: Vec<_> = opening.map(|ongoing| ongoing.task.clone()).collect();
        let answered = async {
            while (waits_for_all || opening.iter().any(|task| !task.is_finished()))
                && self.tasks.join_next().await.is_some()
            {}
        };
        in_time &= timeout_at(latest, answered).await.is_ok();
        if !in_time {
            tracing::warn!("requests were not answered when the connection was closed");
        }
        self.tasks.shutdown().await;
    }
}

impl Lane {
    fn new(places: usize) -> Self {
        Self {
            places: Arc::new(Semaphore::new(places)),
            waiting: VecDeque::new(),
        }
    }

    /// The message back, with a place, if there is one; otherwise it waits.
    fn enter(&mut self, held: Held) -> Option<(Held, OwnedSemaphorePermit)> {
        if self.waiting.is_empty()
            && let Ok(place) = self.places.clone().try_acquire_owned()
        {
            return Some((held, place));
        }
        self.waiting.push_back(held);
        None
    }

    /// Waits for a place, and takes the first message that waits for one. Never completes while no message waits.
    async fn next(&mut self) -> (Held, OwnedSemaphorePermit) {
        if !self.waiting.is_empty()
            && let Ok(place) = self.places.clone().acquire_owned().await
            && let Some(held) = self.waiting.pop_front()
        {
            return (held, place);
        }
        std::future::pending().await
    }
}

impl Gate {
    /// Waits until what follows may be sent. Returns whether what is waited for came in time.
    async fn opened(&mut self) -> bool {
        tokio::select! {
            biased;
            // Its sender may end without a result, as when a task is aborted.
            _ = &mut self.opened => true,
            () = &mut self.latest => false,
        }
    }
}

/// Begins with `future`, so that what is begun with next does not overtake it. `None` if it has ended already.
async fn begun<F: Future + Unpin>(mut future: F) -> Option<F> {
    // Without the budget of the task, which may be used up: the future would not be begun with.
    let mut first = unconstrained(&mut future);
    let is_pending = poll_fn(|cx| Poll::Ready(Pin::new(&mut first).poll(cx).is_pending())).await;
    is_pending.then_some(future)
}

/// Logs that the answer to `notifications/initialized` is late: what waited for it goes on without it.
pub(super) fn warn_of_late_initialized() {
    tracing::warn!(
        "the server has not answered `notifications/initialized`; the client does not wait for it any longer"
    );
}
