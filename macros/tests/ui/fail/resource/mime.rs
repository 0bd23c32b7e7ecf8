use trueform::prelude::*;

/// A note.
#[resource("notes://today", mime = "text/markdown")]
fn note() -> String {
    String::new()
}

fn main() {
    note();
}
