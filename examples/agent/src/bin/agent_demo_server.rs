//! A server to try the agent with.

use trueform::prelude::*;

/// Add two numbers.
#[tool]
fn add(a: i64, b: i64) -> i64 {
    a + b
}

/// Count, and say how far it is.
#[tool]
async fn count(context: Context, to: u32) -> String {
    for number in 1..=to {
        context.progress(
            number.into(),
            Some(to.into()),
            Some(&format!("at {number}")),
        );
    }
    "counted".to_owned()
}

/// End the server at once, as a crash does.
#[tool]
fn crash() {
    eprintln!("crashed as it should");
    std::process::exit(9);
}

#[tokio::main]
async fn main() -> trueform::Result {
    Server::new("agent-demo", env!("CARGO_PKG_VERSION"))
        .tools(tools![add, count, crash])
        .run()
        .await
}
