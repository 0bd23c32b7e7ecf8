use trueform::prelude::*;

/// Greets.
#[prompt]
fn greet(name: String) -> String {
    format!("Hello {name}")
}

fn main() {
    let _ = resources![greet];
}
