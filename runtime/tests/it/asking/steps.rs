//! `once`: what it keeps, what waits for it; and the mistakes that authors can make with questions.

use std::sync::{
    Arc,
    atomic::{AtomicU32, Ordering},
};

use serde_json::{Value, json};
use tokio::sync::Notify;
use trueform::{AskError, client::ClientOptions, prelude::*, schema::ClientCapabilities};

use super::{Peer, User, accept, everything, keys, text};
use crate::support::soon;

/// How often each step was done.
#[derive(Default)]
struct Done(AtomicU32, Notify);

impl Done {
    fn count(&self) -> u32 {
        self.0.fetch_add(1, Ordering::Relaxed) + 1
    }
}

type Counted = State<Arc<Done>>;

/// Asks while a step waits for the test.
#[tool]
async fn beside(context: Context, done: Counted) -> Result<String, ToolError> {
    let step = context.once("step", async {
        done.count();
        done.1.notified().await;
        7
    });
    let (asked, step) = tokio::join!(context.ask::<bool>("a", "A?"), step);
    Ok(format!("{:?} {}", asked?, step?))
}

/// Asks a second question after a while, which is seen together with the first as long as the step runs.
#[tool]
async fn staggered(context: Context) -> Result<String, ToolError> {
    let pause = |turns: u8| async move {
        for _ in 0..turns {
            tokio::task::yield_now().await;
        }
    };
    let second = async {
        pause(1).await;
        context.ask::<bool>("b", "B?").await
    };
    let step = context.once("step", pause(5));
    let (a, b, step) = tokio::join!(context.ask::<bool>("a", "A?"), second, step);
    step?;
    Ok(format!("{:?} {:?}", a?, b?))
}

/// A step that fails the first time.
#[tool]
async fn failing(context: Context, done: Counted) -> Result<String, ToolError> {
    let step = context.try_once("step", async {
        match done.count() {
            1 => Err(ToolError::new("not yet")),
            count => Ok(count),
        }
    });
    let step = step.await.map_err(|error| error.message().to_owned());
    let asked = context.ask::<bool>("a", "A?").await?;
    Ok(format!("{step:?} {asked:?}"))
}

/// Asks in two ways, and takes the first that is answered.
#[tool]
async fn either(context: Context) -> Result<String, ToolError> {
    let first = tokio::select! {
        biased;
        a = context.ask::<bool>("a", "A?") => format!("a {:?}", a?),
        b = context.ask::<bool>("b", "B?") => format!("b {:?}", b?),
    };
    Ok(first)
}

/// Takes two questions back, and asks another one.
#[tool]
async fn withdrawn(context: Context) -> Result<String, ToolError> {
    tokio::select! {
        biased;
        _ = context.ask::<bool>("a", "A?") => return Ok("asked".to_owned()),
        _ = context.ask::<bool>("other", "B?") => return Ok("asked".to_owned()),
        () = async {} => {}
    }
    // The key is free again.
    let a = context.ask::<u8>("a", "How many?").await?;
    Ok(format!("{a:?}"))
}

/// Uses a key twice.
#[tool]
async fn twice(context: Context) -> Result<String, ToolError> {
    let (a, b) = tokio::join!(
        context.ask::<bool>("a", "A?"),
        context.ask::<bool>("a", "B?")
    );
    Ok(format!("{:?} {:?}", a?, b?))
}

/// Uses a key again that has its answer.
#[tool]
async fn again(context: Context) -> Result<String, ToolError> {
    for _ in 0..2 {
        let _: Asked<bool> = context.ask("a", "A?").await?;
    }
    Ok(String::new())
}

/// Uses the key of a step twice.
#[tool]
async fn twice_done(context: Context, done: Counted) -> Result<String, ToolError> {
    let first = context.once("a", async { done.count() }).await?;
    let second = context.once("a", async { done.count() }).await?;
    Ok(format!("{first} {second}"))
}

/// Asks in a step.
#[tool]
async fn within(context: Context) -> Result<String, ToolError> {
    let asked = context.once("step", async {
        context
            .ask::<bool>("a", "A?")
            .await
            .map(|asked| asked.is_accepted())
            .map_err(|error| error.to_string())
    });
    Ok(format!("{:?}", asked.await?))
}

/// Asks in a task of its own.
#[tool]
async fn spawned(context: Context) -> Result<String, ToolError> {
    let task = tokio::spawn(async move { context.ask::<bool>("a", "A?").await });
    Ok(format!("{:?}", task.await??))
}

/// Does a step in a task of its own.
#[tool]
async fn spawned_step(context: Context) -> Result<String, ToolError> {
    let task = tokio::spawn(async move { context.once("a", async { 1 }).await });
    Ok(format!("{:?}", task.await??))
}

/// Asks on a thread that blocks.
#[tool(blocking)]
fn blocking(context: Context) -> Result<String, ToolError> {
    let runtime = tokio::runtime::Builder::new_current_thread().build()?;
    let asked = runtime.block_on(context.ask::<bool>("a", "A?"))?;
    Ok(format!("{asked:?}"))
}

/// Keeps what is not JSON.
#[tool]
async fn unkept(context: Context) -> Result<String, ToolError> {
    let map: std::collections::HashMap<[u8; 2], u8> = std::iter::once(([1, 2], 3)).collect();
    let kept = context.once("map", async { map }).await;
    Ok(match kept {
        Err(AskError::NotKept(problem)) => problem,
        other => format!("{other:?}"),
    })
}

/// Keeps much.
#[tool]
async fn hoards(context: Context, bytes: usize) -> Result<String, ToolError> {
    let kept = context.once("much", async { "x".repeat(bytes) }).await;
    if let Err(AskError::StateTooLarge { bytes, limit }) = kept {
        return Ok(format!("{bytes} of {limit}"));
    }
    let asked = context.ask::<bool>("a", "A?").await?;
    Ok(format!("{} {asked:?}", kept?.len()))
}

/// Asks after a wait, so that the message is gone.
#[tool]
async fn later(context: Context, pause: u64) -> Result<String, ToolError> {
    for _ in 0..pause {
        tokio::task::yield_now().await;
    }
    let asked = context.ask::<bool>("a", "A?").await?;
    Ok(format!("{asked:?}"))
}

/// A step that never ends.
#[tool(timeout = "1s")]
async fn endless(context: Context) -> Result<String, ToolError> {
    let step = context.once("step", std::future::pending::<u8>());
    let (asked, step) = tokio::join!(context.ask::<bool>("a", "A?"), step);
    Ok(format!("{asked:?} {step:?}"))
}

/// Panics when it is set aside.
#[tool]
async fn bomb(context: Context) -> Result<String, ToolError> {
    struct Bomb;
    impl Drop for Bomb {
        fn drop(&mut self) {
            assert!(std::thread::panicking(), "meant to");
        }
    }
    let bomb = Bomb;
    let asked = context.ask::<bool>("a", "A?").await?;
    std::mem::forget(bomb);
    Ok(format!("{asked:?}"))
}

fn service(done: &Arc<Done>) -> trueform::Service {
    let tools = tools![
        beside,
        staggered,
        failing,
        either,
        withdrawn,
        twice,
        again,
        twice_done,
        within,
        spawned,
        spawned_step,
        blocking,
        unkept,
        hoards,
        later,
        endless,
        bomb
    ];
    let server = Server::new("steps", "1").tools(tools).state(done.clone());
    server.build().unwrap()
}

fn yes(key: &str) -> Value {
    json!({ key: accept(json!({ "answer": true })) })
}

async fn peer() -> Peer {
    Peer::able(&service(&Arc::default())).await
}

// A step that runs is waited for before the client is asked: dropped, it would be done twice.
#[tokio::test]
async fn a_step_ends_before_the_client_is_asked() {
    let done = Arc::<Done>::default();
    let peer = Peer::able(&service(&done)).await;
    let release = async {
        while done.0.load(Ordering::Relaxed) == 0 {
            tokio::task::yield_now().await;
        }
        done.1.notify_one();
    };
    let call = peer.call("beside", json!({}));
    let (asked, ()) = soon(async { tokio::join!(call, release) }).await;
    assert_eq!(keys(&asked), ["a"]);
    let result = peer.again("beside", json!({}), &asked, yes("a")).await;
    assert_eq!(text(&result), "Accepted(true) 7");
    assert_eq!(done.0.load(Ordering::Relaxed), 1);
}

// T-10: an answer is kept although the call does not come to its question in the next round.
#[tokio::test]
async fn an_answer_before_its_time() {
    let peer = peer().await;
    let asked = peer.call("staggered", json!({})).await;
    assert_eq!(keys(&asked), ["a", "b"]);
    let again = peer.again("staggered", json!({}), &asked, yes("b")).await;
    assert_eq!(keys(&again), ["a"]);
    let done = peer.again("staggered", json!({}), &again, yes("a")).await;
    assert_eq!(text(&done), "Accepted(true) Accepted(true)");
    // A wrong one is asked for again when its time comes.
    let wrong = json!({ "b": accept(json!({ "answer": 5 })) });
    let again = peer.again("staggered", json!({}), &asked, wrong).await;
    assert_eq!(keys(&again), ["a"]);
    let again = peer.again("staggered", json!({}), &again, yes("a")).await;
    assert_eq!(keys(&again), ["b"]);
}

// The time limit of the call holds while a step runs.
#[tokio::test]
async fn a_step_that_never_ends() {
    let peer = peer().await;
    tokio::time::pause();
    let result = peer.call("endless", json!({})).await;
    assert_eq!(result["result"]["isError"], true, "{result}");
    assert!(
        text(&result).contains("did not finish within 1s"),
        "{result}"
    );
}

// What failed is done again; what is done is kept.
#[tokio::test]
async fn a_step_that_fails() {
    let peer = peer().await;
    let asked = peer.call("failing", json!({})).await;
    let result = peer.again("failing", json!({}), &asked, yes("a")).await;
    assert_eq!(text(&result), "Ok(2) Accepted(true)");
}

// `select!`: both are asked, and the first that is answered counts. One that was dropped is not asked.
#[tokio::test]
async fn questions_that_are_dropped() {
    let peer = peer().await;
    let asked = peer.call("either", json!({})).await;
    assert_eq!(keys(&asked), ["a", "b"]);
    let result = peer.again("either", json!({}), &asked, yes("b")).await;
    assert_eq!(text(&result), "b Accepted(true)");
    let asked = peer.call("withdrawn", json!({})).await;
    assert_eq!(keys(&asked), ["a"]);
    assert_eq!(
        asked["result"]["inputRequests"]["a"]["params"]["message"],
        "How many?"
    );
    let answer = json!({ "a": accept(json!({ "answer": 3 })) });
    let result = peer.again("withdrawn", json!({}), &asked, answer).await;
    assert_eq!(text(&result), "Accepted(3)");
}

// A call that is set aside long after its message has gone.
#[tokio::test]
async fn a_call_that_asks_late() {
    let peer = peer().await;
    for pause in [0, 1, 5] {
        let arguments = json!({ "pause": pause });
        let asked = peer.call("later", arguments.clone()).await;
        assert_eq!(keys(&asked), ["a"]);
        let result = peer.again("later", arguments, &asked, yes("a")).await;
        assert_eq!(text(&result), "Accepted(true)");
    }
}

// A panic while the future is dropped is contained: the client is asked.
#[tokio::test]
async fn a_panic_when_it_is_set_aside() {
    let peer = peer().await;
    let asked = peer.call("bomb", json!({})).await;
    assert_eq!(keys(&asked), ["a"]);
    let result = peer.again("bomb", json!({}), &asked, yes("a")).await;
    assert_eq!(text(&result), "Accepted(true)");
}

// Each mistake is reported at once, in both eras, with what to do.
#[tokio::test]
async fn mistakes_of_authors() {
    let service = service(&Arc::default());
    for revision in [Revision::V2025_11_25, Revision::V2026_07_28] {
        let capabilities: ClientCapabilities = serde_json::from_value(everything()).unwrap();
        let user = User(|_: &str, _| accept(json!({ "answer": true })));
        let options = ClientOptions::at(revision)
            .capabilities(capabilities)
            .handler(user);
        let client = service.connect_as(options).await.unwrap();
        for (tool, expected) in [
            (
                "twice",
                "the key `a` is used twice in one call: give each question a key of its own",
            ),
            (
                "again",
                "the key `a` is used twice in one call: give each question a key of its own",
            ),
            (
                "twice_done",
                "the key `a` is used twice in one call: give each `once` a key of its own",
            ),
            ("within", "`a` is asked within a `once`: ask before it"),
            ("spawned", "outside of the future of the call"),
            ("spawned_step", "outside of the future of the call"),
            ("blocking", "make the function async"),
        ] {
            let result = soon(client.call_tool(tool, ()).into_future())
                .await
                .unwrap();
            let result = serde_json::to_value(&result).unwrap();
            let said = result["content"][0]["text"].as_str().unwrap();
            assert!(said.contains(expected), "{revision} {tool}: {said}");
        }
    }
}

// The client is not asked first.
#[tokio::test]
async fn mistakes_are_reported_before_anything_is_asked() {
    let peer = peer().await;
    for tool in [
        "twice",
        "twice_done",
        "within",
        "spawned",
        "spawned_step",
        "blocking",
    ] {
        let result = peer.call(tool, json!({})).await;
        assert_eq!(
            result["result"]["resultType"], "complete",
            "{tool}: {result}"
        );
    }
}

#[tokio::test]
async fn what_cannot_be_kept() {
    let peer = peer().await;
    let result = peer.call("unkept", json!({})).await;
    assert!(
        text(&result).contains("the result of the `once` `map` cannot be written as JSON"),
        "{result}"
    );
    let result = peer.call("hoards", json!({ "bytes": 65_531 })).await;
    assert_eq!(text(&result), "65537 of 65536");
    // The frame of the state counts too.
    let result = peer.call("hoards", json!({ "bytes": 65_530 })).await;
    assert_eq!(result["error"]["code"], -32603, "{result}");
    let arguments = json!({ "bytes": 65_000 });
    let asked = peer.call("hoards", arguments.clone()).await;
    let result = peer.again("hoards", arguments, &asked, yes("a")).await;
    assert_eq!(text(&result), "65000 Accepted(true)");
}
