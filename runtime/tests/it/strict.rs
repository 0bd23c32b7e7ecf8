//! Strict means strict (DEC-12): what a revision does not allow is refused as it came, not as the revision would see it, unless
//! its leniency lets it in.

use std::future::IntoFuture;

use serde_json::{Value, json};
use trueform::{
    Leniencies, Leniency,
    client::{Client, ClientError, ClientOptions},
    prelude::*,
    schema::{CreateMessageRequestParams, methods},
};

use crate::{
    client::{against, play_legacy},
    support::{initialize, legacy, raw, soon},
};

/// What a client of `revision` makes of `result`, the answer to its call or to its question for the tools.
async fn received(
    revision: Revision,
    leniencies: Leniencies,
    listing: bool,
    result: Value,
) -> Result<(), ClientError> {
    let options = ClientOptions::at(revision).lenient(leniencies);
    let (connecting, playing) = against(options, move |mut mock| async move {
        let opening = mock.next().await.unwrap();
        match opening["method"].as_str() {
            Some("initialize") => play_legacy(&mut mock, &opening).await,
            _ => {
                let discovered = json!({ "resultType": "complete", "supportedVersions": ["2026-07-28"],
                    "capabilities": { "tools": {} }, "ttlMs": 0, "cacheScope": "private" });
                mock.result(&opening, discovered).await;
            }
        }
        let request = mock.next().await.unwrap();
        mock.result(&request, result).await;
    });
    let client: Client = connecting.await.unwrap();
    let received = match listing {
        true => soon(client.list_tools()).await.map(drop),
        false => soon(client.call_tool("t", ()).into_future())
            .await
            .map(drop),
    };
    soon(playing).await.unwrap();
    received
}

// DEC-12, A-17, V-1
#[tokio::test]
async fn what_a_server_leaves_out_or_does_not_have() {
    use Leniency::{AbsentMembers, IntegralFloats, UnknownMembers, UnknownValues};
    let (r1, r2, r3, r5) = (
        Revision::V2024_11_05,
        Revision::V2025_03_26,
        Revision::V2025_06_18,
        Revision::V2026_07_28,
    );
    let audio = json!({ "type": "audio", "data": "", "mimeType": "audio/wav" });
    let link = json!({ "type": "resource_link", "uri": "https://a.b/", "name": "n" });
    let whole =
        json!({ "resultType": "complete", "tools": [], "ttlMs": 0, "cacheScope": "private" });
    let without = |name: &str| {
        let mut result = whole.clone();
        result.as_object_mut().unwrap().remove(name);
        result
    };
    let mut fraction = whole.clone();
    fraction["ttlMs"] = json!(1.0);
    for (leniency, revision, listing, result, pointer) in [
        (
            AbsentMembers,
            r5,
            false,
            json!({ "content": [] }),
            "/resultType",
        ),
        (
            AbsentMembers,
            r5,
            true,
            without("resultType"),
            "/resultType",
        ),
        (AbsentMembers, r5, true, without("ttlMs"), "/ttlMs"),
        (
            AbsentMembers,
            r5,
            true,
            without("cacheScope"),
            "/cacheScope",
        ),
        (IntegralFloats, r5, true, fraction, "/ttlMs"),
        (
            UnknownMembers,
            r3,
            false,
            json!({ "content": [], "resultType": "complete" }),
            "/resultType",
        ),
        (
            UnknownValues,
            r1,
            false,
            json!({ "content": [audio] }),
            "/content/0",
        ),
        (
            UnknownValues,
            r1,
            false,
            json!({ "content": [link] }),
            "/content/0",
        ),
        (
            UnknownValues,
            r2,
            false,
            json!({ "content": [link] }),
            "/content/0",
        ),
        (
            UnknownValues,
            r2,
            false,
            json!({ "content": [{ "type": "video", "x": 1 }] }),
            "/content/0",
        ),
    ] {
        for lenient in [Leniencies::ALL, Leniencies::NONE.with(leniency)] {
            let received = received(revision, lenient, listing, result.clone()).await;
            assert!(
                received.is_ok(),
                "{revision}, {lenient:?}: {result}: {received:?}"
            );
        }
        for strict in [Leniencies::NONE, Leniencies::ALL.without(leniency)] {
            let received = received(revision, strict, listing, result.clone()).await;
            let error = received.expect_err(&result.to_string()).to_string();
            assert!(
                error.contains(&format!(" {pointer}: expected ")),
                "{result}: {error}"
            );
        }
    }
    // What the revision has.
    for (revision, listing, result) in [
        (r5, true, whole),
        (
            r5,
            false,
            json!({ "resultType": "complete", "content": [audio, link] }),
        ),
        (
            r3,
            false,
            json!({ "content": [audio, link], "_meta": { "any": 1.0 } }),
        ),
        (r2, false, json!({ "content": [audio] })),
    ] {
        let received = received(revision, Leniencies::NONE, listing, result.clone()).await;
        assert!(received.is_ok(), "{revision}: {result}: {received:?}");
    }
}

// DEC-12: what is discovered too.
#[tokio::test]
async fn a_discovery_that_leaves_out() {
    for (leniencies, is_taken) in [(Leniencies::ALL, true), (Leniencies::NONE, false)] {
        let options = ClientOptions::at(Revision::V2026_07_28).lenient(leniencies);
        let (connecting, playing) = against(options, |mut mock| async move {
            let opening = mock.next().await.unwrap();
            let discovered = json!({ "supportedVersions": ["2026-07-28"], "capabilities": {} });
            mock.result(&opening, discovered).await;
        });
        let connected = connecting.await;
        soon(playing).await.unwrap();
        assert_eq!(connected.is_ok(), is_taken, "{connected:?}");
        if let Err(error) = connected {
            let error = error.to_string();
            assert!(
                error.contains("/resultType: expected a member that 2026-07-28 requires"),
                "{error}"
            );
        }
    }
}

/// Asks the client for a message, and says what came of it.
#[tool]
async fn sample(context: Context) -> String {
    let params: CreateMessageRequestParams =
        serde_json::from_value(json!({ "messages": [], "maxTokens": 1 })).unwrap();
    match context.request::<methods::CreateMessage>(params).await {
        Ok(_) => "answered".to_owned(),
        Err(error) => error.to_string(),
    }
}

// DEC-12, Q-9: several blocks in an answer exist since 2025-11-25, and so do calls of tools; audio since 2025-03-26.
#[tokio::test]
async fn what_a_client_answers() {
    let text = json!({ "type": "text", "text": "hi" });
    let audio = json!({ "type": "audio", "data": "", "mimeType": "audio/wav" });
    for (revision, content, is_legal) in [
        ("2025-06-18", text.clone(), true),
        ("2025-06-18", json!([text]), false),
        ("2025-11-25", json!([text]), true),
        ("2024-11-05", audio.clone(), false),
        ("2025-06-18", audio, true),
    ] {
        for leniencies in [
            Leniencies::NONE,
            Leniencies::NONE.with(Leniency::UnknownValues),
        ] {
            let server = Server::new("t", "1").tools(tools![sample]);
            let client = raw(&server.lenient(leniencies).build().unwrap()).await;
            let info = r#"{"name":"t","version":"1"}"#;
            let params = format!(
                r#"{{"protocolVersion":"{revision}","capabilities":{{"sampling":{{}}}},"clientInfo":{info}}}"#
            );
            client.send_raw(legacy("1", "initialize", &params)).unwrap();
            soon(client.next_message()).await.unwrap();
            let [_, initialized] = initialize(revision);
            client.send_raw(initialized).unwrap();
            let call = legacy("2", "tools/call", r#"{"name":"sample"}"#);
            client.send_raw(call).unwrap();
            let question: Value =
                serde_json::from_str(&soon(client.next_message()).await.unwrap()).unwrap();
            let result = json!({ "role": "assistant", "model": "m", "content": content });
            let answer = json!({ "jsonrpc": "2.0", "id": question["id"], "result": result });
            client.send_raw(answer.to_string()).unwrap();
            let called = soon(client.next_message()).await.unwrap();
            let is_let_in = is_legal || leniencies != Leniencies::NONE;
            assert_eq!(
                called.contains(r#""answered""#),
                is_let_in,
                "{revision}, {leniencies:?}: {content}: {called}"
            );
            assert_eq!(
                called.contains("malformed: /content: "),
                !is_let_in,
                "{called}"
            );
        }
    }
}
