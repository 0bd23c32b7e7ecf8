//! The client against servers that mean it harm, or might as well: what they can make it do, keep, and believe.

use std::{
    future::IntoFuture,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use serde_json::{Value, json};
use trueform::{
    Leniencies, Policy,
    client::{
        Answering, Client, ClientError, ClientHandler, ClientOptions, LocalError, Negotiation,
        StrayKind,
    },
    prelude::*,
    schema::{
        CallToolRequestParams, ClientCapabilities, CreateMessageRequestParams, Json as AnyJson,
        Role, SamplingMessage, SamplingMessageContentBlock, SubscriptionFilter, TaskMetadata,
        TextContent,
        methods::{CallTool, CreateMessage},
    },
};

use crate::{
    client::{Answers, Mock, against, discovered, play_legacy, with_roots},
    support::{Collected, log, soon},
};

const LEGACY: [Revision; 4] = [
    Revision::V2024_11_05,
    Revision::V2025_03_26,
    Revision::V2025_06_18,
    Revision::V2025_11_25,
];

async fn opened(mock: &mut Mock) {
    let request = mock.next().await.unwrap();
    play_legacy(mock, &request).await;
}

async fn discovered_by(mock: &mut Mock) {
    let probe = mock.next().await.unwrap();
    mock.result(&probe, discovered(&["2026-07-28"])).await;
}

fn notification(method: &str, params: Value) -> Value {
    json!({ "jsonrpc": "2.0", "method": method, "params": params })
}

fn request(id: impl Into<Value>, method: &str, params: Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": id.into(), "method": method, "params": params })
}

/// A call, whose answer shows that everything the server said before it has arrived.
async fn call(client: &Client) {
    soon(client.call_tool("any", ()).into_future())
        .await
        .unwrap();
}

/// Sends `messages` before the answer to the next call.
async fn say(mock: &mut Mock, messages: impl IntoIterator<Item = Value>) {
    let call = mock.next().await.unwrap();
    for message in messages {
        mock.send(message).await;
    }
    let result = json!({ "resultType": "complete", "content": [] });
    mock.result(&call, result).await;
}

// T-2: nothing asks for input in the legacy era, and nothing can be given where nothing is asked. A call is made once.
#[tokio::test]
async fn calls_that_must_not_be_repeated() {
    let asking = json!({ "resultType": "input_required", "inputRequests": { "k": { "method": "roots/list" } }, "requestState": "s" });
    let empty = json!({ "resultType": "input_required" });
    let none = json!({ "resultType": "input_required", "inputRequests": {} });
    let legacy = LEGACY.map(|revision| (revision, asking.clone()));
    let modern = [empty, none].map(|asked| (Revision::V2026_07_28, asked));
    for (revision, asked) in legacy.into_iter().chain(modern) {
        for policy in [Policy::Enforce, Policy::Warn, Policy::Off] {
            let questions = Arc::new(Collected::default());
            let options = ClientOptions::at(revision)
                .incoming(policy)
                .capabilities(with_roots())
                .handler(Answers(questions.clone()));
            let asked = asked.clone();
            let (connecting, playing) = against(options, move |mut mock| async move {
                match revision {
                    Revision::V2026_07_28 => discovered_by(&mut mock).await,
                    _ => opened(&mut mock).await,
                }
                let first = mock.next().await.unwrap();
                mock.result(&first, asked).await;
                mock.next().await
            });
            let client = connecting.await.unwrap();
            let called = soon(
                client
                    .call_tool("any", ())
                    .timeout(Duration::from_secs(3))
                    .into_future(),
            )
            .await;
            assert!(
                matches!(called, Err(ClientError::Local(LocalError::Decode(_)))),
                "{revision} {policy:?}: {called:?}"
            );
            drop(client);
            let repeated = soon(playing).await.unwrap();
            assert_eq!(repeated, None, "{revision} {policy:?}");
            assert!(questions.take().is_empty());
        }
    }
}

/// Whoever writes the request by its type is not given a result of another era either.
#[tokio::test]
async fn results_of_another_era() {
    let (connecting, playing) = against(
        ClientOptions::at(Revision::V2025_06_18),
        |mut mock| async move {
            opened(&mut mock).await;
            let first = mock.next().await.unwrap();
            let asking = json!({ "resultType": "input_required", "requestState": "s" });
            mock.result(&first, asking).await;
            mock
        },
    );
    let client = connecting.await.unwrap();
    let params = CallToolRequestParams::new("any");
    let error = soon(client.request::<CallTool>(params).into_future())
        .await
        .unwrap_err();
    assert!(error.to_string().contains("2025-06-18"), "{error}");
    drop(soon(playing).await.unwrap());
}

/// A line is kept once, however many messages are in it.
#[tokio::test]
async fn a_batch_is_kept_once() {
    for revision in [Revision::V2025_03_26, Revision::V2025_06_18] {
        let (connecting, playing) =
            against(ClientOptions::at(revision), move |mut mock| async move {
                opened(&mut mock).await;
                let one = notification("notifications/of/nobody", json!({}));
                let batch = json!([one, one, one]);
                say(&mut mock, [batch, notification("last", json!({}))]).await;
                mock
            });
        let client = connecting.await.unwrap();
        call(&client).await;
        let kept = soon(client.next_message()).await.unwrap();
        assert!(kept.starts_with('['), "{kept}");
        let kept = soon(client.next_message()).await.unwrap();
        assert!(kept.contains("last"), "{revision}: {kept}");
        drop(soon(playing).await.unwrap());
    }
}

/// What nobody reads is bounded in bytes, and the newest is there.
#[tokio::test]
async fn messages_that_nobody_reads() {
    let (connecting, playing) = against(
        ClientOptions::at(Revision::V2025_06_18),
        |mut mock| async move {
            opened(&mut mock).await;
            let long = "x".repeat(1 << 20);
            let messages = (0..20).map(|at| {
                notification(
                    "notifications/message",
                    json!({ "level": "info", "logger": format!("{at}"), "data": long }),
                )
            });
            say(&mut mock, messages).await;
            mock
        },
    );
    let client = connecting.await.unwrap();
    let mut heard = client.notifications();
    call(&client).await;
    let heard: Vec<_> = std::iter::from_fn(|| heard.try_next()).collect();
    assert!((4..=8).contains(&heard.len()), "{}", heard.len());
    let newest = heard.last().unwrap().params().unwrap().to_value();
    assert_eq!(newest["logger"], "19");
    let mut kept = 0;
    while !soon(client.next_message())
        .await
        .unwrap()
        .contains(r#""19""#)
    {
        kept += 1;
    }
    assert!((4..=8).contains(&kept), "{kept}");
    drop(soon(playing).await.unwrap());
}

fn of_subscription(id: &Value, method: &str, params: Value) -> Value {
    let mut params = params;
    params["_meta"] = json!({ "io.modelcontextprotocol/subscriptionId": id });
    notification(method, params)
}

/// A modern server that acknowledges `honoured` to what was asked, and says `messages` before the answer to a call.
fn subscribed(
    options: ClientOptions,
    honoured: Value,
    messages: Vec<(&'static str, Value)>,
) -> (
    impl Future<Output = Result<Client, ClientError>>,
    tokio::task::JoinHandle<Mock>,
) {
    against(options, move |mut mock| async move {
        discovered_by(&mut mock).await;
        let listen = mock.next().await.unwrap();
        let id = &listen["id"];
        let acknowledged = of_subscription(
            id,
            "notifications/subscriptions/acknowledged",
            json!({ "notifications": honoured }),
        );
        mock.send(acknowledged).await;
        let messages = messages
            .into_iter()
            .map(|(method, params)| of_subscription(id, method, params));
        say(&mut mock, messages.collect::<Vec<_>>()).await;
        let end = json!({ "resultType": "complete", "_meta": { "io.modelcontextprotocol/subscriptionId": id } });
        mock.result(&listen, end).await;
        mock
    })
}

fn tools_only() -> SubscriptionFilter {
    let mut filter = SubscriptionFilter::default();
    filter.tools_list_changed = Some(true);
    filter
}

const TOOLS_CHANGED: &str = "notifications/tools/list_changed";
const PROMPTS_CHANGED: &str = "notifications/prompts/list_changed";

#[tokio::test]
async fn a_subscription_that_nobody_reads() {
    let told = log();
    let many = vec![(TOOLS_CHANGED, json!({})); 3000];
    let (connecting, playing) = subscribed(
        ClientOptions::new(),
        json!({ "toolsListChanged": true }),
        many,
    );
    let client = connecting.await.unwrap();
    let mut subscription = soon(client.listen(tools_only())).await.unwrap();
    call(&client).await;
    drop(soon(playing).await.unwrap());
    let mut heard = 0;
    while soon(subscription.next()).await.is_some() {
        heard += 1;
    }
    assert_eq!(heard, 1024);
    let told = told.take();
    let lost = told
        .iter()
        .filter(|line| line.contains("the oldest are lost"));
    assert_eq!(lost.count(), 1, "{told:#?}");
}

// U-5
#[tokio::test]
async fn a_subscription_to_more_than_was_asked_for() {
    for (policy, wider) in [(Policy::Enforce, false), (Policy::Warn, true)] {
        let honoured = json!({ "toolsListChanged": true, "promptsListChanged": true, "resourceSubscriptions": ["file:///a"] });
        let messages = vec![
            (PROMPTS_CHANGED, json!({})),
            (
                "notifications/resources/updated",
                json!({ "uri": "file:///a" }),
            ),
            ("notifications/resources/list_changed", json!({})),
            (TOOLS_CHANGED, json!({})),
        ];
        let options = ClientOptions::new().incoming(policy);
        let (connecting, playing) = subscribed(options, honoured, messages);
        let client = connecting.await.unwrap();
        let mut subscription = soon(client.listen(tools_only())).await.unwrap();
        let honoured = subscription.honoured();
        assert_eq!(honoured.tools_list_changed, Some(true));
        assert_eq!(honoured.prompts_list_changed.is_some(), wider);
        let addresses = honoured.resource_subscriptions.iter().flatten();
        assert_eq!(addresses.count(), usize::from(wider));
        call(&client).await;
        let mut heard = Vec::new();
        while let Some(notified) = soon(subscription.next()).await {
            heard.push(notified.method().to_owned());
        }
        match wider {
            true => assert_eq!(heard.len(), 4),
            false => assert_eq!(heard, [TOOLS_CHANGED]),
        }
        drop(soon(playing).await.unwrap());
    }
}

// U-3, U-7: what the server did is the error, also if it ends the connection at once.
#[tokio::test]
async fn a_subscription_that_is_not_acknowledged() {
    for (is_refused, is_kept) in [(false, true), (false, false), (true, true), (true, false)] {
        let (connecting, playing) = against(ClientOptions::new(), move |mut mock| async move {
            discovered_by(&mut mock).await;
            let listen = mock.next().await.unwrap();
            match is_refused {
                true => {
                    let error = json!({ "code": -32603, "message": "not today" });
                    let answer = json!({ "jsonrpc": "2.0", "id": listen["id"], "error": error });
                    mock.send(answer).await;
                }
                false => {
                    mock.result(&listen, json!({ "resultType": "complete" }))
                        .await
                }
            }
            is_kept.then_some(mock)
        });
        let client = connecting.await.unwrap();
        let error = soon(client.listen(tools_only())).await.unwrap_err();
        let expected = match is_refused {
            true => "the server answered with error -32603: not today",
            false => {
                "the answer does not fit the method: the server ended the subscription before it acknowledged it"
            }
        };
        assert_eq!(error.to_string(), expected, "{is_kept}");
        drop(soon(playing).await.unwrap());
    }
}

// What comes for a subscription that has ended and was dropped belongs to nothing.
#[tokio::test]
async fn a_subscription_that_has_ended() {
    let (connecting, playing) = against(ClientOptions::new(), |mut mock| async move {
        discovered_by(&mut mock).await;
        for is_acknowledged in [false, true] {
            let listen = mock.next().await.unwrap();
            let id = &listen["id"];
            let of_this = |method, params| of_subscription(id, method, params);
            let honoured = json!({ "notifications": { "toolsListChanged": true } });
            if is_acknowledged {
                let method = "notifications/subscriptions/acknowledged";
                mock.send(of_this(method, honoured)).await;
            }
            mock.result(&listen, json!({ "resultType": "complete" }))
                .await;
            say(&mut mock, [of_this(TOOLS_CHANGED, json!({}))]).await;
        }
        mock
    });
    let client = connecting.await.unwrap();
    for is_acknowledged in [false, true] {
        match soon(client.listen(tools_only())).await {
            Ok(mut subscription) => assert!(soon(subscription.next()).await.is_none()),
            Err(error) => assert!(!is_acknowledged, "{error}"),
        }
        call(&client).await;
        let strays = client.stray_count(StrayKind::UnknownSubscription);
        assert_eq!(strays, 1 + u64::from(is_acknowledged));
    }
    drop(soon(playing).await.unwrap());
}

/// Never answers; counts what it was asked and what of it was stopped.
#[derive(Clone, Default)]
struct Stuck {
    asked: Arc<AtomicUsize>,
    stopped: Arc<AtomicUsize>,
}

struct CountsDrops(Arc<AtomicUsize>);

impl Drop for CountsDrops {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

impl ClientHandler for Stuck {
    fn answer(&self, method: &str, _: Option<AnyJson>) -> Answering<'_> {
        if method == "extension/at-once" {
            return Box::pin(std::future::ready(Ok(json!({}).into())));
        }
        self.asked.fetch_add(1, Ordering::Relaxed);
        let guard = CountsDrops(self.stopped.clone());
        Box::pin(async move {
            let _guard = guard;
            std::future::pending().await
        })
    }
}

// O-2, A-3
#[tokio::test]
async fn requests_that_are_never_answered() {
    let stuck = Stuck::default();
    let options = ClientOptions::at(Revision::V2025_06_18)
        .capabilities(with_roots())
        .handler(stuck.clone());
    let (connecting, playing) = against(options, |mut mock| async move {
        opened(&mut mock).await;
        for id in 0..64 {
            mock.send(request(id, "roots/list", json!({}))).await;
        }
        // Taken: dropped, as is what is malformed.
        mock.send(request(7, "roots/list", json!({}))).await;
        mock.send(request(7, "ping", json!({}))).await;
        mock.send(json!({ "jsonrpc": "2.0", "id": 7, "method": 5 }))
            .await;
        mock.send(request(64, "roots/list", json!({}))).await;
        let refused = mock.next().await.unwrap();
        assert_eq!(refused["id"], 64, "{refused}");
        assert_eq!(refused["error"]["code"], -32603);
        let told = refused["error"]["message"].as_str().unwrap();
        assert!(told.contains("64 at once"), "{told}");
        // Cancelled: stopped, not answered, and its place and its id are free.
        let cancelled =
            |id: u32| notification("notifications/cancelled", json!({ "requestId": id }));
        mock.send(cancelled(7)).await;
        mock.send(cancelled(7)).await;
        mock.send(cancelled(4711)).await;
        mock.send(request(7, "extension/at-once", json!({}))).await;
        assert_eq!(mock.next().await.unwrap()["id"], 7);
        mock.send(request(7, "extension/at-once", json!({}))).await;
        assert_eq!(mock.next().await.unwrap()["id"], 7);
        mock
    });
    let client = connecting.await.unwrap();
    let mock = soon(playing).await.unwrap();
    assert_eq!(stuck.asked.load(Ordering::Relaxed), 64);
    assert_eq!(stuck.stopped.load(Ordering::Relaxed), 1);
    drop((client, mock));
    soon(async {
        while stuck.stopped.load(Ordering::Relaxed) < 64 {
            tokio::task::yield_now().await;
        }
    })
    .await;
}

/// A server that asks and does not read what it is told.
#[tokio::test]
async fn answers_that_nobody_reads() {
    let (connecting, playing) = against(
        ClientOptions::at(Revision::V2025_06_18),
        |mut mock| async move {
            opened(&mut mock).await;
            // The longest that is taken.
            let id = "i".repeat(1 << 10);
            for _ in 0..10_000 {
                mock.send(request(&*id, "ping", json!({}))).await;
            }
            mock.send(notification("last", json!({}))).await;
            mock
        },
    );
    let client = connecting.await.unwrap();
    let mut heard = client.notifications();
    let mut mock = soon(playing).await.unwrap();
    soon(heard.next()).await.unwrap();
    let playing = tokio::spawn(async move {
        let mut answers = 0;
        loop {
            let message = mock.next().await.unwrap();
            if message.get("result").is_none() {
                mock.result(&message, json!({ "content": [] })).await;
                // The server reads again, and is answered again.
                mock.send(request(1, "ping", json!({}))).await;
                assert_eq!(mock.next().await.unwrap()["id"], 1);
                return answers;
            }
            answers += 1;
        }
    });
    call(&client).await;
    let answers = soon(playing).await.unwrap();
    // 8 MiB of them, and what the pipe holds.
    assert!((7_800..8_000).contains(&answers), "{answers}");
}

/// A server that does not read is given up after the write timeout; one that reads a little now and then is not.
#[tokio::test(start_paused = true)]
async fn requests_that_are_not_read() {
    use tokio::io::AsyncReadExt;

    let limit = ClientOptions::DEFAULT_WRITE_TIMEOUT;
    assert_eq!(limit.as_secs(), 60);
    for (reads, write_timeout, closed) in [
        (false, limit, true),
        (true, limit, false),
        (false, Duration::ZERO, false),
    ] {
        let (near, mut far) = tokio::io::duplex(1000);
        let (reader, writer) = tokio::io::split(near);
        let options = ClientOptions::new()
            .negotiation(Negotiation::Nothing)
            .timeout(limit * 100)
            .write_timeout(write_timeout);
        let client = Client::over(reader, writer, options).await.unwrap();
        let begun = tokio::time::Instant::now();
        let calling = tokio::spawn(async move {
            let text = "x".repeat(10_000);
            client.call_tool("echo", json!({ "text": text })).await
        });
        if reads {
            let mut read = 0;
            while read < 10_000 {
                tokio::time::sleep(limit - Duration::from_secs(1)).await;
                read += far.read(&mut [0; 1000]).await.unwrap();
                assert!(!calling.is_finished());
            }
        }
        let error = calling.await.unwrap().unwrap_err();
        let is_closed = matches!(error, ClientError::Local(LocalError::Closed));
        assert_eq!(is_closed, closed, "{error}");
        let waited = if closed { limit } else { limit * 100 };
        assert_eq!(begun.elapsed(), waited);
    }
}

/// Lists without an end: ever new cursors, or ever more of them in bytes.
#[tokio::test]
async fn lists_that_go_on_and_on() {
    for (size, most) in [(1, 1_000), (1 << 22, 16)] {
        let options = ClientOptions::at(Revision::V2025_06_18);
        let (connecting, playing) = against(options, move |mut mock| async move {
            opened(&mut mock).await;
            let filler = "c".repeat(size);
            let mut pages = 0;
            while let Some(request) = mock.next().await {
                if pages == most + 5 {
                    break;
                }
                let page = json!({ "tools": [], "nextCursor": format!("{pages}{filler}") });
                mock.result(&request, page).await;
                pages += 1;
            }
            pages
        });
        let client = connecting.await.unwrap();
        let listed = tokio::time::timeout(Duration::from_secs(60), client.list_tools()).await;
        let error = listed.unwrap().unwrap_err().to_string();
        assert!(error.contains(&format!("{most} pages")), "{error}");
        drop(client);
        assert_eq!(soon(playing).await.unwrap(), most);
    }
}

#[tokio::test]
async fn callbacks_that_panic() {
    struct PanicsWhenDropped;
    impl Drop for PanicsWhenDropped {
        fn drop(&mut self) {
            panic!("meant, when dropped");
        }
    }
    let told = log();
    let (connecting, playing) = against(
        ClientOptions::at(Revision::V2025_06_18),
        |mut mock| async move {
            opened(&mut mock).await;
            for _ in 0..3 {
                let call = mock.next().await.unwrap();
                let token = &call["params"]["_meta"]["progressToken"];
                for progress in 1..3 {
                    let params = json!({ "progressToken": token, "progress": progress });
                    mock.send(notification("notifications/progress", params))
                        .await;
                }
                mock.result(&call, json!({ "content": [] })).await;
            }
            mock
        },
    );
    let client = connecting.await.unwrap();
    let panics = client
        .call_tool("any", ())
        .timeout(Duration::from_secs(3))
        .on_progress(|_| panic!("meant"));
    soon(panics.into_future()).await.unwrap();
    let guard = PanicsWhenDropped;
    let panics = client.call_tool("any", ()).on_progress(move |_| {
        let _ = &guard;
    });
    soon(panics.into_future()).await.unwrap();
    call(&client).await;
    let told = told.take();
    let panicked = told
        .iter()
        .filter(|line| line.contains("a progress callback panicked"));
    assert_eq!(panicked.count(), 2, "{told:#?}");
    drop(soon(playing).await.unwrap());
}

/// Panics, at once or later.
struct Panics;

impl ClientHandler for Panics {
    fn answer(&self, method: &str, _: Option<AnyJson>) -> Answering<'_> {
        assert_ne!(method, "extension/at-once", "meant");
        Box::pin(async {
            tokio::task::yield_now().await;
            panic!("meant");
        })
    }
}

#[tokio::test]
async fn handlers_that_panic() {
    let options = ClientOptions::at(Revision::V2025_06_18).handler(Panics);
    let (connecting, playing) = against(options, |mut mock| async move {
        opened(&mut mock).await;
        for method in ["extension/at-once", "extension/later"] {
            mock.send(request(method, method, json!({}))).await;
            let answer = mock.next().await.unwrap();
            assert_eq!(answer["id"], method);
            assert_eq!(answer["error"]["code"], -32603, "{answer}");
        }
        mock
    });
    let client = connecting.await.unwrap();
    let mock = soon(playing).await.unwrap();
    drop((client, mock));
}

/// Notes the params it was given.
struct Notes(Arc<Collected<Value>>);

impl ClientHandler for Notes {
    fn answer(&self, _: &str, params: Option<AnyJson>) -> Answering<'_> {
        self.0
            .push(params.map_or(Value::Null, |params| params.to_value()));
        let answer = json!({ "role": "assistant", "model": "m", "content": { "type": "text", "text": "hi" } });
        Box::pin(std::future::ready(Ok(answer.into())))
    }
}

fn capabilities(declared: Value) -> ClientCapabilities {
    serde_json::from_value(declared).unwrap()
}

// W-3: a task that was not declared is as if it were not asked for.
#[tokio::test]
async fn tasks_that_the_client_did_not_declare() {
    let declared =
        json!({ "sampling": {}, "tasks": { "requests": { "sampling": { "createMessage": {} } } } });
    for (declared, policy, seen) in [
        (json!({ "sampling": {} }), Policy::Enforce, false),
        (json!({ "sampling": {} }), Policy::Warn, true),
        (declared, Policy::Enforce, true),
    ] {
        let notes = Arc::new(Collected::default());
        let options = ClientOptions::at(Revision::V2025_11_25)
            .capabilities(capabilities(declared))
            .incoming(policy)
            .handler(Notes(notes.clone()));
        let (connecting, playing) = against(options, |mut mock| async move {
            opened(&mut mock).await;
            let params = json!({ "maxTokens": 1, "messages": [], "task": { "ttl": 5 } });
            mock.send(request(1, "sampling/createMessage", params))
                .await;
            let answer = mock.next().await.unwrap();
            assert_eq!(answer["result"]["model"], "m", "{answer}");
            mock
        });
        let client = connecting.await.unwrap();
        let mock = soon(playing).await.unwrap();
        let params = notes.take().remove(0);
        assert_eq!(params.get("task").is_some(), seen, "{params}");
        assert_eq!(params["maxTokens"], 1);
        drop((client, mock));
    }
}

// W-1, W-2
#[tokio::test]
async fn tasks_that_the_server_did_not_declare() {
    let with_tasks = json!({ "tools": {}, "tasks": { "requests": { "tools": { "call": {} } } } });
    for (declared, revision, sent) in [
        (json!({ "tools": {} }), "2025-11-25", false),
        (
            json!({ "tools": {}, "tasks": { "requests": {} } }),
            "2025-11-25",
            false,
        ),
        (with_tasks, "2025-11-25", true),
    ] {
        let revision = Revision::from_wire(revision).unwrap();
        let options = ClientOptions::at(revision);
        let (connecting, playing) = against(options, move |mut mock| async move {
            let opening = mock.next().await.unwrap();
            let result = json!({ "protocolVersion": revision.as_str(), "capabilities": declared, "serverInfo": { "name": "mock", "version": "1" } });
            mock.result(&opening, result).await;
            mock.next().await.unwrap();
            while let Some(call) = mock.next().await {
                mock.result(&call, json!({ "content": [] })).await;
            }
        });
        let client = connecting.await.unwrap();
        let params = CallToolRequestParams::new("any").with_task(TaskMetadata::new());
        let called = soon(client.request::<CallTool>(params).into_future()).await;
        match called {
            Ok(_) => assert!(sent),
            Err(ClientError::Local(LocalError::NotDeclared(capability))) => {
                assert!(!sent);
                assert_eq!(capability, "tasks.requests.tools.call");
            }
            Err(other) => panic!("{other}"),
        }
        call(&client).await;
        drop(client);
        soon(playing).await.unwrap();
    }
}

/// Asks for a message to be made as a task.
#[tool]
async fn asks_for_a_task(context: Context) -> String {
    let message = SamplingMessage::new(
        SamplingMessageContentBlock::Text(TextContent::new("hi")),
        Role::User,
    );
    let params = CreateMessageRequestParams::new(1, [message]).with_task(TaskMetadata::new());
    match context.request::<CreateMessage>(params).await {
        Ok(_) => "sampled".to_owned(),
        Err(error) => error.to_string(),
    }
}

// W-1
#[tokio::test]
async fn a_server_asks_for_no_task_that_is_not_declared() {
    let service = Server::new("asks", "1")
        .tools(tools![asks_for_a_task])
        .build()
        .unwrap();
    for (declared, expected) in [
        (
            json!({ "sampling": {} }),
            "`tasks.requests.sampling.createMessage`",
        ),
        (
            json!({ "sampling": {}, "tasks": { "requests": { "sampling": { "createMessage": {} } } } }),
            "sampled",
        ),
    ] {
        let options = ClientOptions::at(Revision::V2025_11_25)
            .capabilities(capabilities(declared))
            .handler(Notes(Arc::default()));
        let client = service.connect_as(options).await.unwrap();
        let result = soon(client.call_tool("asks_for_a_task", ()).into_future())
            .await
            .unwrap();
        let told =
            serde_json::to_string(&trueform::schema::At::new(&result, Revision::V2025_11_25))
                .unwrap();
        assert!(told.contains(expected), "{told}");
    }
}

/// What is wrong with an answer is told with its place.
#[tokio::test]
async fn answers_that_are_no_messages() {
    let options = ClientOptions::at(Revision::V2025_11_25).lenient(Leniencies::NONE);
    let (connecting, playing) = against(options, |mut mock| async move {
        opened(&mut mock).await;
        for member in [r#""result":5"#, r#""error":{"code":1,"message":5}"#] {
            let call = mock.next().await.unwrap();
            let message = format!(r#"{{"jsonrpc":"2.0","id":{},{member}}}"#, call["id"]);
            mock.send(serde_json::from_str(&message).unwrap()).await;
        }
        mock
    });
    let client = connecting.await.unwrap();
    for (pointer, expected) in [("/result", "an object"), ("/error/message", "string")] {
        let called = soon(client.call_tool("any", ()).into_future()).await;
        let Err(ClientError::Local(LocalError::Decode(error))) = called else {
            panic!("{called:?}");
        };
        assert_eq!(error.pointer(), pointer);
        let told = error.to_string();
        assert!(told.contains(expected), "{told}");
        assert!(told.contains("found number of 1 byte"), "{told}");
    }
    drop(soon(playing).await.unwrap());
}

#[tokio::test]
async fn notifications_with_an_id() {
    let (connecting, playing) = against(
        ClientOptions::at(Revision::V2025_11_25),
        |mut mock| async move {
            opened(&mut mock).await;
            let params = json!({ "requestId": 1 });
            mock.send(request(1, "notifications/cancelled", params))
                .await;
            let answer = mock.next().await.unwrap();
            assert_eq!(answer["error"]["code"], -32601, "{answer}");
            let told = answer["error"]["message"].as_str().unwrap();
            assert!(told.contains("is a notification"), "{told}");
            mock
        },
    );
    let client = connecting.await.unwrap();
    let mock = soon(playing).await.unwrap();
    drop((client, mock));
}
