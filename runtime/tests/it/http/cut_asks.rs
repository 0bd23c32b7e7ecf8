//! Questions to clients of the legacy era whose stream is cut while they are open, and those that nobody can answer any more.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::sync::mpsc;
use trueform::{HttpConfig, prelude::*};

use super::support::{App, Opened, Req};
use crate::{
    asks::initialize,
    support::{self as common, Director, Stage, legacy, soon},
};

/// Asks, and reports to the test how that ended.
#[tool]
async fn sure(context: Context, ends: State<mpsc::UnboundedSender<String>>) -> String {
    let answer = context.ask::<bool>("sure", "Sure?").await;
    let end = answer.map_or_else(|error| error.to_string(), |answer| format!("{answer:?}"));
    let _ = ends.send(end.clone());
    end
}

/// Waits until the test lets it go on, and asks then.
#[tool]
async fn asks_late(context: Context, stage: State<Stage>) -> String {
    stage.hold("late").await;
    let answer = context.ask::<bool>("sure", "Sure?").await;
    answer.map_or_else(|error| error.to_string(), |answer| format!("{answer:?}"))
}

fn server() -> (Server, Director, mpsc::UnboundedReceiver<String>) {
    let (stage, director) = common::stage();
    let (ends, ended) = mpsc::unbounded_channel();
    let server = Server::new("asks", "1").tools(tools![sure, asks_late]);
    (server.state(stage).state(ends), director, ended)
}

async fn session(app: &App, revision: &str) -> String {
    let [initialize, initialized] = initialize(revision, r#"{"elicitation":{}}"#);
    let opened = app.send(Req::post(initialize)).await;
    let id = opened.header("mcp-session-id").unwrap().to_owned();
    app.send(Req::post(initialized).session(&id)).await;
    id
}

/// The next message, and the id of its event.
async fn next(stream: &mut Opened) -> (Value, Option<String>) {
    loop {
        let event = soon(stream.event()).await.expect("the stream goes on");
        if !event.data.is_empty() {
            return (event.json(), event.id);
        }
    }
}

async fn answer(app: &App, session: &str, asked: &Value) {
    assert_eq!(asked["method"], "elicitation/create", "{asked}");
    let result = json!({ "action": "accept", "content": { "answer": true } });
    let answer = json!({ "jsonrpc": "2.0", "id": asked["id"], "result": result });
    let got = app
        .send(Req::post(answer.to_string()).session(session))
        .await;
    assert_eq!((got.status, &*got.body), (202, ""), "{got:?}");
}

fn resume(session: &str, last: &str) -> Req {
    Req::get(session).header("last-event-id", last)
}

// F-18, G-7, R-3: a question outlives a stream that is cut. The client that resumes the stream gets the question, if it was not heard
// before, and the end.
#[tokio::test]
async fn a_resumable_stream() {
    #[derive(Debug, Clone, Copy, PartialEq)]
    enum Cut {
        BeforeTheQuestion,
        AfterTheQuestion,
        AnsweredMeanwhile,
    }
    let (server, _director, mut ended) = server();
    let app = App::serving(server.http(HttpConfig::default()));
    let session = session(&app, "2025-11-25").await;
    let cuts = [
        Cut::BeforeTheQuestion,
        Cut::AfterTheQuestion,
        Cut::AnsweredMeanwhile,
    ];
    for (id, cut) in (1..).zip(cuts) {
        let call = Req::call(&session, &format!("{id}"), "sure", "{}");
        let mut stream = app.open(call).await;
        let priming = soon(stream.event()).await.unwrap().id.expect("an id");
        let heard = match cut {
            Cut::BeforeTheQuestion => None,
            Cut::AfterTheQuestion | Cut::AnsweredMeanwhile => Some(next(&mut stream).await),
        };
        drop(stream);
        if let (Cut::AnsweredMeanwhile, Some((asked, _))) = (cut, &heard) {
            answer(&app, &session, asked).await;
            assert_eq!(soon(ended.recv()).await.unwrap(), "Accepted(true)");
        }
        let last = heard.as_ref().and_then(|(_, id)| id.clone());
        let last = last.unwrap_or(priming);
        let mut resumed = app.open(resume(&session, &last)).await;
        assert!(resumed.is_stream(), "{cut:?}: {resumed:?}");
        match (cut, heard) {
            (Cut::BeforeTheQuestion, _) => {
                let (asked, _) = next(&mut resumed).await;
                answer(&app, &session, &asked).await;
            }
            (Cut::AfterTheQuestion, Some((asked, _))) => answer(&app, &session, &asked).await,
            _ => {}
        }
        let (done, _) = next(&mut resumed).await;
        assert_eq!(done["id"], id, "{cut:?}: {done}");
        let text = &done["result"]["content"][0]["text"];
        assert_eq!(text, "Accepted(true)", "{cut:?}: {done}");
        if cut != Cut::AnsweredMeanwhile {
            assert_eq!(soon(ended.recv()).await.unwrap(), "Accepted(true)");
        }
    }
}

// DEC-8: where a stream cannot be resumed, the answer counts all the same, because it comes by a POST of its own. The end of
// the call is lost; other calls go on.
#[tokio::test]
async fn a_stream_that_cannot_be_resumed() {
    for revision in ["2025-06-18", "2025-11-25"] {
        let (server, _director, mut ended) = server();
        let config = HttpConfig::default();
        let config = match revision {
            "2025-11-25" => config.event_store(None),
            _ => config,
        };
        let app = App::serving(server.http(config));
        let session = session(&app, revision).await;
        let mut stream = app.open(Req::call(&session, "1", "sure", "{}")).await;
        let (asked, id) = next(&mut stream).await;
        assert_eq!(id, None, "{revision}: {asked}");
        drop(stream);
        let other = app.send(Req::legacy(&session, "2", "ping", "{}")).await;
        assert_eq!(other.status, 200, "{revision}: {other:?}");
        answer(&app, &session, &asked).await;
        assert_eq!(soon(ended.recv()).await.unwrap(), "Accepted(true)");
        let other = app.send(Req::legacy(&session, "3", "ping", "{}")).await;
        assert_eq!(other.status, 200, "{revision}: {other:?}");
    }
}

// DEC-11: a call that asks when the server stops already, or when its client says no more, hears at once that nobody will
// answer. It does not wait until its time is up.
#[tokio::test(start_paused = true)]
async fn nobody_is_left_to_answer() {
    let (server, director, _ended) = server();
    let app = App::serving(server.http(HttpConfig::default()));
    let session = session(&app, "2025-11-25").await;
    let mut stream = app.open(Req::call(&session, "1", "asks_late", "{}")).await;
    assert_eq!(director.begun().await, "late");
    app.handle.shut_down();
    let begun = tokio::time::Instant::now();
    director.open();
    let (ended, _) = next(&mut stream).await;
    let text = ended["result"]["content"][0]["text"].as_str().unwrap();
    assert!(text.starts_with("the client cannot be reached"), "{ended}");
    assert!(
        begun.elapsed() < Duration::from_secs(1),
        "{:?}",
        begun.elapsed()
    );
}

// The same where a question is open already, and over a byte stream whose input has ended.
#[tokio::test(start_paused = true)]
async fn nobody_is_left_to_answer_over_a_byte_stream() {
    let (server, director, _ended) = server();
    let service = server.build().unwrap();
    let mut lines: Vec<String> = initialize("2025-11-25", r#"{"elicitation":{}}"#).into();
    let call = |id: &str, tool: &str| {
        let params = format!(r#"{{"name":"{tool}","arguments":{{}}}}"#);
        legacy(id, "tools/call", &params)
    };
    lines.extend([call("1", "sure"), call("2", "asks_late")]);
    let begun = tokio::time::Instant::now();
    // The input ends with these lines.
    let talk = common::conversation(&service, common::joined(&lines));
    let let_go_on = async {
        assert_eq!(director.begun().await, "late");
        director.open();
    };
    let (output, ()) = tokio::join!(talk, let_go_on);
    let answers: Vec<Value> = output
        .iter()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    for id in [1, 2] {
        let answer = answers
            .iter()
            .find(|answer| answer["id"] == id && answer.get("result").is_some());
        let answer = answer.unwrap_or_else(|| panic!("{id}: {output:#?}"));
        let text = answer["result"]["content"][0]["text"].as_str().unwrap();
        assert!(text.starts_with("the client cannot be reached"), "{answer}");
    }
    // The drain is 5 s.
    assert!(
        begun.elapsed() < Duration::from_secs(1),
        "{:?}",
        begun.elapsed()
    );
}
