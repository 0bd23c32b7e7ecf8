use trueform::prelude::*;

/// Greets.
#[prompt]
fn greet(#[arg(completion = ["Ann", "Bob"])] name: String) -> String {
    format!("Hello {name}")
}

fn main() {
    greet(Ann.to_owned());
}
