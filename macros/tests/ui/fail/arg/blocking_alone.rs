use trueform::prelude::*;

/// Greets.
#[prompt]
fn greet(#[arg(blocking)] name: String) -> String {
    format!("Hello {name}")
}

fn main() {
    greet("Ann".to_owned());
}
