use trueform::prelude::*;

/// Greets.
#[prompt]
#[tool]
fn greet(name: String) -> String {
    format!("Hello {name}")
}

fn main() {
    greet("Ann".to_owned());
}
