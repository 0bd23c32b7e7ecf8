use trueform::prelude::*;

/// A note.
#[resource("notes://{}")]
fn note() -> String {
    String::new()
}

fn main() {
    note();
}
