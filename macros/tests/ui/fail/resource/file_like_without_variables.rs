use trueform::prelude::*;

/// A note.
#[resource("notes://today", file_like)]
fn note() -> String {
    String::new()
}

fn main() {
    note();
}
