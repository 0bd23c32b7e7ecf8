use trueform::prelude::*;

/// Repeats a word.
#[tool]
fn repeat(#[schemars(range(min = 1))] word: String) -> String {
    word
}

fn main() {}
