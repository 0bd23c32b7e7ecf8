//! Prompts: listed, called with text arguments, completed, changed while the server runs.

mod at_the_start;

use serde_json::{Value, json};
use trueform::{
    client::{ClientError, ClientOptions},
    completion::CompletionQuery,
    prelude::*,
    prompt::{DynamicPrompt, assistant, user},
    schema::{
        CompletionReference, GetPromptResult, Map, PromptMessage, PromptReference, TextContent,
    },
};

use crate::support::{conversation, joined, modern};

/// Reviews code.
#[prompt(title = "Review")]
fn review(
    /// The code.
    #[schemars(title = "Code")]
    code: String,
    /// How strict.
    level: Option<Level>,
    /// At most so many remarks.
    #[schemars(range(min = 1, max = 9))]
    remarks: Option<u8>,
) -> Vec<PromptMessage> {
    vec![
        user(format!("{level:?} {remarks:?}: {code}")),
        assistant("I will."),
    ]
}

#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Level {
    Gentle,
    Strict,
}

/// Nothing to say.
#[prompt]
fn greeting() -> &'static str {
    "Say hello."
}

/// Plans a trip.
#[prompt]
async fn trip(
    #[arg(complete = countries)] country: String,
    #[arg(complete = cities)] city: String,
    #[arg(complete = ["bus", "train"])]
    #[serde(rename = "means")]
    by: Option<String>,
) -> Result<String, ToolError> {
    match city.as_str() {
        "Atlantis" => Err(ToolError::new("nobody can go there")),
        city => Ok(format!("Go to {city} in {country} by {by:?}.")),
    }
}

fn countries(query: CompletionQuery) -> Vec<String> {
    let numbers = 0..250;
    numbers.map(|n| format!("{}{n}", query.value())).collect()
}

async fn cities(query: CompletionQuery) -> Result<Vec<&'static str>, ToolError> {
    tokio::task::yield_now().await;
    match query.argument("country") {
        Some("Italy") => Ok(vec!["Rome", "Milan"]),
        Some(_) => Err(ToolError::new("no cities there")),
        None => Ok(vec![]),
    }
}

fn server() -> Server {
    Server::new("prompts", "1.0.0").prompts(prompts![review, greeting, trip])
}

async fn at(revision: Revision) -> Client {
    let options = ClientOptions::at(revision);
    server().connect_as(options).await.unwrap()
}

/// The error of `request` as code, pointer and message.
fn refused<T: std::fmt::Debug>(answer: Result<T, ClientError>) -> (i64, String, String) {
    let error = answer.unwrap_err();
    let error = error.remote().expect("the server refuses");
    let data = error.data.as_ref().map(|data| data.to_value());
    let pointer = data.and_then(|data| data["pointer"].as_str().map(str::to_owned));
    (
        error.code,
        pointer.unwrap_or_default(),
        error.message.clone(),
    )
}

fn texts(result: &GetPromptResult) -> Vec<(String, String)> {
    let text = |message: &PromptMessage| match &message.content {
        ContentBlock::Text(text) => (message.role.as_str().to_owned(), text.text.clone()),
        other => panic!("{other:?}"),
    };
    result.messages.iter().map(text).collect()
}

// K-1, K-2, K-3: at each revision, listed and called.
#[tokio::test]
async fn at_every_revision() {
    for revision in Revision::ALL {
        let client = at(revision).await;
        assert!(client.server_capabilities().prompts.is_some(), "{revision}");
        let prompts = client.list_prompts().await.unwrap();
        let listed: Vec<Value> = prompts
            .iter()
            .map(|prompt| serde_json::to_value(prompt).unwrap())
            .collect();
        let title = (Revision::V2025_06_18 <= revision).then_some("Review");
        assert_eq!(listed[0]["title"].as_str(), title, "{revision}");
        let mut arguments = json!([
            {"name": "code", "description": "The code.", "required": true},
            {"name": "level", "description": "How strict.", "required": false},
            {"name": "remarks", "description": "At most so many remarks.", "required": false},
        ]);
        if Revision::V2025_06_18 <= revision {
            arguments[0]["title"] = json!("Code");
        }
        assert_eq!(listed[0]["arguments"], arguments, "{revision}");
        assert_eq!(listed[1].get("arguments"), None);
        assert_eq!(listed[1]["description"], "Nothing to say.");

        let arguments = json!({"code": "let x;", "level": "strict", "remarks": 3});
        let result = client.get_prompt("review", arguments).await.unwrap();
        assert_eq!(
            texts(&result),
            [
                ("user".to_owned(), "Some(Strict) Some(3): let x;".to_owned()),
                ("assistant".to_owned(), "I will.".to_owned()),
            ]
        );
        let result = client
            .get_prompt("review", json!({"code": "\"\\\n"}))
            .await
            .unwrap();
        assert_eq!(texts(&result)[0].1, "None None: \"\\\n");
        let result = client.get_prompt("greeting", ()).await.unwrap();
        assert_eq!(texts(&result)[0].1, "Say hello.");
    }
}

// K-5: a message has the form that its revision has for its content.
#[tokio::test]
async fn content_of_older_revisions() {
    use trueform::{schema::ResourceLink, tool::Audio};
    let both = DynamicPrompt::new("both").handler(|_, _| async {
        vec![
            user(Audio::wav(b"RIFF")),
            assistant(ResourceLink::new("notes", "notes://a")),
        ]
    });
    let service = server().prompts(both).build().unwrap();
    for (revision, expected) in [
        (Revision::V2024_11_05, ["resource", "text"]),
        (Revision::V2025_03_26, ["audio", "text"]),
        (Revision::V2025_06_18, ["audio", "resource_link"]),
        (Revision::V2026_07_28, ["audio", "resource_link"]),
    ] {
        let client = service
            .connect_as(ClientOptions::at(revision))
            .await
            .unwrap();
        let result = client.get_prompt("both", ()).await.unwrap();
        let kinds: Vec<String> = result
            .messages
            .iter()
            .map(|message| {
                let content = serde_json::to_value(&message.content).unwrap();
                content["type"].as_str().unwrap().to_owned()
            })
            .collect();
        assert_eq!(kinds, expected, "{revision}");
        assert_eq!(result.messages[1].role.as_str(), "assistant");
    }
}

// K-2, L-3
#[tokio::test]
async fn bad_arguments() {
    for revision in [Revision::V2024_11_05, Revision::V2026_07_28] {
        let client = at(revision).await;
        for (name, arguments, code, pointer, says) in [
            (
                "revieu",
                vec![],
                -32602,
                "/params/name",
                "did you mean `review`?",
            ),
            ("review", vec![], -32602, "/params/arguments/code", "code"),
            (
                "review",
                vec![("code", "x"), ("levl", "strict")],
                -32602,
                "/params/arguments/levl",
                "did you mean `level`?",
            ),
            (
                "greeting",
                vec![("code", "x")],
                -32602,
                "/params/arguments/code",
                "it takes none",
            ),
            (
                "review",
                vec![("code", "x"), ("level", "harsh")],
                -32602,
                "/params/arguments/level",
                "\"gentle\"",
            ),
            (
                "review",
                vec![("code", "x"), ("remarks", "many")],
                -32602,
                "/params/arguments/remarks",
                "expected integer",
            ),
            (
                "review",
                vec![("code", "x"), ("remarks", "10")],
                -32602,
                "/params/arguments/remarks",
                "9",
            ),
            (
                "trip",
                vec![("country", "Sea"), ("city", "Atlantis")],
                -32603,
                "",
                "nobody can go there",
            ),
        ] {
            let sent: Map<String> = arguments
                .iter()
                .map(|&(name, value)| (name.to_owned(), value.to_owned()))
                .collect();
            let answer = client.get_prompt(name, sent).await;
            let (found, at, message) = refused(answer);
            assert_eq!(
                (found, &*at),
                (code, pointer),
                "{name} {arguments:?}: {message}"
            );
            assert!(message.contains(says), "{name} {arguments:?}: {message}");
            // Other calls go on.
            client.get_prompt("greeting", ()).await.unwrap();
        }
    }
}

// L-1 to L-4
#[tokio::test]
async fn completion() {
    for revision in Revision::ALL {
        let client = at(revision).await;
        let declared = client.server_capabilities().completions.is_some();
        assert_eq!(declared, Revision::V2025_03_26 <= revision, "{revision}");
        let complete =
            async |prompt: &str, argument: &str, typed: &str, filled: &[(&str, &str)]| {
                let reference = CompletionReference::from(PromptReference::new(prompt));
                let mut request = client.complete(reference, argument, typed);
                for (name, value) in filled {
                    request = request.with(*name, *value);
                }
                request.await
            };
        let found = complete("trip", "country", "x", &[]).await.unwrap();
        assert_eq!(
            (found.values.len(), found.total, found.has_more),
            (100, Some(250), Some(true))
        );
        assert_eq!(found.values[99], "x99");
        let found = complete("review", "level", "S", &[]).await.unwrap();
        assert_eq!(
            (&*found.values, found.has_more),
            (&["strict".to_owned()][..], Some(false))
        );
        let found = complete("trip", "means", "", &[]).await.unwrap();
        assert_eq!(found.values, ["bus", "train"]);
        let found = complete("review", "code", "fn", &[]).await.unwrap();
        assert_eq!(found.values.len(), 0);
        if Revision::V2025_06_18 <= revision {
            let found = complete("trip", "city", "", &[("country", "Italy")])
                .await
                .unwrap();
            assert_eq!(found.values, ["Rome", "Milan"]);
            let (code, _, message) =
                refused(complete("trip", "city", "", &[("country", "Sea")]).await);
            assert_eq!((code, &*message), (-32603, "no cities there"));
        }
        let (code, at, _) = refused(complete("trap", "city", "", &[]).await);
        assert_eq!((code, &*at), (-32602, "/params/ref/name"));
        let (code, at, message) = refused(complete("trip", "town", "", &[]).await);
        assert_eq!((code, &*at), (-32602, "/params/argument/name"), "{message}");
        // Other requests go on.
        let found = complete("trip", "means", "b", &[]).await.unwrap();
        assert_eq!(found.values, ["bus"]);
        client.get_prompt("greeting", ()).await.unwrap();
    }
}

// L-1: without anything to complete there is no capability.
#[tokio::test]
async fn nothing_to_complete() {
    let server = Server::new("prompts", "1.0.0").prompts(prompts![greeting]);
    let request = modern(
        "1",
        "completion/complete",
        r#","ref":{"type":"ref/prompt","name":"greeting"},"argument":{"name":"a","value":""}"#,
    );
    let answers = conversation(&server.build().unwrap(), joined([request])).await;
    let answer: Value = serde_json::from_str(&answers[0]).unwrap();
    assert_eq!(answer["error"]["code"], -32601);
    assert!(
        answers[0].contains("needs the capability `completions`"),
        "{answers:?}"
    );
}

// A panic, a timeout, and a result that its revision does not allow (K-4) fail their own request only.
#[tokio::test]
async fn failures() {
    let panics = DynamicPrompt::new("panics").handler(|_, _| async { panic!("no") as String });
    let slow = DynamicPrompt::new("slow")
        .timeout(std::time::Duration::from_millis(1))
        .handler(|_, _| std::future::pending::<String>());
    let illegal = DynamicPrompt::new("illegal").handler(|_, _| async {
        PromptMessage::new(TextContent::new("x"), trueform::schema::Role::from("robot"))
    });
    let key = DynamicPrompt::new("key").handler(|context, _| async move {
        context.set_result_meta("io.modelcontextprotocol/x", json!(1));
        "x"
    });
    let unsuggested = DynamicPrompt::new("unsuggested")
        .argument("now", "", true)
        .complete("now", |_| -> Vec<String> { panic!("no") })
        .argument("later", "", true)
        .complete("later", async |_| -> Vec<String> {
            tokio::task::yield_now().await;
            panic!("no")
        })
        .handler(|_, _| async { "x" });
    let service = server()
        .prompts(vec![panics, slow, illegal, key, unsuggested])
        .build()
        .unwrap();
    for revision in [Revision::V2024_11_05, Revision::V2026_07_28] {
        let client = service
            .connect_as(ClientOptions::at(revision))
            .await
            .unwrap();
        for (name, at, says) in [
            ("panics", "", "internal error"),
            ("slow", "", "did not finish within 1ms"),
            (
                "illegal",
                "",
                "`illegal` made what no revision of the protocol allows",
            ),
            ("key", "", "cannot be sent"),
        ] {
            let (code, pointer, message) = refused(client.get_prompt(name, ()).await);
            assert_eq!((code, &*pointer), (-32603, at), "{name}: {message}");
            assert!(message.contains(says), "{name}: {message}");
            client.get_prompt("greeting", ()).await.unwrap();
        }
        // L-2: so does a function that suggests.
        for argument in ["now", "later"] {
            let of = PromptReference::new("unsuggested");
            let (code, pointer, message) = refused(client.complete(of, argument, "").await);
            assert_eq!((code, &*pointer), (-32603, ""), "{argument}: {message}");
            assert!(message.contains("internal error"), "{argument}: {message}");
            let of = PromptReference::new("trip");
            let found = client.complete(of, "means", "b").await.unwrap();
            assert_eq!(found.values, ["bus"]);
        }
    }
}

#[tokio::test]
async fn dynamic() {
    let service = server().build().unwrap();
    let handle = service.handle();
    let client = service.connect().await.unwrap();
    let poem = || {
        DynamicPrompt::new("poem")
            .description("Asks for a poem.")
            .argument("about", "What it is about.", true)
            .argument("form", "", false)
            .argument_title("form", "Form")
            .complete("form", async |_| ["sonnet"])
            .handler(|_, arguments: Map<String>| async move {
                format!("{:?} {:?}", arguments.get("about"), arguments.get("form"))
            })
    };
    handle.add_prompts(poem()).unwrap();
    assert_eq!(
        handle
            .add_prompts(poem())
            .unwrap_err()
            .to_string()
            .matches("two prompts are named `poem`")
            .count(),
        1
    );
    let listed = client.list_prompts().await.unwrap();
    assert_eq!(
        serde_json::to_value(&listed[3]).unwrap(),
        json!({"name": "poem", "description": "Asks for a poem.", "arguments": [
            {"name": "about", "description": "What it is about.", "required": true},
            {"name": "form", "title": "Form", "required": false},
        ]})
    );
    let result = client
        .get_prompt("poem", json!({"about": "3"}))
        .await
        .unwrap();
    assert_eq!(texts(&result)[0].1, "Some(\"3\") None");
    let (code, at, _) = refused(client.get_prompt("poem", json!({"form": "sonnet"})).await);
    assert_eq!((code, &*at), (-32602, "/params/arguments/about"));
    let (code, at, _) = refused(
        client
            .get_prompt("poem", json!({"about": "", "a": ""}))
            .await,
    );
    assert_eq!((code, &*at), (-32602, "/params/arguments/a"));
    assert!(handle.enable_prompt("poem", false));
    let (code, at, _) = refused(client.get_prompt("poem", json!({"about": "3"})).await);
    assert_eq!((code, &*at), (-32602, "/params/name"));
    assert!(handle.enable_prompt("poem", true));
    assert!(handle.remove_prompt("poem"));
    assert!(!handle.remove_prompt("poem"));
    assert_eq!(client.list_prompts().await.unwrap().len(), 3);
}

/// A form sends its empty fields too.
// K-3
#[tokio::test]
async fn empty_fields() {
    let client = at(Revision::V2025_11_25).await;
    let arguments = json!({"code": "", "level": "", "remarks": ""});
    let (code, pointer, message) = refused(client.get_prompt("review", arguments).await);
    assert_eq!(
        (code, &*pointer),
        (-32602, "/params/arguments/level"),
        "{message}"
    );
    let arguments = json!({"code": "", "remarks": ""});
    let result = client.get_prompt("review", arguments).await.unwrap();
    assert_eq!(result.text(), "None None: \nI will.");
}
