//! Each layer that is shipped sees each kind of call, on both transports and in both eras; lists are not calls.

use std::time::Duration;

use serde_json::{Value, json};
use trueform::{
    Service,
    layer::{AuditLog, CallMetrics, CallOutcome, ConcurrencyLimit, ResponseLimit, TimeLimit},
    prelude::*,
    resource::DynamicTemplate,
};

use super::{
    Director, answer, audited, built, completing, internal, named, opened, tool_error, waits,
};
use crate::{
    extended::{WAYS, Way},
    support,
};

/// The template whose resources are there, and the one whose never come.
const READY: &str = "note://of/{bytes}";
const NEVER: &str = "note://never/{label}";

fn server() -> (Server, Director) {
    let ready = DynamicTemplate::new(READY, "of")
        .complete("bytes", |_| ["1"])
        .handler(async |_, variables| {
            let bytes: usize = variables["bytes"].parse().unwrap();
            "x".repeat(bytes)
        });
    let never = DynamicTemplate::new(NEVER, "never")
        .complete("label", async |_| {
            std::future::pending::<Vec<String>>().await
        })
        .handler(async |_, _| std::future::pending::<String>().await);
    let (server, director) = super::server();
    (server.resources(ready).resources(never), director)
}

/// The params of the completion of a variable of a template.
fn completing_variable(template: &str, variable: &str) -> String {
    format!(
        r#""ref":{{"type":"ref/resource","uri":"{template}"}},"argument":{{"name":"{variable}","value":""}}"#
    )
}

/// A call of each kind: the method, the params, and the name that layers see.
type Call = (&'static str, String, &'static str);

/// Calls that end at once.
fn ready() -> [Call; 6] {
    [
        (
            "tools/call",
            named("large", &json!({"bytes": 9, "meta": 0})),
            "large",
        ),
        (
            "prompts/get",
            named("large", &json!({"bytes": "9"})),
            "large",
        ),
        (
            "resources/read",
            r#""uri":"note://large""#.to_owned(),
            "note://large",
        ),
        ("resources/read", r#""uri":"note://of/9""#.to_owned(), READY),
        ("completion/complete", completing("large", "bytes"), "large"),
        (
            "completion/complete",
            completing_variable(READY, "bytes"),
            READY,
        ),
    ]
}

/// Calls that never end.
fn never() -> [Call; 6] {
    let labelled = named("wait", &json!({"label": "x"}));
    [
        ("tools/call", labelled.clone(), "wait"),
        ("prompts/get", labelled, "wait"),
        (
            "resources/read",
            r#""uri":"note://wait""#.to_owned(),
            "note://wait",
        ),
        (
            "resources/read",
            r#""uri":"note://never/x""#.to_owned(),
            NEVER,
        ),
        ("completion/complete", completing("wait", "label"), "wait"),
        (
            "completion/complete",
            completing_variable(NEVER, "label"),
            NEVER,
        ),
    ]
}

/// What a call was refused with: a result with `isError` by a tool, an internal error by everything else (DEC-9).
fn refusal<'a>(method: &str, answer: &'a Value) -> &'a str {
    match method {
        "tools/call" => tool_error(answer),
        _ => internal(answer),
    }
}

async fn assert_lists_go_on(way: Way, service: &Service) {
    for method in [
        "tools/list",
        "prompts/list",
        "resources/list",
        "resources/templates/list",
    ] {
        let answer = answer(way, service, method, "").await;
        assert!(answer["result"].is_object(), "{way:?} {method}: {answer}");
    }
}

#[tokio::test]
async fn metrics() {
    for way in WAYS {
        for (method, params, name) in ready() {
            let metrics = CallMetrics::new();
            let service = built(server().0.layer(metrics.clone()));
            assert_lists_go_on(way, &service).await;
            assert_eq!(metrics.snapshot(), [], "{way:?}: lists are not calls");
            answer(way, &service, method, &params).await;
            let counted: Vec<_> = metrics
                .snapshot()
                .into_iter()
                .map(|row| (row.name, row.outcome, row.count))
                .collect();
            let expected = (name.to_owned(), Some(CallOutcome::Result), 1);
            assert_eq!(counted, [expected], "{way:?} {method}");
        }
    }
}

#[tokio::test]
async fn audit_log() {
    for way in WAYS {
        let told = support::log();
        let service = built(server().0.layer(AuditLog));
        for (method, params, name) in ready() {
            answer(way, &service, method, &params).await;
            let lines = audited(&told);
            let part = format!(r#"method="{method}" name="{name}" outcome="ok" bytes="#);
            assert!(
                lines.len() == 1 && lines[0].contains(&part),
                "{way:?} {part}: {lines:?}"
            );
        }
        assert_lists_go_on(way, &service).await;
        assert_eq!(audited(&told), [""; 0], "{way:?}: lists are not calls");
    }
}

#[tokio::test(start_paused = true)]
async fn time_limit() {
    for way in WAYS {
        let limit = TimeLimit::new(Duration::from_millis(20));
        let (server, _director) = server();
        let service = built(server.layer(limit));
        for (method, params, name) in never() {
            let cut = answer(way, &service, method, &params).await;
            let message = refusal(method, &cut);
            let expected = format!("`{name}` did not finish within 20ms");
            assert!(
                message.ends_with(&expected),
                "{way:?} {method} {name}: {message}"
            );
        }
        // Each name can have a limit of its own.
        for (method, params, name) in never() {
            let limit = TimeLimit::only_named().named(name, Duration::from_millis(30));
            let (server, _director) = self::server();
            let service = built(server.layer(limit));
            let cut = answer(way, &service, method, &params).await;
            let message = refusal(method, &cut);
            assert!(message.ends_with("within 30ms"), "{way:?} {message}");
        }
    }
}

#[tokio::test]
async fn response_limit() {
    for way in WAYS {
        let service = built(server().0.layer(ResponseLimit::new(1)));
        for (method, params, name) in ready() {
            let cut = answer(way, &service, method, &params).await;
            let message = refusal(method, &cut);
            let part = format!("response of `{name}` has ");
            assert!(
                message.contains(&part) && message.ends_with("at most 1 are allowed"),
                "{way:?} {method} {name}: {message}"
            );
        }
        assert_lists_go_on(way, &service).await;
    }
}

// I-13: one call that runs keeps out those of every other kind.
#[tokio::test]
async fn concurrency_limit() {
    let (server, director) = server();
    let service = built(server.layer(ConcurrencyLimit::new(1).queue(0)));
    let client = opened(&service).await;
    waits(&client, 1);
    assert_eq!(director.begun().await, "1");
    for way in WAYS {
        for (method, params, name) in ready() {
            let refused = answer(way, &service, method, &params).await;
            let message = refusal(method, &refused);
            assert!(
                message.starts_with(&format!("`{name}` did not run: 1 calls run")),
                "{way:?} {method} {name}: {message}"
            );
        }
        assert_lists_go_on(way, &service).await;
    }
    director.open();
    assert_eq!(super::next(&client).await["id"], 1);
    for way in WAYS {
        for (method, params, _) in ready() {
            let answer = answer(way, &service, method, &params).await;
            assert!(answer["result"].is_object(), "{way:?} {method}: {answer}");
        }
    }
}
