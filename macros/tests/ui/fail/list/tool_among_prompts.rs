use trueform::prelude::*;

/// Greets.
#[tool]
fn greet(name: String) -> String {
    format!("Hello {name}")
}

fn main() {
    let _ = prompts![greet];
}
