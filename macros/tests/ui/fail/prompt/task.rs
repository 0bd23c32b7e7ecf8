use trueform::prelude::*;

/// Greets.
#[prompt(title = "Greeting", task = optional)]
fn greet(name: String) -> String {
    format!("Hello {name}")
}

fn main() {
    greet("Ann".to_owned());
}
