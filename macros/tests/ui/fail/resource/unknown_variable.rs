use trueform::prelude::*;

/// A note.
#[resource("notes://{folder}/{id}")]
fn note(folders: String, id: u64) -> String {
    format!("{folders} {id}")
}

fn main() {
    note(String::new(), 1);
}
