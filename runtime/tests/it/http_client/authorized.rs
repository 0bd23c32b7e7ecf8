//! Credentials by the client's hook: for each request, and anew where they are refused.

use std::{
    future::IntoFuture,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
};

use serde_json::json;
use trueform::{
    client::{AuthorizationRefused, Authorize, AuthorizedRequest, HttpEndpoint, HttpErrorKind},
    schema::methods::RootsListChanged,
};

use super::{
    call, failed, new, old,
    server::{Answer, Asked, Scripted, called, event, legacy, modern},
};
use crate::support::{log, soon};

/// Tokens that are used up one after the other.
#[derive(Clone)]
struct Tokens {
    left: Arc<Mutex<Vec<&'static str>>>,
    refused: Arc<Mutex<Vec<String>>>,
}

type Future<'a, T> = std::pin::Pin<Box<dyn std::future::Future<Output = T> + Send + 'a>>;

impl Authorize for Tokens {
    fn authorization(
        &self,
        request: AuthorizedRequest<'_>,
    ) -> Future<'_, Result<Option<String>, String>> {
        assert!(request.url.starts_with("http://127.0.0.1:"), "{request:?}");
        let token = self.left.lock().unwrap().last().copied();
        let given = match token {
            Some("none") => Err("the user is away".to_owned()),
            token => Ok(token.map(|token| format!("Bearer {token}"))),
        };
        Box::pin(std::future::ready(given))
    }

    fn refused(&self, refused: AuthorizationRefused) -> Future<'_, bool> {
        let scope = refused
            .challenges
            .first()
            .and_then(|challenge| challenge.param("scope"));
        let seen = format!("{} {scope:?} {}", refused.status, refused.had_authorization);
        self.refused.lock().unwrap().push(seen);
        let again = self.left.lock().unwrap().pop().is_some();
        Box::pin(std::future::ready(again))
    }
}

//
#[tokio::test]
async fn authorization() {
    for (tokens, expected, refusals) in [
        (&["good"][..], Ok(()), 0),
        (&["good", "stale"], Ok(()), 1),
        (&["good", "stale", "older"], Ok(()), 2),
        // Three requests are enough.
        (
            &["good", "stale", "older", "oldest"],
            Err("HTTP 401 Unauthorized: who are you? (challenge: Bearer)"),
            2,
        ),
        (
            &[],
            Err("HTTP 401 Unauthorized: who are you? (challenge: Bearer)"),
            1,
        ),
        (&["none"], Err("the user is away"), 0),
    ] {
        let server = Scripted::start(|asked, answer| async move {
            if asked.header("authorization") != Some("Bearer good") {
                let challenge =
                    "www-authenticate: Bearer scope=\"a b\", resource_metadata=\"http://x/y\"\r\n";
                return answer
                    .reply("401 Unauthorized", challenge, "who are you?")
                    .await;
            }
            modern(asked, answer).await;
        })
        .await;
        let given = Tokens {
            left: Arc::new(Mutex::new(tokens.to_vec())),
            refused: Arc::default(),
        };
        let endpoint = HttpEndpoint::new(&*server.url).authorize(given.clone());
        let outcome = soon(endpoint.connect_as(new())).await;
        match expected {
            Ok(()) => drop(outcome.expect("a good token")),
            Err(problem) => {
                let error = failed(outcome);
                assert!(error.to_string().contains(problem), "{tokens:?}: {error}");
                let is_status = error.kind() == HttpErrorKind::Status;
                assert_eq!(error.challenges().len(), usize::from(is_status));
            }
        }
        let refused = given.refused.lock().unwrap().clone();
        let expected = format!("401 Some(\"a b\") {}", !tokens.is_empty());
        assert_eq!(refused, vec![expected; refusals], "{tokens:?}");
    }
}

/// Answers with `status` and a challenge that asks for the scope `more`.
async fn refuse(status: &str, answer: Answer) {
    let challenge = "www-authenticate: Bearer error=\"insufficient_scope\", scope=\"more\"\r\n";
    answer.reply(status, challenge, "not you").await;
}

// 403 asks for more than the token gives.
#[tokio::test]
async fn a_token_that_does_not_suffice() {
    for (tokens, expected) in [
        (&["good", "small"][..], Ok("done")),
        (
            &["small"],
            Err("HTTP 403 Forbidden: not you (challenge: Bearer)"),
        ),
    ] {
        let server = Scripted::start(|asked, answer| async move {
            let Some((asked, answer)) = modern(asked, answer).await else {
                return;
            };
            match asked.header("authorization") {
                Some("Bearer good") => answer.result(&asked, called("done")).await,
                _ => refuse("403 Forbidden", answer).await,
            }
        })
        .await;
        let given = Tokens {
            left: Arc::new(Mutex::new(tokens.to_vec())),
            refused: Arc::default(),
        };
        let endpoint = HttpEndpoint::new(&*server.url).authorize(given.clone());
        let client = soon(endpoint.connect_as(new())).await.unwrap();
        let outcome = call(&client, "x").await;
        // The hook has no further token, so the second try goes without one.
        let mut refused = vec!["403 Some(\"more\") true"];
        match expected {
            Ok(text) => assert_eq!(outcome.unwrap(), text),
            Err(problem) => {
                refused.push("403 Some(\"more\") false");
                let error = failed(outcome);
                assert_eq!(
                    (error.status(), error.kind()),
                    (Some(403), HttpErrorKind::Status)
                );
                assert_eq!(error.challenges()[0].param("scope"), Some("more"));
                assert!(error.to_string().contains(problem), "{error}");
            }
        }
        assert_eq!(*given.refused.lock().unwrap(), refused);
    }
}

/// Answers what has the token, and refuses the rest.
async fn with_token(token: &str, asked: Asked, answer: Answer) -> Option<(Asked, Answer)> {
    if asked.header("authorization") == Some(&format!("Bearer {token}")) {
        return Some((asked, answer));
    }
    answer
        .reply("401 Unauthorized", "www-authenticate: Bearer\r\n", "")
        .await;
    None
}

// requests of every kind have the credentials, and a token that expires is replaced in the middle of a session.
#[tokio::test]
async fn a_token_that_expires() {
    let valid = Arc::new(Mutex::new("first"));
    let now = valid.clone();
    let server = Scripted::start(move |asked, answer| {
        let token = *now.lock().unwrap();
        async move {
            let Some((asked, answer)) = with_token(token, asked, answer).await else {
                return;
            };
            let Some((asked, mut answer)) = legacy(asked, answer, "s").await else {
                return;
            };
            match (asked.what(), asked.header("last-event-id")) {
                ("tools/call", _) => {
                    answer.events().await;
                    let ids =
                        json!({ "jsonrpc": "2.0", "method": "notifications/tools/list_changed" });
                    answer
                        .write(format!("id: e\nretry: 0\n{}", event(ids)))
                        .await;
                }
                ("GET", Some("e")) => {
                    let result = json!({ "jsonrpc": "2.0", "id": 2, "result": called("done") });
                    answer.events().await;
                    answer.write(event(result)).await;
                }
                ("GET", _) => answer.reply("405 Method Not Allowed", "", "").await,
                _ => answer.reply("202 Accepted", "", "").await,
            }
        }
    })
    .await;
    let given = Tokens {
        left: Arc::new(Mutex::new(vec!["second", "first"])),
        refused: Arc::default(),
    };
    let endpoint = HttpEndpoint::new(&*server.url).authorize(given.clone());
    let client = soon(endpoint.connect_as(old())).await.unwrap();
    let is_open = async {
        while server.all("GET").is_empty() {
            tokio::task::yield_now().await;
        }
    };
    soon(is_open).await;
    *valid.lock().unwrap() = "second";
    let result = soon(client.call_tool("x", ()).into_future()).await.unwrap();
    assert_eq!(result.text(), "done");
    client
        .notify::<RootsListChanged>(&Default::default())
        .unwrap();
    soon(client.close()).await;
    let asked = server.asked.lock().unwrap().clone();
    let seen: Vec<_> = asked
        .iter()
        .map(|asked| {
            (
                asked.what(),
                asked.header("authorization").unwrap_or("none"),
            )
        })
        .collect();
    let (first, second) = ("Bearer first", "Bearer second");
    let expected = [
        ("initialize", first),
        ("notifications/initialized", first),
        ("GET", first),
        ("tools/call", first),
        ("tools/call", second),
        ("GET", second),
        ("notifications/roots/list_changed", second),
        ("DELETE", second),
    ];
    assert_eq!(seen, expected);
    assert_eq!(*given.refused.lock().unwrap(), ["401 None true"]);
}

/// Panics once, where `in_refused` says, and gives a token otherwise.
struct Panics {
    in_refused: bool,
    armed: Arc<AtomicBool>,
}

impl Authorize for Panics {
    fn authorization(
        &self,
        _: AuthorizedRequest<'_>,
    ) -> Future<'_, Result<Option<String>, String>> {
        let panics = !self.in_refused && self.armed.swap(false, Ordering::SeqCst);
        assert!(!panics, "meant");
        Box::pin(std::future::ready(Ok(Some("Bearer any".to_owned()))))
    }

    fn refused(&self, _: AuthorizationRefused) -> Future<'_, bool> {
        let panics = self.in_refused && self.armed.swap(false, Ordering::SeqCst);
        assert!(!panics, "meant");
        Box::pin(std::future::ready(true))
    }
}

/// A hook that panics before it has returned its future ends one request, and nothing else.
#[tokio::test]
async fn a_hook_that_panics() {
    for in_refused in [false, true] {
        let armed = Arc::new(AtomicBool::new(false));
        let refuses = armed.clone();
        let server = Scripted::start(move |asked, answer| {
            let refuses = in_refused && refuses.load(Ordering::SeqCst);
            async move {
                if refuses {
                    return answer.reply("401 Unauthorized", "", "no").await;
                }
                if let Some((asked, answer)) = modern(asked, answer).await {
                    answer.result(&asked, called("done")).await;
                }
            }
        })
        .await;
        let hook = Panics {
            in_refused,
            armed: armed.clone(),
        };
        let endpoint = HttpEndpoint::new(&*server.url).authorize(hook);
        let client = soon(endpoint.connect_as(new())).await.unwrap();
        armed.store(true, Ordering::SeqCst);
        let error = failed(call(&client, "x").await);
        let expected = match in_refused {
            false => (HttpErrorKind::Authorize, "the hook panicked"),
            true => (HttpErrorKind::Status, "HTTP 401 Unauthorized"),
        };
        assert_eq!(error.kind(), expected.0);
        assert!(error.to_string().contains(expected.1), "{error}");
        assert_eq!(call(&client, "x").await.unwrap(), "done");
        soon(client.close()).await;
    }
}

/// Repeats the credentials of the request in every place that an error may show.
async fn echo(token: &str, asked: Asked, answer: Answer) {
    let value = asked.header("authorization").unwrap().to_owned();
    assert_eq!(value, format!("Bearer {token}"));
    let error = json!({ "code": -32001, "message": format!("bad {token}") });
    let refusal = json!({ "jsonrpc": "2.0", "id": asked.id(), "error": error }).to_string();
    let far = "x".repeat(182);
    let (status, headers, body) = match asked.body["params"]["name"].as_str().unwrap() {
        "text" => ("500 Internal Server Error", String::new(), value),
        // An error shows the beginning of a body: it ends within the credentials.
        "far" => ("500 Internal Server Error", String::new(), far + &value),
        "json" => ("401 Unauthorized", String::new(), refusal),
        "success" => ("200 OK", "content-type: text/plain\r\n".to_owned(), value),
        "page" => (
            "200 OK",
            "content-type: application/json\r\n".to_owned(),
            format!("[{value}"),
        ),
        "method" => {
            let message = json!({ "jsonrpc": "2.0", "method": value }).to_string();
            (
                "200 OK",
                "content-type: application/json\r\n".to_owned(),
                message,
            )
        }
        "media" => (
            "200 OK",
            format!("content-type: {token}\r\n"),
            "no".to_owned(),
        ),
        "encoding" => (
            "200 OK",
            format!("content-encoding: {token}\r\n"),
            "no".to_owned(),
        ),
        "headers" => {
            let headers =
                format!("retry-after: {token}\r\nwww-authenticate: {token} a={token}\r\n");
            ("401 Unauthorized", headers, "no".to_owned())
        }
        "location" => (
            "307 Temporary Redirect",
            format!("location: http://x.test/{token}\r\n"),
            String::new(),
        ),
        other => panic!("{other}"),
    };
    answer.reply(status, &headers, body).await;
}

/// Neither an error nor the log shows the credentials that a server repeats, whether they are of a header or of the hook.
#[tokio::test]
async fn credentials_that_a_server_repeats() {
    const TOKEN: &str = "s3cr3t/v4lue";
    let told = log();
    for is_hook in [false, true] {
        let server = Scripted::start(|asked, answer| async move {
            if let Some((asked, answer)) = modern(asked, answer).await {
                echo(TOKEN, asked, answer).await;
            }
        })
        .await;
        let endpoint = HttpEndpoint::new(&*server.url);
        let endpoint = match is_hook {
            true => endpoint.authorize(Tokens {
                left: Arc::new(Mutex::new(vec![TOKEN; 100])),
                refused: Arc::default(),
            }),
            false => endpoint.bearer(TOKEN),
        };
        let client = soon(endpoint.connect_as(new())).await.unwrap();
        for case in [
            "text", "far", "json", "success", "page", "method", "media", "encoding", "headers",
            "location",
        ] {
            let error = call(&client, case).await.unwrap_err();
            for shown in [error.to_string(), format!("{error:?}")] {
                assert!(shown.contains("[redacted]"), "{case}: {shown}");
                assert!(!shown.contains("s3cr3t"), "{case}: {shown}");
            }
        }
        soon(client.close()).await;
    }
    let told = told.take();
    assert!(!told.is_empty());
    for line in told {
        assert!(!line.contains("s3cr3t"), "{line}");
    }
}
