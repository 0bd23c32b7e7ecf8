use trueform::prelude::*;

/// A note.
#[resource("notes://today", priority = 1.5)]
fn note() -> String {
    String::new()
}

fn main() {
    note();
}
