use trueform::prelude::*;

/// A note.
#[resource("notes://today", audience = "user")]
fn note() -> String {
    String::new()
}

fn main() {
    note();
}
