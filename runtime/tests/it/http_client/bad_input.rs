//! What a user may have given or a server may say: the text of each error names what, where, and what to try.

use std::time::{Duration, Instant};

use trueform::{
    Client,
    client::{ClientError, ClientOptions, HttpEndpoint, HttpErrorKind, LocalError},
    prelude::*,
};

use super::{failed, new, server::Scripted};
use crate::support::soon;

#[cfg(not(feature = "client-http-tls"))]
#[tokio::test]
async fn no_tls() {
    let error = failed(soon(Client::connect("https://localhost/mcp")).await);
    assert_eq!(error.kind(), HttpErrorKind::Url);
    assert_eq!(
        error.to_string(),
        "`https://localhost/mcp` is not the URL of a server: this client was built without TLS; enable the feature `client-http-tls` \
         of the crate `trueform`"
    );
}

#[cfg(feature = "client-http-tls")]
#[tokio::test]
async fn what_listens_does_not_speak_tls() {
    let server = Scripted::start(|_, answer| answer.reply("200 OK", "", "")).await;
    let url = server.url.replace("http://", "https://");
    // The socket does not get an HTTP request: it answers as such servers do.
    let error = failed(soon(Client::connect(url.clone())).await);
    assert_eq!(
        (error.kind(), error.status()),
        (HttpErrorKind::Connect, None)
    );
    let text = error.to_string();
    assert!(text.starts_with(&format!("POST {url}: ")), "{text}");
    assert!(
        text.ends_with(
            "; check the address, that the server speaks TLS there, and that the system trusts its certificate"
        ),
        "{text}"
    );
    assert_eq!(server.whats(), [""; 0]);
}

#[tokio::test]
async fn urls() {
    for (url, expected) in [
        (
            "localhost:3000/mcp",
            "`localhost:3000/mcp` is not the URL of a server: it has no scheme; write `http://` before the host, such as \
             `http://localhost:3000/mcp`",
        ),
        (
            "",
            "`` is not the URL of a server: it has no scheme; write `http://`",
        ),
        ("/mcp", "it has no scheme"),
        (
            "ws://localhost/mcp",
            "`ws://localhost/mcp` is not the URL of a server: the scheme `ws` is not supported; write `http://`",
        ),
        (
            "http://",
            "`http://` is not the URL of a server: empty host",
        ),
        ("http://a b/mcp", "invalid international domain name"),
        ("http://localhost:99999/mcp", "invalid port number"),
        (
            "http://ada:secret@localhost:99999/mcp?key=secret",
            "`…@localhost:99999/mcp?…` is not the URL of a server",
        ),
        (
            "ws://ada:secret@localhost/mcp#secret",
            "the scheme `ws` is not supported",
        ),
        (
            "http://ada:secret@localhost/mcp",
            "a URL with a user name or a password is not used; give credentials by `HttpEndpoint::header`",
        ),
    ] {
        let error = failed(soon(Client::connect(url)).await);
        assert_eq!(error.kind(), HttpErrorKind::Url, "{url}");
        assert!(error.to_string().contains(expected), "{url}: {error}");
        assert!(!error.to_string().contains("secret"), "{error}");
    }
    for (name, value, expected) in [
        ("a b", "x", "`a b` is not the name of a header"),
        ("", "x", "`` is not the name of a header"),
        (
            "x-y",
            "secret\r\nx-z: 1",
            "the value of the header `x-y` has characters that no header may have",
        ),
        (
            "authorization",
            "secret\n",
            "the value of the header `authorization` has characters that no header may have",
        ),
    ] {
        let endpoint = HttpEndpoint::new("http://127.0.0.1:9/mcp").header(name, value);
        assert!(!format!("{endpoint:?}").contains("secret"), "{endpoint:?}");
        let error = failed(soon(endpoint.connect()).await);
        assert_eq!(error.to_string(), expected);
    }
}

#[tokio::test]
async fn nothing_listens() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    let error = failed(soon(Client::connect(format!("http://{address}/mcp?key=secret"))).await);
    assert_eq!(
        (error.kind(), error.status()),
        (HttpErrorKind::Connect, None)
    );
    let text = error.to_string();
    assert!(
        text.starts_with(&format!("POST http://{address}/mcp?…: ")),
        "{text}"
    );
    assert!(text.contains("Connection refused"), "{text}");
    assert!(
        text.ends_with("; check the address, and that the server is running"),
        "{text}"
    );
    assert!(!text.contains("secret"), "{text}");
}

#[tokio::test]
async fn a_host_that_does_not_exist() {
    let error = failed(soon(Client::connect("http://nowhere.invalid/mcp")).await);
    assert_eq!(
        (error.kind(), error.status()),
        (HttpErrorKind::Connect, None)
    );
    let text = error.to_string();
    assert!(
        text.starts_with("POST http://nowhere.invalid/mcp: ") && text.contains("dns error"),
        "{text}"
    );
    assert!(
        text.ends_with("; check the address, and that the server is running"),
        "{text}"
    );
}

#[tokio::test]
async fn answers_that_are_none() {
    let html = "content-type: text/html; charset=utf-8\r\n";
    let page = "<!doctype html><title>Welcome</title>";
    let path = "check the URL: its path must be the server's MCP endpoint, often `/mcp`";
    let later = "the server, or a proxy before it, is not ready; try again later";
    for (status, headers, body, expected) in [
        ("200 OK", html, page, format!("HTTP 200 OK: a web page, not an answer; {path}")),
        ("200 OK", "", "", "HTTP 200 OK: the response has no body".to_owned()),
        ("202 Accepted", "", "", "HTTP 202 Accepted: the response has no body".to_owned()),
        ("204 No Content", "", "", "HTTP 204 No Content: the response has no body".to_owned()),
        (
            "200 OK",
            "content-type: text/plain\r\n",
            "hello\r\nworld",
            format!("HTTP 200 OK: expected `application/json` or `text/event-stream`, found `text/plain`: hello\\r\\nworld; {path}"),
        ),
        ("200 OK", "", "hello", format!("HTTP 200 OK: expected `application/json` or `text/event-stream`, found `nothing`: hello; {path}")),
        ("200 OK", "content-type: application/json\r\n", "{\"ok\":true}", "HTTP 200 OK: no answer: {\"ok\":true}".to_owned()),
        (
            "200 OK",
            "content-type: application/json\r\n",
            "{\"jsonrpc\":\"2.0\",\"id\":77,\"result\":{}}",
            "HTTP 200 OK: no answer: it answers the request 77, not 1".to_owned(),
        ),
        (
            "200 OK",
            "content-type: application/json\r\ncontent-encoding: gzip\r\n",
            "\u{1f}",
            "HTTP 200 OK: the body is encoded as `gzip`, which was not asked for".to_owned(),
        ),
        (
            "200 OK",
            "content-type: text/event-stream\r\n",
            ": nothing\n\n",
            "HTTP 200 OK: the stream ended before the answer; make the call again, if it may be made twice".to_owned(),
        ),
        (
            "401 Unauthorized",
            "www-authenticate: Bearer scope=\"x\"\r\n",
            "",
            "HTTP 401 Unauthorized: the response has no body (challenge: Bearer); give credentials by a header or by `authorize`".to_owned(),
        ),
        (
            "403 Forbidden",
            "",
            "no",
            "HTTP 403 Forbidden: no; the credentials do not suffice, or the server does not accept this client's `Host` or `Origin`".to_owned(),
        ),
        (
            "404 Not Found",
            html,
            page,
            "HTTP 404 Not Found: a web page; check the path; many servers have their endpoint at `/mcp`".to_owned(),
        ),
        (
            "501 Not Implemented",
            html,
            page,
            format!("HTTP 501 Not Implemented: a web page; what answers there takes no POST, so it is no MCP server; {path}"),
        ),
        ("418 I'm a teapot", html, page, format!("HTTP 418 I'm a teapot: a web page; {path}")),
        (
            "405 Method Not Allowed",
            "",
            "",
            "HTTP 405 Method Not Allowed: the response has no body; check the path; a server that takes no POST here may speak HTTP+SSE of \
             2024-11-05, which this client does not"
                .to_owned(),
        ),
        (
            "429 Too Many Requests",
            "retry-after: 7\r\n",
            "slow down",
            "HTTP 429 Too Many Requests: slow down (Retry-After: 7); send fewer requests, and wait before the next".to_owned(),
        ),
        (
            "500 Internal Server Error",
            "",
            "oops",
            "HTTP 500 Internal Server Error: oops; the server failed; its log may say why".to_owned(),
        ),
        (
            "503 Service Unavailable",
            "date: Wed, 21 Oct 2026 07:27:00 GMT\r\nretry-after: Wed, 21 Oct 2026 07:28:00 GMT\r\n",
            "",
            format!("HTTP 503 Service Unavailable: the response has no body (Retry-After: Wed, 21 Oct 2026 07:28:00 GMT); {later}"),
        ),
    ] {
        let server = Scripted::start(move |_, answer| answer.reply(status, headers, body)).await;
        let error = failed(soon(HttpEndpoint::new(&*server.url).connect_as(new())).await);
        assert_eq!(error.to_string(), format!("POST {}: {expected}", server.url));
        assert_eq!(error.status(), status[..3].parse().ok(), "{status}");
        let wait = match &status[..3] {
            "429" => Some(7),
            "503" => Some(60),
            _ => None,
        };
        let wait = wait.map(Duration::from_secs);
        assert_eq!(error.retry_after(), wait, "{status}");
        assert_eq!(server.whats(), ["server/discover"], "one try");
    }
}

/// An error of the protocol stays one, whatever the status, with and without the id.
#[tokio::test]
async fn refusals_by_the_protocol() {
    for id in ["1", "null"] {
        let body =
            format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":-32020,"message":"no"}}}}"#);
        let server = Scripted::start(move |_, answer| {
            let body = body.clone();
            async move {
                answer
                    .reply(
                        "400 Bad Request",
                        "content-type: application/json\r\n",
                        body,
                    )
                    .await
            }
        })
        .await;
        let outcome = soon(HttpEndpoint::new(&*server.url).connect_as(new())).await;
        assert_eq!(outcome.unwrap_err().code(), Some(-32020), "{id}");
    }
}

// Redirects stay within the origin, and a POST stays one.
#[tokio::test]
async fn redirects() {
    let other = Scripted::start(|_, answer| answer.reply("200 OK", "", "")).await;
    for (location, status, expected) in [
        ("/mcp/".to_owned(), "307 Temporary Redirect", Ok("/mcp/")),
        ("/mcp/".to_owned(), "301 Moved Permanently", Ok("/mcp/")),
        (
            other.url.clone(),
            "307 Temporary Redirect",
            Err(format!(
                "the server redirects to `{}`, which is another origin; connect to",
                other.url
            )),
        ),
        (
            other.url.replace("127.0.0.1", "localhost"),
            "308 Permanent Redirect",
            Err("which is another origin".to_owned()),
        ),
        // What may be secret in an address is not shown.
        (
            "http://ada:secret@other.invalid/mcp?key=secret#secret".to_owned(),
            "307 Temporary Redirect",
            Err(
                "the server redirects to `…@other.invalid/mcp?…`, which is another origin"
                    .to_owned(),
            ),
        ),
        (
            "//[".to_owned(),
            "302 Found",
            Err("the server redirects to `//[`, which is not an address".to_owned()),
        ),
        (
            "/mcp".to_owned(),
            "308 Permanent Redirect",
            Err("the server redirected 5 times and once more".to_owned()),
        ),
        (
            "/other".to_owned(),
            "303 See Other",
            Err("HTTP 303 See Other".to_owned()),
        ),
    ] {
        let to = location.clone();
        let server = Scripted::start(move |asked, answer| {
            let to = to.clone();
            async move {
                if asked.path == "/mcp/" {
                    super::modern(asked, answer).await;
                } else {
                    answer
                        .reply(status, &format!("location: {to}\r\n"), "")
                        .await;
                }
            }
        })
        .await;
        let endpoint = HttpEndpoint::new(&*server.url).bearer("secret");
        let outcome = soon(endpoint.connect_as(new())).await;
        match expected {
            Ok(path) => {
                drop(outcome.expect(status));
                let asked = server.asked.lock().unwrap().clone();
                let last = asked.last().unwrap();
                assert_eq!((&*last.path, &*last.method), (path, "POST"), "{status}");
                assert_eq!(last.header("authorization"), Some("Bearer secret"));
                assert_eq!(last.body, asked[0].body);
            }
            Err(problem) => {
                let error = failed(outcome);
                assert!(error.to_string().contains(&problem), "{location}: {error}");
                assert!(!format!("{error} {error:?}").contains("secret"), "{error}");
            }
        }
    }
    assert_eq!(other.whats(), [""; 0], "no credentials go elsewhere");
}

// D-8, D-12: a server that refuses both eras gets one try of each, and the error is that of the second. HTTP+SSE is not tried.
#[tokio::test]
async fn refusals_of_both_eras() {
    for (status, expected) in [
        (
            "404 Not Found",
            "HTTP 404 Not Found: the response has no body; check the path; many servers have their endpoint at `/mcp`",
        ),
        (
            "405 Method Not Allowed",
            "HTTP 405 Method Not Allowed: the response has no body; check the path; a server that takes no POST here may speak \
             HTTP+SSE of 2024-11-05, which this client does not",
        ),
    ] {
        let server = Scripted::start(move |_, answer| answer.reply(status, "", "")).await;
        let error = failed(soon(Client::connect(&*server.url)).await);
        assert_eq!(
            error.to_string(),
            format!("POST {}: {expected}", server.url)
        );
        assert_eq!(server.whats(), ["server/discover", "initialize"]);
    }
}

// D-6: a probe that hangs costs its time limit once.
#[tokio::test]
async fn a_probe_that_hangs() {
    let probe = Duration::from_millis(200);
    let server = Scripted::start(|asked, mut answer| async move {
        if asked.what() == "server/discover" {
            return answer.closed().await;
        }
        if let Some((_, answer)) = super::legacy(asked, answer, "s").await {
            answer.reply("405 Method Not Allowed", "", "").await;
        }
    })
    .await;
    let options = ClientOptions::new().probe_timeout(probe);
    let begun = Instant::now();
    let client = soon(HttpEndpoint::new(&*server.url).connect_as(options))
        .await
        .unwrap();
    assert!(probe <= begun.elapsed(), "{:?}", begun.elapsed());
    assert_eq!(client.revision(), Revision::V2025_11_25);
    assert_eq!(server.whats()[..2], ["server/discover", "initialize"]);
    soon(client.close()).await;
}

// D-6: the error says what was waited for, how long, and what to set.
#[tokio::test]
async fn a_server_that_never_answers() {
    let limit = Duration::from_millis(300);
    let probed = ClientOptions::new()
        .probe_timeout(Duration::from_millis(100))
        .timeout(limit);
    for (options, tries, expected) in [
        (
            new().timeout(limit),
            1,
            "no answer to `server/discover` within 300ms (`timeout`); if the server is slow to start, raise these `ClientOptions`",
        ),
        (
            probed,
            2,
            "no answer to `server/discover` within 100ms (`probe_timeout`), nor to `initialize` within 300ms (`timeout`); if the server \
             is slow to start, raise these `ClientOptions`; if `server/discover` is what it cannot bear, set \
             `Negotiation::Offer(Revision::V2025_11_25)`, which begins with `initialize`",
        ),
    ] {
        let server = Scripted::start(|_, mut answer| async move { answer.closed().await }).await;
        let outcome = soon(HttpEndpoint::new(&*server.url).connect_as(options)).await;
        let error = outcome.unwrap_err();
        assert!(
            matches!(error, ClientError::Local(LocalError::NoHandshake(_))),
            "{error:?}"
        );
        assert_eq!(error.to_string(), expected);
        assert_eq!(server.whats().len(), tries);
    }
}
