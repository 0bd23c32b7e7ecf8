use trueform::prelude::*;

/// Greets.
#[prompt]
fn greet(#[arg(complete = names)] name: String) -> String {
    format!("Hello {name}")
}

fn names(typed: &str) -> Vec<String> {
    vec![typed.to_owned()]
}

fn main() {
    greet("Ann".to_owned());
}
