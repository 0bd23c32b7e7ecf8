//! A server that uses every newest feature, to clients pinned to each revision: every message that either says is what the
//! official schema of that revision says, also where the schema is closed to members that it does not list.

mod asking;
mod expected;
mod failing;
mod judge;
mod offers;
mod server;

use std::collections::{BTreeSet, HashMap};

use serde_json::{Map, Value, json};
use trueform::{
    Service,
    client::{Answering, ClientHandler, ClientOptions},
    prelude::*,
    schema::{
        ClientCapabilities, Era, Json as RawJson, SetLevelRequestParams, SubscriptionFilter,
        methods::{Discover, Ping, SetLevel},
    },
    testing::{Event, Recorder, Side},
};

use self::{
    expected::{of_client, of_server},
    judge::Judge,
    server::{service, structured},
};
use crate::support::{conversation, initialize, legacy, modern, soon};

/// Answers whatever it is asked with everything that an answer may have.
struct Everything;

impl ClientHandler for Everything {
    fn answer(&self, method: &str, params: Option<RawJson>) -> Answering<'_> {
        let params = params.map(|params| params.to_value()).unwrap_or_default();
        let text = json!({
            "type": "text",
            "text": "Hi.",
            "annotations": { "lastModified": "2026-01-02T03:04:05Z" },
            "_meta": { "example.com/key": 1 },
        });
        let used = json!({ "type": "tool_use", "id": "v", "name": "look", "input": {} });
        let answer = match method {
            "roots/list" => json!({
                "roots": [{ "uri": "file:///a", "name": "A", "_meta": { "example.com/key": 1 } }],
                "_meta": { "example.com/key": 1 },
            }),
            "sampling/createMessage" => json!({
                "role": "assistant",
                "model": "small",
                "content": if params.get("tools").is_some() { json!([text, used]) } else { text },
                "stopReason": if params.get("tools").is_some() { "toolUse" } else { "endTurn" },
                "_meta": { "example.com/key": 1 },
            }),
            "elicitation/create" if params["mode"] == "url" => json!({ "action": "accept" }),
            "elicitation/create" => {
                let asked = params["requestedSchema"]["properties"].as_object();
                let asked = asked.expect("a form has fields").iter();
                // By the official schema of 2025-11-25 answers are whole numbers, which the overlay takes for a mistake.
                let is_fit = |value: &Value| !value.is_null() && !value.is_f64();
                let content: Map<_, _> = asked
                    .map(|(name, field)| (name.clone(), field["default"].clone()))
                    .filter(|(_, value)| is_fit(value))
                    .collect();
                json!({ "action": "accept", "content": content, "_meta": { "example.com/key": 1 } })
            }
            other => panic!("the server asked {other}"),
        };
        Box::pin(std::future::ready(Ok(RawJson::from(answer))))
    }
}

/// Everything that a client can be able to do.
fn capabilities() -> ClientCapabilities {
    let capabilities = json!({
        "roots": { "listChanged": true },
        "sampling": { "context": {}, "tools": {} },
        "elicitation": { "form": {}, "url": {} },
        "experimental": { "example.com/own": {} },
    });
    serde_json::from_value(capabilities).unwrap()
}

/// What both sides said, in order, to a client of `revision` that uses everything.
async fn session(service: &Service, revision: Revision) -> Vec<(Side, Value)> {
    let recorder = Recorder::new();
    let options = ClientOptions::at(revision)
        .info(server::implementation())
        .capabilities(capabilities())
        .handler(Everything);
    let client = recorder.connect_as(service, options).await.unwrap();
    let tools = client.list_tools().await.unwrap();
    let others = asking::SAID.len() + failing::told().len() + 4;
    assert_eq!(tools.len(), structured().len() + others);
    for (name, _, _) in structured() {
        let result = client.call_tool(name, json!({"any": 1})).await.unwrap();
        assert_eq!(result.is_error, None, "{revision} {name}: {result:?}");
    }
    client.call_tool("content", ()).await.unwrap();
    client.call_tool("fails", ()).await.unwrap();
    // What is refused, as a result and as an error.
    client
        .call_tool("object", json!({"none": 1}))
        .await
        .unwrap();
    assert!(client.call_tool("unknown", ()).await.is_err());
    client
        .call_tool("tells", ())
        .on_progress(|_| {})
        .log_level(LoggingLevel::Info)
        .await
        .unwrap();
    for (name, said) in asking::SAID {
        let result = client.call_tool(name, ()).await.unwrap();
        let result = serde_json::to_value(&result).unwrap();
        let expected = said[at(revision)].to_string();
        assert_eq!(
            result["content"][0]["text"], expected,
            "{revision} {name}: {result}"
        );
    }
    for (name, _, _, told) in failing::told() {
        let error = client.call_tool(name, ()).await.unwrap_err();
        assert_eq!(
            error.code(),
            Some(told[at(revision)]),
            "{revision} {name}: {error}"
        );
    }
    offers::used(&client, service).await;
    if revision == Revision::V2026_07_28 {
        client
            .request::<Discover>(Default::default())
            .await
            .unwrap();
        let mut filter = SubscriptionFilter::default();
        filter.tools_list_changed = Some(true);
        let mut subscription = client.listen(filter).await.unwrap();
        service.handle().notify_tools_changed();
        assert!(soon(subscription.next()).await.is_some());
    } else {
        client.request::<Ping>(Default::default()).await.unwrap();
        client
            .request::<SetLevel>(SetLevelRequestParams::new(LoggingLevel::Error))
            .await
            .unwrap();
        let mut notifications = client.notifications();
        service.handle().notify_tools_changed();
        assert!(soon(notifications.next()).await.is_some());
    }
    soon(client.close()).await;
    let records = recorder.records().into_iter();
    let message = |event| match event {
        Event::Message(text) => serde_json::from_str(&text).ok(),
        _ => None,
    };
    records
        .filter_map(|record| Some((record.from, message(record.event)?)))
        .collect()
}

/// What the server says to a client of `revision` that makes mistakes.
async fn mistakes(service: &Service, revision: Revision) -> Vec<(Side, Value)> {
    let mut lines = Vec::new();
    let request: fn(&str, &str, &str) -> String = match revision {
        Revision::V2026_07_28 => |id, method, params| modern(id, method, &format!(",{params}")),
        _ => |id, method, params| legacy(id, method, &format!("{{{params}}}")),
    };
    if revision.era() == Era::Legacy {
        lines.extend(initialize(revision.as_str()));
    }
    lines.extend([
        request("1", "no/such", r#""a":1"#),
        request("2", "tools/call", r#""name":5"#),
        request("3", "tools/call", r#""name":"needy""#),
        request("4", "tools/list", r#""cursor":"none of ours""#),
        request(
            "8",
            "prompts/get",
            r#""name":"dressed","arguments":{"about":5}"#,
        ),
        request("9", "resources/read", r#""uri":"file:///%ZZ""#),
        request(
            "10",
            "completion/complete",
            r#""ref":5,"argument":{"name":"a","value":""}"#,
        ),
        request("5", "tools/list", r#""cursor":[]"#).replace("2026-07-28", "1999-01-01"),
        r#"{"jsonrpc":"2.0","id":6,"method":7}"#.to_owned(),
        r#"{"jsonrpc":"2.0","id":7,"method":"#.to_owned(),
    ]);
    let input: String = lines.iter().map(|line| format!("{line}\n")).collect();
    let parse = |line: &String| serde_json::from_str(line).expect("the server says JSON");
    let said = conversation(service, input).await;
    let asked = lines
        .iter()
        .filter_map(|line| serde_json::from_str(line).ok());
    let asked = asked.map(|message| (Side::Client, message));
    asked
        .chain(said.iter().map(|line| (Side::Server, parse(line))))
        .collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_message_is_what_its_revision_lists() {
    let service = service();
    let mut faults = Vec::new();
    for revision in Revision::ALL {
        let judge = Judge::of(revision);
        let mut met = [BTreeSet::new(), BTreeSet::new()];
        let intended = session(&service, revision).await;
        for (messages, is_intended) in [
            (intended, true),
            (mistakes(&service, revision).await, false),
        ] {
            let mut asked: HashMap<(bool, String), String> = HashMap::new();
            for (side, message) in messages {
                let from_server = side == Side::Server;
                let id = message["id"].to_string();
                let method = match message["method"].as_str() {
                    Some(method) => {
                        asked.insert((from_server, id), method.to_owned());
                        None
                    }
                    None => asked.get(&(!from_server, id)).map(String::as_str),
                };
                if !from_server && !is_intended {
                    continue;
                }
                for (name, value) in judge.definitions(&message, method) {
                    let found = judge.both(&name, value);
                    faults.extend(
                        found.into_iter().map(|fault| {
                            format!("{revision}, by the {side:?}: {fault}\n    {value}")
                        }),
                    );
                    met[usize::from(from_server)].insert(name);
                }
                if revision != Revision::V2026_07_28 {
                    reserved(&message, &mut |key| {
                        faults.push(format!("{revision}: `{key}` in {message}"))
                    });
                }
            }
        }
        let [by_client, by_server] = met;
        for (by, met, expected) in [
            ("client", by_client, of_client(revision)),
            ("server", by_server, of_server(revision)),
        ] {
            let missing: Vec<_> = expected
                .iter()
                .filter(|name| !met.contains(**name))
                .collect();
            assert!(
                missing.is_empty(),
                "{revision}: no {missing:?} by the {by}, but {met:?}"
            );
        }
    }
    assert!(
        faults.is_empty(),
        "{} faults:\n{}",
        faults.len(),
        faults.join("\n")
    );
}

/// The place of `revision` among all.
fn at(revision: Revision) -> usize {
    Revision::ALL
        .iter()
        .position(|other| *other == revision)
        .unwrap()
}

/// Names of the protocol in `_meta`, which it does not have before 2026-07-28.
fn reserved(value: &Value, tell: &mut dyn FnMut(&str)) {
    match value {
        Value::Object(members) => {
            for (name, member) in members {
                if name.starts_with("io.modelcontextprotocol/") {
                    tell(name);
                }
                reserved(member, tell);
            }
        }
        Value::Array(items) => items.iter().for_each(|item| reserved(item, tell)),
        _ => {}
    }
}

/// A twin that refuses nothing proves nothing: where the official schema lets a member of a later revision pass, it does not.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_twin_notices_what_is_not_listed() {
    let service = service();
    for revision in Revision::ALL {
        let judge = Judge::of(revision);
        let messages = session(&service, revision).await;
        let result = |member: &str| {
            let found = messages.iter().find(|(side, message)| {
                *side == Side::Server && message["result"].get(member).is_some()
            });
            found.map(|(_, message)| message["result"].clone()).unwrap()
        };
        let leaks = [
            (
                "ListToolsResult",
                result("tools"),
                vec!["", "/tools/0", "/tools/3"],
            ),
            ("CallToolResult", result("content"), vec!["", "/content/0"]),
            (
                "ListPromptsResult",
                result("prompts"),
                vec!["", "/prompts/0", "/prompts/0/arguments/0"],
            ),
            (
                "GetPromptResult",
                result("messages"),
                vec!["", "/messages/0", "/messages/0/content"],
            ),
            (
                "ListResourcesResult",
                result("resources"),
                vec!["", "/resources/0", "/resources/0/annotations"],
            ),
            (
                "ListResourceTemplatesResult",
                result("resourceTemplates"),
                vec!["", "/resourceTemplates/0"],
            ),
            (
                "ReadResourceResult",
                result("contents"),
                vec!["", "/contents/0", "/contents/1"],
            ),
            (
                "CompleteResult",
                result("completion"),
                vec!["", "/completion"],
            ),
        ];
        for (name, value, places) in leaks {
            assert_eq!(judge.both(name, &value), [""; 0], "{revision}");
            for place in places {
                let mut leaking = value.clone();
                leaking.pointer_mut(place).unwrap()["later"] = json!(1);
                let found = judge.both(name, &leaking);
                assert!(
                    !found.is_empty() && found.iter().all(|fault| fault.starts_with("closed")),
                    "{revision} {name}{place}: {found:?}"
                );
            }
        }
    }
}

/// The rules of the runtime, each undone in what was sent: the official schema of the revision refuses it. Those of the
/// bindings are undone where the bindings are proven.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_rule_that_is_not_kept_is_noticed() {
    let service = service();
    let of_bindings: Vec<_> = trueform::schema::projection::rules().collect();
    let own: Vec<_> = trueform::projection::rules()
        .filter(|rule| !of_bindings.contains(rule))
        .collect();
    assert_eq!(own.len(), 4);
    for revision in Revision::ALL {
        let judge = Judge::of(revision);
        let messages = session(&service, revision).await;
        let results = || {
            let results = messages.iter().filter(|(side, _)| *side == Side::Server);
            results.map(|(_, message)| &message["result"])
        };
        let tools = || {
            let tools = results().filter_map(|result| result["tools"].as_array());
            tools.flatten().cloned()
        };
        let named = |name: &str| tools().find(|tool| tool["name"] == name).unwrap();
        let dressed = |name: &str| {
            let mut all = structured().into_iter();
            all.find(|(tool, ..)| *tool == name).unwrap()
        };
        for rule in own.iter().filter(|rule| rule.at.contains(revision)) {
            let words = rule.becomes.to_string();
            let (definition, value) = match (rule.item, words.contains("boolean")) {
                ("inputSchema", true) => {
                    let mut tool = named("object");
                    assert_eq!(
                        tool["inputSchema"]["properties"]["none"],
                        json!({"not": {}})
                    );
                    tool["inputSchema"]["properties"]["none"] = json!(false);
                    ("Tool", tool)
                }
                ("outputSchema", true) => {
                    let mut tool = named("object");
                    assert_eq!(tool["outputSchema"]["properties"]["a"], json!({}));
                    tool["outputSchema"] = dressed("object").1;
                    ("Tool", tool)
                }
                ("outputSchema", false) => {
                    let mut tool = named("array");
                    assert_eq!(tool["outputSchema"]["type"], "object");
                    tool["outputSchema"] = dressed("array").1;
                    ("Tool", tool)
                }
                ("structuredContent", false) => {
                    let (_, _, value) = dressed("array");
                    let wrapped = json!({ "result": value });
                    let mut sent =
                        results().filter(|result| result["structuredContent"] == wrapped);
                    let mut result = sent.next().unwrap().clone();
                    result["structuredContent"] = value;
                    ("CallToolResult", result)
                }
                _ => panic!("{rule:?}: how is it undone?"),
            };
            let found = judge.both(definition, &value);
            let official = found.iter().filter(|fault| !fault.starts_with("closed"));
            assert!(
                official.count() > 0,
                "{revision}: nobody notices that {rule:?} is not kept"
            );
        }
    }
}
