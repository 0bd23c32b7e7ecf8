use trueform::prelude::*;

/// A note.
#[resource("")]
fn note() -> String {
    String::new()
}

fn main() {
    note();
}
