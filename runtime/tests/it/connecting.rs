//! How a client finds its way to a server, and what it does while the server does not read (D-5, D-6, D-10, E-11, Y-6).

use std::{future::IntoFuture, time::Duration};

use serde_json::{Value, json};
use tokio::sync::oneshot;
use trueform::{
    client::{Client, ClientError, ClientOptions, LocalError, Negotiation, ServerProfile},
    prelude::*,
    schema::methods::RootsListChanged,
};

use crate::{
    client::{against, discovered, play_legacy},
    support::{log, service, soon},
};

async fn adds(client: Client) {
    let sum = client.call_tool("add", json!({ "a": 2, "b": 3 })).await;
    assert_eq!(sum.unwrap().text(), "5");
    soon(client.close()).await;
}

// E-11
#[tokio::test]
async fn over_tcp() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let serving = tokio::spawn(async move {
        let (reader, writer) = listener.accept().await.unwrap().0.into_split();
        service().serve_stream(reader, writer).await
    });
    let stream = tokio::net::TcpStream::connect(address).await.unwrap();
    let (reader, writer) = stream.into_split();
    adds(
        Client::over(reader, writer, ClientOptions::new())
            .await
            .unwrap(),
    )
    .await;
    soon(serving).await.unwrap().unwrap();
}

// E-11
#[cfg(unix)]
#[tokio::test]
async fn over_a_unix_socket() {
    for revision in [Revision::V2026_07_28, Revision::V2024_11_05] {
        let (near, far) = tokio::net::UnixStream::pair().unwrap();
        let serving = tokio::spawn(async move {
            let (reader, writer) = far.into_split();
            service().serve_stream(reader, writer).await
        });
        // Halves of any stream do, too.
        let (reader, writer) = tokio::io::split(near);
        let options = ClientOptions::at(revision);
        adds(Client::over(reader, writer, options).await.unwrap()).await;
        soon(serving).await.unwrap().unwrap();
    }
}

fn remembered(version: &str) -> ServerProfile {
    serde_json::from_value(json!({ "protocolVersion": version })).unwrap()
}

// D-10: the methods that a server is asked first.
#[tokio::test]
async fn what_was_remembered_decides_what_comes_first() {
    for (version, first) in [
        ("2025-06-18", "initialize"),
        ("2026-07-28", "server/discover"),
        ("2031-01-01", "server/discover"),
    ] {
        let profile = remembered(version);
        let options = ClientOptions::new().profile(profile.clone());
        let (connecting, playing) = against(options, move |mut mock| async move {
            let request = mock.next().await.unwrap();
            assert_eq!(request["method"], first);
            match first {
                "initialize" => {
                    assert_eq!(request["params"]["protocolVersion"], "2025-06-18");
                    play_legacy(&mut mock, &request).await;
                }
                _ => mock.result(&request, discovered(&["2026-07-28"])).await,
            }
        });
        let client = connecting.await.unwrap();
        soon(playing).await.unwrap();
        match version {
            "2031-01-01" => assert_eq!(client.profile(), remembered("2026-07-28")),
            _ => assert_eq!(client.profile(), profile),
        }
    }
}

// D-10: a server that has left the legacy era behind is probed again.
#[tokio::test]
async fn what_no_longer_holds_is_found_out_again() {
    for refusal in [
        json!({ "error": { "code": -32601, "message": "no" } }),
        json!({ "error": { "code": -32022, "message": "no", "data": { "supported": ["2026-07-28"], "requested": "2025-11-25" } } }),
        json!({ "result": { "protocolVersion": "2026-07-28", "capabilities": {}, "serverInfo": { "name": "m", "version": "1" } } }),
    ] {
        let options = ClientOptions::new().profile(remembered("2025-11-25"));
        let (connecting, playing) = against(options, |mut mock| async move {
            let request = mock.next().await.unwrap();
            assert_eq!(request["method"], "initialize");
            let mut answer = refusal;
            answer["jsonrpc"] = "2.0".into();
            answer["id"] = request["id"].clone();
            mock.send(answer).await;
            let probe = mock.next().await.unwrap();
            assert_eq!(probe["method"], "server/discover");
            mock.result(&probe, discovered(&["2026-07-28"])).await;
            // E-3: no longer answered.
            mock.send(json!({ "jsonrpc": "2.0", "id": 1, "method": "ping" }))
                .await;
            let call = mock.next().await.unwrap();
            assert_eq!(call["method"], "tools/call");
            mock.result(&call, json!({ "resultType": "complete", "content": [] }))
                .await;
        });
        let client = connecting.await.unwrap();
        assert_eq!(client.profile(), remembered("2026-07-28"));
        soon(client.call_tool("a", ()).into_future()).await.unwrap();
        soon(playing).await.unwrap();
    }
}

// D-11: a client of the modern era alone asks first, and says so when a legacy server refuses that.
#[tokio::test]
async fn a_modern_client_of_a_legacy_server() {
    let options = ClientOptions::at(Revision::V2026_07_28);
    let (connecting, playing) = against(options, |mut mock| async move {
        let probe = mock.next().await.unwrap();
        assert_eq!(probe["method"], "server/discover");
        let error = json!({ "code": -32601, "message": "what is server/discover?" });
        mock.send(json!({ "jsonrpc": "2.0", "id": probe["id"], "error": error }))
            .await;
        assert_eq!(mock.next().await, None, "nothing else is tried");
    });
    let error = connecting.await.unwrap_err();
    assert_eq!(error.code(), Some(-32601));
    assert_eq!(
        error.to_string(),
        "the server answered with error -32601: what is server/discover?"
    );
    soon(playing).await.unwrap();
}

// D-6: a server that answers nothing costs the waits that are set, and the error says which.
#[tokio::test(start_paused = true)]
async fn a_server_that_does_not_answer() {
    let limits = |options: ClientOptions| {
        options
            .probe_timeout(Duration::from_secs(3))
            .timeout(Duration::from_secs(7))
    };
    for (negotiation, waited, parts) in [
        (
            Negotiation::Automatic,
            10,
            &[
                "`server/discover` within 3s (`probe_timeout`)",
                "`initialize` within 7s (`timeout`)",
                "`Negotiation::Offer(",
            ][..],
        ),
        (
            Negotiation::Offer(Revision::V2025_11_25),
            7,
            &[
                "no answer to `initialize` within 7s (`timeout`); if the server is slow to start, raise these `ClientOptions`",
            ],
        ),
        (
            Negotiation::Exactly(Revision::V2026_07_28),
            7,
            &["no answer to `server/discover` within 7s (`timeout`)"],
        ),
    ] {
        let options = limits(ClientOptions::new().negotiation(negotiation));
        let (connecting, playing) = against(options, |mut mock| async move {
            while mock.next().await.is_some() {}
        });
        let begun = tokio::time::Instant::now();
        let error = connecting.await.unwrap_err();
        assert_eq!(begun.elapsed().as_secs(), waited, "{negotiation:?}");
        let text = error.to_string();
        for part in parts {
            assert!(text.contains(part), "{part}: {text}");
        }
        assert!(
            matches!(error, ClientError::Local(LocalError::NoHandshake(_))),
            "{error:?}"
        );
        // It is let go.
        soon(playing).await.unwrap();
    }
}

// D-7: a modern server that is slow to start reads the probe when the client has gone on to `initialize` already, and refuses that.
#[tokio::test(start_paused = true)]
async fn a_modern_server_that_is_slow_to_start() {
    for (data, is_modern) in [
        (
            json!({ "supported": ["2026-07-28"], "requested": "2025-11-25" }),
            true,
        ),
        (Value::Null, true),
        (
            json!({ "supported": ["2025-06-18"], "requested": "2025-11-25" }),
            false,
        ),
    ] {
        let (connecting, playing) = against(ClientOptions::new(), move |mut mock| async move {
            let probe = mock.next().await.unwrap();
            assert_eq!(probe["method"], "server/discover");
            let request = loop {
                let request = mock.next().await.unwrap();
                if request["method"] == "initialize" {
                    break request;
                }
            };
            mock.result(&probe, discovered(&["2026-07-28"])).await;
            mock.error(&request, -32022, data).await;
            if is_modern {
                let again = mock.next().await.unwrap();
                assert_eq!(again["method"], "server/discover");
                mock.result(&again, discovered(&["2026-07-28"])).await;
            }
            assert_eq!(mock.next().await, None);
        });
        match (connecting.await, is_modern) {
            (Ok(client), true) => {
                assert_eq!(client.revision(), Revision::V2026_07_28);
                soon(client.close()).await;
            }
            (Err(error), false) => assert_eq!(error.code(), Some(-32022)),
            (other, _) => panic!("{other:?}"),
        }
        soon(playing).await.unwrap();
    }
}

// A client that is given up while it connects lets its server go.
#[tokio::test(start_paused = true)]
async fn a_connection_that_is_given_up_ends() {
    let (connecting, playing) = against(ClientOptions::new(), |mut mock| async move {
        assert_eq!(mock.next().await.unwrap()["method"], "server/discover");
        while mock.next().await.is_some() {}
    });
    let limit = Duration::from_millis(1);
    assert!(tokio::time::timeout(limit, connecting).await.is_err());
    soon(playing).await.unwrap();
}

// Lines that are not messages are counted, and the log is not flooded with them.
#[tokio::test]
async fn noise_is_counted() {
    let (connecting, playing) = against(ClientOptions::new(), |mut mock| async move {
        let probe = mock.next().await.unwrap();
        for line in 0..150 {
            mock.send(format!("noise secret-{line}").into()).await;
        }
        mock.send(json!([])).await;
        mock.result(&probe, discovered(&["2026-07-28"])).await;
        mock
    });
    let told = log();
    let client = connecting.await.unwrap();
    assert_eq!(client.skipped_lines(), 151);
    let told = told.take();
    let warned = told
        .iter()
        .filter(|line| line.starts_with("WARN") && line.contains("malformed"));
    assert_eq!(warned.count(), 100, "{told:#?}");
    let further = told.iter().filter(|line| line.contains("further ones"));
    assert_eq!(further.count(), 1, "{told:#?}");
    let shown = told.iter().find(|line| line.contains("secret-"));
    assert_eq!(shown, None);
    drop(soon(playing).await);
}

// Y-6: what a server does not read is bounded, and goes on when it reads again.
#[tokio::test(start_paused = true)]
async fn requests_wait_for_a_server_that_does_not_read() {
    const CALLS: usize = 30;
    const MOST: usize = 8 << 20;
    let (read_on, reads_on) = oneshot::channel::<()>();
    let (connecting, playing) = against(
        ClientOptions::at(Revision::V2025_11_25),
        |mut mock| async move {
            let request = mock.next().await.unwrap();
            play_legacy(&mut mock, &request).await;
            reads_on.await.unwrap();
            let mut calls = 0;
            while let Some(message) = mock.next().await {
                if message["method"] == "tools/call" {
                    calls += 1;
                    mock.result(&message, json!({ "content": [] })).await;
                }
            }
            calls
        },
    );
    let client = connecting.await.unwrap();
    let large = json!({ "text": "x".repeat(1 << 20) });
    let calls: Vec<_> = (0..CALLS)
        .map(|_| tokio::spawn(client.call_tool("a", &large).into_future()))
        .collect();
    // Until all of them have gone as far as they can.
    tokio::time::sleep(Duration::from_millis(1)).await;
    let error = client.notify::<RootsListChanged>(&Default::default());
    let error = error.unwrap_err();
    let ClientError::Local(LocalError::NotRead(waiting)) = error else {
        panic!("{error:?}");
    };
    assert!((MOST..MOST + (2 << 20)).contains(&waiting), "{waiting}");
    assert!(error.to_string().contains("does not read"), "{error}");

    // One more call has no place, and is no longer waited for after its time; one that was dropped takes nobody's turn.
    let begun = tokio::time::Instant::now();
    let late = client
        .call_tool("a", Value::Null)
        .timeout(Duration::from_secs(2));
    let error = late.await.unwrap_err();
    assert!(
        matches!(error, ClientError::Local(LocalError::NotRead(_))),
        "{error:?}"
    );
    assert_eq!(begun.elapsed().as_secs(), 2);

    read_on.send(()).unwrap();
    for call in calls {
        soon(call).await.unwrap().unwrap();
    }
    soon(client.close()).await;
    assert_eq!(soon(playing).await.unwrap(), CALLS);
}

// Y-6: who waits for room is let go when the connection ends.
#[tokio::test(start_paused = true)]
async fn requests_that_wait_end_with_the_connection() {
    let options = ClientOptions::at(Revision::V2025_11_25).write_timeout(Duration::from_secs(5));
    let (connecting, playing) = against(options, |mut mock| async move {
        let request = mock.next().await.unwrap();
        play_legacy(&mut mock, &request).await;
        mock
    });
    let client = connecting.await.unwrap();
    let mock = soon(playing).await.unwrap();
    let large = json!({ "text": "x".repeat(1 << 20) });
    let calls: Vec<_> = (0..30)
        .map(|_| tokio::spawn(client.call_tool("a", &large).into_future()))
        .collect();
    let begun = tokio::time::Instant::now();
    for call in calls {
        let error = soon(call).await.unwrap().unwrap_err();
        assert!(
            matches!(error, ClientError::Local(LocalError::Closed)),
            "{error:?}"
        );
    }
    assert_eq!(begun.elapsed().as_secs(), 5);
    drop(mock);
}
