use trueform::prelude::*;

/// Greets.
#[prompt(title = "Greeting", read_only)]
fn greet(name: String) -> String {
    format!("Hello {name}")
}

fn main() {
    greet("Ann".to_owned());
}
