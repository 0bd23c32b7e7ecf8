use trueform::prelude::*;

/// Greets.
#[prompt]
fn greet(name: String) -> usize {
    name.len()
}

fn main() {
    greet("Ann".to_owned());
}
