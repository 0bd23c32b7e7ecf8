//! What the tests share: raw conversations, and tools that do as they are told.

use std::{
    cell::RefCell,
    future::Future,
    sync::{Arc, Mutex},
    time::Duration,
};

use tokio::sync::{mpsc, watch};
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
    text.lines().map(str::to_owned).collect()
}

/// `lines` as a stream.
pub(crate) fn joined<T: AsRef<str>>(lines: impl IntoIterator<Item = T>) -> String {
    lines
        .into_iter()
        .map(|line| format!("{}\n", line.as_ref()))
        .collect()
}

/// `future`, or a failure of the test if it takes very long.
pub(crate) async fn soon<F: Future>(future: F) -> F::Output {
    // Real time: under a paused clock a wait for another thread would seem to last forever at once.
    let limit = async {
        let (sender, receiver) = tokio::sync::oneshot::channel::<()>();
        std::thread::spawn(move || {
            std::thread::sleep(Duration::from_secs(20));
            drop(sender);
        });
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
    #[cfg(feature = "http")]
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

thread_local! {
    /// Where the log lines of this thread go.
    static LOG: RefCell<Option<Arc<Collected<String>>>> = const { RefCell::new(None) };
}

/// What is logged on this thread from now on, one line an event: level and fields. For tests whose runtime has one thread.
pub(crate) fn log() -> Arc<Collected<String>> {
    static ONCE: std::sync::Once = std::sync::Once::new();
    // One subscriber for all threads: with one per test, what a thread without any does first decides for all.
    ONCE.call_once(|| tracing::subscriber::set_global_default(Log).expect("nobody else sets one"));
    let lines = Arc::<Collected<String>>::default();
    LOG.with_borrow_mut(|log| *log = Some(lines.clone()));
    lines
}

struct Log;

impl tracing::Subscriber for Log {
    fn enabled(&self, metadata: &tracing::Metadata<'_>) -> bool {
        *metadata.level() <= tracing::Level::DEBUG
    }

    fn new_span(&self, _: &tracing::span::Attributes<'_>) -> tracing::span::Id {
        tracing::span::Id::from_u64(1)
    }

    fn record(&self, _: &tracing::span::Id, _: &tracing::span::Record<'_>) {}

    fn record_follows_from(&self, _: &tracing::span::Id, _: &tracing::span::Id) {}

    fn event(&self, event: &tracing::Event<'_>) {
        struct Line(String);

        impl tracing::field::Visit for Line {
            fn record_debug(&mut self, field: &tracing::field::Field, value: &dyn std::fmt::Debug) {
                self.0.push_str(&format!(" {field}={value:?}"));
            }
        }

        LOG.with_borrow(|log| {
            if let Some(log) = log {
                let mut line = Line(event.metadata().level().to_string());
                event.record(&mut line);
                log.push(line.0);
            }
        });
    }

    fn enter(&self, _: &tracing::span::Id) {}

    fn exit(&self, _: &tracing::span::Id) {}
}
