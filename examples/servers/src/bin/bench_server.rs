//! The server that benchmarks talk to: tools that add, echo, report, wait and change a resource, a prompt, a resource and a
//! template. `TOOLS`, `PROMPTS` and `RESOURCES` add as many of each.
//!
//! Serves standard input and output, or HTTP with `--http ADDRESS`. `MAX_BODY` raises the limit of a request body.

use std::{sync::OnceLock, time::Duration};

use trueform::{HttpConfig, ServerHandle, prelude::*, prompt::DynamicPrompt};

/// Result of `add`.
#[derive(Serialize, JsonSchema)]
struct Sum {
    /// The sum of both numbers.
    sum: i64,
}

/// Add two numbers
#[tool]
async fn add(a: i64, b: i64) -> Json<Sum> {
    Json(Sum { sum: a + b })
}

/// Two numbers.
#[derive(Deserialize, JsonSchema)]
struct Pair {
    a: i64,
    b: i64,
}

/// Add the numbers of a pair
#[tool]
async fn add_pair(pair: Pair) -> Json<Sum> {
    Json(Sum {
        sum: pair.a + pair.b,
    })
}

/// Echo the text
#[tool]
async fn echo(text: String) -> String {
    text
}

/// Count, and report each number
#[tool]
async fn count(context: Context, to: u32) -> String {
    for number in 1..=to {
        context
            .progress(f64::from(number), Some(f64::from(to)), None)
            .await;
    }
    to.to_string()
}

/// Wait
#[tool]
async fn wait(milliseconds: u64) -> String {
    tokio::time::sleep(Duration::from_millis(milliseconds)).await;
    milliseconds.to_string()
}

/// The server, once it is built, for the tool that tells its subscribers something.
static HANDLE: OnceLock<ServerHandle> = OnceLock::new();

/// Say that a resource has changed
#[tool]
fn touch(uri: String) -> &'static str {
    match HANDLE.get().map(|handle| handle.resource_updated(&uri)) {
        Some(true) => "touched",
        _ => "not a URI",
    }
}

/// Greet somebody
#[prompt]
fn greet(name: String) -> String {
    format!("Say hello to {name}.")
}

/// A short note
#[resource("bench://note", mime_type = "text/plain")]
fn note() -> &'static str {
    "A short note."
}

/// A short note about something
#[resource("bench://notes/{about}")]
fn note_about(about: String) -> String {
    format!("A short note about {about}.")
}

fn number(variable: &str) -> Option<usize> {
    std::env::var(variable).ok()?.parse().ok()
}

#[tokio::main]
async fn main() -> trueform::Result {
    let mut server = Server::new("bench", env!("CARGO_PKG_VERSION"))
        .tools(tools![add, echo, add_pair, count, wait, touch])
        .prompts(prompts![greet])
        .resources(resources![note, note_about]);
    for i in 0..number("TOOLS").unwrap_or(0) {
        let schema = serde_json::json!({
            "type": "object",
            "properties": { "a": { "type": "integer" }, "b": { "type": "integer" } },
            "required": ["a", "b"],
        });
        let tool = DynamicTool::new(format!("tool_{i:04}"), schema)
            .description("Add two numbers")
            .handler(|_, _| async { Ok::<_, ToolError>("ok") });
        server = server.tools(tool);
    }
    for i in 0..number("PROMPTS").unwrap_or(0) {
        let prompt = DynamicPrompt::new(format!("prompt_{i:04}")).handler(|_, _| async { "ok" });
        server = server.prompts(prompt);
    }
    for i in 0..number("RESOURCES").unwrap_or(0) {
        let resource = DynamicResource::new(format!("bench://made/{i:04}"), format!("made_{i:04}"))
            .handler(|_| async { "ok" });
        server = server.resources(resource);
    }
    if let Some(max_body) = number("MAX_BODY") {
        server = server.http(HttpConfig::default().max_body(max_body));
    }
    let service = server.build()?;
    // Before the first call, because the server does not read one yet.
    let _ = HANDLE.set(service.handle());
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["--http", address] => service.serve_http(address).await,
        _ => service.serve_stdio().await,
    }
}
