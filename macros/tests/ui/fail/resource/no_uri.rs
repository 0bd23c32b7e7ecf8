use trueform::prelude::*;

/// A note.
#[resource(mime_type = "text/plain")]
fn note() -> String {
    String::new()
}

fn main() {
    note();
}
