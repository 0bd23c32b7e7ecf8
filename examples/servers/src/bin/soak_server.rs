//! The server that `.ci/soak.py` keeps busy: one tool for each way in which a call can go on or end.
//!
//! Serves standard input and output, or HTTP with `--http ADDRESS`. Sessions end after `SESSION_SECONDS` without activity, so that
//! abandoned sessions end within the run. With `LEAK` set, each `add` keeps that many bytes, to show that the soak test fails.

use std::{sync::Mutex, time::Duration};

use trueform::{
    HttpConfig,
    prelude::*,
    schema::{ElicitOutcome, ElicitRequestParams, methods::Elicit},
};

/// What `add` keeps if it is to leak.
struct Leak {
    bytes: usize,
    kept: Mutex<Vec<Vec<u8>>>,
}

/// Add two numbers
#[tool]
async fn add(a: i64, b: i64, leak: State<Leak>) -> i64 {
    if leak.bytes > 0 {
        // Written, because pages without a write are not resident.
        let kept = vec![1; leak.bytes];
        leak.kept
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner)
            .push(kept);
    }
    a + b
}

/// Report progress and log, as many times as asked for
#[tool]
async fn count(context: Context, to: u32) -> u32 {
    for step in 1..=to {
        context.progress(f64::from(step), Some(f64::from(to)), None);
        context.log(LoggingLevel::Info, format!("step {step}"));
        tokio::task::yield_now().await;
    }
    to
}

/// Wait until the call is given up
#[tool(timeout = "3s")]
async fn wait() -> String {
    std::future::pending().await
}

/// Hold a thread until the call is given up
#[tool(blocking, timeout = "3s")]
fn hold(context: Context) -> &'static str {
    while !context.is_cancelled() {
        std::thread::sleep(Duration::from_millis(5));
    }
    "given up"
}

/// Ask the user
#[tool(timeout = "3s", needs(elicitation))]
async fn ask(context: Context) -> Result<String, ToolError> {
    let form: ElicitRequestParams = serde_json::from_value(serde_json::json!({
        "message": "For how many?",
        "requestedSchema": { "type": "object", "properties": { "people": { "type": "integer" } } },
    }))
    .expect("the form is one");
    match context.request::<Elicit>(form).await? {
        ElicitOutcome::Complete(answer) => Ok(format!("{:?}", answer.action)),
        _ => Err(ToolError::new("the client did not answer with a form")),
    }
}

fn number(variable: &str) -> Option<usize> {
    std::env::var(variable).ok()?.parse().ok()
}

#[tokio::main]
async fn main() -> trueform::Result {
    let seconds = number("SESSION_SECONDS").unwrap_or(3);
    let leak = Leak {
        bytes: number("LEAK").unwrap_or(0),
        kept: Mutex::default(),
    };
    Server::new("soak", env!("CARGO_PKG_VERSION"))
        .tools(tools![add, count, wait, hold, ask])
        .state(leak)
        .http(HttpConfig::default().session_idle(Duration::from_secs(seconds as u64)))
        .run_with(std::env::args().skip(1))
        .await
}
