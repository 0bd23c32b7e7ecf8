use trueform::prelude::*;

/// A note.
#[resource("notes://{id")]
fn note(id: u64) -> String {
    format!("{id}")
}

fn main() {
    note(1);
}
