use trueform::prelude::*;

/// A note.
#[resource("notes://{id}", size = 100)]
fn note(id: u64) -> String {
    format!("{id}")
}

fn main() {
    note(1);
}
