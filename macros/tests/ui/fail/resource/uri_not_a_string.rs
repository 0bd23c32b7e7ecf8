use trueform::prelude::*;

/// A note.
#[resource(7)]
fn note() -> String {
    String::new()
}

fn main() {
    note();
}
