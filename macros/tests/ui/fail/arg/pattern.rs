use trueform::prelude::*;

struct Greeting(String);

/// Greets.
#[prompt]
fn greet(#[arg(complete = ["Hello", "Good day"])] State(greeting): State<Greeting>) -> String {
    greeting.0.clone()
}

fn main() {
    greet(State(Greeting("Hello".to_owned()).into()));
}
