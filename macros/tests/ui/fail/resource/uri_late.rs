use trueform::prelude::*;

/// A note.
#[resource(title = "Today", "notes://today")]
fn note() -> String {
    String::new()
}

fn main() {
    note();
}
