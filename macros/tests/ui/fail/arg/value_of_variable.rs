use trueform::prelude::*;

/// A note.
#[resource("notes://{name}")]
fn note(#[arg(complete = ["1", 2])] name: String) -> String {
    name
}

fn main() {
    note("1".to_owned());
}
