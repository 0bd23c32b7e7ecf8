use trueform::prelude::*;

/// A note.
#[resource("notes://today", profile = portable)]
fn note() -> String {
    String::new()
}

fn main() {
    note();
}
