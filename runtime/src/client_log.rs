//! A `tracing` layer that sends the events of a request to its client.
//!
//! The layer puts an empty slot into the span of each request when the span is created. The engine then stores the exchange in the slot, on
//! the same thread and before any code of the author runs. So the layer works behind filters and inside other layers. A server without the
//! layer pays only for the check of a flag.

mod fields;

use std::{
    cell::{Cell, RefCell},
    fmt,
    sync::{
        Arc, OnceLock, Weak,
        atomic::{AtomicBool, Ordering},
    },
};

use serde_json::{Map, Value};
use tracing::{Event, Level, Metadata, Subscriber, span};
use tracing_subscriber::{Layer, layer::Context, registry::LookupSpan};
use trueform_schema::{Json, LoggingLevel};

pub use self::fields::{MAX_CLIENT_EVENT, REDACTED_FIELDS};
use crate::{
    contained::contained,
    exchange::Exchange,
    trace::{REQUEST_SPAN, REQUEST_TARGET},
};

/// A [`tracing_subscriber::Layer`] that sends the events of a request to its client, as `notifications/message`.
///
/// An event belongs to the request in whose span `mcp_request` it occurs: in the function that serves the request, in the code that it
/// calls and awaits, and in tasks that it spawns within that span ([`tracing::Instrument`]). The event is sent only to the client of that
/// request, before the response. Events outside of requests and events after the response are not sent to any client.
///
/// | what | the message |
/// | --- | --- |
/// | level `ERROR`, `WARN`, `INFO`; `DEBUG` and `TRACE` | `level`: `error`, `warning`, `info`; `debug` |
/// | target | `logger` |
/// | message and fields | `data`: an object with the member `message` and one for each field, of at most [`MAX_CLIENT_EVENT`] bytes |
///
/// A client gets the levels that it asked for. At 2026-07-28, the request's `_meta` has the lowest level, and without it no messages are
/// sent. Before that, `logging/setLevel` sets the lowest level. [`max_level`](Self::max_level) limits the level on the server's side, by
/// default to `INFO`. If a client reads too slowly, messages are lost, as [`Sent`](crate::Sent) describes: the code that logs never waits.
///
/// Log messages leave the server. The specification forbids credentials, personal data and internals of the server in them. Fields
/// whose names contain one of [`REDACTED_FIELDS`] are replaced; [`redact`](Self::redact) gets every event before it is sent, and may change
/// or drop it. Events of this library are never sent: they are meant for the operator, and may be about the message that is being sent. The
/// layer sees events within requests only if the span `mcp_request`, which has the level `INFO` and the target `trueform::trace`, is
/// enabled for it.
///
/// ```
/// use tracing_subscriber::prelude::*;
/// use trueform::{ClientLog, client::ClientOptions, prelude::*, schema::{LoggingLevel, methods::LoggingMessage}};
///
/// /// Looks at the sky.
/// #[tool]
/// fn look() -> &'static str {
///     tracing::warn!(clouds = 3, "it may rain");
///     "sunny"
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// // In a server: `.init()` instead of `.set_default()`, beside the layer that writes to standard error.
/// let _subscriber = tracing_subscriber::registry().with(ClientLog::new()).set_default();
///
/// let client = Server::new("sky", "1.0.0").tools(tools![look]).connect().await?;
/// let mut messages = client.notifications();
/// client.call_tool("look", ()).log_level(LoggingLevel::Info).await?;
/// let message = messages.next_of::<LoggingMessage>().await.expect("the connection is open");
/// assert_eq!(message.level, LoggingLevel::Warning);
/// assert_eq!(message.data.to_value(), serde_json::json!({ "message": "it may rain", "clouds": 3 }));
/// # Ok(())
/// # }
/// ```
pub struct ClientLog {
    max_level: Level,
    redact: Option<Redact>,
}

type Redact = Box<dyn Fn(ClientEvent) -> Option<ClientEvent> + Send + Sync>;

/// An event that is about to be sent to a client.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ClientEvent {
    /// The level of the message.
    pub level: LoggingLevel,
    /// The target of the event.
    pub logger: String,
    /// The member `message`, and one for each field.
    pub data: Map<String, Value>,
}

/// The place of the exchange of a request span.
type Slot = Arc<OnceLock<Weak<Exchange>>>;

/// The extension of a request span.
struct RequestSlot(Slot);

/// Whether any layer exists.
static IN_USE: AtomicBool = AtomicBool::new(false);

thread_local! {
    /// The slot of the request span that was created last on this thread.
    static LAST_SLOT: RefCell<Option<Slot>> = const { RefCell::new(None) };
    /// Whether this thread is sending an event. Events that are logged during this are about the sending, and are not sent.
    static IS_SENDING: Cell<bool> = const { Cell::new(false) };
}

/// Forgets the span of an earlier request that was refused before it had an exchange. Called before a request span is created.
#[inline]
pub(crate) fn forget() {
    if IN_USE.load(Ordering::Relaxed) {
        LAST_SLOT.take();
    }
}

/// Stores `exchange` in the slot of the request span that was created last on this thread.
#[inline]
pub(crate) fn attach(exchange: &Arc<Exchange>) {
    if IN_USE.load(Ordering::Relaxed)
        && let Some(slot) = LAST_SLOT.take()
    {
        // A new slot is empty.
        let _ = slot.set(Arc::downgrade(exchange));
    }
}

impl ClientLog {
    /// Creates a layer that sends events of the level `INFO` and more severe ones.
    #[must_use]
    pub fn new() -> Self {
        IN_USE.store(true, Ordering::Relaxed);
        Self {
            max_level: Level::INFO,
            redact: None,
        }
    }

    /// Sets the most verbose level that is sent, whatever level clients ask for. The default is `INFO`, because libraries write details
    /// that help attackers at `DEBUG` and `TRACE`.
    ///
    /// ```
    /// use tracing::Level;
    /// use trueform::ClientLog;
    ///
    /// let layer = ClientLog::new().max_level(Level::WARN);
    /// ```
    #[must_use]
    pub fn max_level(mut self, level: Level) -> Self {
        self.max_level = level;
        self
    }

    /// Calls `redact` with each event before it is sent. The event that it returns is sent. If it returns `None` or panics, the event is
    /// dropped. A second call replaces the first.
    ///
    /// ```
    /// use trueform::ClientLog;
    ///
    /// let layer = ClientLog::new().redact(|mut event| {
    ///     event.data.remove("customer");
    ///     (event.logger != "my_server::billing").then_some(event)
    /// });
    /// # let _ = layer;
    /// ```
    // M-5
    #[must_use]
    pub fn redact(
        mut self,
        redact: impl Fn(ClientEvent) -> Option<ClientEvent> + Send + Sync + 'static,
    ) -> Self {
        self.redact = Some(Box::new(redact));
        self
    }

    /// Sends `event`, which occurred in the request `exchange`.
    fn send(&self, exchange: &Arc<Exchange>, event: &Event<'_>) {
        let level = level_of(event.metadata());
        if !exchange.is_open() || !exchange.caller.log.lets_through(&level) {
            return;
        }
        let (logger, data) = fields::read(event);
        if is_own(&logger) {
            return;
        }
        let mut message = Some(ClientEvent {
            level,
            logger,
            data,
        });
        if let Some(redact) = &self.redact {
            message =
                contained("a redaction of log messages", || message.and_then(redact)).flatten();
        }
        let Some(ClientEvent {
            level,
            logger,
            data,
        }) = message
        else {
            return;
        };
        // Dropped without an await: nothing waits for the client here.
        drop(exchange.log(level, Some(&logger), Json::from(Value::Object(data))));
    }
}

// M-1, M-4
impl<S> Layer<S> for ClientLog
where
    S: Subscriber + for<'a> LookupSpan<'a>,
{
    fn on_new_span(&self, attributes: &span::Attributes<'_>, id: &span::Id, cx: Context<'_, S>) {
        let metadata = attributes.metadata();
        if metadata.name() != REQUEST_SPAN || metadata.target() != REQUEST_TARGET {
            return;
        }
        let Some(span) = cx.span(id) else { return };
        let mut extensions = span.extensions_mut();
        // Several such layers may exist.
        let slot = match extensions.get_mut::<RequestSlot>() {
            Some(RequestSlot(slot)) => slot.clone(),
            None => {
                let slot = Slot::default();
                extensions.insert(RequestSlot(slot.clone()));
                slot
            }
        };
        LAST_SLOT.replace(Some(slot));
    }

    fn on_event(&self, event: &Event<'_>, cx: Context<'_, S>) {
        let metadata = event.metadata();
        if *metadata.level() > self.max_level || is_own(metadata.target()) || IS_SENDING.get() {
            return;
        }
        let Some(mut scope) = cx.event_scope(event) else {
            return;
        };
        let exchange = scope.find_map(|span| {
            let extensions = span.extensions();
            Some(extensions.get::<RequestSlot>()?.0.get()?.upgrade())
        });
        let Some(Some(exchange)) = exchange else {
            return;
        };
        let _sending = Sending::begin();
        self.send(&exchange, event);
    }
}

/// While it exists, this thread is sending an event.
struct Sending;

impl Sending {
    fn begin() -> Self {
        IS_SENDING.set(true);
        Self
    }
}

impl Drop for Sending {
    fn drop(&mut self) {
        IS_SENDING.set(false);
    }
}

/// Returns whether events with this target are the library's own.
fn is_own(target: &str) -> bool {
    target
        .strip_prefix("trueform")
        .is_some_and(|rest| rest.is_empty() || rest.starts_with("::"))
}

fn level_of(metadata: &Metadata<'_>) -> LoggingLevel {
    match *metadata.level() {
        Level::ERROR => LoggingLevel::Error,
        Level::WARN => LoggingLevel::Warning,
        Level::INFO => LoggingLevel::Info,
        Level::DEBUG | Level::TRACE => LoggingLevel::Debug,
    }
}

impl Default for ClientLog {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for ClientLog {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ClientLog")
            .field("max_level", &self.max_level)
            .field("redact", &self.redact.is_some())
            .finish()
    }
}
