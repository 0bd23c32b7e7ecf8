//! Tools that misbehave. `odd --twice` has two of one name.

use trueform::prelude::*;

/// Panics.
#[tool]
fn fails() -> String {
    panic!("on purpose")
}

/// Prints to standard output.
#[tool]
fn prints() -> String {
    println!("working on it");
    "printed".to_owned()
}

/// Returns a text.
#[tool]
fn works() -> String {
    "first".to_owned()
}

/// Returns another text.
#[tool(name = "works")]
fn works_too() -> String {
    "second".to_owned()
}

#[tokio::main]
async fn main() -> trueform::Result {
    let mut server = Server::new("odd", "1.0.0").tools(tools![fails, prints, works]);
    if std::env::args().any(|word| word == "--twice") {
        server = server.tools(tools![works_too]);
    }
    server.run().await
}
