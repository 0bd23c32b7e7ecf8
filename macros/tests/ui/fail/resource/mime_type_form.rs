use trueform::prelude::*;

/// A note.
#[resource("notes://today", mime_type = "markdown")]
fn note() -> String {
    String::new()
}

fn main() {
    note();
}
