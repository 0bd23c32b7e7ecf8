//! What is let in although the specification does not allow it, rule by rule: by default, switched off, and under each policy.

use serde_json::{Value, json};
use trueform::{
    Leniencies, Leniency, Policy,
    client::{ClientError, ClientOptions, LocalError},
    prelude::*,
    schema::{CreateMessageRequestParams, ElicitRequestParams, RequestParams, methods},
};

use crate::support::{add, conversation, initialize, joined, legacy, log, modern, raw, soon};

/// One thing that real clients send: what lets it pass, the message, and what it is answered where nothing does.
struct Case {
    leniency: Leniency,
    /// What the session was opened at; nothing opens it for a message of the modern era or for `initialize` itself.
    revision: Option<&'static str>,
    message: String,
    /// `rule` and `pointer` of the refusal; none where there is nobody to answer to.
    refused: Option<(&'static str, &'static str)>,
}

fn opening(revision: &str, client_info: &str, capabilities: &str) -> String {
    legacy(
        "1",
        "initialize",
        &format!(
            r#"{{"protocolVersion":"{revision}","capabilities":{capabilities},"clientInfo":{client_info}}}"#
        ),
    )
}

fn cases() -> Vec<Case> {
    let case = |leniency, revision, message: &str, refused| Case {
        leniency,
        revision,
        message: message.to_owned(),
        refused,
    };
    let unknown = |pointer| Some(("unknown-members", pointer));
    let r4 = Some("2025-11-25");
    vec![
        case(
            Leniency::UnknownMembers,
            r4,
            r#"{"jsonrpc":"2.0","id":1,"method":"ping","x/y":true}"#,
            unknown("/x~1y"),
        ),
        case(
            Leniency::UnknownMembers,
            r4,
            &legacy("1", "tools/list", r#"{"curser":"a"}"#),
            unknown("/params/curser"),
        ),
        case(
            Leniency::UnknownMembers,
            r4,
            &legacy(
                "1",
                "tools/call",
                r#"{"name":"add","arguments":{"a":1,"b":1},"args":{}}"#,
            ),
            unknown("/params/args"),
        ),
        // A later revision has it.
        case(
            Leniency::UnknownMembers,
            None,
            &opening(
                "2024-11-05",
                r#"{"name":"t","version":"1","title":"T"}"#,
                "{}",
            ),
            unknown("/params/clientInfo/title"),
        ),
        case(
            Leniency::UnknownMembers,
            None,
            &opening(
                "2025-06-18",
                r#"{"name":"t","version":"1"}"#,
                r#"{"smpling":{}}"#,
            ),
            unknown("/params/capabilities/smpling"),
        ),
        case(
            Leniency::UnknownMembers,
            None,
            &modern(
                "1",
                "tools/call",
                r#","name":"add","arguments":{"a":1,"b":1},"args":{}"#,
            ),
            unknown("/params/args"),
        ),
        case(
            Leniency::AbsentParams,
            r4,
            r#"{"jsonrpc":"2.0","method":"notifications/cancelled"}"#,
            None,
        ),
        case(
            Leniency::NullMembers,
            r4,
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/list","params":null}"#,
            Some(("null-members", "/params")),
        ),
        case(
            Leniency::NullMembers,
            r4,
            r#"{"jsonrpc":"2.0","method":"notifications/roots/list_changed","params":null}"#,
            None,
        ),
        case(
            Leniency::NullMembers,
            r4,
            &legacy(
                "1",
                "tools/call",
                r#"{"name":"add","_meta":{"progressToken":null},"arguments":{"a":1,"b":1}}"#,
            ),
            Some(("null-members", "/params/_meta/progressToken")),
        ),
        case(
            Leniency::NullMembers,
            r4,
            &legacy("1", "tools/list", r#"{"cursor":null,"_meta":null}"#),
            Some(("null-members", "/params/cursor")),
        ),
        case(
            Leniency::NullMembers,
            r4,
            r#"{"jsonrpc":"2.0","id":1,"method":"ping","result":null,"error":null}"#,
            Some(("null-members", "/result")),
        ),
        case(
            Leniency::NullMembers,
            None,
            &modern("1", "tools/list", r#","cursor":null"#),
            Some(("null-members", "/params/cursor")),
        ),
        case(
            Leniency::NullMembers,
            None,
            &opening(
                "2025-11-25",
                r#"{"name":"t","version":"1","title":null,"icons":null}"#,
                r#"{"sampling":null,"roots":{"listChanged":null}}"#,
            ),
            Some(("null-members", "/params/capabilities/sampling")),
        ),
        case(
            Leniency::NullMembers,
            r4,
            r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":9,"reason":null}}"#,
            None,
        ),
        case(
            Leniency::UnknownValues,
            None,
            &opening(
                "2025-11-25",
                r#"{"name":"t","version":"1","icons":[{"src":"https://a.b/c","theme":"sepia"}]}"#,
                "{}",
            ),
            Some(("unknown", "/params/clientInfo/icons/0/theme")),
        ),
        case(
            Leniency::IntegralFloats,
            r4,
            &legacy(
                "1",
                "tools/call",
                r#"{"name":"add","arguments":{"a":1,"b":1},"task":{"ttl":60.0}}"#,
            ),
            Some(("integral-floats", "/params/task/ttl")),
        ),
        case(
            Leniency::Formats,
            None,
            &opening(
                "2025-11-25",
                r#"{"name":"t","version":"1","websiteUrl":"not a uri"}"#,
                "{}",
            ),
            Some(("format", "/params/clientInfo/websiteUrl")),
        ),
        case(
            Leniency::MissingErrorId,
            r4,
            r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"no"}}"#,
            None,
        ),
    ]
}

/// What `server` answers to the message of `case`, and the lines of the log that are about it.
async fn play(server: Server, case: &Case) -> (Option<Value>, Vec<String>) {
    let service = server.tools(tools![add]).build().unwrap();
    let mut lines: Vec<String> = case
        .revision
        .map_or_else(Vec::new, |at| initialize(at).into());
    let before = lines.len().min(1);
    lines.push(case.message.clone());
    let told = log();
    let output = conversation(&service, joined(lines)).await;
    let answer = output
        .get(before)
        .map(|line| serde_json::from_str(line).unwrap());
    let told = told.take();
    let about = |line: &&String| {
        ["let in", "dropped", "malformed", "refused"]
            .iter()
            .any(|word| line.contains(word))
    };
    (answer, told.iter().filter(about).cloned().collect())
}

fn server() -> Server {
    Server::new("t", "1")
}

#[tokio::test]
async fn let_through_by_default() {
    for case in cases() {
        let alone = Leniencies::NONE.with(case.leniency);
        for leniencies in [Leniencies::ALL, alone] {
            let (answer, told) = play(server().lenient(leniencies), &case).await;
            let error = answer.as_ref().and_then(|answer| answer.get("error"));
            assert_eq!(error, None, "{}", case.message);
            assert_eq!(answer.is_some(), case.refused.is_some(), "{}", case.message);
            let harmless = |line: &String| line.contains("an error without id was dropped");
            assert!(told.iter().all(harmless), "{}: {told:#?}", case.message);
        }
    }
}

#[tokio::test]
async fn refused_where_switched_off() {
    for case in cases() {
        let without = Leniencies::ALL.without(case.leniency);
        for leniencies in [without, Leniencies::NONE] {
            let (answer, told) = play(server().lenient(leniencies), &case).await;
            assert!(!told.is_empty(), "{}", case.message);
            let Some((rule, pointer)) = case.refused else {
                assert_eq!(answer, None, "{}", case.message);
                continue;
            };
            let error = &answer.as_ref().expect("a request is answered")["error"];
            assert!(
                error["code"] == -32602 || error["code"] == -32600,
                "{}: {error}",
                case.message
            );
            assert_eq!(error["data"]["rule"], rule, "{}: {error}", case.message);
            assert_eq!(
                error["data"]["pointer"], pointer,
                "{}: {error}",
                case.message
            );
            for part in ["expected", "found"] {
                assert!(
                    error["data"][part]
                        .as_str()
                        .is_some_and(|text| !text.is_empty()),
                    "{error}"
                );
            }
            let expected = match rule {
                "unknown-members" if pointer.starts_with("/params/") => {
                    "only members that the revision defines"
                }
                "unknown-members" => "only members of a JSON-RPC message of this kind",
                "integral-floats" => "an integer without a fraction",
                _ => "",
            };
            if !expected.is_empty() {
                assert_eq!(error["data"]["expected"], expected, "{}", case.message);
            }
            if !pointer.starts_with("/params") {
                let problem = match rule {
                    "null-members" => "is null",
                    _ => "is not a member of a message",
                };
                let message = error["message"].as_str().expect("a text");
                assert!(message.ends_with(problem), "{message}");
            }
            assert_eq!(answer.unwrap()["id"], 1);
        }
    }
}

#[tokio::test]
async fn served_and_logged_under_warn() {
    for case in cases() {
        let server = server().lenient(Leniencies::NONE).incoming(Policy::Warn);
        let (answer, told) = play(server, &case).await;
        let error = answer.as_ref().and_then(|answer| answer.get("error"));
        assert_eq!(error, None, "{}", case.message);
        let let_in = told
            .iter()
            .find(|line| line.starts_with("WARN") && line.contains("let in"));
        let let_in = let_in.unwrap_or_else(|| panic!("{}: {told:#?}", case.message));
        if let Some((rule, pointer)) = case.refused {
            assert!(let_in.contains(&format!("rule={rule:?}")), "{let_in}");
            assert!(let_in.contains(&format!("pointer={pointer:?}")), "{let_in}");
        }
    }
}

#[tokio::test]
async fn served_in_silence_where_off() {
    for case in cases() {
        let server = server().lenient(Leniencies::NONE).incoming(Policy::Off);
        let (answer, told) = play(server, &case).await;
        let error = answer.as_ref().and_then(|answer| answer.get("error"));
        assert_eq!(error, None, "{}", case.message);
        assert!(
            !told.iter().any(|line| line.contains("let in")),
            "{told:#?}"
        );
    }
}

/// Everything that the specification allows passes where nothing else does.
#[tokio::test]
async fn nothing_legal_is_refused() {
    let service = server()
        .tools(tools![add])
        .lenient(Leniencies::NONE)
        .build()
        .unwrap();
    for revision in Revision::ALL {
        let client = service
            .connect_as(ClientOptions::at(revision))
            .await
            .unwrap();
        client.list_tools().await.unwrap();
        let sum = client
            .call_tool("add", json!({ "a": 1, "b": 1.0 }))
            .await
            .unwrap();
        assert_eq!(sum.is_error, None, "{revision}: {sum:?}");
    }
    let open =
        r#"{"_meta":{"anything":{"at":["all",1.0]}},"name":"add","arguments":{"a":1,"b":1}}"#;
    let lines = [
        &initialize("2025-11-25")[..],
        &[legacy("1.0", "tools/call", open)],
    ]
    .concat();
    let output = conversation(&service, joined(lines)).await;
    let answer: Value = serde_json::from_str(&output[1]).unwrap();
    assert_eq!(
        (&answer["id"], answer.get("error")),
        (&json!(1.0), None),
        "{answer}"
    );
}

/// The log has the refused message, and none of what it says.
#[tokio::test]
async fn refused_messages_are_logged_without_values() {
    let service = server().tools(tools![add]).build().unwrap();
    let secret = "hunter2";
    for message in [
        legacy("7", "tools/call", &format!(r#"{{"name":["{secret}"]}}"#)),
        legacy(
            "7",
            "tools/call",
            &format!(r#"{{"name":5,"password":"{secret}"}}"#),
        ),
        modern(
            "7",
            "tools/list",
            &format!(r#","cursor":{{"{}":"{secret}"}}"#, "k"),
        ),
        format!(r#"{{"jsonrpc":"{secret}","id":7,"method":"ping"}}"#),
        format!(r#"{{"jsonrpc":"2.0","id":7,"error":{{"code":"{secret}","message":"{secret}"}}}}"#),
        format!(r#"{{"jsonrpc":"2.0","id":7,"{secret}","x":"{secret}":}}"#),
        format!(r#"{{"jsonrpc":"2.0","id":7,"method":"ping","params":"{secret}"#),
        format!(
            r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":["{secret}"]}}}}"#
        ),
    ] {
        let told = log();
        let lines = [
            &initialize("2025-11-25")[..],
            std::slice::from_ref(&message),
        ]
        .concat();
        conversation(&service, joined(lines)).await;
        let told = told.take();
        assert!(
            told.iter()
                .any(|line| line.contains("bytes>") || line.contains("byte>")),
            "{message}: {told:#?}"
        );
        for line in &told {
            assert!(!line.contains(secret), "{line}");
        }
    }
}

/// Asks the client for a message that it may use tools for.
#[tool]
async fn ask_with_tools(context: Context) -> String {
    let params: CreateMessageRequestParams =
        serde_json::from_value(json!({ "messages": [], "maxTokens": 1, "tools": [] })).unwrap();
    match context.request::<methods::CreateMessage>(params).await {
        Ok(_) => "answered".to_owned(),
        Err(error) => error.to_string(),
    }
}

/// Asks the client to visit a page.
#[tool]
async fn ask_to_visit(context: Context) -> String {
    let params: ElicitRequestParams = serde_json::from_value(
        json!({ "mode": "url", "url": "https://a.b/", "message": "m", "elicitationId": "e" }),
    )
    .unwrap();
    match context.request::<methods::Elicit>(params).await {
        Ok(_) => "answered".to_owned(),
        Err(error) => error.to_string(),
    }
}

// B-7, B-8, Q-2, R-2
#[tokio::test]
async fn what_a_client_did_not_declare_is_not_asked() {
    let tools = tools![ask, ask_with_tools, ask_to_visit];
    let service = server().tools(tools).build().unwrap();
    for (capabilities, is_ready, tool, expected) in [
        ("{}", true, "ask", "`sampling`"),
        (
            r#"{"sampling":{}}"#,
            false,
            "ask",
            "notifications/initialized",
        ),
        (
            r#"{"sampling":{}}"#,
            true,
            "ask_with_tools",
            "`sampling.tools`",
        ),
        (
            r#"{"elicitation":{"form":{}}}"#,
            true,
            "ask_to_visit",
            "`elicitation.url`",
        ),
        (
            r#"{"elicitation":{}}"#,
            true,
            "ask_to_visit",
            "`elicitation.url`",
        ),
    ] {
        let opening = opening("2025-11-25", r#"{"name":"t","version":"1"}"#, capabilities);
        let mut lines = vec![opening];
        if is_ready {
            lines.push(initialize("2025-11-25")[1].clone());
        }
        lines.push(legacy(
            "2",
            "tools/call",
            &format!(r#"{{"name":"{tool}"}}"#),
        ));
        let output = conversation(&service, joined(lines)).await;
        let [_, called] = &output[..] else {
            panic!("{output:?}")
        };
        let called: Value = serde_json::from_str(called).unwrap();
        let text = called["result"]["content"][0]["text"].as_str().unwrap();
        assert!(
            text.contains(expected),
            "{tool} with {capabilities}: {text}"
        );
    }
}

/// Asks the client for a message, and says what came of it.
#[tool]
async fn ask(context: Context) -> String {
    let params: CreateMessageRequestParams =
        serde_json::from_value(json!({ "messages": [], "maxTokens": 1 })).unwrap();
    match context.request::<methods::CreateMessage>(params).await {
        Ok(_) => "answered".to_owned(),
        Err(error) => error.to_string(),
    }
}

// B-8
#[tokio::test]
async fn answers_of_a_client() {
    for (leniencies, answer, expected) in [
        (
            Leniencies::ALL,
            json!({ "role": "robot" }),
            "the client's answer is malformed: /role: ",
        ),
        (
            Leniencies::NONE,
            json!({ "role": "robot" }),
            "the client's answer is malformed: /role: ",
        ),
        (
            Leniencies::ALL,
            json!({ "role": 5 }),
            "the client's answer is malformed: /role: ",
        ),
        (Leniencies::ALL, json!({ "extra": 1 }), "answered"),
        (
            Leniencies::NONE,
            json!({ "extra": 1 }),
            "the client's answer is malformed: /extra: ",
        ),
    ] {
        let mut result =
            json!({ "role": "user", "model": "m", "content": { "type": "text", "text": "hi" } });
        result
            .as_object_mut()
            .unwrap()
            .extend(answer.as_object().unwrap().clone());
        let service = server()
            .tools(tools![ask])
            .lenient(leniencies)
            .build()
            .unwrap();
        let client = raw(&service).await;
        client
            .send_raw(opening(
                "2025-06-18",
                r#"{"name":"t","version":"1"}"#,
                r#"{"sampling":{}}"#,
            ))
            .unwrap();
        soon(client.next_message()).await.unwrap();
        let [_, initialized] = initialize("2025-06-18");
        client.send_raw(initialized).unwrap();
        client
            .send_raw(legacy("2", "tools/call", r#"{"name":"ask"}"#))
            .unwrap();
        let question: Value =
            serde_json::from_str(&soon(client.next_message()).await.unwrap()).unwrap();
        assert_eq!(question["method"], "sampling/createMessage");
        let answer = json!({ "jsonrpc": "2.0", "id": question["id"], "result": result });
        client.send_raw(answer.to_string()).unwrap();
        let called: Value =
            serde_json::from_str(&soon(client.next_message()).await.unwrap()).unwrap();
        let text = called["result"]["content"][0]["text"].as_str().unwrap();
        assert!(text.starts_with(expected), "{leniencies:?}: {text}");
    }
}

/// A client does not send what its revision does not have either.
#[tokio::test]
async fn what_a_client_may_send() {
    let service = server().tools(tools![add]).build().unwrap();
    let client = service
        .connect_as(ClientOptions::at(Revision::V2026_07_28))
        .await
        .unwrap();
    let error = client
        .request::<methods::Ping>(RequestParams::default())
        .await
        .unwrap_err();
    assert!(
        matches!(
            error,
            ClientError::Local(LocalError::Unavailable("ping", Revision::V2026_07_28))
        ),
        "{error}"
    );
    let error = client
        .notify::<methods::Initialized>(&Default::default())
        .unwrap_err();
    assert!(
        matches!(error, ClientError::Local(LocalError::Unavailable(..))),
        "{error}"
    );

    // B-8
    let error = client
        .request::<methods::ListPrompts>(Default::default())
        .await
        .unwrap_err();
    assert!(
        matches!(
            error,
            ClientError::Local(LocalError::NotDeclared("prompts"))
        ),
        "{error}"
    );
    let mut info = trueform::schema::Implementation::new("t", "1");
    info.website_url = Some("not a uri".to_owned());
    let options = ClientOptions::at(Revision::V2025_11_25).info(info);
    let error = service.connect_as(options.clone()).await.unwrap_err();
    let ClientError::Local(LocalError::NotAllowed(problem)) = &error else {
        panic!("{error}");
    };
    assert!(problem.contains("/clientInfo/websiteUrl"), "{problem}");
    // The older revision does not have the member, so it is left out.
    let older = options
        .clone()
        .negotiation(trueform::client::Negotiation::Exactly(
            Revision::V2025_06_18,
        ));
    service.connect_as(older).await.unwrap();
    service
        .connect_as(options.outgoing(Policy::Warn))
        .await
        .unwrap();
}

// GAP-2, A-9: an unknown member of the envelope is refused before anything of the request is looked at.
#[tokio::test]
async fn an_unknown_member_of_the_envelope_comes_first() {
    for (leniencies, code, pointer) in [
        (Leniencies::NONE, -32600, "/parals"),
        (
            Leniencies::ALL,
            -32602,
            "/params/_meta/io.modelcontextprotocol~1protocolVersion",
        ),
    ] {
        let service = server().tools(tools![add]).lenient(leniencies);
        let message = modern("1", "tools/list", "").replace("params", "parals");
        let output = conversation(&service.build().unwrap(), joined([message])).await;
        let error = &serde_json::from_str::<Value>(&output[0]).unwrap()["error"];
        assert_eq!(
            (&error["code"], &error["data"]["pointer"]),
            (&json!(code), &json!(pointer)),
            "{error}"
        );
    }
}

/// What the specification leaves open or calls a number stays so where nothing is let through.
#[tokio::test]
async fn strict_is_no_stricter_than_the_specification() {
    let open = r#"{"sampling":{"x/y":1,"context":{}},"elicitation":{"z":[]},"experimental":{"e":{"n":1.0}}}"#;
    let info = r#"{"name":"t","version":"1"}"#;
    let titled = r#"{"name":"t","version":"1","title":"T"}"#;
    let only_old = server().tools(tools![add]).lenient(Leniencies::NONE);
    let only_old = only_old.revisions([Revision::V2025_03_26]).build().unwrap();
    let strict = server()
        .tools(tools![add])
        .lenient(Leniencies::NONE)
        .build()
        .unwrap();
    for (service, message) in [
        (&strict, opening("2025-06-18", info, open)),
        // It is answered an older revision, which it could not know.
        (&only_old, opening("2025-11-25", titled, "{}")),
    ] {
        let client = raw(service).await;
        client.send_raw(message.clone()).unwrap();
        let answer = soon(client.next_message()).await.unwrap();
        assert!(answer.contains(r#""result""#), "{message}: {answer}");
    }

    let client = raw(&strict).await;
    client
        .send_raw(opening("2025-11-25", info, r#"{"sampling":{"x":1}}"#))
        .unwrap();
    let answer = soon(client.next_message()).await.unwrap();
    assert!(
        answer.contains("/params/capabilities/sampling/x"),
        "{answer}"
    );
    client.send_raw(opening("2025-11-25", info, "{}")).unwrap();
    soon(client.next_message()).await.unwrap();
    let told = log();
    let progress = r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":5.0,"total":1e2}}"#;
    client.send_raw(progress).unwrap();
    client.send_raw(legacy("2", "ping", "{}")).unwrap();
    soon(client.next_message()).await.unwrap();
    let told = told.take();
    assert!(
        told.iter().all(|line| !line.contains("dropped")),
        "{told:#?}"
    );
}

/// What cannot be read as a tree does not hide what stands beside it, and each kind of message has its own members.
#[tokio::test]
async fn nothing_hides_an_unknown_member() {
    let service = server()
        .tools(tools![add])
        .lenient(Leniencies::NONE)
        .build()
        .unwrap();
    let client = raw(&service).await;
    client
        .send_raw(opening("2025-11-25", r#"{"name":"t","version":"1"}"#, "{}"))
        .unwrap();
    soon(client.next_message()).await.unwrap();
    for (message, pointer, rule) in [
        (
            legacy(
                "1",
                "tools/call",
                r#"{"name":"add","arguments":{"a":1e999,"b":1},"args":{}}"#,
            ),
            "/params/args",
            "unknown-members",
        ),
        (
            legacy(
                "1",
                "tools/call",
                r#"{"name":"add","arguments":{"a":"\ud800","b":1},"args":{}}"#,
            ),
            "/params/args",
            "unknown-members",
        ),
        (
            legacy("1", "ping", r#"{"a":1}"#),
            "/params/a",
            "unknown-members",
        ),
        (legacy("1", "ping", "[1]"), "/params", "type"),
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"ping","x":1,"x":2}"#.to_owned(),
            "/x",
            "unknown-members",
        ),
        (
            legacy("1", "tools/list", r#"{"_meta":{"a":1,"a":2}}"#),
            "/params/_meta/a",
            "duplicate",
        ),
        (
            legacy("1", "tools/list", r#"{"cursor":"a","cursor":"b"}"#),
            "/params/cursor",
            "duplicate",
        ),
    ] {
        client.send_raw(message.clone()).unwrap();
        let answer: Value =
            serde_json::from_str(&soon(client.next_message()).await.unwrap()).unwrap();
        let data = &answer["error"]["data"];
        assert_eq!(
            (&data["pointer"], &data["rule"]),
            (&json!(pointer), &json!(rule)),
            "{message}: {answer}"
        );
    }
}
