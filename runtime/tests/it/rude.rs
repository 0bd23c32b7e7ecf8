//! Extensions whose code panics wherever it is called: only their own message is lost, on either transport and in either era.

use std::sync::Arc;

use trueform::{
    Context, Server,
    schema::{
        DecodeError, EmptyResult, Method, RequestParams, Revision,
        methods::{BoxFuture, Decoded, Methods, Response, Rules},
    },
    tools,
};

use crate::{
    extended::{Own, WAYS},
    support::{add, legacy, log, soon},
};

/// Panics when its messages are decoded, when their handler is called, when it is polled, and when its future is dropped.
struct Rude;

const NAMES: &[&str] = &[
    "own/decode",
    "own/call",
    "own/poll",
    "own/drop",
    "notifications/own/decode",
    "notifications/own/call",
    "notifications/own/poll",
    "notifications/own/drop",
];

struct PanicsOnDrop;

impl Drop for PanicsOnDrop {
    fn drop(&mut self) {
        assert!(std::thread::panicking(), "meant to");
    }
}

fn at(method: &str) -> &str {
    method.rsplit('/').next().unwrap()
}

fn answered<R: Send + 'static>(method: &str, answer: fn() -> R) -> BoxFuture<'static, R> {
    assert_ne!(at(method), "call", "meant to");
    let point = at(method).to_owned();
    // Dropped with the future, not at its end.
    let mut kept = (point == "drop").then_some(PanicsOnDrop);
    Box::pin(std::future::poll_fn(move |_| {
        assert_ne!(point, "poll", "meant to");
        let _ = &mut kept;
        std::task::Poll::Ready(answer())
    }))
}

impl Methods<Context> for Rude {
    fn identifier(&self) -> Option<&'static str> {
        Some("com.example/own")
    }

    fn names(&self) -> &'static [&'static str] {
        NAMES
    }

    fn rules(&self, method: &str, revision: Revision) -> Option<&'static Rules> {
        let like = match method.starts_with("notifications/") {
            true => Method::Cancelled,
            false => Method::ListTools,
        };
        like.rules(revision).filter(|_| NAMES.contains(&method))
    }

    fn request(
        self: Arc<Self>,
        _: Revision,
        method: &str,
        params: Option<&str>,
    ) -> Result<Decoded<Context, Response>, DecodeError> {
        assert_ne!(at(method), "decode", "meant to");
        type Answer = fn(Arc<Rude>, Context, RequestParams) -> BoxFuture<'static, Response>;
        let answer: Answer = match at(method) {
            "call" => |_, _, _| answered("call", || Ok(Box::new(EmptyResult::default()) as _)),
            "poll" => |_, _, _| answered("poll", || Ok(Box::new(EmptyResult::default()) as _)),
            _ => |_, _, _| answered("drop", || Ok(Box::new(EmptyResult::default()) as _)),
        };
        Ok(Decoded::new(
            self,
            serde_json::from_str(params.unwrap_or("{}")).unwrap(),
            answer,
        ))
    }

    fn notification(
        self: Arc<Self>,
        _: Revision,
        method: &str,
        params: Option<&str>,
    ) -> Result<Decoded<Context, ()>, DecodeError> {
        assert_ne!(at(method), "decode", "meant to");
        type Note = fn(Arc<Rude>, Context, RequestParams) -> BoxFuture<'static, ()>;
        let note: Note = match at(method) {
            "call" => |_, _, _| answered("call", || ()),
            "poll" => |_, _, _| answered("poll", || ()),
            _ => |_, _, _| answered("drop", || ()),
        };
        Ok(Decoded::new(
            self,
            serde_json::from_str(params.unwrap_or("{}")).unwrap(),
            note,
        ))
    }
}

#[tokio::test]
async fn panics_of_an_extension_harm_only_their_message() {
    for way in WAYS {
        for name in NAMES {
            let told = log();
            let service = Server::new("t", "1")
                .tools(tools![add])
                .extension(Rude)
                .build()
                .unwrap();
            let is_notification = name.starts_with("notifications/");
            let message = match is_notification {
                true => way.request("1", name, "").replace(r#""id":1,"#, ""),
                false => way.request("1", name, ""),
            };
            let messages = [message, way.request("2", "tools/list", "")];
            let answers = soon(way.answers(&service, &messages)).await;
            let of = format!("{way:?} {name}: {answers:?}");
            let expected = if is_notification { 1 } else { 2 };
            assert_eq!(answers.len(), expected, "{of}");
            assert!(answers.last().unwrap()["result"].is_object(), "{of}");
            if !is_notification {
                assert_eq!(answers[0]["error"]["code"], -32603, "{of}");
            }
            // Over HTTP, a notification is worked at after it was answered.
            let is_of_it = |line: &String| {
                line.starts_with("ERROR") && line.contains("meant to") && line.contains(name)
            };
            soon(async {
                while !told.take().iter().any(is_of_it) {
                    tokio::task::yield_now().await;
                }
            })
            .await;
        }
    }
}

// Params must be an object, for methods of the core and of extensions.
#[tokio::test]
async fn params_of_an_extension_are_an_object() {
    for way in WAYS.into_iter().filter(|way| !way.modern) {
        for params in ["null", "[]", "[{}]", "[null]", "7", "\"x\"", "true"] {
            let service = Server::new("t", "1").extension(Own).build().unwrap();
            let message = legacy("1", "own/ok", params);
            let answers = soon(way.answers(&service, &[message])).await;
            let error = &answers[0]["error"];
            assert_eq!(error["code"], -32602, "{params}: {answers:?}");
            assert_eq!(error["data"]["pointer"], "/params", "{params}: {error}");
            assert_eq!(error["data"]["expected"], "an object", "{params}: {error}");
        }
    }
}
