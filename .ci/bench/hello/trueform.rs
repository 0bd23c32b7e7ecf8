//! The server whose build is measured: two tools over standard input and output.

use trueform::prelude::*;

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

/// Echo the text
#[tool]
async fn echo(text: String) -> String {
    text
}

#[tokio::main]
async fn main() -> trueform::Result {
    Server::new("hello", "1.0.0")
        .tools(tools![add, echo])
        .run()
        .await
}
