//! Notes, a feature that the runtime knows only by the lines that name it, over both transports.

#[expect(dead_code, reason = "the other tests use the rest")]
mod support;

use std::{future::pending, time::Duration};

use axum::http::StatusCode;
use serde_json::{Value, json};
use support::{BEFORE, FIRST, SECOND, both, http_request, next_event, post, request, soon, stream};
use tower::ServiceExt;
use trueform::{
    HttpConfig, Policy, Service,
    client::ClientOptions,
    notes::{Note, Step},
    prelude::*,
    schema::{Note as Shown, SubscriptionFilter, methods},
};

fn named(name: &str) -> Shown {
    Shown::new(name)
}

fn server() -> Server {
    let mut slow = Note::new(named("slow"), |_| Step::Later(Box::pin(pending())));
    slow.timeout = Some(Duration::from_millis(20));
    let red = named("sync").with_colour("red");
    Server::new("test", "1.0.0")
        .tools(tools![])
        .page_size(2)
        .note(Note::new(red, |cx| {
            Step::Ready(Ok(format!("at {}", cx.revision())))
        }))
        .note(Note::new(named("later"), |_| {
            Step::Later(Box::pin(async {
                tokio::task::yield_now().await;
                Ok("later".to_owned())
            }))
        }))
        .note(Note::new(named("blocking"), |_| {
            Step::Blocking(Box::new(|| Ok("blocking".to_owned())))
        }))
        .note(Note::new(named("fails"), |_| {
            Step::Ready(Err("out of ink".into()))
        }))
        .note(Note::new(named("panics"), |_| panic!("spilled")))
        .note(Note::new(named("waits"), |_| {
            Step::Later(Box::pin(pending()))
        }))
        .note(slow)
}

fn service() -> Service {
    server().build().expect("the notes are fine")
}

/// A page of the list, on both transports: its items and the cursor.
async fn page(service: &Service, revision: &str, cursor: Option<&Value>) -> (Vec<Value>, Value) {
    let params = cursor.map_or_else(|| json!({}), |cursor| json!({ "cursor": cursor }));
    let mut answer = both(service, request(revision, "notes/list", params), 200).await;
    let shown = answer["result"]["notes"].take();
    let shown = shown.as_array().expect("a list").clone();
    (shown, answer["result"]["nextCursor"].take())
}

/// The complete response to `notes/get`, on both transports.
async fn get(service: &Service, revision: &str, name: &str) -> Value {
    let params = json!({ "name": name });
    both(service, request(revision, "notes/get", params), 200).await
}

#[tokio::test]
async fn the_capability_is_declared_where_it_exists() {
    for (revision, declared) in [
        (FIRST, json!({ "listChanged": true })),
        (BEFORE, Value::Null),
    ] {
        let discover = request(revision, "server/discover", json!({}));
        let answer = both(&service(), discover, 200).await;
        assert_eq!(answer["result"]["capabilities"]["notes"], declared);
    }
    for method in ["notes/list", "notes/get"] {
        let params = json!({ "name": "sync" });
        let answer = both(&service(), request(BEFORE, method, params), 404).await;
        assert_eq!(answer["error"]["code"], -32601, "{answer}");
    }
}

// P-1, P-3
#[tokio::test]
async fn pages() {
    let service = service();
    let (mut names, mut cursor, mut pages) = (Vec::new(), None, 0);
    loop {
        let (shown, next) = page(&service, FIRST, cursor.as_ref()).await;
        names.extend(shown.into_iter().map(|note| note["name"].clone()));
        pages += 1;
        if next.is_null() {
            break;
        }
        cursor = Some(next);
    }
    let all = [
        "sync", "later", "blocking", "fails", "panics", "waits", "slow",
    ];
    assert_eq!((names, pages), (all.map(Value::from).to_vec(), 4));

    let params = json!({ "cursor": "garbage" });
    let answer = both(&service, request(FIRST, "notes/list", params), 200).await;
    assert_eq!(answer["error"]["code"], -32602, "{answer}");
    let pointer = &answer["error"]["data"]["pointer"];
    assert_eq!(pointer, "/params/cursor", "{answer}");
}

#[tokio::test]
async fn each_revision_has_bytes_of_its_own() {
    let service = service();
    // Twice, because the second time they are written already.
    for _ in 0..2 {
        for (revision, note) in [
            (FIRST, json!({ "name": "sync" })),
            (SECOND, json!({ "name": "sync", "colour": "red" })),
        ] {
            assert_eq!(page(&service, revision, None).await.0[0], note);
            let answer = get(&service, revision, "sync").await;
            assert_eq!(answer["result"]["note"], note, "{answer}");
            let text = format!("at {revision}");
            assert_eq!(answer["result"]["text"], text, "{answer}");
        }
    }
}

#[tokio::test]
async fn what_cannot_be_listed_is_found_at_the_start() {
    let write = |_: &Context| Step::Ready(Ok(String::new()));
    let broken = Note::new(named("broken").with_link("no URI"), write);
    let again = Note::new(named("sync"), write);
    let error = server().note(broken).note(again).build();
    let error = error.expect_err("two are wrong").to_string();
    for part in [
        format!("cannot be listed at {FIRST}: "),
        format!("cannot be listed at {SECOND}: "),
        "two notes are named `sync`: ".to_owned(),
        "tests/notes.rs:".to_owned(),
    ] {
        assert!(error.contains(&part), "{part}: {error}");
    }
    assert!(!error.contains(BEFORE), "{error}");
}

#[tokio::test]
async fn functions_of_every_kind() {
    let service = service();
    for name in ["later", "blocking"] {
        let answer = get(&service, FIRST, name).await;
        assert_eq!(answer["result"]["text"], name, "{answer}");
    }
    for (name, message) in [
        ("fails", "out of ink"),
        // The server continues, and reports nothing more.
        ("panics", "internal error"),
        ("slow", "`slow` did not finish within 20ms"),
    ] {
        let answer = get(&service, FIRST, name).await;
        let error = json!({ "code": -32603, "message": message });
        assert_eq!(answer["error"], error, "{answer}");
    }
    let answer = get(&service, FIRST, "snyc").await;
    assert_eq!(answer["error"]["code"], -32602, "{answer}");
    let data = &answer["error"]["data"];
    assert_eq!(data["pointer"], "/params/name", "{answer}");
    let message = answer["error"]["message"].as_str().expect("a message");
    assert!(message.contains("did you mean `sync`?"), "{message}");
}

// O-2, O-3
#[tokio::test]
async fn a_cancelled_note_is_not_answered() {
    let waits = request(FIRST, "notes/get", json!({ "name": "waits" }));
    let params = json!({ "requestId": 1 });
    let cancelled =
        json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": params });
    let mut discover = request(FIRST, "server/discover", json!({}));
    discover["id"] = json!(2);
    let answers = stream(&service(), &[waits, cancelled, discover]).await;
    let ids: Vec<_> = answers.iter().map(|answer| &answer["id"]).collect();
    assert_eq!(ids, [2], "{answers:?}");
}

// F-24, GAP-2
#[tokio::test]
async fn the_header_names_the_same_note_as_the_body() {
    let wanted = request(FIRST, "notes/get", json!({ "name": "sync" }));
    for name in [None, Some("later")] {
        let response = post(&service(), Some(FIRST), name, &wanted).await;
        assert_eq!(response.status(), StatusCode::BAD_REQUEST, "{name:?}");
    }
}

// Y-6: a note that is written takes a permit, as the call of a tool does, and gives it back.
#[tokio::test]
async fn a_note_takes_a_permit() {
    let server = server().http(HttpConfig::default().max_in_flight(1));
    let service = server.build().expect("the notes are fine");
    let served = service.into_http_service().expect("the settings are fine");
    let get = |name: &str| {
        let wanted = request(FIRST, "notes/get", json!({ "name": name }));
        let wanted = http_request(Some(FIRST), Some(name), &wanted);
        let response = served.clone().oneshot(wanted);
        async { soon(response).await.expect("it does not fail").status() }
    };
    let refused = tokio::select! {
        biased;
        _ = get("waits") => panic!("it never ends"),
        refused = get("sync") => refused,
    };
    assert_eq!(refused, StatusCode::SERVICE_UNAVAILABLE);
    assert_eq!(get("sync").await, StatusCode::OK);
    assert_eq!(get("sync").await, StatusCode::OK);
}

// U-2, U-3
#[tokio::test]
async fn changes_reach_those_who_asked() {
    const CHANGED: &str = "notifications/notes/list_changed";
    let service = service();
    let first = Revision::from_wire(FIRST).expect("a revision");
    let client = soon(service.connect_as(ClientOptions::at(first))).await;
    let client = client.expect("it connects");
    let mut notes = SubscriptionFilter::default();
    notes.notes_list_changed = Some(true);
    let mut listening = soon(client.listen(notes.clone()))
        .await
        .expect("it is served");
    assert_eq!(listening.honoured(), &notes);
    let filter = json!({ "notifications": { "notesListChanged": true } });
    let listen = request(FIRST, "subscriptions/listen", filter.clone());
    let response = post(&service, Some(FIRST), None, &listen).await;
    let mut body = response.into_body();
    let acknowledged = next_event(&mut body).await;
    let honoured = &acknowledged["params"]["notifications"];
    assert_eq!(honoured, &filter["notifications"], "{acknowledged}");
    // Revisions without the notification do not honour it either.
    let wanted = json!({ "notesListChanged": true, "toolsListChanged": true });
    let params = json!({ "notifications": wanted });
    let listen = request(BEFORE, "subscriptions/listen", params);
    let response = post(&service, Some(BEFORE), None, &listen).await;
    let mut older = response.into_body();
    let acknowledged = next_event(&mut older).await;
    let honoured = &acknowledged["params"]["notifications"];
    let tools = json!({ "toolsListChanged": true });
    assert_eq!(honoured, &tools, "{acknowledged}");
    let options = ClientOptions::at(Revision::LATEST_LEGACY).incoming(Policy::Off);
    let legacy = soon(service.connect_as(options)).await;
    let legacy = legacy.expect("it connects");
    let mut notifications = legacy.notifications();
    // Answered after the server has read `notifications/initialized`, after which the session is notified of changes.
    soon(legacy.list_tools()).await.expect("no tools");

    let handle = service.handle();
    assert!(handle.enable_note("later", false));
    assert!(!handle.enable_note("later", false), "it was so already");
    let changed = soon(listening.next()).await.expect("a notification");
    assert!(changed.is::<methods::NoteListChanged>(), "{changed:?}");
    assert_eq!(next_event(&mut body).await["method"], CHANGED);
    let (shown, _) = page(&service, FIRST, None).await;
    assert_eq!(shown[1]["name"], "blocking", "{shown:?}");
    let hidden = get(&service, FIRST, "later").await;
    assert_eq!(hidden["error"]["code"], -32602, "{hidden}");

    handle.notify_tools_changed();
    let first = soon(notifications.next()).await.expect("a notification");
    assert!(first.is::<methods::ToolListChanged>(), "{first:?}");
    let first = next_event(&mut older).await;
    assert_eq!(first["method"], "notifications/tools/list_changed");

    // The end of the server ends all of them, and no message came before it.
    handle.shut_down();
    assert!(soon(listening.next()).await.is_none());
    for mut body in [body, older] {
        let last = next_event(&mut body).await;
        assert_eq!(last["result"]["resultType"], "complete", "{last}");
    }
}
