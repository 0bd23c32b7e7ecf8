//! Random programs of questions and steps, in sequence, side by side, against each other, and dropped: whatever the client answers
//! first, and however often, each step is done once.

use std::{
    collections::BTreeMap,
    future::Future,
    pin::Pin,
    sync::{
        Arc, Mutex,
        atomic::{AtomicU32, Ordering},
    },
    task::Poll,
};

use proptest::prelude::*;
use serde_json::json;
use trueform::{Asked, Context, DynamicTool, Server, ToolError, tool::IntoToolResult};

use super::{Peer, accept, state, text};
use crate::support::soon;

/// What a handler does.
#[derive(Clone, Debug)]
enum Program {
    Ask,
    /// A step that yields so often before it is done.
    Once(u8),
    Yield,
    Sequence(Vec<Program>),
    /// All of them, side by side.
    Join(Vec<Program>),
    /// The first that is done.
    Select(Vec<Program>),
    /// Polled once, and dropped.
    Dropped(Box<Program>),
}

/// How often each step was done, and with what result.
#[derive(Default)]
struct Steps {
    done: Mutex<BTreeMap<String, Vec<u32>>>,
    next: AtomicU32,
}

/// What was asked or done, in the order in which it became known.
type Seen = Arc<Mutex<BTreeMap<String, u32>>>;
type Running<'a> = Pin<Box<dyn Future<Output = Result<(), ToolError>> + Send + 'a>>;

fn run<'a>(
    program: &'a Program,
    path: String,
    context: &'a Context,
    steps: &'a Steps,
    seen: &'a Seen,
) -> Running<'a> {
    let within = |programs: &'a [Program]| -> Vec<Running<'a>> {
        let numbered = programs.iter().enumerate();
        numbered
            .map(|(at, one)| run(one, format!("{path}.{at}"), context, steps, seen))
            .collect()
    };
    match program {
        Program::Ask => Box::pin(async move {
            let answer = context.ask::<u32>(&*path, "How many?").await?;
            let Asked::Accepted(answer) = answer else {
                return Err(ToolError::new("refused"));
            };
            seen.lock().unwrap().insert(path, answer);
            Ok(())
        }),
        Program::Once(yields) => Box::pin(async move {
            let result = context
                .once(&*path, async {
                    for _ in 0..*yields {
                        tokio::task::yield_now().await;
                    }
                    let result = steps.next.fetch_add(1, Ordering::Relaxed);
                    let mut done = steps.done.lock().unwrap();
                    done.entry(path.clone()).or_default().push(result);
                    result
                })
                .await?;
            seen.lock().unwrap().insert(path, result);
            Ok(())
        }),
        Program::Yield => Box::pin(async {
            tokio::task::yield_now().await;
            Ok(())
        }),
        Program::Sequence(programs) => {
            let parts = within(programs);
            Box::pin(async move {
                for part in parts {
                    part.await?;
                }
                Ok(())
            })
        }
        Program::Join(programs) => {
            let mut parts: Vec<_> = within(programs).into_iter().map(Some).collect();
            Box::pin(std::future::poll_fn(move |cx| {
                let mut pending = false;
                for part in &mut parts {
                    match part.as_mut().map(|part| part.as_mut().poll(cx)) {
                        Some(Poll::Ready(Ok(()))) => *part = None,
                        Some(Poll::Ready(Err(error))) => return Poll::Ready(Err(error)),
                        Some(Poll::Pending) => pending = true,
                        None => {}
                    }
                }
                if pending {
                    Poll::Pending
                } else {
                    Poll::Ready(Ok(()))
                }
            }))
        }
        Program::Select(programs) => {
            let mut parts = within(programs);
            Box::pin(async move {
                let first = std::future::poll_fn(|cx| {
                    let mut ready = parts.iter_mut().map(|part| part.as_mut().poll(cx));
                    ready.find(Poll::is_ready).unwrap_or(Poll::Pending)
                })
                .await;
                drop(parts);
                first
            })
        }
        Program::Dropped(program) => {
            let mut part = Some(run(program, format!("{path}.d"), context, steps, seen));
            Box::pin(std::future::poll_fn(move |cx| {
                if let Some(mut part) = part.take() {
                    let _ = part.as_mut().poll(cx);
                }
                Poll::Ready(Ok(()))
            }))
        }
    }
}

fn programs() -> impl Strategy<Value = Program> {
    let leaf = prop_oneof![
        3 => Just(Program::Ask),
        3 => (0_u8..4).prop_map(Program::Once),
        1 => Just(Program::Yield),
    ];
    leaf.prop_recursive(4, 16, 4, |inner| {
        let several = || prop::collection::vec(inner.clone(), 1..4);
        prop_oneof![
            3 => several().prop_map(Program::Sequence),
            3 => several().prop_map(Program::Join),
            1 => several().prop_map(Program::Select),
            1 => inner.clone().prop_map(|one| Program::Dropped(Box::new(one))),
        ]
    })
}

/// What the client does in one round: which questions it answers, and whether the request is sent twice.
type Round = (u8, bool);

/// Rounds after which everything is answered.
const ENOUGH: usize = 30;

async fn converse(program: Program, rounds: Vec<Round>) -> Result<(), TestCaseError> {
    let steps = Arc::<Steps>::default();
    let done = steps.clone();
    let tool =
        DynamicTool::new("run", json!({ "type": "object" })).handler(move |context: Context, _| {
            let (program, steps) = (program.clone(), steps.clone());
            async move {
                let seen = Seen::default();
                run(&program, String::from("p"), &context, &steps, &seen).await?;
                let seen = seen.lock().unwrap();
                serde_json::to_string(&*seen)?.into_tool_result()
            }
        });
    let service = Server::new("interleaved", "1")
        .tools(tool)
        .ask_rounds(100)
        .build()
        .unwrap();
    let peer = Peer::able(&service).await;
    let mut given = BTreeMap::new();
    let mut params = json!({ "name": "run" });
    let mut at = 0;
    let last = loop {
        let (which, twice) = rounds.get(at).copied().unwrap_or((0, false));
        at += 1;
        if twice {
            // A client that lost the response sends the request again. What the first one did is the client's doing.
            let before = done.done.lock().unwrap().clone();
            peer.send("tools/call", params.clone()).await;
            *done.done.lock().unwrap() = before;
        }
        let response = peer.send("tools/call", params.clone()).await;
        if response["result"]["resultType"] != "input_required" {
            break response;
        }
        prop_assert!(at < ENOUGH * 2, "it never ends: {response}");
        let questions = response["result"]["inputRequests"].as_object().unwrap();
        prop_assert!(!questions.is_empty(), "{response}");
        let mut answers = json!({ "unknown": accept(json!({ "answer": 1 })) });
        for (number, key) in questions.keys().enumerate() {
            prop_assert!(!given.contains_key(key), "asked again: {key}");
            let chosen = which >> (number % 8) & 1 == 1;
            match (ENOUGH < at || chosen, number % 3) {
                (true, _) => {
                    let answer = 1000 + at;
                    answers[key] = accept(json!({ "answer": answer }));
                    given.insert(key.clone(), answer);
                }
                (false, 0) => answers[key] = accept(json!({ "answer": "wrong" })),
                (false, _) => {}
            }
        }
        params =
            json!({ "name": "run", "requestState": state(&response), "inputResponses": answers });
    };
    let seen: BTreeMap<String, u32> = serde_json::from_str(text(&last)).unwrap();
    let done = done.done.lock().unwrap();
    for (key, results) in &*done {
        prop_assert_eq!(
            results.len(),
            1,
            "`{}` was done {} times",
            key,
            results.len()
        );
    }
    for (key, value) in &seen {
        let known = done.get(key).map(|results| results[0]);
        let known = known.or(given.get(key).map(|answer| u32::try_from(*answer).unwrap()));
        prop_assert_eq!(known, Some(*value), "`{}`", key);
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    // T-5, T-10, T-11
    #[test]
    fn each_step_is_done_once(program in programs(), rounds in prop::collection::vec(any::<Round>(), 0..ENOUGH)) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(soon(converse(program, rounds)))?;
    }
}
