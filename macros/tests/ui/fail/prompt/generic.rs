use trueform::prelude::*;

/// Greets.
#[prompt]
fn greet<T: ToString>(name: T) -> String {
    name.to_string()
}

fn main() {
    greet("Ann");
}
