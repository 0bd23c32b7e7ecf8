use trueform::{completion::CompletionQuery, prelude::*};

/// Greets.
#[prompt]
fn greet(#[arg(complete = names, blocking = true)] name: String) -> String {
    format!("Hello {name}")
}

fn names(_: CompletionQuery) -> [&'static str; 1] {
    ["Ann"]
}

fn main() {
    greet("Ann".to_owned());
    let _ = names;
}
