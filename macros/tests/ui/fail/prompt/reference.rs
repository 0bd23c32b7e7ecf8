use trueform::prelude::*;

/// Greets.
#[prompt]
fn greet(name: &str) -> String {
    format!("Hello {name}")
}

fn main() {
    greet("Ann");
}
