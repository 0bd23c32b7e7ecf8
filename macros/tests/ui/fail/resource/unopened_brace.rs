use trueform::prelude::*;

/// A note.
#[resource("notes://today}")]
fn note() -> String {
    String::new()
}

fn main() {
    note();
}
