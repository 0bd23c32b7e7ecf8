//! A calculator. Run it with `cargo run --bin quickstart`, and it speaks MCP on standard input and output; with
//! `cargo run --bin quickstart -- --http 127.0.0.1:8000`, and it serves `http://127.0.0.1:8000/mcp`.

use trueform::prelude::*;

/// What `add` answers.
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
    let sum = a.checked_add(b).ok_or_else(|| ToolError::new("the sum does not fit into 64 bits"))?;
    Ok(Json(Sum { sum }))
}

/// Repeat a text.
#[tool(read_only)]
fn echo(text: String) -> String {
    text
}

#[tokio::main]
async fn main() -> trueform::Result {
    Server::new("quickstart", env!("CARGO_PKG_VERSION")).tools(tools![add, echo]).run_with(std::env::args().skip(1)).await
}
