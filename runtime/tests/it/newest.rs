//! A server that uses every newest feature, to clients pinned to each revision: every message it sends is what the official
//! schema of that revision says, also where the schema is closed to members that it does not list.

use std::{
    collections::{BTreeSet, HashMap},
    path::Path,
};

use serde_json::{Map, Value, json};
use trueform::{
    Service,
    client::{Client, ClientOptions},
    prelude::*,
    schema::{
        Annotations, AudioContent, BlobResourceContents, EmbeddedResource, Icon, ImageContent,
        Meta, Method, ResourceLink, Role, SubscriptionFilter, TextContent, TextResourceContents,
        ToolAnnotations, methods::Rules,
    },
    testing::{Event, Recorder, Side},
};

use crate::support::soon;

// ---- The server. ----

fn icon() -> Icon {
    Icon::new("https://example.com/i.png")
        .with_mime_type("image/png")
        .with_sizes(vec!["48x48".to_owned(), "any".to_owned()])
        .with_theme("dark")
}

fn meta() -> Meta {
    [("example.com/key", json!({"any": [1, null]}).into())]
        .into_iter()
        .collect()
}

fn annotations() -> Annotations {
    Annotations::new()
        .with_audience(vec![Role::User, Role::Assistant])
        .with_priority(0.5)
        .with_last_modified("2026-01-02T03:04:05Z")
}

/// Every kind of content with everything on it.
fn content() -> Vec<ContentBlock> {
    let text = TextContent::new("text");
    let image = ImageContent::new("iVBORw==", "image/png");
    let audio = AudioContent::new("UklGRg==", "audio/wav");
    let link = ResourceLink::new("notes", "file:///notes.txt")
        .with_title("Notes")
        .with_description("What was noted.")
        .with_icons(vec![icon()])
        .with_mime_type("text/plain")
        .with_size(7);
    let inner = TextResourceContents::new("inner", "file:///inner.txt").with_meta(meta());
    let blob = BlobResourceContents::new("aGk=", "file:///blob").with_mime_type("x/y");
    vec![
        text.with_annotations(annotations())
            .with_meta(meta())
            .into(),
        image
            .with_annotations(annotations())
            .with_meta(meta())
            .into(),
        audio
            .with_annotations(annotations())
            .with_meta(meta())
            .into(),
        link.with_annotations(annotations())
            .with_meta(meta())
            .into(),
        EmbeddedResource::new(inner)
            .with_annotations(annotations())
            .with_meta(meta())
            .into(),
        EmbeddedResource::new(blob).into(),
    ]
}

/// A tool with all that a tool may have, and this schema of its result.
fn dressed(name: &str, output: Value, result: Value) -> DynamicTool {
    let input = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "properties": {"any": true, "none": false, "some": {"type": ["string", "null"]}, "own": {"$ref": "#/$defs/Own"}},
        "patternProperties": {"^x-": true},
        "$defs": {"Own": {"properties": {"any": true}}},
    });
    DynamicTool::new(name, input)
        .title("Dressed")
        .description("Has everything that a tool may have.")
        .icons([icon()])
        .annotations(
            ToolAnnotations::new()
                .with_title("Hint")
                .with_read_only_hint(true)
                .with_destructive_hint(false)
                .with_idempotent_hint(true)
                .with_open_world_hint(false),
        )
        .meta("example.com/key", json!(1))
        .output_schema(output)
        .handler(move |_, _| {
            let result = result.clone();
            async move { Json(result) }
        })
}

/// Results that are structured, of any kind, and the schemas of their tools.
fn structured() -> Vec<(&'static str, Value, Value)> {
    vec![
        (
            "object",
            json!({"type": "object", "properties": {"a": true}}),
            json!({"a": 1}),
        ),
        (
            "array",
            json!({"type": "array", "items": {"$ref": "#/$defs/N"}, "$defs": {"N": {"type": "integer"}}}),
            json!([1, 2]),
        ),
        ("null", json!({"type": "null"}), Value::Null),
        ("string", json!({"type": "string"}), json!("s")),
        ("number", json!({"type": "number"}), json!(1.5)),
        ("boolean", json!({"enum": [true]}), json!(true)),
        (
            "either",
            json!({"anyOf": [{"type": "object"}, {"type": "null"}]}),
            json!({"b": 2}),
        ),
        (
            "tree",
            json!({"type": ["array", "null"], "items": {"$ref": "#"}}),
            json!([[null], null]),
        ),
        (
            "anything",
            json!({"title": "Anything"}),
            json!({"result": {"result": []}}),
        ),
    ]
}

fn service() -> Service {
    let plain = || json!({"type": "object"});
    let everything = DynamicTool::new("content", plain()).handler(|_, _| async {
        let mut result = CallToolResult::new(content())
            .with_structured_content(json!([null]))
            .with_is_error(false);
        result.meta = Some(serde_json::from_value(json!({"example.com/key": "v"})).unwrap());
        result
    });
    let fails = DynamicTool::new("fails", plain()).handler(|_, _| async {
        let error =
            ToolError::new("it failed").with_content(AudioContent::new("UklGRg==", "audio/wav"));
        Err::<(), _>(error)
    });
    let tells = DynamicTool::new("tells", plain()).handler(|context, _| async move {
        for step in 1..=3 {
            context.progress(f64::from(step), Some(3.0), Some("on it"));
            context.log(LoggingLevel::Warning, json!({"step": step, "of": [3]}));
            tokio::task::yield_now().await;
        }
        "told"
    });
    let mut server = Server::new("newest", "1.0.0")
        .title("Newest")
        .description("Uses what there is.")
        .icons([icon()])
        .website_url("https://example.com")
        .instructions("Use it.")
        .page_size(5)
        .tools(everything)
        .tools(fails)
        .tools(tells);
    for (name, output, result) in structured() {
        server = server.tools(dressed(name, output, result));
    }
    server.build().unwrap()
}

// ---- The clients. ----

/// What both sides said, in order, to a client of `revision` that uses everything.
async fn session(service: &Service, revision: Revision) -> Vec<(Side, Value)> {
    let recorder = Recorder::new();
    let (near, far) = tokio::io::duplex(1 << 16);
    let (reader, writer) = tokio::io::split(far);
    let serving = {
        let service = service.clone();
        tokio::spawn(async move { service.serve_stream(reader, writer).await })
    };
    let (reader, writer) = tokio::io::split(near);
    let (reader, writer) = recorder.around_client(reader, writer);
    let client = Client::over(reader, writer, ClientOptions::at(revision))
        .await
        .unwrap();
    assert_eq!(client.list_tools().await.unwrap().len(), 12);
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
    if revision == Revision::V2026_07_28 {
        let mut filter = SubscriptionFilter::default();
        filter.tools_list_changed = Some(true);
        let mut subscription = client.listen(filter).await.unwrap();
        service.handle().notify_tools_changed();
        assert!(soon(subscription.next()).await.is_some());
    } else {
        let mut notifications = client.notifications();
        service.handle().notify_tools_changed();
        assert!(soon(notifications.next()).await.is_some());
    }
    soon(client.close()).await;
    soon(serving).await.unwrap().unwrap();
    let records = recorder.records().into_iter();
    let message = |event| match event {
        Event::Message(text) => serde_json::from_str(&text).ok(),
        _ => None,
    };
    records
        .filter_map(|record| Some((record.from, message(record.event)?)))
        .collect()
}

// ---- The schemas. ----

/// The schemas of one revision: the official one, and its closed twin.
struct Judge {
    revision: Revision,
    official: Value,
    closed: Value,
}

impl Judge {
    fn of(revision: Revision) -> Self {
        let file = format!("../schema/revisions/{revision}.json");
        let text =
            std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(file)).unwrap();
        let official: Value = serde_json::from_str(&text).unwrap();
        let mut closed = json!({ "$defs": {} });
        for (name, definition) in official["$defs"].as_object().unwrap() {
            let mut definition = flattened(&official, definition.clone());
            // Anybody may add to `_meta`, also where some of its members are named.
            if !name.ends_with("MetaObject") {
                close(&mut definition);
            }
            closed["$defs"][name] = definition;
        }
        Self {
            revision,
            official,
            closed,
        }
    }

    /// What is wrong with `value` as the definition `name`.
    fn faults(document: &Value, name: &str, value: &Value) -> Vec<String> {
        assert!(
            document["$defs"].get(name).is_some(),
            "no definition `{name}`"
        );
        let schema = json!({
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "$ref": format!("#/$defs/{name}"),
            "$defs": document["$defs"],
        });
        let validator = jsonschema::options()
            .should_validate_formats(true)
            .build(&schema)
            .unwrap();
        validator
            .iter_errors(value)
            .map(|error| format!("{} at {}: {error}", name, error.instance_path()))
            .collect()
    }

    fn both(&self, name: &str, value: &Value) -> Vec<String> {
        let mut faults = Self::faults(&self.official, name, value);
        // The envelope is not listed where a notification is defined by method and params alone.
        let mut bare = value.clone();
        let members = &self.closed["$defs"][name]["properties"];
        if members.get("method").is_some() && members.get("jsonrpc").is_none() {
            bare.as_object_mut().unwrap().remove("jsonrpc");
        }
        faults.extend(
            Self::faults(&self.closed, name, &bare)
                .into_iter()
                .map(|fault| format!("closed: {fault}")),
        );
        faults
    }

    fn has(&self, name: &str) -> bool {
        self.official["$defs"].get(name).is_some()
    }

    /// The definitions that `message` must be, with the part of it that each is about.
    fn definitions<'v>(
        &self,
        message: &'v Value,
        method: Option<&str>,
    ) -> Vec<(String, &'v Value)> {
        let named = |names: &[&str]| {
            let found = names.iter().find(|name| self.has(name));
            (*found.expect("one of them is there")).to_owned()
        };
        if message.get("error").is_some() {
            return vec![(named(&["JSONRPCErrorResponse", "JSONRPCError"]), message)];
        }
        if let Some(result) = message.get("result") {
            let envelope = named(&["JSONRPCResultResponse", "JSONRPCResponse"]);
            let method = method
                .and_then(Method::from_wire)
                .expect("a known method was asked");
            let rules: &Rules = method.rules(self.revision).expect("the revision has it");
            let is_complete = result["resultType"] != "input_required";
            let mut types = rules.results.iter();
            let result_type = types.find(|ty| (**ty != "InputRequiredResult") == is_complete);
            let result_type = *result_type.expect("the method has such results");
            return vec![(envelope, message), (result_type.to_owned(), result)];
        }
        let method = message["method"]
            .as_str()
            .expect("neither answer nor message");
        let all = self.official["$defs"].as_object().unwrap();
        let (name, _) = all
            .iter()
            .find(|(_, schema)| schema["properties"]["method"]["const"] == method)
            .unwrap_or_else(|| panic!("{} has no {method}", self.revision));
        vec![
            ("JSONRPCNotification".to_owned(), message),
            (name.clone(), message),
        ]
    }
}

/// `schema` with the members of all its parts, where it is made of parts.
fn flattened(document: &Value, mut schema: Value) -> Value {
    let Some(parts) = schema
        .as_object_mut()
        .and_then(|schema| schema.remove("allOf"))
    else {
        return schema;
    };
    let mut properties = Map::new();
    let mut required = Vec::new();
    let own = schema.clone();
    for part in parts.as_array().unwrap().iter().chain([&own]) {
        let part = match part["$ref"].as_str() {
            Some(target) => document.pointer(target.trim_start_matches('#')).unwrap(),
            None => part,
        };
        let part = flattened(document, part.clone());
        properties.extend(part["properties"].as_object().cloned().unwrap_or_default());
        required.extend(part["required"].as_array().cloned().unwrap_or_default());
    }
    schema["type"] = "object".into();
    schema["properties"] = properties.into();
    schema["required"] = required
        .into_iter()
        .map(|name| name.as_str().unwrap().to_owned())
        .collect::<BTreeSet<_>>()
        .into_iter()
        .collect();
    schema
}

/// Closes all objects in `schema` that list their members and do not say that there are others.
fn close(schema: &mut Value) {
    match schema {
        Value::Object(members) => {
            let lists = members.get("properties").is_some_and(Value::is_object);
            if lists && members.get("type") == Some(&json!("object")) {
                members
                    .entry("additionalProperties")
                    .or_insert(false.into());
            }
            for (name, member) in members {
                match (name.as_str(), member) {
                    // Names of members, not keywords. Schemas of tools may have any keyword.
                    ("properties", Value::Object(properties)) => {
                        let own =
                            |name: &str| !matches!(name, "inputSchema" | "outputSchema" | "_meta");
                        properties
                            .iter_mut()
                            .filter(|(name, _)| own(name))
                            .for_each(|(_, schema)| close(schema));
                    }
                    (_, member) => close(member),
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(close),
        _ => {}
    }
}

// ---- The tests. ----

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_message_is_what_its_revision_lists() {
    let service = service();
    let mut faults = Vec::new();
    for revision in Revision::ALL {
        let judge = Judge::of(revision);
        let mut asked: HashMap<String, String> = HashMap::new();
        let mut met = BTreeSet::new();
        for (side, message) in session(&service, revision).await {
            if side == Side::Client {
                if let (Some(id), Some(method)) = (message.get("id"), message["method"].as_str()) {
                    asked.insert(id.to_string(), method.to_owned());
                }
                continue;
            }
            let method = asked.get(&message["id"].to_string()).map(String::as_str);
            for (name, value) in judge.definitions(&message, method) {
                let found = judge.both(&name, value);
                faults.extend(
                    found
                        .into_iter()
                        .map(|fault| format!("{revision}: {fault}\n    {value}")),
                );
                met.insert(name);
            }
            if revision != Revision::V2026_07_28 {
                reserved(&message, &mut |key| {
                    faults.push(format!("{revision}: `{key}` in {message}"))
                });
            }
        }
        let handshake = match revision {
            Revision::V2026_07_28 => "SubscriptionsAcknowledgedNotification",
            _ => "InitializeResult",
        };
        for name in [
            handshake,
            "ListToolsResult",
            "CallToolResult",
            "ProgressNotification",
            "LoggingMessageNotification",
            "ToolListChangedNotification",
        ] {
            assert!(
                met.contains(name),
                "{revision}: nothing was a {name}: {met:?}"
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
