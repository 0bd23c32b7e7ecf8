use trueform::prelude::*;

struct Id(u64);

/// A note.
#[resource("notes://{id}")]
fn note(id: Id) -> String {
    format!("{}", id.0)
}

fn main() {
    note(Id(1));
}
