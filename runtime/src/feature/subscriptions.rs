//! Who is notified of changes, in both eras: sessions, of everything that the server declared, and streams of `subscriptions/listen` (U-1
//! to U-10), of what they asked for.
//!
//! [`Subscriptions::notify`] is the only place that sends such notifications.

mod watchers;

use std::{
    collections::HashSet,
    pin::Pin,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError, Weak,
        atomic::{AtomicUsize, Ordering},
    },
    task::{self, Poll},
};

use trueform_schema::{
    CancelledNotificationParams, Method, NotificationMetaObject, RequestId, Revision,
    SubscriptionFilter, SubscriptionsAcknowledgedNotificationParams, SubscriptionsListenResult,
    SubscriptionsListenResultMetaObject,
};

use self::watchers::{Watcher, Watchers, Watching};
use super::{
    job::{Called, Capacity, Completion, Job, Pool},
    tasks::ListenedTasks,
};
use crate::{
    exchange::{Exchange, MessageSink, Ticket},
    gate::{NotificationKind, Outgoing},
    host::HostOwner,
    jsonrpc,
    peer::{
        Due, MAX_RESOURCE_SUBSCRIPTION_BYTES, MAX_RESOURCE_SUBSCRIPTIONS, Outbox, ReservedBytes,
        Session, SubscriptionBytes,
    },
    signal::Fired,
    trace::Unanswered,
};

/// Most subscriptions that one byte stream may have open. Over HTTP each is a request of its own, and counts as one.
pub const MAX_SUBSCRIPTIONS: usize = 64;

/// A kind of change that peers can be notified of. Each feature has one for each of its lists.
#[derive(Debug)]
pub(crate) struct Topic {
    /// The notification.
    pub(crate) method: Method,
    /// Returns whether a filter asks for it.
    pub(crate) is_in: fn(&SubscriptionFilter) -> bool,
    /// Adds it to the filter that is acknowledged.
    pub(crate) honour: fn(&mut SubscriptionFilter),
}

/// Changes to the content of single resources. A filter names the resources, so a topic alone does not determine what is honoured.
pub(crate) const RESOURCE_UPDATED: Topic = Topic {
    method: Method::ResourceUpdated,
    is_in: |filter| filter.resource_subscriptions.is_some(),
    honour: |_| {},
};

impl Topic {
    /// Returns the notification at `revision`.
    fn at(&self, revision: Revision) -> NotificationKind {
        NotificationKind::core(self.method, revision)
    }
}

/// All peers that are notified of changes.
#[derive(Debug)]
pub(crate) struct Subscriptions {
    sessions: Mutex<Vec<Weak<Session>>>,
    /// How many entries `sessions` may have before dead ones are searched for.
    sessions_sweep: AtomicUsize,
    listeners: Mutex<Vec<Listener>>,
    /// How many entries `listeners` may have before dead ones are searched for.
    listeners_sweep: AtomicUsize,
    watchers: Watchers,
    /// The memory that the subscriptions to resources use.
    pub(crate) bytes: Arc<SubscriptionBytes>,
}

/// What a client wants to be notified of.
#[derive(Clone, Copy)]
pub(crate) struct Wanted<'a> {
    pub(crate) filter: &'a SubscriptionFilter,
    /// The resources of the filter that are acknowledged, but whose changes are not sent.
    pub(crate) muted: &'a HashSet<String>,
    /// The tasks that the stream may be notified of; `None` if it asks for none.
    pub(crate) tasks: Option<&'a ListenedTasks>,
}

/// One open stream of `subscriptions/listen`.
#[derive(Debug)]
struct Listener {
    exchange: Weak<Exchange>,
    filter: SubscriptionFilter,
}

impl Subscriptions {
    pub(crate) fn new() -> Self {
        Self {
            sessions: Mutex::default(),
            sessions_sweep: AtomicUsize::new(64),
            listeners: Mutex::default(),
            listeners_sweep: AtomicUsize::new(64),
            watchers: Watchers::default(),
            bytes: Arc::default(),
        }
    }

    /// Adds `session` to those that are notified of changes.
    pub(crate) fn remember(&self, session: &Arc<Session>) {
        let mut sessions = lock(&self.sessions);
        if sessions.len() >= self.sessions_sweep.load(Ordering::Relaxed) {
            sessions.retain(|session| session.strong_count() > 0);
            self.sessions_sweep
                .store((sessions.len() * 2).max(64), Ordering::Relaxed);
        }
        sessions.push(Arc::downgrade(session));
    }

    /// Notifies every peer that may be notified of `topic` (I-3, U-2, U-4).
    pub(crate) fn notify(&self, topic: &Topic) {
        let sessions: Vec<_> = lock(&self.sessions)
            .iter()
            .filter_map(Weak::upgrade)
            .collect();
        for session in sessions {
            notify_session(&session, topic, None);
        }
        let listening: Vec<_> = lock(&self.listeners)
            .iter()
            .filter(|listener| (topic.is_in)(&listener.filter))
            .filter_map(|listener| listener.exchange.upgrade())
            .collect();
        for exchange in listening {
            if exchange.is_open() {
                let kind = topic.at(exchange.revision());
                push(exchange.outbox(), kind, Some(exchange.id.clone()), None);
            }
        }
    }

    /// Notifies `session`, which is subscribed to the resource `uri`, of its changes from now on (J-7).
    pub(crate) fn watch(&self, session: &Arc<Session>, uri: &str) {
        let watcher = Watcher::Session(Arc::downgrade(session));
        self.watchers.add(uri, watcher);
    }

    /// Ends the subscription of `session` to the resource `uri`, if it has one.
    pub(crate) fn unwatch(&self, session: &Arc<Session>, uri: &str) {
        // In this order: a subscription that is made meanwhile is not lost; at worst, an unused entry remains.
        self.watchers.remove(uri, session);
        session.watched.remove(uri);
    }

    /// Notifies every peer that asked for it of a change of the resource `uri` (J-7, J-8).
    pub(crate) fn notify_updated(&self, uri: &str) {
        let Some((uri, watching)) = self.watchers.of(uri) else {
            return;
        };
        for watching in watching {
            match watching {
                Watching::Session(session) if session.watched.contains(&uri) => {
                    notify_session(&session, &RESOURCE_UPDATED, Some(&uri));
                }
                Watching::Stream(exchange) if exchange.is_open() => {
                    let kind = RESOURCE_UPDATED.at(exchange.revision());
                    let subscription = Some(exchange.id.clone());
                    push(exchange.outbox(), kind, subscription, Some(uri.clone()));
                }
                Watching::Session(_) | Watching::Stream(_) => {}
            }
        }
    }

    /// Opens the stream of `exchange`, which asks for `wanted`, at a server with `topics`, if the transport has room
    /// for it.
    pub(crate) fn listen(
        &self,
        exchange: &Arc<Exchange>,
        wanted: Wanted<'_>,
        topics: impl Iterator<Item = &'static Topic>,
        capacity: Option<&dyn Capacity>,
    ) -> Called {
        let session = exchange.session.as_ref();
        let Ok(open) = session.map(OpenStream::on).transpose() else {
            return Called::Refused(jsonrpc::internal(format!(
                "too many subscriptions are open: this server takes {MAX_SUBSCRIPTIONS} on one link"
            )));
        };
        let ticket = match exchange.enter() {
            Ok(ticket) => ticket,
            Err(Some(error)) => return Called::Refused(error),
            Err(None) => return Called::Silent,
        };
        if let Some(Err(refusal)) = capacity.map(Capacity::listener) {
            return Called::TurnedAway(refusal);
        }
        let mut reserved = ReservedBytes::new(&self.bytes);
        let mut filter = honoured(wanted.filter, topics, exchange.revision(), &mut reserved);
        let mut shown = filter.clone();
        if let Some(tasks) = wanted.tasks {
            tasks.acknowledge(&mut shown);
        }
        let acknowledged = SubscriptionsAcknowledgedNotificationParams::new(shown)
            .with_meta(meta_of(&exchange.id));
        // Sent before anything else can be sent, so that the acknowledgement is first (U-3).
        if !exchange.notify(
            &exchange.kind_of(Method::SubscriptionsAcknowledged),
            &acknowledged,
        ) {
            return Called::Refused(jsonrpc::internal("too many messages wait for this client"));
        }
        if let Some(uris) = &mut filter.resource_subscriptions {
            uris.retain(|uri| !wanted.muted.contains(uri));
        }
        for uri in filter.resource_subscriptions.iter().flatten() {
            let watcher = Watcher::Stream(Arc::downgrade(exchange));
            self.watchers.add(uri, watcher);
        }
        let mut listeners = lock(&self.listeners);
        if listeners.len() >= self.listeners_sweep.load(Ordering::Relaxed) {
            listeners.retain(|listener| listener.exchange.strong_count() > 0);
            self.listeners_sweep
                .store((listeners.len() * 2).max(64), Ordering::Relaxed);
        }
        listeners.push(Listener {
            exchange: Arc::downgrade(exchange),
            filter,
        });
        drop(listeners);
        Called::Running(Box::new(Listening {
            shutdown: Fired::new(exchange.host.owner(), |owner| &owner.host().shutdown),
            input_end: exchange
                .session
                .clone()
                .map(|session| Fired::new(session, |session: &Session| &session.ending)),
            exchange: exchange.clone(),
            unanswered: Unanswered::new(tracing::Span::current()),
            _open: open,
            _ticket: ticket,
            _reserved: reserved,
        }))
    }
}

/// Counts a stream of a session until it is dropped. Streams of other sessions do not count.
struct OpenStream(Arc<Session>);

impl OpenStream {
    /// Counts one more.
    ///
    /// # Errors
    /// The maximum number is open.
    fn on(session: &Arc<Session>) -> Result<Self, usize> {
        let one_more = |open| (open < MAX_SUBSCRIPTIONS).then_some(open + 1);
        let counted =
            session
                .listening
                .fetch_update(Ordering::Relaxed, Ordering::Relaxed, one_more);
        counted.map(|_| Self(session.clone()))
    }
}

impl Drop for OpenStream {
    fn drop(&mut self) {
        self.0.listening.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Notifies `session` if it may be sent messages and its revision has the notification.
fn notify_session(session: &Session, topic: &Topic, uri: Option<&Arc<str>>) {
    let confirmed = session.revision().filter(|_| session.is_confirmed());
    let Some(kind) = confirmed.map(|revision| topic.at(revision)) else {
        return;
    };
    if kind.exists() {
        push(&session.outbox, kind, None, uri.cloned());
    }
}

/// Queues a notification for one peer. A peer that does not read gets no second one: the notification that waits already says the same.
fn push(
    outbox: &Outbox,
    kind: NotificationKind,
    subscription: Option<RequestId>,
    uri: Option<Arc<str>>,
) {
    let due = Due {
        kind,
        subscription,
        uri,
    };
    if let Err(refused) = outbox.push_due(due) {
        tracing::debug!(method = kind.method, ?refused, "a notification was dropped");
    }
}

/// Returns the part of `wanted` that this server sends at `revision` (U-3).
fn honoured(
    wanted: &SubscriptionFilter,
    topics: impl Iterator<Item = &'static Topic>,
    revision: Revision,
    reserved: &mut ReservedBytes,
) -> SubscriptionFilter {
    let mut honoured = SubscriptionFilter::default();
    for topic in topics.filter(|topic| topic.at(revision).exists()) {
        if (topic.is_in)(wanted) {
            (topic.honour)(&mut honoured);
        }
        if topic.method == Method::ResourceUpdated {
            let wanted = wanted.resource_subscriptions.as_deref();
            honoured.resource_subscriptions =
                wanted.map(|wanted| honoured_resources(wanted, reserved));
        }
    }
    honoured
}

/// Returns the resources of a filter of whose changes its stream is notified: each once, and as many as the limits allow. The
/// acknowledgement lists them.
fn honoured_resources(wanted: &[String], reserved: &mut ReservedBytes) -> Vec<String> {
    let mut seen = HashSet::new();
    let mut bytes = 0;
    let distinct = wanted.iter().filter(|uri| seen.insert(uri.as_str()));
    let within = distinct.take(MAX_RESOURCE_SUBSCRIPTIONS).take_while(|uri| {
        bytes += uri.len();
        bytes <= MAX_RESOURCE_SUBSCRIPTION_BYTES && reserved.add(uri)
    });
    within.cloned().collect()
}

fn meta_of(id: &RequestId) -> NotificationMetaObject {
    let mut meta = NotificationMetaObject::default();
    meta.subscription_id = Some(id.clone());
    meta
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // No code that can panic runs under these locks.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// An open stream: it ends with the server, with the input of its byte stream, or when its client cancels it.
struct Listening {
    exchange: Arc<Exchange>,
    unanswered: Unanswered,
    shutdown: Fired<dyn HostOwner>,
    input_end: Option<Fired<Session>>,
    _open: Option<OpenStream>,
    _ticket: Option<Ticket>,
    /// The memory for the resources that it names.
    _reserved: ReservedBytes,
}

impl Job for Listening {
    fn exchange(&self) -> &Arc<Exchange> {
        &self.exchange
    }

    fn only_listens(&self) -> bool {
        true
    }

    fn poll(&mut self, cx: &mut task::Context<'_>, _: Pool) -> Poll<Completion> {
        let server_ends = Pin::new(&mut self.shutdown).poll(cx).is_ready();
        let input_ends = self
            .input_end
            .as_mut()
            .is_some_and(|ending| Pin::new(ending).poll(cx).is_ready());
        match server_ends || input_ends {
            true => Poll::Ready(Completion::Returned),
            false => Poll::Pending,
        }
    }

    /// Returns the result of a stream that the server ends (U-7). On a byte stream, a cancelled notification follows, for clients that wait
    /// for it instead (GAP-1).
    fn conclude(self: Box<Self>, done: Completion) -> Option<Outgoing> {
        let exchange = &self.exchange;
        if matches!(done, Completion::Cancelled) {
            return None;
        }
        exchange.finish();
        let policy = exchange.host.settings.outgoing;
        let meta = SubscriptionsListenResultMetaObject::new(exchange.id.clone());
        let result = SubscriptionsListenResult::new(meta);
        let response = match exchange.result(exchange.method, &result) {
            Ok(response) => response,
            Err(error) => Outgoing::failure(&exchange.id, exchange.revision(), error),
        };
        self.unanswered.answered(&response);
        let MessageSink::Link(_) = exchange.sink() else {
            return Some(response);
        };
        let mut params = CancelledNotificationParams::default();
        params.request_id = Some(exchange.id.clone());
        let kind = exchange.kind_of(Method::Cancelled);
        let cancelled = Outgoing::notification(&kind, Some(&params), policy);
        Some(match cancelled {
            Some(cancelled) => response.followed_by(&cancelled),
            None => response,
        })
    }
}

#[cfg(test)]
mod tests;
