//! The server that benchmarks talk to: `add`, `echo` and `add_pair`, as many further tools as `TOOLS` says, a prompt, a
//! resource and a template.
//!
//! Speaks MCP on standard input and output, or HTTP with `--http ADDRESS`. `MAX_BODY` raises the limit of a request body.

use trueform::{HttpConfig, prelude::*};

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
        .tools(tools![add, echo, add_pair])
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
    if let Some(max_body) = number("MAX_BODY") {
        server = server.http(HttpConfig::default().max_body(max_body));
    }
    server.run_with(std::env::args().skip(1)).await
}
