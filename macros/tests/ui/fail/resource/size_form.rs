use trueform::prelude::*;

/// A note.
#[resource("notes://today", size = "1 KB")]
fn note() -> String {
    String::new()
}

fn main() {
    note();
}
