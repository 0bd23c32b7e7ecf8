//! How much a check may cost, and where it is done.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use serde_json::json;
use tokio::sync::oneshot;
use trueform::{
    DEFAULT_MAX_CHECK_STEPS,
    client::{Client, ClientError},
    prelude::*,
};

use super::called;
use crate::support::{conversation, joined, modern, soon};

#[derive(Deserialize, JsonSchema)]
struct Numbers {
    numbers: Vec<i64>,
    #[serde(default)]
    note: String,
}

/// Sums up.
#[tool]
fn sum(Args(all): Args<Numbers>) -> String {
    format!("{}{}", all.numbers.iter().sum::<i64>(), all.note)
}

/// Sums up, later.
#[tool]
async fn sum_later(numbers: Vec<i64>, _wide: Option<u128>) -> String {
    tokio::task::yield_now().await;
    numbers.iter().sum::<i64>().to_string()
}

/// Sums up, elsewhere.
#[tool(blocking)]
fn sum_blocking(numbers: Vec<i64>, _wide: Option<u128>) -> String {
    numbers.iter().sum::<i64>().to_string()
}

/// Sums up what needs no check.
#[tool]
fn sum_plain(numbers: Vec<i64>) -> String {
    numbers.iter().sum::<i64>().to_string()
}

/// Adds.
#[tool]
fn add(a: i64, b: i64) -> String {
    (a + b).to_string()
}

/// `count` ones, the last written as `last`.
fn numbers(count: usize, last: &str) -> String {
    format!("[{}{last}]", "1,".repeat(count - 1))
}

async fn client(steps: u64) -> Client {
    let server = Server::new("test", "1").tools(tools![sum, sum_later, sum_blocking, sum_plain]);
    server.max_check_steps(steps).connect().await.unwrap()
}

#[tokio::test]
async fn a_check_ends() {
    for (steps, count, fits) in [
        (100, 90, true),
        (100, 110, false),
        (60_000, 59_000, true),
        (60_000, 61_000, false),
        (DEFAULT_MAX_CHECK_STEPS, 999_000, true),
        (DEFAULT_MAX_CHECK_STEPS, 1_000_001, false),
        (2_000_000, 1_000_001, true),
    ] {
        let arguments = format!(r#"{{"numbers":{}}}"#, numbers(count, "1"));
        let answer = called(&client(steps).await, "sum", &arguments).await;
        let expected = match fits {
            true => count.to_string(),
            false => {
                format!("to check them takes more than {steps} steps; send less, or simpler values")
            }
        };
        assert_eq!(answer, expected, "{steps} {count}");
    }
}

// Long checks end like short ones: of all kinds of functions, with all that is said and mended.
#[tokio::test]
async fn long_checks_end_like_short_ones() {
    let client = client(DEFAULT_MAX_CHECK_STEPS).await;
    for count in [100, 100_000] {
        for tool in ["sum", "sum_later", "sum_blocking"] {
            for (last, expected) in [
                ("1", format!("{count}")),
                ("1.0", format!("{count}")),
                (
                    r#""1""#,
                    format!(
                        "/numbers/{}: expected integer, found string \"1\"",
                        count - 1
                    ),
                ),
                (
                    "1e19",
                    format!(
                        "/numbers/{}: expected at most 9223372036854775807, found number 1e+19",
                        count - 1
                    ),
                ),
            ] {
                let arguments = format!(r#"{{"numbers":{}}}"#, numbers(count, last));
                assert_eq!(called(&client, tool, &arguments).await, expected, "{tool}");
            }
        }
        for (last, expected) in [
            ("1.0", format!("{count}")),
            (
                "true",
                format!(
                    "/numbers/{}: expected integer, found boolean true",
                    count - 1
                ),
            ),
        ] {
            let arguments = format!(r#"{{"numbers":{}}}"#, numbers(count, last));
            assert_eq!(called(&client, "sum_plain", &arguments).await, expected);
        }
        let arguments = format!(r#"{{"note":null,"numbers":{}}}"#, numbers(count, "1"));
        assert_eq!(called(&client, "sum", &arguments).await, count.to_string());
    }
}

/// How often another task has its turn while `sum` is called with `arguments`.
async fn turns_meanwhile(arguments: &str, expected: &str) -> usize {
    let client = client(DEFAULT_MAX_CHECK_STEPS).await;
    let turns = Arc::new(AtomicUsize::new(0));
    let counting = tokio::spawn({
        let turns = turns.clone();
        async move {
            loop {
                turns.fetch_add(1, Ordering::Relaxed);
                tokio::task::yield_now().await;
            }
        }
    });
    let answer = soon(called(&client, "sum", arguments)).await;
    counting.abort();
    assert_eq!(answer, expected);
    turns.load(Ordering::Relaxed)
}

// The runtime has one thread, so other tasks have turns only while the check is elsewhere.
#[tokio::test(flavor = "current_thread")]
async fn long_checks_do_not_hold_the_thread_that_reads() {
    let of = |count| format!(r#"{{"numbers":{}}}"#, numbers(count, "1"));
    let short = turns_meanwhile(&of(40_000), "40000").await;
    let long = turns_meanwhile(&of(900_000), "900000").await;
    assert!(short < 50, "a short check is done at once: {short}");
    assert!(500 < long, "others wait for a long check: {long}");

    // Of few steps, but a tree is made of it to find the words.
    let problem = "/note: expected string, found array of 2000000 items";
    let wrong = format!(r#"{{"numbers":[],"note":{}}}"#, numbers(2_000_000, "1"));
    let long = turns_meanwhile(&wrong, problem).await;
    assert!(500 < long, "others wait for a large tree: {long}");
}

// E-9, O-2: a call that is cancelled while its arguments are checked never begins.
#[tokio::test(flavor = "current_thread")]
async fn a_call_that_is_cancelled_while_it_is_checked_never_begins() {
    /// Dropped when nothing can call it any more; then the receiver of the channel gets an error.
    struct Counter(
        Arc<AtomicUsize>,
        #[expect(dead_code, reason = "dropped")] oneshot::Sender<()>,
    );

    #[server]
    impl Counter {
        /// Counts its calls.
        #[tool]
        fn count(&self, Args(_): Args<Numbers>) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    let begun = Arc::new(AtomicUsize::new(0));
    let (alive, dropped) = oneshot::channel();
    let service = Server::new("test", "1")
        .tools(Counter(begun.clone(), alive))
        .tools(tools![add])
        .build()
        .unwrap();
    let long = format!(
        r#","name":"count","arguments":{{"numbers":{}}}"#,
        numbers(900_000, "1")
    );
    // Checked at once, which takes long enough for the other check to begin and not long enough for it to end.
    let short = format!(
        r#","name":"count","arguments":{{"numbers":{}}}"#,
        numbers(45_000, "1")
    );
    let cancel = r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1,"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}"#;
    let lines = [
        modern("1", "tools/call", &long),
        modern("2", "tools/call", &short),
        cancel.to_owned(),
    ];
    let answers = conversation(&service, joined(lines)).await;
    assert_eq!(answers.len(), 1, "{answers:?}");
    assert!(answers[0].contains(r#""id":2"#), "{answers:?}");
    drop(service);
    // The check ends in its own time, and whatever it holds goes with it.
    soon(dropped).await.unwrap_err();
    assert_eq!(begun.load(Ordering::Relaxed), 1);
}

// I-7
#[tokio::test]
async fn a_result_that_takes_too_long_to_check_is_held_back() {
    #[derive(Serialize, JsonSchema)]
    struct Ones {
        ones: Vec<u8>,
    }

    /// Gives ones.
    #[tool]
    fn ones(count: u32) -> Json<Ones> {
        Json(Ones {
            ones: vec![1; count as usize],
        })
    }

    let server = Server::new("test", "1").tools(tools![ones]);
    let client = server.max_check_steps(100).connect().await.unwrap();
    assert!(client.call_tool("ones", json!({"count": 90})).await.is_ok());
    match client.call_tool("ones", json!({"count": 110})).await {
        Err(ClientError::Remote(error)) => assert_eq!(
            (error.code, &*error.message),
            (
                -32603,
                "tool `ones` returned a result that is too large to be checked"
            )
        ),
        other => panic!("{other:?}"),
    }
}
