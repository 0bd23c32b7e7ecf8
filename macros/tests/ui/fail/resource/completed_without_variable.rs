use trueform::prelude::*;

/// A note.
#[resource("notes://{id}")]
fn note(#[arg(complete = ["a", "b"])] folder: String, id: u64) -> String {
    format!("{folder} {id}")
}

fn main() {
    note(String::new(), 1);
}
