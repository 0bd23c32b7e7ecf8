use trueform::prelude::*;

/// A note.
#[resource("notes://today", last_modified = "31.01.2026")]
fn note() -> String {
    String::new()
}

fn main() {
    note();
}
