use trueform::prelude::*;

/// A note.
#[resource("notes://today", audience = model)]
fn note() -> String {
    String::new()
}

fn main() {
    note();
}
