//! Settings that leave nothing to serve keep a server from starting, and a client from connecting: bounds and times of zero, empty
//! texts. Each alone.

use std::time::Duration;

use serde_json::json;
use tokio::io::AsyncReadExt;
#[cfg(feature = "client-http")]
use trueform::client::HttpEndpoint;
#[cfg(feature = "client-process")]
use trueform::client::ServerCommand;
use trueform::{
    client::{CacheLimits, Client, ClientError, ClientOptions, LocalError, RetryPolicy},
    layer::{ConcurrencyLimit, ResponseLimit, TimeLimit},
    prelude::*,
    task::TaskSettings,
    transport::StreamSettings,
};

use crate::support::soon;

const NO_TIME: Duration = Duration::ZERO;

fn server() -> Server {
    Server::new("calc", "1.0.0")
}

#[track_caller]
fn check(server: Server, expected: &str) {
    let error = server.build().map(drop).unwrap_err().to_string();
    assert_eq!(error, expected);
}

#[test]
fn servers() {
    check(
        Server::new("", "1.0.0"),
        "the name of the server is empty; expected a text",
    );
    check(
        Server::new("calc", " "),
        "the version of the server is empty; expected a text",
    );
    check(server().title(""), "`title` is empty; expected a text");
    check(
        server().description(""),
        "`description` is empty; expected a text",
    );
    check(
        server().instructions("\n"),
        "`instructions` is empty; expected a text",
    );
    check(
        server().page_size(0),
        "`page_size` is zero; expected at least 1 item",
    );
    check(
        server().max_in_flight(0),
        "`max_in_flight` is zero; expected at least 1 call",
    );
    check(
        server().max_unread(0),
        "`max_unread` is zero; expected at least 1 byte",
    );
    check(
        server().max_check_steps(0),
        "`max_check_steps` is zero; expected at least 1 step",
    );
    check(
        server().ask_rounds(0),
        "`ask_rounds` is zero; expected at least 1 round",
    );
    check(
        server().ask_state(0),
        "`ask_state` is zero; expected at least 1 byte",
    );
    check(
        server().ask_timeout(NO_TIME),
        "`ask_timeout` is zero; expected a longer time",
    );
    check(
        server().ask_expiry(NO_TIME),
        "`ask_expiry` is zero; expected a longer time",
    );
    check(
        server().nest("", self::server()),
        "`nest` was given an empty prefix; `merge` adds a server under its own names",
    );
}

#[test]
fn all_at_once() {
    let server = Server::new("", "1.0.0").page_size(0).ask_rounds(0);
    let error = server.build().map(drop).unwrap_err().to_string();
    for part in ["the name of the server", "`page_size`", "`ask_rounds`"] {
        assert!(error.contains(part), "{error}");
    }
}

#[test]
fn layers() {
    let second = Duration::from_secs(1);
    check(
        server().layer(TimeLimit::new(NO_TIME)),
        "the `TimeLimit` of all calls is zero; expected a longer time",
    );
    check(
        server().layer(
            TimeLimit::new(second)
                .named("b", NO_TIME)
                .named("a", NO_TIME),
        ),
        "the `TimeLimit` of `a` is zero; expected a longer time",
    );
    check(
        server().layer(ResponseLimit::only_named().named("export", 0)),
        "the `ResponseLimit` of `export` is zero; expected at least 1 byte",
    );
    for limit in [
        ConcurrencyLimit::new(0),
        ConcurrencyLimit::per_name(0),
        ConcurrencyLimit::per_principal(0),
    ] {
        check(
            server().layer(limit),
            "a `ConcurrencyLimit` is zero; expected at least 1 call",
        );
    }
}

#[test]
fn tasks() {
    let tasks = |settings| server().tasks(settings);
    check(
        tasks(TaskSettings::new().default_ttl(NO_TIME)),
        "`TaskSettings::default_ttl` is 0ns; expected at least 1 ms",
    );
    check(
        tasks(TaskSettings::new().max_ttl(Duration::from_micros(999))),
        "`TaskSettings::max_ttl` is 999µs; expected at least 1 ms",
    );
    check(
        tasks(TaskSettings::new().poll_interval(NO_TIME)),
        "`TaskSettings::poll_interval` is 0ns; expected at least 1 ms",
    );
    for (in_all, of_one) in [(0, 1), (1, 0)] {
        check(
            tasks(TaskSettings::new().max_running(in_all, of_one)),
            "a number of `TaskSettings::max_running` is zero; expected at least 1 task",
        );
    }
}

#[test]
fn timeouts_of_what_is_offered() {
    let zero = |error: trueform::Error, kind: &str, name: &str| {
        let error = error.to_string();
        assert!(error.starts_with(&format!("{kind} `{name}` (")), "{error}");
        assert!(
            error.ends_with("): its `timeout` is zero; expected a longer time"),
            "{error}"
        );
    };
    let tool = DynamicTool::new("find", json!({ "type": "object" }))
        .description("Finds.")
        .timeout(NO_TIME)
        .handler(async |_, _| "found");
    zero(
        server().tools(tool).build().map(drop).unwrap_err(),
        "tool",
        "find",
    );
    let prompt = DynamicPrompt::new("find")
        .timeout(NO_TIME)
        .handler(async |_, _| "Find.");
    zero(
        server().prompts(prompt).build().map(drop).unwrap_err(),
        "prompt",
        "find",
    );
    let index = DynamicResource::new("library://index", "index")
        .timeout(NO_TIME)
        .handler(async |_| "A");
    zero(
        server().resources(index).build().map(drop).unwrap_err(),
        "resource",
        "library://index",
    );
}

#[test]
fn folders() {
    let folder = Folder::new(env!("CARGO_MANIFEST_DIR")).max_file_size(0);
    let error = server()
        .resources(folder)
        .build()
        .map(drop)
        .unwrap_err()
        .to_string();
    assert!(
        error.ends_with("`Folder::max_file_size` is zero; expected at least 1 byte"),
        "{error}"
    );
}

#[tokio::test]
async fn streams() {
    let service = server().build().unwrap();
    let served = service
        .serve_stream_with(
            tokio::io::empty(),
            tokio::io::sink(),
            StreamSettings::new().max_line(0),
        )
        .await;
    assert_eq!(
        served.unwrap_err().to_string(),
        "`StreamSettings::max_line` is zero; expected at least 1 byte"
    );
}

// A client does not connect; neither side sees anything of it.
#[tokio::test]
async fn clients() {
    let new = ClientOptions::new;
    for (options, setting, expected) in [
        (
            new().timeout(NO_TIME),
            "ClientOptions::timeout",
            "a longer time",
        ),
        (
            new().reset_by_progress(NO_TIME),
            "ClientOptions::reset_by_progress",
            "a longer time",
        ),
        (
            new().probe_timeout(NO_TIME),
            "ClientOptions::probe_timeout",
            "a longer time",
        ),
        (
            new().max_message(0),
            "ClientOptions::max_message",
            "at least 1 byte",
        ),
        (
            new().max_in_flight(0),
            "ClientOptions::max_in_flight",
            "at least 1 request",
        ),
        (
            new().retry(RetryPolicy::attempts(0)),
            "RetryPolicy::attempts",
            "at least 1 attempt",
        ),
        (
            new().cache(CacheLimits::new().entries(0)),
            "CacheLimits::entries",
            "at least 1 result",
        ),
        (
            new().cache(CacheLimits::new().bytes(0)),
            "CacheLimits::bytes",
            "at least 1 byte",
        ),
    ] {
        let expected = format!("`{setting}` is zero; expected {expected}");
        let (near, mut far) = tokio::io::duplex(1 << 10);
        let (reader, writer) = tokio::io::split(near);
        let error = soon(Client::over(reader, writer, options.clone()))
            .await
            .unwrap_err();
        assert!(
            matches!(error, ClientError::Local(LocalError::Settings(_))),
            "{error:?}"
        );
        assert_eq!(error.to_string(), expected);
        let mut sent = Vec::new();
        soon(far.read_to_end(&mut sent)).await.unwrap();
        assert!(sent.is_empty(), "{setting}");
        #[cfg(feature = "client-http")]
        {
            // Nothing listens there: what is wrong with the options is found before.
            let endpoint = HttpEndpoint::new("http://127.0.0.1:1/mcp");
            let error = soon(endpoint.connect_as(options.clone()))
                .await
                .unwrap_err();
            assert_eq!(error.to_string(), expected);
        }
        #[cfg(feature = "client-process")]
        {
            // No such program: it is not looked for.
            let command = ServerCommand::new("/no/such/program");
            let error = soon(Client::spawn(&command, options)).await.unwrap_err();
            assert_eq!(error.to_string(), expected);
        }
    }
    let error = server()
        .connect_as(new().timeout(NO_TIME).max_message(0))
        .await;
    assert_eq!(
        error.map(drop).unwrap_err().to_string(),
        "`ClientOptions::timeout` is zero; expected a longer time; and `ClientOptions::max_message` is zero; expected at least 1 byte"
    );
    // Here zero means something: no request waits to be sent, for ever, at once.
    let zeros = new()
        .max_queued(0)
        .write_timeout(NO_TIME)
        .retry(RetryPolicy::attempts(2).wait(NO_TIME).longest_wait(NO_TIME));
    let client = soon(server().tools(tools![]).connect_as(zeros))
        .await
        .unwrap();
    assert!(soon(client.list_tools()).await.unwrap().is_empty());
    client.close().await;
}

#[cfg(feature = "http")]
#[test]
fn http() {
    use trueform::HttpConfig;

    let config = HttpConfig::default;
    for (config, setting, expected) in [
        (config().max_body(0), "max_body", "at least 1"),
        (config().max_in_flight(0), "max_in_flight", "at least 1"),
        (config().max_sessions(0), "max_sessions", "at least 1"),
        (
            config().max_session_bytes(0),
            "max_session_bytes",
            "at least 1",
        ),
        (config().max_head(0), "max_head", "at least 1"),
        (config().max_connections(0), "max_connections", "at least 1"),
        (
            config().body_timeout(NO_TIME),
            "body_timeout",
            "a longer time",
        ),
        (
            config().session_idle(NO_TIME),
            "session_idle",
            "a longer time",
        ),
        (
            config().head_timeout(NO_TIME),
            "head_timeout",
            "a longer time",
        ),
    ] {
        check(
            server().http(config),
            &format!("`HttpConfig::{setting}` is zero; expected {expected}"),
        );
    }
    // Here zero means something: no listening streams, at once, none, for ever.
    let zeros = config()
        .max_listeners(0)
        .sse_after(NO_TIME)
        .keep_alive(NO_TIME)
        .retry(NO_TIME)
        .drain(NO_TIME)
        .write_timeout(NO_TIME);
    server().http(zeros).build().unwrap();
}
