//! What a client makes of servers that real users run: answers that are nearly right, and connections that just end.

use std::future::IntoFuture;

use serde_json::{Value, json};
use trueform::{
    Leniencies, Leniency,
    client::{ClientError, ClientOptions, LocalError},
    prelude::*,
    schema::{GetPromptRequestParams, methods},
};

use crate::{
    client::{Mock, against, discovered, play_legacy},
    support::{log, soon},
};

fn tool(name: &str) -> Value {
    json!({ "name": name, "inputSchema": { "type": "object" } })
}

/// What `list_tools` makes of `pages`, of which each but the last names the cursor of the next; and how many were asked for.
async fn listed(
    leniencies: Leniencies,
    pages: Vec<(Value, Option<&'static str>)>,
) -> (Result<Vec<String>, ClientError>, usize) {
    let options = ClientOptions::at(Revision::V2025_06_18).lenient(leniencies);
    let (connecting, playing) = against(options, |mut mock| async move {
        let request = mock.next().await.unwrap();
        play_legacy(&mut mock, &request).await;
        let mut pages = pages.into_iter();
        let mut asked = 0;
        while let Some(request) = mock.next().await {
            asked += 1;
            let (tools, next) = pages.next().expect("no more is asked for");
            let mut page = json!({ "tools": tools });
            if let Some(next) = next {
                page["nextCursor"] = next.into();
            }
            mock.result(&request, page).await;
        }
        asked
    });
    let client = connecting.await.unwrap();
    let tools = soon(client.list_tools()).await;
    soon(client.close()).await;
    let names = tools.map(|tools| tools.into_iter().map(|tool| tool.name).collect());
    (names, soon(playing).await.unwrap())
}

// TRAP-19: the rest of the list is of use.
#[tokio::test]
async fn a_malformed_tool_is_left_out() {
    let bad = [
        json!({ "name": "bad" }),
        json!({ "name": 5, "inputSchema": { "type": "object" } }),
        json!({ "name": "bad", "inputSchema": { "type": "object", "required": 5 } }),
        json!("bad"),
    ];
    for bad in bad {
        let page = json!([tool("first"), bad, tool("last")]);
        let told = log();
        let (names, _) = listed(Leniencies::ALL, vec![(page.clone(), None)]).await;
        assert_eq!(names.unwrap(), ["first", "last"], "{bad}");
        let told = told.take();
        let line = told
            .iter()
            .find(|line| line.starts_with("WARN") && line.contains("left out"));
        let line = line.unwrap_or_else(|| panic!("{told:#?}"));
        assert!(line.contains(r#"pointer="/tools/1"#), "{line}");

        let strict = Leniencies::ALL.without(Leniency::MalformedItems);
        let (names, _) = listed(strict, vec![(page, None)]).await;
        let error = names.unwrap_err();
        assert!(error.to_string().contains("/tools/1"), "{error}");
    }
}

// What is wrong beside the tools is said.
#[tokio::test]
async fn a_malformed_list() {
    for tools in [json!(5), json!({ "a": 1 })] {
        let (names, _) = listed(Leniencies::ALL, vec![(tools, None)]).await;
        let error = names.unwrap_err();
        assert!(error.to_string().contains("/tools"), "{error}");
    }
}

// TRAP-19: a cursor that comes again, and cursors that lead nowhere.
#[tokio::test]
async fn a_list_that_does_not_advance_has_each_tool_once() {
    let page = || json!([tool("a"), tool("b")]);
    let pages = vec![(page(), Some("x")), (page(), Some("x"))];
    let (names, asked) = listed(Leniencies::ALL, pages).await;
    assert_eq!((names.unwrap(), asked), (vec!["a".into(), "b".into()], 2));

    let pages = vec![(page(), Some("1")), (page(), Some("2"))];
    let (names, asked) = listed(Leniencies::ALL, pages).await;
    assert_eq!((names.unwrap(), asked), (vec!["a".into(), "b".into()], 2));

    // An empty page is not one of them, and an empty cursor is.
    let pages = vec![
        (json!([]), Some("")),
        (json!([]), Some("1")),
        (page(), None),
    ];
    let (names, asked) = listed(Leniencies::ALL, pages).await;
    assert_eq!((names.unwrap(), asked), (vec!["a".into(), "b".into()], 3));
}

// D-6: a server that knows `initialize` only, and ends at everything else.
#[tokio::test]
async fn a_server_that_exits_on_discover() {
    for options in [
        ClientOptions::new(),
        ClientOptions::at(Revision::V2026_07_28),
    ] {
        let (connecting, playing) = against(options, |mut mock| async move {
            let probe = mock.next().await.unwrap();
            assert_eq!(probe["method"], "server/discover");
        });
        let error = connecting.await.unwrap_err();
        soon(playing).await.unwrap();
        assert!(
            matches!(error, ClientError::Local(LocalError::ClosedOnDiscover)),
            "{error:?}"
        );
        let text = error.to_string();
        for part in [
            "`server/discover`",
            "`Negotiation::Offer(Revision::V2025_11_25)`",
        ] {
            assert!(text.contains(part), "{text}");
        }
    }
}

/// Connects to a mock of 2026-07-28 and lets `script` go on.
async fn modern<F, T>(
    leniencies: Leniencies,
    script: impl FnOnce(Mock) -> F + Send + 'static,
) -> (trueform::client::Client, tokio::task::JoinHandle<T>)
where
    F: Future<Output = T> + Send + 'static,
    T: Send + 'static,
{
    let options = ClientOptions::new().lenient(leniencies);
    let (connecting, playing) = against(options, |mut mock| async move {
        let probe = mock.next().await.unwrap();
        mock.result(&probe, discovered(&["2026-07-28"])).await;
        script(mock).await
    });
    (connecting.await.unwrap(), playing)
}

// A-7, GAP-7: an error to what the server could not read, which can be about one request only.
#[tokio::test(start_paused = true)]
async fn an_error_without_an_id() {
    for (error, leniencies, code) in [
        (json!({ "id": null }), Leniencies::ALL, Some(-32700)),
        (json!({}), Leniencies::ALL, Some(-32700)),
        // It is not a message then, but no other answer will come.
        (json!({ "id": null }), Leniencies::NONE, None),
    ] {
        let (client, playing) = modern(leniencies, |mut mock| async move {
            let call = mock.next().await.unwrap();
            let mut answer =
                json!({ "jsonrpc": "2.0", "error": { "code": -32700, "message": "no" } });
            let members = answer.as_object_mut().unwrap();
            members.extend(error.as_object().unwrap().clone());
            mock.send(answer.clone()).await;
            // Two are open: it may be about either.
            let (first, second) = (mock.next().await.unwrap(), mock.next().await.unwrap());
            mock.send(answer).await;
            let result = json!({ "resultType": "complete", "content": [] });
            mock.result(&first, result.clone()).await;
            mock.result(&second, result).await;
            call
        })
        .await;
        let before = tokio::time::Instant::now();
        let error = client.call_tool("a", ()).await.unwrap_err();
        assert_eq!(error.code(), code, "{error}");
        assert!(before.elapsed().is_zero(), "at once");
        let (first, second) = tokio::join!(
            client.call_tool("b", ()).into_future(),
            client.call_tool("c", ()).into_future()
        );
        first.unwrap();
        second.unwrap();
        soon(playing).await.unwrap();
    }
}

// I-4: what is missing is named, whichever kind the result might have been.
#[tokio::test]
async fn a_result_without_what_it_needs() {
    for (result, is_tool, missing) in [
        (json!({}), true, "`content`"),
        (json!({ "isError": true }), true, "`content`"),
        (json!({ "structuredContent": {} }), true, "`content`"),
        (json!({ "resultType": "complete" }), true, "`content`"),
        (json!({ "description": "d" }), false, "`messages`"),
        (json!({ "resultType": "complete" }), false, "`messages`"),
    ] {
        let sent = result.clone();
        let options = ClientOptions::at(Revision::V2025_06_18);
        let (connecting, playing) = against(options, |mut mock| async move {
            let request = mock.next().await.unwrap();
            let capabilities = json!({ "tools": {}, "prompts": {} });
            let answer = json!({ "protocolVersion": "2025-06-18", "capabilities": capabilities,
                "serverInfo": { "name": "mock", "version": "1" } });
            mock.result(&request, answer).await;
            mock.next().await.unwrap();
            let request = mock.next().await.unwrap();
            mock.result(&request, sent).await;
        });
        let client = connecting.await.unwrap();
        let error = match is_tool {
            true => soon(client.call_tool("a", ()).into_future()).await.err(),
            false => {
                let params = GetPromptRequestParams::new("p");
                let asking = client.request::<methods::GetPrompt>(params);
                soon(asking.into_future()).await.err()
            }
        };
        let error = error.unwrap_or_else(|| panic!("{result}")).to_string();
        assert!(
            error.contains("missing") && error.contains(missing),
            "{result}: {error}"
        );
        soon(playing).await.unwrap();
    }
}
