use trueform::prelude::*;

/// Add two numbers.
#[tool]
fn add(a: i64, b: i64) -> i64 {
    a + b
}

#[tokio::main]
async fn main() -> trueform::Result {
    Server::new("calc", "1.0.0").tools(tools![add]).run().await
}
