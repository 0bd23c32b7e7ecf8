//! Null in place of members that may not be null (DEC-6): what clients and servers written in other languages send.

use std::future::IntoFuture;

use serde_json::{Value, json};
use trueform::{
    Leniencies, Leniency,
    client::{Answering, ClientError, ClientHandler, ClientOptions},
    prelude::*,
    schema::{ElicitAction, ElicitOutcome, ElicitRequestParams, methods},
};

use crate::{
    client::{against, play_legacy},
    support::{add, conversation, initialize, joined, legacy, log, modern, raw, soon},
};

/// Without the leniency for nulls.
const STRICT: Leniencies = Leniencies::ALL.without(Leniency::NullMembers);

/// Asks the client for a form, and says which action came.
#[tool]
async fn form(context: Context) -> String {
    let form: ElicitRequestParams = serde_json::from_value(
        json!({ "message": "m", "requestedSchema": { "type": "object", "properties": {} } }),
    )
    .unwrap();
    match context.request::<methods::Elicit>(form).await {
        Ok(ElicitOutcome::Complete(answer)) if answer.action == ElicitAction::Decline => {
            "declined".to_owned()
        }
        Ok(_) => "something else".to_owned(),
        Err(error) => error.to_string(),
    }
}

// DEC-6: `content` of a declined elicitation, and an error beside the result.
#[tokio::test]
async fn an_answer_of_a_client() {
    for (leniencies, more, expected) in [
        (Leniencies::ALL, json!({}), "declined"),
        (Leniencies::ALL, json!({ "error": null }), "declined"),
        (
            STRICT,
            json!({}),
            "the client's answer is malformed: /content: ",
        ),
        (
            STRICT,
            json!({ "error": null }),
            "the client's answer is malformed: ",
        ),
    ] {
        let server = Server::new("t", "1").tools(tools![form]);
        let client = raw(&server.lenient(leniencies).build().unwrap()).await;
        let info = r#"{"name":"t","version":"1"}"#;
        let params = format!(
            r#"{{"protocolVersion":"2025-06-18","capabilities":{{"elicitation":{{}}}},"clientInfo":{info}}}"#
        );
        client.send_raw(legacy("1", "initialize", &params)).unwrap();
        soon(client.next_message()).await.unwrap();
        let [_, initialized] = initialize("2025-06-18");
        client.send_raw(initialized).unwrap();
        let call = legacy("2", "tools/call", r#"{"name":"form"}"#);
        client.send_raw(call).unwrap();
        let question: Value =
            serde_json::from_str(&soon(client.next_message()).await.unwrap()).unwrap();
        let result = json!({ "action": "decline", "content": null });
        let mut answer = json!({ "jsonrpc": "2.0", "id": question["id"], "result": result });
        let members = answer.as_object_mut().unwrap();
        members.extend(more.as_object().unwrap().clone());
        client.send_raw(answer.to_string()).unwrap();
        let called: Value =
            serde_json::from_str(&soon(client.next_message()).await.unwrap()).unwrap();
        let text = called["result"]["content"][0]["text"].as_str().unwrap();
        assert!(text.starts_with(expected), "{leniencies:?}: {text}");
    }
}

// DEC-6: what is never null, and what may be.
#[tokio::test]
async fn nulls_that_do_not_count_as_absent() {
    let service = Server::new("t", "1").tools(tools![add]).build().unwrap();
    for (message, code, pointer) in [
        (
            r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#.to_owned(),
            -32600,
            "/id",
        ),
        (
            r#"{"jsonrpc":null,"id":5,"method":"ping"}"#.to_owned(),
            -32600,
            "/jsonrpc",
        ),
        (
            r#"{"jsonrpc":"2.0","id":5,"method":null}"#.to_owned(),
            -32600,
            "/method",
        ),
        (
            legacy("5", "tools/call", r#"{"name":null}"#),
            -32602,
            "/params/name",
        ),
        (
            legacy("5", "tools/call", r#"{"name":"add","arguments":[null]}"#),
            -32602,
            "/params/arguments",
        ),
        (
            legacy("5", "tools/call", r#"{"arguments":null,"_meta":null}"#),
            -32602,
            "/params/name",
        ),
    ] {
        let lines = [
            &initialize("2025-11-25")[..],
            std::slice::from_ref(&message),
        ]
        .concat();
        let output = conversation(&service, joined(lines)).await;
        let answer: Value = serde_json::from_str(&output[1]).unwrap();
        let error = &answer["error"];
        assert_eq!(
            (&error["code"], &error["data"]["pointer"]),
            (&json!(code), &json!(pointer)),
            "{message}: {answer}"
        );
    }
}

// DEC-6: a version that is null claims nothing.
#[tokio::test]
async fn a_request_of_a_session_with_a_null_version() {
    let meta = r#"{"_meta":{"io.modelcontextprotocol/protocolVersion":null}}"#;
    for (leniencies, is_served) in [(Leniencies::ALL, true), (STRICT, false)] {
        let service = Server::new("t", "1").tools(tools![add]).lenient(leniencies);
        let lines = [
            &initialize("2025-11-25")[..],
            &[legacy("5", "tools/list", meta)],
        ]
        .concat();
        let output = conversation(&service.build().unwrap(), joined(lines)).await;
        let answer: Value = serde_json::from_str(&output[1]).unwrap();
        assert_eq!(answer.get("result").is_some(), is_served, "{answer}");
    }
}

// DEC-6: of a modern request, whose `_meta` is stamped.
#[tokio::test]
async fn a_modern_call_with_nulls() {
    let service = Server::new("t", "1").tools(tools![add]).build().unwrap();
    let call = modern(
        "1",
        "tools/call",
        r#","inputResponses":null,"requestState":null,"name":"add","arguments":{"a":1,"b":2}"#,
    );
    let output = conversation(&service, joined([call])).await;
    assert!(output[0].contains(r#""text":"3""#), "{output:?}");
}

/// Says which params it was asked with.
struct Echo(std::sync::mpsc::Sender<Option<Value>>);

impl ClientHandler for Echo {
    fn answer(&self, _: &str, params: Option<trueform::schema::Json>) -> Answering<'_> {
        self.0.send(params.map(|params| params.to_value())).unwrap();
        let answer = json!({ "roots": [] });
        Box::pin(std::future::ready(Ok(trueform::schema::Json::from(answer))))
    }
}

// DEC-6: everything that a server sends.
#[tokio::test]
async fn a_server_that_writes_nulls() {
    let strict = STRICT.without(Leniency::MalformedItems);
    for (leniencies, passes) in [(Leniencies::ALL, true), (strict, false)] {
        let (asked, questions) = std::sync::mpsc::channel();
        let options = ClientOptions::at(Revision::V2025_06_18)
            .capabilities(serde_json::from_value(json!({ "roots": {} })).unwrap())
            .handler(Echo(asked))
            .lenient(leniencies);
        let (connecting, playing) = against(options, move |mut mock| async move {
            let request = mock.next().await.unwrap();
            play_legacy(&mut mock, &request).await;
            let list = mock.next().await.unwrap();
            let params = json!({ "level": "info", "logger": null, "data": null });
            mock.send(
                json!({ "jsonrpc": "2.0", "method": "notifications/message", "params": params }),
            )
            .await;
            mock.send(json!({ "jsonrpc": "2.0", "method": "notifications/tools/list_changed", "params": null }))
                .await;
            let params = json!({ "_meta": null });
            mock.send(
                json!({ "jsonrpc": "2.0", "id": 9, "method": "roots/list", "params": params }),
            )
            .await;
            mock.next().await.unwrap();
            let tool = |name| {
                json!({ "name": name, "description": null, "title": null, "_meta": null,
                "inputSchema": { "type": "object" }, "outputSchema": null, "annotations": null })
            };
            let tools = json!({ "tools": [tool("a"), tool("b")], "nextCursor": null });
            mock.result(&list, tools).await;
            let Some(call) = mock.next().await else {
                return;
            };
            let block = json!({ "type": "text", "text": "hi", "annotations": null });
            let result = json!({ "content": [block], "structuredContent": null, "isError": null });
            let id = &call["id"];
            mock.send(json!({ "jsonrpc": "2.0", "id": id, "result": result, "error": null }))
                .await;
            let ping = mock.next().await.unwrap();
            let error = json!({ "code": 7, "message": "no", "data": null });
            let id = &ping["id"];
            mock.send(json!({ "jsonrpc": "2.0", "id": id, "result": null, "error": error }))
                .await;
        });
        let client = connecting.await.unwrap();
        let mut heard = client.notifications();
        let told = log();
        let listed = soon(client.list_tools()).await;
        let (notified, changed) = (heard.try_next(), heard.try_next());
        if !passes {
            let error = listed.unwrap_err().to_string();
            assert!(error.contains("/tools/0/description"), "{error}");
            assert!(notified.is_none() && questions.try_recv().is_err());
            let told = told.take();
            assert!(
                told.iter().any(|line| line.contains("/params/logger")),
                "{told:#?}"
            );
            drop(client);
            soon(playing).await.unwrap();
            continue;
        }
        assert_eq!(listed.unwrap().len(), 2);
        // Data may be null.
        let params = notified.unwrap().params().unwrap().to_value();
        assert_eq!(params, json!({ "level": "info", "data": null }));
        let changed = changed.unwrap();
        assert!(changed.params().is_none(), "{changed:?}");
        assert!(changed.get::<methods::ToolListChanged>().unwrap().is_some());
        assert_eq!(questions.try_recv().unwrap(), Some(json!({})));
        let result = soon(client.call_tool("a", ()).into_future()).await.unwrap();
        assert_eq!((result.content.len(), result.is_error), (1, None));
        let ping = client.request::<methods::Ping>(Default::default());
        let error: ClientError = soon(ping.into_future()).await.unwrap_err();
        assert_eq!(error.code(), Some(7));
        soon(playing).await.unwrap();
    }
}
