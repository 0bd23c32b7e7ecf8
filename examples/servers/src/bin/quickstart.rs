//! A calculator. `cargo run --bin quickstart -- --demo` starts it, and shows the messages between it and a client. Without arguments it
//! serves standard input and output; with `--http 127.0.0.1:8000` it serves `http://127.0.0.1:8000/mcp`.

use trueform::prelude::*;

/// Result of `add`.
#[derive(Serialize, JsonSchema)]
struct Sum {
    /// The sum of both numbers.
    sum: i64,
}

/// Add two numbers.
#[tool(read_only)]
fn add(
    /// The first number.
    a: i64,
    /// The second number.
    b: i64,
) -> Result<Json<Sum>, ToolError> {
    let sum = a
        .checked_add(b)
        .ok_or_else(|| ToolError::new("the sum does not fit into 64 bits"))?;
    Ok(Json(Sum { sum }))
}

/// Repeat a text.
#[tool(read_only)]
fn echo(text: String) -> String {
    text
}

fn server() -> Server {
    Server::new("quickstart", env!("CARGO_PKG_VERSION")).tools(tools![add, echo])
}

#[tokio::main]
async fn main() -> trueform::Result {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if arguments == ["--demo"] {
        return demo().await;
    }
    server().run_with(arguments).await
}

/// Talks to the server as a client would, over the same bytes, and prints both sides.
#[expect(
    clippy::print_stdout,
    reason = "a demonstration, not a server: its standard output is for people"
)]
async fn demo() -> trueform::Result {
    let client = server().connect().await?;
    println!("connected at {}", client.revision());
    for tool in client.list_tools().await.map_err(trueform::Error::other)? {
        println!(
            "\ntool `{}`: {}\n  takes   {}",
            tool.name,
            tool.description.unwrap_or_default(),
            tool.input_schema
        );
        if let Some(schema) = tool.output_schema {
            println!("  returns {schema}");
        }
    }
    for arguments in [
        serde_json::json!({ "a": 2, "b": 3 }),
        serde_json::json!({ "a": "two", "c": 3 }),
    ] {
        let call = format!("add({arguments})");
        let result = client
            .call_tool("add", arguments)
            .await
            .map_err(trueform::Error::other)?;
        let outcome = match result.is_error {
            Some(true) => "an error; the model reads",
            _ => "a result; the model reads",
        };
        println!("\n{call}: {outcome}");
        for line in result.text().lines() {
            println!("  {line}");
        }
    }
    Ok(())
}
