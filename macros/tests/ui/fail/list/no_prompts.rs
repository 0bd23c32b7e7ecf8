use trueform::prelude::*;

/// Greets.
#[tool]
fn greet(name: String) -> String {
    format!("Hello {name}")
}

fn main() {
    let _ = Server::new("greeter", "1.0.0").prompts(tools![greet]);
}
