//! Messages of the handshake on a connection that is open: refused, and where the gate is off, without harm to the session.

use std::{future::IntoFuture, time::Duration};

use trueform::{
    Policy,
    client::{ClientError, ClientOptions, LocalError, Negotiation},
    prelude::*,
    schema::{ClientCapabilities, Implementation, InitializeRequestParams},
};

use super::{
    call, connect, old,
    server::{Scripted, called, legacy},
};
use crate::support::soon;

fn again() -> InitializeRequestParams {
    InitializeRequestParams::new(
        ClientCapabilities::default(),
        Implementation::new("again", "1"),
        "2025-11-25".to_owned(),
    )
}

/// A server that answers the first `initialize` only.
async fn once() -> Scripted {
    Scripted::start(|asked, mut answer| async move {
        if asked.body["params"]["clientInfo"]["name"] == "again" {
            return answer.closed().await;
        }
        let Some((asked, answer)) = legacy(asked, answer, "s").await else {
            return;
        };
        match asked.what() {
            "tools/call" => answer.result(&asked, called("done")).await,
            _ => answer.reply("405 Method Not Allowed", "", "").await,
        }
    })
    .await
}

async fn times_out(client: &Client) {
    let request = client
        .initialize(again())
        .timeout(Duration::from_millis(50));
    match soon(request.into_future()).await {
        Err(ClientError::Local(LocalError::TimedOut(_))) => {}
        other => panic!("expected no answer, found {other:?}"),
    }
}

// B-1: the handshake opens a connection, once.
#[tokio::test]
async fn a_handshake_on_an_open_connection_is_refused() {
    let server = once().await;
    let client = connect(&server, old()).await;
    let request = client.initialize(again()).timeout(Duration::from_secs(5));
    let refused = [
        soon(request.into_future()).await.map(drop),
        client.notifications_initialized(&Default::default()),
    ];
    for (refused, method) in refused
        .into_iter()
        .zip(["initialize", "notifications/initialized"])
    {
        match refused {
            Err(ClientError::Local(LocalError::NotAllowed(problem))) => {
                assert_eq!(
                    problem,
                    format!("`{method}`: it belongs to the handshake, which is done")
                );
            }
            other => panic!("expected a refusal of `{method}`, found {other:?}"),
        }
    }
    assert_eq!(call(&client, "x").await.unwrap(), "done");
    soon(client.close()).await;
    assert_eq!(server.all("initialize").len(), 1, "{:?}", server.whats());
    assert_eq!(server.all("notifications/initialized").len(), 1);
}

// O-1, O-3: one that the server does not answer changes nothing, and it is not cancelled.
#[tokio::test]
async fn a_handshake_without_an_answer_leaves_the_session() {
    let server = once().await;
    let client = connect(&server, old().outgoing(Policy::Off)).await;
    times_out(&client).await;
    assert_eq!(client.http_session().unwrap().session_id, "s");
    assert_eq!(call(&client, "x").await.unwrap(), "done");
    soon(client.close()).await;
    let calls = server.all("tools/call");
    assert_eq!(calls[0].header("mcp-session-id"), Some("s"));
    assert_eq!(calls[0].header("mcp-protocol-version"), Some("2025-11-25"));
    let openings = server.all("initialize");
    assert_eq!(openings[1].header("mcp-session-id"), None);
    assert_eq!(openings[1].header("mcp-protocol-version"), None);
    assert_eq!(server.all("notifications/cancelled").len(), 0);
}

// O-1, O-3: also where the program makes the handshake itself.
#[tokio::test]
async fn a_handshake_by_hand_is_not_cancelled() {
    let server = once().await;
    let by_hand = ClientOptions::new().negotiation(Negotiation::Nothing);
    let client = connect(&server, by_hand).await;
    times_out(&client).await;
    soon(client.close()).await;
    assert_eq!(server.whats(), ["initialize"]);
}
