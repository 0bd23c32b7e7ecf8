use trueform::prelude::*;

/// A note.
#[resource("notes://{folder}/{id}")]
fn note(id: u64) -> String {
    format!("{id}")
}

fn main() {
    note(1);
}
