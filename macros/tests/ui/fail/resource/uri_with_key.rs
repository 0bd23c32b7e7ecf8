use trueform::prelude::*;

/// A note.
#[resource(uri = "notes://today")]
fn note() -> String {
    String::new()
}

fn main() {
    note();
}
