//! What the tests share: raw conversations, and tools that do as they are told.

use std::{
    cell::RefCell,
    collections::BTreeMap,
    future::Future,
    sync::{
        Arc, LazyLock, Mutex, OnceLock,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use tokio::sync::{mpsc, oneshot, watch};
use trueform::{
    Service,
    client::{Client, ClientOptions, Negotiation},
    prelude::*,
    transport::StreamSettings,
};

/// `initialize` at `revision`, with id 0, and what follows it.
pub(crate) fn initialize(revision: &str) -> [String; 2] {
    [
        format!(
            r#"{{"jsonrpc":"2.0","id":0,"method":"initialize","params":{{"protocolVersion":"{revision}","capabilities":{{}},"clientInfo":{{"name":"t","version":"1"}}}}}}"#
        ),
        r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#.to_owned(),
    ]
}

/// A request of the modern era; `params` are members after `_meta`, such as `,"name":"add"`.
pub(crate) fn modern(id: &str, method: &str, params: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{{"_meta":{{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{{}}}}{params}}}}}"#
    )
}

/// A request of the legacy era.
pub(crate) fn legacy(id: &str, method: &str, params: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{params}}}"#)
}

/// A client that sends nothing on its own.
pub(crate) async fn raw(service: &Service) -> Client {
    let options = ClientOptions::new().negotiation(Negotiation::Nothing);
    service
        .connect_as(options)
        .await
        .expect("nothing is negotiated")
}

/// Everything the server says to `input` until it closes its side, one message a line.
pub(crate) async fn conversation(service: &Service, input: impl AsRef<[u8]>) -> Vec<String> {
    conversation_with(service, input, StreamSettings::new()).await
}

/// As [`conversation`], within other bounds.
pub(crate) async fn conversation_with(
    service: &Service,
    input: impl AsRef<[u8]>,
    settings: StreamSettings,
) -> Vec<String> {
    let service = service.clone();
    let (output, from_server) = tokio::io::duplex(1 << 20);
    let input = input.as_ref().to_owned();
    let serving = async move {
        let served = service
            .serve_stream_with(std::io::Cursor::new(input), output, settings)
            .await;
        served.expect("a stream in memory does not fail");
    };
    let reading = async move {
        let mut text = String::new();
        let mut from_server = from_server;
        tokio::io::AsyncReadExt::read_to_string(&mut from_server, &mut text)
            .await
            .expect("the server writes UTF-8");
        text
    };
    let ((), text) = soon(async { tokio::join!(serving, reading) }).await;
    assert!(
        text.is_empty() || text.ends_with('\n'),
        "every message is a whole line: {text:?}"
    );
    for line in text.lines() {
        refusals_have_data(&serde_json::from_str(line).expect("every line is JSON"));
    }
    text.lines().map(str::to_owned).collect()
}

/// `lines` as a stream.
pub(crate) fn joined<T: AsRef<str>>(lines: impl IntoIterator<Item = T>) -> String {
    lines
        .into_iter()
        .map(|line| format!("{}\n", line.as_ref()))
        .collect()
}

/// How long [`soon`] waits.
const SOON: Duration = Duration::from_secs(20);

/// Drops what it is sent, each when its time has come. One thread for all: with one for each wait there would be more than a
/// process may have.
static CLOCK: LazyLock<std::sync::mpsc::Sender<(Instant, oneshot::Sender<()>)>> =
    LazyLock::new(|| {
        let (sender, waits) = std::sync::mpsc::channel::<(Instant, oneshot::Sender<()>)>();
        // All waits are equally long, so that the first to come is the first to end.
        std::thread::spawn(move || {
            for (end, wait) in waits {
                if !wait.is_closed() {
                    std::thread::sleep(end.saturating_duration_since(Instant::now()));
                }
            }
        });
        sender
    });

/// `future`, or a failure of the test if it takes very long.
pub(crate) async fn soon<F: Future>(future: F) -> F::Output {
    // Real time: under a paused clock a wait for another thread would seem to last forever at once.
    let limit = async {
        let (sender, receiver) = oneshot::channel();
        let _ = CLOCK.send((Instant::now() + SOON, sender));
        let _ = receiver.await;
    };
    tokio::select! {
        output = future => output,
        () = limit => panic!("took too long"),
    }
}

/// Lets tests see when calls begin and decide when they end.
pub(crate) struct Stage {
    begun: mpsc::UnboundedSender<String>,
    open: watch::Receiver<bool>,
}

impl Stage {
    /// Tells that `label` has begun, and waits until the test lets it go on; tells if it is dropped before.
    pub(crate) async fn hold(&self, label: &str) {
        let mut open = self.open.clone();
        let dropped = Dropped(self.begun.clone(), label.to_owned());
        let _ = self.begun.send(label.to_owned());
        let _ = open.wait_for(|open| *open).await;
        std::mem::forget(dropped);
    }
}

#[cfg(feature = "http")]
impl Stage {
    /// Whether the test lets calls go on.
    pub(crate) fn is_open(&self) -> bool {
        *self.open.borrow()
    }
}

/// The test's side of a [`Stage`].
pub(crate) struct Director {
    begun: tokio::sync::Mutex<mpsc::UnboundedReceiver<String>>,
    open: watch::Sender<bool>,
}

impl Director {
    /// Waits until a call begins and returns its label.
    pub(crate) async fn begun(&self) -> String {
        soon(async { self.begun.lock().await.recv().await })
            .await
            .expect("the stage is there as long as the server")
    }

    /// Makes calls wait again.
    #[cfg(feature = "http")]
    pub(crate) fn close(&self) {
        self.open.send_replace(false);
    }

    /// Makes sure that no call was dropped before its end, of those that have ended.
    pub(crate) async fn none_dropped(&self) {
        while let Ok(label) = self.begun.lock().await.try_recv() {
            assert!(!label.starts_with("dropped"), "{label}");
        }
    }

    /// Lets all calls go on that wait.
    pub(crate) fn open(&self) {
        self.open.send_replace(true);
    }
}

/// A connected pair of stage and director.
pub(crate) fn stage() -> (Stage, Director) {
    let (sender, begun) = mpsc::unbounded_channel();
    let (open, receiver) = watch::channel(false);
    (
        Stage {
            begun: sender,
            open: receiver,
        },
        Director {
            begun: tokio::sync::Mutex::new(begun),
            open,
        },
    )
}

/// Tells of being dropped.
struct Dropped(mpsc::UnboundedSender<String>, String);

impl Drop for Dropped {
    fn drop(&mut self) {
        let _ = self.0.send(format!("dropped {}", self.1));
    }
}

/// Add two numbers.
#[tool]
pub(crate) fn add(a: i64, b: i64) -> i64 {
    a + b
}

/// Says it back.
#[tool]
pub(crate) fn echo(text: String) -> String {
    text
}

/// Waits until the test lets it go on.
#[tool]
pub(crate) async fn wait(stage: State<Stage>, label: String) -> String {
    stage.0.hold(&label).await;
    label
}

/// Waits as `wait`, holding a thread.
#[tool(blocking)]
pub(crate) fn block(context: Context, stage: State<Stage>, label: String) -> String {
    let _ = stage.0.begun.send(label.clone());
    while !*stage.0.open.borrow() && !context.is_cancelled() {
        std::thread::yield_now();
    }
    let _ = stage.0.begun.send(format!("left {label}"));
    label
}

/// Panics.
#[tool]
pub(crate) fn panics() -> String {
    panic!("meant to")
}

/// Panics after an await.
#[tool]
pub(crate) async fn panics_later() -> String {
    tokio::task::yield_now().await;
    panic!("meant to")
}

/// Panics on a thread of its own.
#[tool(blocking)]
pub(crate) fn panics_blocking() -> String {
    panic!("meant to")
}

/// Panics when it is dropped before its end.
#[tool(timeout = "1s")]
pub(crate) async fn panics_when_dropped() -> String {
    struct Bomb;
    impl Drop for Bomb {
        fn drop(&mut self) {
            panic!("meant to");
        }
    }
    let _bomb = Bomb;
    std::future::pending::<()>().await;
    String::new()
}

/// Never ends.
#[tool(timeout = "1s")]
pub(crate) async fn overruns() -> String {
    std::future::pending().await
}

/// Holds a thread until it is given up.
#[tool(blocking, timeout = "1s")]
pub(crate) fn overruns_blocking(context: Context) -> String {
    while !context.is_cancelled() {
        std::thread::yield_now();
    }
    String::new()
}

/// Reports progress `steps` times, awaiting between.
#[tool]
pub(crate) async fn steps(context: Context, steps: u32) -> u32 {
    for step in 1..=steps {
        context.progress(f64::from(step), Some(f64::from(steps)), None);
        context.log(LoggingLevel::Info, format!("step {step}"));
        tokio::task::yield_now().await;
    }
    steps
}

/// A server with all of the tools above.
pub(crate) fn service() -> Service {
    staged().0
}

/// The same, and who directs its stage.
pub(crate) fn staged() -> (Service, Director) {
    let (stage, director) = stage();
    let tools = tools![
        add,
        echo,
        wait,
        block,
        panics,
        panics_later,
        panics_blocking,
        panics_when_dropped,
        overruns,
        overruns_blocking,
        steps
    ];
    let server = Server::new("test", "1.0.0").tools(tools).state(stage);
    (server.build().expect("the tools are fine"), director)
}

/// Collects what is reported, for closures that outlive the test's borrow.
pub(crate) struct Collected<T>(Mutex<Vec<T>>);

impl<T> Default for Collected<T> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<T> Collected<T> {
    pub(crate) fn push(&self, item: T) {
        self.0.lock().expect("not poisoned").push(item);
    }

    pub(crate) fn take(&self) -> Vec<T> {
        std::mem::take(&mut *self.0.lock().expect("not poisoned"))
    }
}

/// What a request's span says: its fields by name. A field that was recorded twice has both values.
pub(crate) type Span = BTreeMap<&'static str, String>;

thread_local! {
    /// Where the log lines of this thread go.
    static LOG: RefCell<Option<Arc<Collected<String>>>> = const { RefCell::new(None) };
    /// The spans of requests that were made on this thread, by their ids in the order of these.
    static SPANS: RefCell<Option<BTreeMap<u64, Span>>> = const { RefCell::new(None) };
    /// The spans that were made on this thread and are not closed: what they are, and how many handles there are.
    static OPEN: RefCell<BTreeMap<u64, (&'static tracing::Metadata<'static>, usize)>> = const { RefCell::new(BTreeMap::new()) };
    /// The spans that this thread is in.
    static ENTERED: RefCell<Vec<tracing::span::Id>> = const { RefCell::new(Vec::new()) };
}

/// What the spans of requests are.
static REQUEST: OnceLock<&'static tracing::Metadata<'static>> = OnceLock::new();

/// Whether the span `id` is of a request: their ids are even, those of other spans odd.
const fn is_of_request(id: u64) -> bool {
    id.is_multiple_of(2)
}

/// What is logged on this thread from now on, one line an event: level and fields. For tests whose runtime has one thread.
pub(crate) fn log() -> Arc<Collected<String>> {
    subscribe();
    let lines = Arc::<Collected<String>>::default();
    LOG.with_borrow_mut(|log| *log = Some(lines.clone()));
    lines
}

/// Keeps the spans of requests on this thread from now on, for [`spans`]. For tests whose runtime has one thread.
#[cfg(feature = "http")]
pub(crate) fn keep_spans() {
    subscribe();
    SPANS.set(Some(BTreeMap::new()));
}

/// The spans of requests since [`keep_spans`] or the last look, in the order of their beginnings.
#[cfg(feature = "http")]
pub(crate) fn spans() -> Vec<Span> {
    let spans = SPANS.replace(Some(BTreeMap::new()));
    spans.unwrap_or_default().into_values().collect()
}

/// The names of the spans that were made on this thread and are not closed. For tests whose runtime has one thread.
pub(crate) fn open_spans() -> Vec<&'static str> {
    OPEN.with_borrow(|open| open.values().map(|(span, _)| span.name()).collect())
}

/// Takes note of the spans of all threads from now on.
pub(crate) fn subscribe() {
    static ONCE: std::sync::Once = std::sync::Once::new();
    // One subscriber for all threads: with one per test, what a thread without any does first decides for all.
    ONCE.call_once(|| tracing::subscriber::set_global_default(Log).expect("nobody else sets one"));
}

struct Log;

/// Adds fields to a span.
struct Fields<'a>(&'a mut Span);

impl tracing::field::Visit for Fields<'_> {
    fn record_debug(&mut self, field: &tracing::field::Field, value: &dyn std::fmt::Debug) {
        let value = format!("{value:?}");
        let all = self.0.entry(field.name()).or_default();
        match all.is_empty() {
            true => *all = value,
            false => all.extend([" and ", &value]),
        }
    }

    fn record_str(&mut self, field: &tracing::field::Field, value: &str) {
        self.record_debug(field, &format_args!("{value}"));
    }
}

impl tracing::Subscriber for Log {
    fn enabled(&self, metadata: &tracing::Metadata<'_>) -> bool {
        *metadata.level() <= tracing::Level::DEBUG
    }

    fn new_span(&self, attributes: &tracing::span::Attributes<'_>) -> tracing::span::Id {
        static NEXT: AtomicU64 = AtomicU64::new(2);
        let id = NEXT.fetch_add(2, Ordering::Relaxed);
        let span = attributes.metadata();
        let id = match span.name() {
            "mcp_request" => id,
            _ => id + 1,
        };
        OPEN.with_borrow_mut(|open| open.insert(id, (span, 1)));
        if !is_of_request(id) {
            return tracing::span::Id::from_u64(id);
        }
        REQUEST.get_or_init(|| attributes.metadata());
        SPANS.with_borrow_mut(|spans| {
            if let Some(spans) = spans {
                attributes.record(&mut Fields(spans.entry(id).or_default()));
            }
        });
        tracing::span::Id::from_u64(id)
    }

    fn record(&self, id: &tracing::span::Id, values: &tracing::span::Record<'_>) {
        SPANS.with_borrow_mut(|spans| {
            let span = spans
                .as_mut()
                .and_then(|spans| spans.get_mut(&id.into_u64()));
            if let Some(span) = span {
                values.record(&mut Fields(span));
            }
        });
    }

    fn clone_span(&self, id: &tracing::span::Id) -> tracing::span::Id {
        OPEN.with_borrow_mut(|open| {
            if let Some((_, handles)) = open.get_mut(&id.into_u64()) {
                *handles += 1;
            }
        });
        id.clone()
    }

    fn try_close(&self, id: tracing::span::Id) -> bool {
        // A thread that ends drops what is local to it in no particular order.
        let closed = OPEN.try_with(|open| {
            let mut open = open.borrow_mut();
            let id = id.into_u64();
            let Some((_, handles)) = open.get_mut(&id) else {
                return false;
            };
            *handles -= 1;
            *handles == 0 && open.remove(&id).is_some()
        });
        closed.unwrap_or(false)
    }

    fn record_follows_from(&self, _: &tracing::span::Id, _: &tracing::span::Id) {}

    fn event(&self, event: &tracing::Event<'_>) {
        struct Line(String);

        impl tracing::field::Visit for Line {
            fn record_debug(&mut self, field: &tracing::field::Field, value: &dyn std::fmt::Debug) {
                self.0.push_str(&format!(" {field}={value:?}"));
            }

            /// As it is: what a subscriber escapes is its own business.
            fn record_str(&mut self, field: &tracing::field::Field, value: &str) {
                self.0.push_str(&format!(" {field}=\"{value}\""));
            }
        }

        LOG.with_borrow(|log| {
            if let Some(log) = log {
                let metadata = event.metadata();
                let mut line = Line(metadata.level().to_string());
                // One that the event chose itself.
                if Some(metadata.target()) != metadata.module_path() {
                    line.0.push_str(&format!(" target={}", metadata.target()));
                }
                event.record(&mut line);
                log.push(line.0);
            }
        });
    }

    fn enter(&self, id: &tracing::span::Id) {
        ENTERED.with_borrow_mut(|entered| entered.push(id.clone()));
    }

    fn exit(&self, _: &tracing::span::Id) {
        ENTERED.with_borrow_mut(|entered| entered.pop());
    }

    fn current_span(&self) -> tracing_core::span::Current {
        let id = ENTERED.with_borrow(|entered| entered.last().cloned());
        let Some(id) = id else {
            return tracing_core::span::Current::none();
        };
        let span = OPEN.with_borrow(|open| open.get(&id.into_u64()).map(|(span, _)| *span));
        // A request that was read on another thread.
        let request = || {
            REQUEST
                .get()
                .copied()
                .filter(|_| is_of_request(id.into_u64()))
        };
        match span.or_else(request) {
            Some(span) => tracing_core::span::Current::new(id, span),
            None => tracing_core::span::Current::none(),
        }
    }
}

/// Fails if a refusal lacks what the README promises of its `data`: where, by which rule, what was expected and what found.
pub(crate) fn refusals_have_data(message: &serde_json::Value) {
    for message in message
        .as_array()
        .map_or(std::slice::from_ref(message), Vec::as_slice)
    {
        let error = &message["error"];
        if !matches!(error["code"].as_i64(), Some(-32600 | -32602)) {
            continue;
        }
        for member in ["pointer", "rule", "expected", "found"] {
            assert!(error["data"][member].is_string(), "no `{member}`: {error}");
        }
    }
}
