//! What a client does about its own calls: time, progress, how many run at once, how a subscription ends.

use std::{
    future::IntoFuture,
    io,
    pin::Pin,
    sync::Arc,
    task::{self, Poll},
    time::Duration,
};

use serde_json::{Value, json};
use tokio::io::{AsyncWrite, WriteHalf};
use trueform::{
    client::{Client, ClientError, ClientOptions, LocalError, RetryPolicy, StrayKind},
    prelude::*,
    schema::{
        ProgressNotificationParams, RequestMetaObject, SubscriptionFilter,
        SubscriptionsListenRequestParams,
    },
};

use crate::{
    client::{Answers, Mock, against, discovered, play_legacy, with_roots},
    support::{Collected, soon},
};

pub(crate) fn progress(token: &Value, progress: u32) -> Value {
    json!({ "jsonrpc": "2.0", "method": "notifications/progress", "params": { "progressToken": token, "progress": progress } })
}

async fn opened(mock: &mut Mock) {
    let request = mock.next().await.unwrap();
    play_legacy(mock, &request).await;
}

fn done() -> Value {
    json!({ "content": [] })
}

/// What a callback hears, and the callback.
pub(crate) fn heard() -> (
    Arc<Collected<f64>>,
    impl FnMut(ProgressNotificationParams) + Send + 'static,
) {
    let heard = Arc::new(Collected::default());
    let hears = heard.clone();
    (heard, move |report: ProgressNotificationParams| {
        hears.push(report.progress);
    })
}

// O-3, O-6: a call alone can have its clock reset, up to a time in all; then the server is notified. Another call is as before.
#[tokio::test(start_paused = true)]
async fn a_call_sets_its_own_longest_wait() {
    let options = ClientOptions::at(Revision::V2025_06_18).timeout(Duration::from_secs(2));
    let (connecting, playing) = against(options, |mut mock| async move {
        opened(&mut mock).await;
        for _ in 0..2 {
            let call = mock.next().await.unwrap();
            let id = call["id"].clone();
            let token = call["params"]["_meta"]["progressToken"].clone();
            let cancelled = loop {
                tokio::select! {
                    message = mock.next() => break message.unwrap(),
                    () = tokio::time::sleep(Duration::from_secs(1)) => {}
                }
                mock.send(progress(&token, 1)).await;
            };
            assert_eq!(cancelled["method"], "notifications/cancelled");
            assert_eq!(cancelled["params"]["requestId"], id);
        }
    });
    let client = connecting.await.unwrap();
    for (longest, expected) in [(Some(7), 7), (None, 2)] {
        let begun = tokio::time::Instant::now();
        let mut call = client.call_tool("spam", ());
        if let Some(longest) = longest {
            call = call.reset_by_progress(Duration::from_secs(longest));
        }
        let error = call.await.unwrap_err();
        assert!(
            matches!(error, ClientError::Local(LocalError::TimedOut(_))),
            "{error}"
        );
        assert_eq!(begun.elapsed().as_secs(), expected);
    }
    soon(playing).await.unwrap();
}

// N-1, T-5: the call that is repeated with the answers is reported on as the first one.
#[tokio::test]
async fn progress_of_every_round() {
    let options = ClientOptions::new()
        .capabilities(with_roots())
        .handler(Answers(Arc::default()));
    let (connecting, playing) = against(options, |mut mock| async move {
        let probe = mock.next().await.unwrap();
        mock.result(&probe, discovered(&["2026-07-28"])).await;
        let first = mock.next().await.unwrap();
        let token = &first["params"]["_meta"]["progressToken"];
        mock.send(progress(token, 1)).await;
        let asked = json!({ "resultType": "input_required", "inputRequests": { "a": { "method": "roots/list" } } });
        mock.result(&first, asked).await;
        let second = mock.next().await.unwrap();
        let token = &second["params"]["_meta"]["progressToken"];
        mock.send(progress(token, 2)).await;
        let result = json!({ "resultType": "complete", "content": [] });
        mock.result(&second, result).await;
    });
    let client = connecting.await.unwrap();
    let (heard, hears) = heard();
    let call = client.call_tool("asks", ()).on_progress(hears);
    soon(call.into_future()).await.unwrap();
    assert_eq!(heard.take(), [1.0, 2.0]);
    soon(playing).await.unwrap();
}

// A bound on what runs at once, and on what waits for it.
#[tokio::test(start_paused = true)]
async fn a_full_queue_refuses() {
    let options = ClientOptions::at(Revision::V2025_06_18)
        .max_in_flight(2)
        .max_queued(1);
    let (connecting, playing) = against(options, |mut mock| async move {
        opened(&mut mock).await;
        let first = mock.next().await.unwrap();
        let second = mock.next().await.unwrap();
        let more = tokio::time::timeout(Duration::from_secs(1), mock.next()).await;
        assert!(more.is_err(), "{more:?}");
        mock.result(&second, done()).await;
        let third = mock.next().await.unwrap();
        mock.result(&first, done()).await;
        mock.result(&third, done()).await;
        mock.next().await
    });
    let client = connecting.await.unwrap();
    let call = |name: &str| tokio::spawn(client.call_tool(name, ()).into_future());
    let running = [call("first"), call("second"), call("third")];
    tokio::task::yield_now().await;
    let error = client.call_tool("fourth", ()).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "not sent: 2 requests wait for their answers (`max_in_flight`), and 1 wait to be sent (`max_queued`)"
    );
    let late = client
        .call_tool("fifth", ())
        .timeout(Duration::from_millis(10));
    assert!(matches!(
        late.await.unwrap_err(),
        ClientError::Local(LocalError::QueueFull { .. })
    ));
    for call in running {
        soon(call).await.unwrap().unwrap();
    }
    soon(client.close()).await;
    assert_eq!(soon(playing).await.unwrap(), None, "nothing else was sent");
}

// O-6: the wait for a place is part of the time of a call; nothing is sent, so nothing is cancelled. The end of the connection ends it.
#[tokio::test(start_paused = true)]
async fn a_call_that_gets_no_place() {
    let options = ClientOptions::at(Revision::V2025_06_18).max_in_flight(1);
    let (connecting, playing) = against(options, |mut mock| async move {
        opened(&mut mock).await;
        let first = mock.next().await.unwrap();
        let more = tokio::time::timeout(Duration::from_secs(9), mock.next()).await;
        assert!(more.is_err(), "{more:?}");
        drop((mock, first));
    });
    let client = connecting.await.unwrap();
    let first = tokio::spawn(client.call_tool("first", ()).into_future());
    tokio::task::yield_now().await;
    let second = client
        .call_tool("second", ())
        .timeout(Duration::from_secs(3));
    let error = second.await.unwrap_err().to_string();
    assert_eq!(
        error,
        "not sent within 3s: 1 other requests wait for their answers (`max_in_flight`)"
    );
    for call in [
        first,
        tokio::spawn(client.call_tool("third", ()).into_future()),
    ] {
        let error = call.await.unwrap().unwrap_err();
        assert!(
            matches!(error, ClientError::Local(LocalError::Closed)),
            "{error}"
        );
    }
    soon(playing).await.unwrap();
}

// 10,000 calls at once: no more than the bound is sent, and all are answered.
#[tokio::test(start_paused = true)]
async fn ten_thousand_calls() {
    const CALLS: usize = 10_000;
    let options = ClientOptions::at(Revision::V2025_06_18);
    let (connecting, playing) = against(options, |mut mock| async move {
        opened(&mut mock).await;
        let (mut open, mut most, mut answered) = (Vec::new(), 0, 0);
        while answered < CALLS {
            let next = tokio::time::timeout(Duration::from_millis(200), mock.next());
            match next.await {
                Ok(call) => open.push(call.unwrap()),
                // It sends no more until it has answers.
                Err(_) => {
                    most = most.max(open.len());
                    answered += open.len();
                    for call in open.drain(..) {
                        mock.result(&call, done()).await;
                    }
                }
            }
        }
        most
    });
    let client = connecting.await.unwrap();
    let calls: Vec<_> = (0..CALLS)
        .map(|_| {
            let call = client.call_tool("any", ()).timeout(Duration::from_secs(60));
            tokio::spawn(call.into_future())
        })
        .collect();
    for call in calls {
        call.await.unwrap().unwrap();
    }
    assert_eq!(playing.await.unwrap(), ClientOptions::DEFAULT_MAX_IN_FLIGHT);
}

async fn listens(mock: &mut Mock) -> Value {
    let probe = mock.next().await.unwrap();
    mock.result(&probe, discovered(&["2026-07-28"])).await;
    let listen = mock.next().await.unwrap();
    let meta = json!({ "io.modelcontextprotocol/subscriptionId": listen["id"] });
    for (method, params) in [
        (
            "notifications/subscriptions/acknowledged",
            json!({ "notifications": { "toolsListChanged": true }, "_meta": meta }),
        ),
        ("notifications/tools/list_changed", json!({ "_meta": meta })),
    ] {
        mock.send(json!({ "jsonrpc": "2.0", "method": method, "params": params }))
            .await;
    }
    listen
}

async fn listening(client: &Client) -> trueform::client::Subscription {
    let mut filter = SubscriptionFilter::default();
    filter.tools_list_changed = Some(true);
    soon(client.listen(filter)).await.unwrap()
}

// U-7, U-8: a client can distinguish the end of a subscription by its result from its loss.
#[tokio::test]
async fn how_a_subscription_ends() {
    #[derive(Clone, Copy, Debug)]
    enum Ends {
        ByResult,
        ByResultThenClosed,
        ByError,
        Closed,
    }
    for (ends, expected) in [
        (Ends::ByResult, Ok(())),
        (Ends::ByResultThenClosed, Ok(())),
        (
            Ends::ByError,
            Err("the server answered with error -32603: over"),
        ),
        (Ends::Closed, Err("the connection is closed")),
    ] {
        let (connecting, playing) = against(ClientOptions::new(), move |mut mock| async move {
            let listen = listens(&mut mock).await;
            let end = json!({ "resultType": "complete", "_meta": { "io.modelcontextprotocol/subscriptionId": listen["id"] } });
            let error = json!({ "jsonrpc": "2.0", "id": listen["id"], "error": { "code": -32603, "message": "over" } });
            match ends {
                Ends::ByResult | Ends::ByResultThenClosed => mock.result(&listen, end).await,
                Ends::ByError => mock.send(error).await,
                Ends::Closed => {}
            }
            matches!(ends, Ends::ByResult | Ends::ByError).then_some(mock)
        });
        let client = connecting.await.unwrap();
        let mut changes = listening(&client).await;
        let mock = soon(playing).await.unwrap();
        if mock.is_none() {
            // The client sees the end of the stream.
            assert!(
                soon(client.call_tool("any", ()).into_future())
                    .await
                    .is_err()
            );
        }
        assert!(
            changes.ended().is_none(),
            "{ends:?}: something is to be read"
        );
        assert!(soon(changes.next()).await.is_some(), "{ends:?}");
        for _ in 0..2 {
            assert!(soon(changes.next()).await.is_none(), "{ends:?}");
        }
        let ended = changes.ended().unwrap().map_err(ToString::to_string);
        assert_eq!(ended, expected.map_err(str::to_owned), "{ends:?}");
    }
}

/// Where the client works.
#[cfg(feature = "ask")]
#[tool]
async fn workplace(context: Context) -> Result<String, ToolError> {
    let roots = context.roots().await?;
    let uris: Vec<_> = roots.iter().map(|root| &*root.uri).collect();
    Ok(uris.join(" "))
}

// D-13: the tool and the client's handler are the same in both eras; only what goes over the wire differs.
#[cfg(feature = "ask")]
#[tokio::test]
async fn one_tool_and_one_handler_serve_both_eras() {
    for revision in [Revision::V2025_06_18, Revision::V2026_07_28] {
        let asked = Arc::new(Collected::default());
        let options = ClientOptions::at(revision)
            .capabilities(with_roots())
            .handler(Answers(asked.clone()));
        let server = Server::new("s", "1").tools(tools![workplace]);
        let client = soon(server.connect_as(options)).await.unwrap();
        let result = soon(client.call_tool("workplace", ()).into_future()).await;
        assert_eq!(result.unwrap().text(), "file:///tmp", "{revision}");
        assert_eq!(asked.take(), ["roots/list"], "{revision}");
        soon(client.close()).await;
    }
}

// Notifications of a subscription that the client does not have are counted, and handed to those who listen for strays.
#[tokio::test]
async fn notifications_of_no_subscription() {
    let (connecting, playing) = against(ClientOptions::new(), async |mut mock| {
        // By the generated function: the acknowledgement and a change are nobody's.
        let listen = listens(&mut mock).await;
        let meta = json!({ "io.modelcontextprotocol/subscriptionId": listen["id"] });
        mock.result(&listen, json!({ "resultType": "complete", "_meta": meta }))
            .await;
        // By a subscription that is dropped before the change.
        let listen = mock.next().await.unwrap();
        let meta = json!({ "io.modelcontextprotocol/subscriptionId": listen["id"] });
        let acknowledged = json!({ "notifications": { "toolsListChanged": true }, "_meta": meta });
        mock.send(json!({ "jsonrpc": "2.0", "method": "notifications/subscriptions/acknowledged", "params": acknowledged }))
            .await;
        assert_eq!(
            mock.next().await.unwrap()["method"],
            "notifications/cancelled"
        );
        mock.send(json!({ "jsonrpc": "2.0", "method": "notifications/tools/list_changed", "params": { "_meta": meta } }))
            .await;
        // It stays open until the client is closed.
        assert!(mock.next().await.is_none());
    });
    let client = connecting.await.unwrap();
    let (mut strays, mut notified) = (client.strays(), client.notifications());
    let mut filter = SubscriptionFilter::default();
    filter.tools_list_changed = Some(true);
    let params = SubscriptionsListenRequestParams::new(RequestMetaObject::new(), filter);
    soon(client.subscriptions_listen(params).into_future())
        .await
        .unwrap();
    assert_eq!(client.stray_count(StrayKind::UnknownSubscription), 2);
    for method in [
        "notifications/subscriptions/acknowledged",
        "notifications/tools/list_changed",
    ] {
        let stray = strays.try_next().unwrap();
        assert_eq!(stray.kind, StrayKind::UnknownSubscription);
        assert!(
            stray.redacted.contains("subscriptionId"),
            "{method}: {stray:?}"
        );
    }
    drop(listening(&client).await);
    let stray = soon(strays.next()).await.unwrap();
    assert_eq!(stray.kind, StrayKind::UnknownSubscription);
    assert_eq!(client.stray_count(StrayKind::UnknownSubscription), 3);
    assert!(notified.try_next().is_none());
    client.close().await;
    soon(playing).await.unwrap();
}

/// Panics once it is to write a call.
struct PanicsAtCalls(WriteHalf<tokio::io::DuplexStream>);

impl AsyncWrite for PanicsAtCalls {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut task::Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let is_call = bytes.windows(10).any(|bytes| bytes == b"tools/call");
        assert!(!is_call, "on purpose");
        Pin::new(&mut self.0).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut task::Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut task::Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_shutdown(cx)
    }
}

// what was to be written fails with the connection, also if the call polls the writer itself; the other end stays open.
#[tokio::test]
async fn a_writer_that_panics_ends_the_connection() {
    for calls in [1, 2] {
        let (near, far) = tokio::io::duplex(1 << 16);
        let service = Server::new("calc", "1.0.0")
            .tools(tools![])
            .build()
            .unwrap();
        let (reader, writer) = tokio::io::split(far);
        let serving = tokio::spawn(async move { service.serve_stream(reader, writer).await });
        let (reader, writer) = tokio::io::split(near);
        let client = Client::over(reader, PanicsAtCalls(writer), ClientOptions::new());
        let client = soon(client).await.unwrap();
        // One alone is written by the call itself, the second of two by the task.
        let calls: Vec<_> = (0..calls)
            .map(|_| tokio::spawn(client.call_tool("any", ()).into_future()))
            .collect();
        for call in calls {
            let error = soon(call).await.unwrap().unwrap_err();
            assert!(
                matches!(error, ClientError::Local(LocalError::Closed)),
                "{error}"
            );
        }
        soon(client.close()).await;
        soon(serving).await.unwrap().unwrap();
    }
}

/// `Duration::MAX` is a wait without end wherever a client takes a time.
#[tokio::test]
async fn waits_without_end() {
    const MAX: Duration = Duration::MAX;

    /// Reports once.
    #[tool]
    async fn work(context: Context) -> String {
        context.progress(1.0, None, None);
        "done".to_owned()
    }

    let service = Server::new("calc", "1.0.0")
        .tools(tools![work])
        .build()
        .unwrap();
    for options in [
        ClientOptions::new().timeout(MAX).probe_timeout(MAX),
        ClientOptions::new().timeout(MAX).reset_by_progress(MAX),
        ClientOptions::new()
            .write_timeout(MAX)
            .retry(RetryPolicy::attempts(u32::MAX).wait(MAX).longest_wait(MAX)),
        ClientOptions::at(Revision::V2025_11_25).timeout(MAX),
    ] {
        let client = soon(service.connect_as(options)).await.unwrap();
        for call in [
            client.call_tool("work", ()),
            client.call_tool("work", ()).timeout(MAX),
            client.call_tool("work", ()).reset_by_progress(MAX),
            client
                .call_tool("work", ())
                .timeout(MAX)
                .reset_by_progress(MAX),
        ] {
            assert_eq!(soon(call.into_future()).await.unwrap().text(), "done");
        }
        soon(client.close()).await;
    }
}
