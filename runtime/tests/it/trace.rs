//! The span of each request: what it says of the request, and how the request ended.

use std::fmt::Write;

use expect_test::expect;
use serde_json::json;
use trueform::{prelude::*, schema::ErrorObject};

use crate::{
    extended::{Own, WAYS, Way},
    support::{
        self, Director, Span, add, initialize, keep_spans, legacy, modern, overruns, panics,
        panics_later, raw, soon, spans, wait,
    },
};

/// Fails with an error of its own.
#[tool]
fn refuses() -> Result<(), ToolError> {
    Err(ToolError::protocol(ErrorObject::new(5, "no")))
}

fn served() -> (trueform::Service, Director) {
    let (stage, director) = support::stage();
    let tools = tools![add, refuses, panics, panics_later, overruns, wait];
    let server = Server::new("test", "1.0.0")
        .tools(tools)
        .extension(Own)
        .state(stage);
    (server.build().expect("the tools are fine"), director)
}

/// One line a span.
fn shown(spans: &[Span]) -> String {
    let mut out = String::new();
    for span in spans {
        let field = |name| span.get(name).map_or("-", String::as_str);
        let [id, method, revision] = ["id", "method", "revision"].map(field);
        let [name, outcome] = ["name", "outcome"].map(field);
        writeln!(out, "{id} {method} {name} @ {revision}: {outcome}").unwrap();
    }
    out
}

// Faults D and E: every request has one span that says how it ended, whatever answers it.
#[tokio::test(start_paused = true)]
async fn every_request_has_a_span_with_its_outcome() {
    let requests = |way: Way| {
        let asks = [
            ("tools/list", ""),
            ("tools/call", r#""name":"add","arguments":{"a":1,"b":2}"#),
            ("tools/call", r#""name":"add","arguments":{"a":"x"}"#),
            ("tools/call", r#""name":"refuses""#),
            ("tools/call", r#""name":"panics""#),
            ("tools/call", r#""name":"panics_later""#),
            ("tools/call", r#""name":"overruns""#),
            ("tools/call", r#""name":"nope""#),
            ("tools/call", r#""arguments":{}"#),
            ("own/ok", ""),
            ("own/fails", ""),
            ("own/panics", ""),
            ("server/discover", ""),
            ("ping", ""),
            ("prompts/list", ""),
            ("no/such", ""),
            ("sampling/createMessage", ""),
        ];
        let asks = asks.into_iter().enumerate();
        asks.map(|(at, (method, params))| way.request(&(at + 1).to_string(), method, params))
            .collect::<Vec<_>>()
    };
    let mut seen = Vec::new();
    for way in WAYS {
        keep_spans();
        let (service, _director) = served();
        let answers = way.answers(&service, &requests(way)).await;
        assert_eq!(answers.len(), 17, "{way:?}: {answers:#?}");
        seen.push(shown(&spans()));
    }
    expect![[r#"
        0 initialize - @ 2025-11-25: ok
        1 tools/list - @ 2025-11-25: ok
        2 tools/call add @ 2025-11-25: ok
        3 tools/call add @ 2025-11-25: tool error
        4 tools/call refuses @ 2025-11-25: 5
        5 tools/call panics @ 2025-11-25: tool error
        6 tools/call panics_later @ 2025-11-25: tool error
        7 tools/call overruns @ 2025-11-25: tool error
        8 tools/call - @ 2025-11-25: -32602
        9 tools/call - @ 2025-11-25: -32602
        10 own/ok own/ok @ 2025-11-25: ok
        11 own/fails own/fails @ 2025-11-25: 7
        12 own/panics own/panics @ 2025-11-25: -32603
        13 server/discover - @ 2025-11-25: -32601
        14 ping - @ 2025-11-25: ok
        15 prompts/list - @ 2025-11-25: -32601
        16 no/such - @ 2025-11-25: -32601
        17 sampling/createMessage - @ 2025-11-25: -32601
    "#]]
    .assert_eq(&seen[0]);
    expect![[r#"
        1 tools/list - @ 2026-07-28: ok
        2 tools/call add @ 2026-07-28: ok
        3 tools/call add @ 2026-07-28: tool error
        4 tools/call refuses @ 2026-07-28: 5
        5 tools/call panics @ 2026-07-28: tool error
        6 tools/call panics_later @ 2026-07-28: tool error
        7 tools/call overruns @ 2026-07-28: tool error
        8 tools/call - @ 2026-07-28: -32602
        9 tools/call - @ 2026-07-28: -32602
        10 own/ok own/ok @ 2026-07-28: ok
        11 own/fails own/fails @ 2026-07-28: 7
        12 own/panics own/panics @ 2026-07-28: -32603
        13 server/discover - @ 2026-07-28: ok
        14 ping - @ 2026-07-28: -32601
        15 prompts/list - @ 2026-07-28: -32601
        16 no/such - @ 2026-07-28: -32601
        17 sampling/createMessage - @ 2026-07-28: -32601
    "#]]
    .assert_eq(&seen[1]);
    assert_eq!(seen[0], seen[2], "a session over HTTP");
    assert_eq!(seen[1], seen[3], "stateless over HTTP");
}

// Fault E: refused before its method is looked at, a modern request still says at which revision, if it named one that is
// served, and with which code.
#[tokio::test]
async fn refused_modern_requests() {
    let version = |version: &str| modern("1", "tools/list", "").replace("2026-07-28", version);
    let without_capabilities = r#"{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}"#;
    let (service, _director) = served();
    for (message, expected) in [
        (version("v999"), "1 tools/list - @ -: -32022\n"),
        (version("2025-11-25"), "1 tools/list - @ -: -32022\n"),
        (
            without_capabilities.to_owned(),
            "1 tools/list - @ 2026-07-28: -32602\n",
        ),
        (
            modern("1", "own/ok", ""),
            "1 own/ok - @ 2026-07-28: -32021\n",
        ),
    ] {
        for http in [false, true] {
            keep_spans();
            let way = Way { http, modern: true };
            let answers = match http {
                false => way.answers(&service, std::slice::from_ref(&message)).await,
                true => {
                    let version: serde_json::Value = serde_json::from_str(&message).unwrap();
                    let version =
                        version["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"]
                            .as_str()
                            .unwrap();
                    let mut headers = crate::extended::headers_of(&message);
                    headers.retain(|(name, _)| name != "mcp-protocol-version");
                    headers.push(("mcp-protocol-version".to_owned(), version.to_owned()));
                    over_http(&service, &headers, &message).await
                }
            };
            assert_eq!(answers.len(), 1);
            assert_eq!(shown(&spans()), expected, "{message} {http}");
        }
    }
    // Over HTTP alone: headers that do not repeat the body.
    keep_spans();
    let headers = [
        ("mcp-protocol-version", "2026-07-28"),
        ("mcp-method", "tools/call"),
    ]
    .map(|(name, value)| (name.to_owned(), value.to_owned()));
    over_http(&service, &headers, &modern("1", "tools/list", "")).await;
    assert_eq!(shown(&spans()), "1 tools/list - @ 2026-07-28: -32020\n");
}

async fn over_http(
    service: &trueform::Service,
    headers: &[(String, String)],
    message: &str,
) -> Vec<serde_json::Value> {
    let http = service.clone().into_http_service().unwrap();
    let (_, _, answer) = crate::parity::post(&http, headers, message.as_bytes().to_vec()).await;
    answer.into_iter().collect()
}

// Fault E: `initialize` has a span as every request, over HTTP as well, whether it opens a session or is refused.
#[tokio::test]
async fn initialize_has_a_span() {
    let (service, _director) = served();
    for http in [false, true] {
        let way = Way {
            http,
            modern: false,
        };
        keep_spans();
        way.answers(&service, &[]).await;
        assert_eq!(
            shown(&spans()),
            "0 initialize - @ 2025-11-25: ok\n",
            "{http}"
        );
        let refused = legacy("1", "initialize", "{}");
        match http {
            true => over_http(&service, &[], &refused).await,
            false => {
                let modern = Way { http, modern: true };
                modern.answers(&service, &[refused]).await
            }
        };
        assert_eq!(shown(&spans()), "1 initialize - @ -: -32602\n", "{http}");
    }
}

// E-9, O-2: calls that are not answered.
#[tokio::test]
async fn what_is_not_answered() {
    keep_spans();
    let (service, director) = served();
    let client = raw(&service).await;
    for line in initialize("2025-11-25") {
        client.send_raw(line).unwrap();
    }
    client.next_message().await.unwrap();
    spans();
    let call = r#"{"name":"wait","arguments":{"label":"x"}}"#;
    client.send_raw(legacy("1", "tools/call", call)).unwrap();
    assert_eq!(director.begun().await, "x");
    // The id of a running call: of a call, of another request, and of both eras (GAP-17).
    client.send_raw(legacy("1", "tools/call", call)).unwrap();
    client.send_raw(legacy("1", "ping", "{}")).unwrap();
    client.send_raw(modern("1", "tools/list", "")).unwrap();
    let cancelled =
        r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#;
    client.send_raw(cancelled).unwrap();
    assert_eq!(director.begun().await, "dropped x");
    // Cancelled again, when it has ended: nothing happens.
    client.send_raw(cancelled).unwrap();
    client.send_raw(legacy("2", "ping", "{}")).unwrap();
    assert!(client.next_message().await.unwrap().contains(r#""id":2"#));
    expect![[r#"
        1 tools/call wait @ 2025-11-25: cancelled
        1 tools/call - @ -: dropped
        1 ping - @ -: dropped
        1 tools/list - @ -: dropped
        2 ping - @ 2025-11-25: ok
    "#]]
    .assert_eq(&shown(&spans()));
}

/// A client that goes away gives its calls up.
#[tokio::test]
async fn a_client_that_goes_away() {
    for (tool, member) in [
        ("wait", r#","name":"wait","arguments":{"label":"x"}"#),
        ("", ""),
    ] {
        keep_spans();
        let (service, director) = served();
        let http = service.clone().into_http_service().unwrap();
        let way = Way {
            http: true,
            modern: true,
        };
        let message = match tool {
            "" => way.request("1", "own/waits", ""),
            _ => modern("1", "tools/call", member),
        };
        let headers = crate::extended::headers_of(&message);
        let request = tokio::spawn({
            let http = http.clone();
            async move { crate::parity::post(&http, &headers, message.into_bytes()).await }
        });
        director.begun().await;
        request.abort();
        assert!(soon(request).await.is_err());
        assert!(director.begun().await.starts_with("dropped"));
        let spans = spans();
        assert_eq!(spans.len(), 1);
        assert_eq!(spans[0]["outcome"], "cancelled", "{spans:?}");
    }
}

// A-10: the members of a batch have a span each, those too that may not be part of it.
#[tokio::test]
async fn members_of_batches() {
    keep_spans();
    let (service, _director) = served();
    let client = raw(&service).await;
    for line in initialize("2025-03-26") {
        client.send_raw(line).unwrap();
    }
    client.next_message().await.unwrap();
    let batch = [
        legacy("1", "ping", "{}"),
        legacy("1", "ping", "{}"),
        legacy(
            "2",
            "tools/call",
            r#"{"name":"add","arguments":{"a":1,"b":2}}"#,
        ),
        legacy("3", "initialize", "{}"),
        modern("4", "tools/list", ""),
    ];
    client.send_raw(format!("[{}]", batch.join(","))).unwrap();
    client.next_message().await.unwrap();
    expect![[r#"
        0 initialize - @ 2025-03-26: ok
        1 ping - @ 2025-03-26: ok
        1 ping - @ 2025-03-26: dropped
        2 tools/call add @ 2025-03-26: ok
        3 initialize - @ 2025-03-26: -32600
        4 tools/list - @ 2025-03-26: -32600
    "#]]
    .assert_eq(&shown(&spans()));
}

/// What a client sends is one short line in a span, and forges no other.
#[tokio::test]
async fn text_of_clients_is_cut_and_escaped() {
    let long = "x".repeat(10_000);
    // The longest that is read.
    let long_id = "x".repeat(1024);
    let (service, _director) = served();
    for (id, method) in [
        (r#""a\nb""#, "tools/list"),
        ("1", r"forged\noutcome=ok\u001b[2J"),
        ("1", long.as_str()),
        (&format!(r#""{long_id}""#), "tools/list"),
    ] {
        keep_spans();
        let message = modern(id, method, "");
        let way = Way {
            http: false,
            modern: true,
        };
        way.answers(&service, &[message]).await;
        let spans = spans();
        assert_eq!(spans.len(), 1);
        for (name, value) in &spans[0] {
            // Quotes around an id, and the sign that it was cut.
            let most = trueform::jsonrpc::MAX_REPEATED + 3;
            assert!(value.chars().count() <= most, "{name}: {value}");
            assert!(!value.chars().any(char::is_control), "{name}: {value:?}");
        }
    }
}

/// Says which trace the call belongs to.
#[tool]
fn traced(context: Context) -> Vec<String> {
    let trace = context.trace_context();
    let entries = trace.iter().flat_map(|trace| trace.entries());
    let mut lines: Vec<_> = entries
        .map(|(key, value)| format!("{key}: {value}"))
        .collect();
    if let Some(trace) = &trace {
        let (sampled, flags) = (trace.is_sampled(), trace.trace_flags());
        lines.push(format!(
            "{} {} {sampled} {flags}",
            trace.trace_id(),
            trace.parent_id()
        ));
    }
    lines
}

// SEP-414: the trace of a request, in its span and for its handler; what is not valid is ignored.
#[tokio::test]
async fn the_trace_of_a_request() {
    const TRACE: &str = "0af7651916cd43dd8448eb211c80319c";
    const PARENT: &str = "b7ad6b7169203331";
    let whole = format!("00-{TRACE}-{PARENT}-01");
    let parts = format!("{TRACE} {PARENT} true 1");
    let server = Server::new("test", "1.0.0").tools(tools![traced]);
    let service = server.build().unwrap();
    for (meta, expected) in [
        (json!({}), vec![]),
        (
            json!({ "traceparent": whole, "tracestate": "a=1", "baggage": "user=ada" }),
            vec![
                format!("traceparent: {whole}"),
                "tracestate: a=1".to_owned(),
                "baggage: user=ada".to_owned(),
                parts.clone(),
            ],
        ),
        (
            json!({ "traceparent": whole, "tracestate": "A", "baggage": 5 }),
            vec![format!("traceparent: {whole}"), parts.clone()],
        ),
        (
            json!({ "traceparent": whole.to_uppercase(), "tracestate": "a=1" }),
            vec![],
        ),
        (json!({ "traceparent": [whole], "baggage": "a=1" }), vec![]),
    ] {
        for way in WAYS {
            keep_spans();
            let mut members: serde_json::Map<String, serde_json::Value> =
                serde_json::from_value(meta.clone()).unwrap();
            let mut request: serde_json::Value =
                serde_json::from_str(&way.request("1", "tools/call", r#""name":"traced""#))
                    .unwrap();
            let params = request["params"].as_object_mut().unwrap();
            let own = params.entry("_meta").or_insert_with(|| json!({}));
            own.as_object_mut().unwrap().append(&mut members);
            let answers = way.answers(&service, &[request.to_string()]).await;
            let content = answers[0]["result"]["content"].as_array();
            let content = content.unwrap_or_else(|| panic!("{answers:#?}"));
            let lines = content.iter().map(|block| block["text"].as_str().unwrap());
            let lines = Vec::from_iter(lines);
            assert_eq!(lines, expected, "{meta} {way:?}");
            let spans = spans();
            let span = spans.iter().find(|span| {
                span.get("method")
                    .is_some_and(|method| method.contains("tools/call"))
            });
            let span = span.unwrap_or_else(|| panic!("{spans:#?}"));
            let is_traced = !expected.is_empty();
            for (field, value) in [("trace_id", TRACE), ("parent_id", PARENT)] {
                let recorded = span.get(field).map(|found| found.trim_matches('"'));
                assert_eq!(recorded, is_traced.then_some(value), "{meta} {way:?}");
            }
        }
    }
}
