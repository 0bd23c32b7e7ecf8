use trueform::prelude::*;

/// A note.
#[resource("notes://today", ttl = "60")]
fn note() -> String {
    String::new()
}

fn main() {
    note();
}
