use trueform::prelude::*;

/// Greets.
#[tool]
fn greet(#[arg(complete = ["Ann", "Bob"])] name: String) -> String {
    format!("Hello {name}")
}

fn main() {
    greet("Ann".to_owned());
}
