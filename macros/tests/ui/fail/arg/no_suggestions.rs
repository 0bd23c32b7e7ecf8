use trueform::{completion::CompletionQuery, prelude::*};

/// Greets.
#[prompt]
fn greet(#[arg(complete = names)] name: String) -> String {
    format!("Hello {name}")
}

async fn names(query: CompletionQuery) -> String {
    query.value().to_owned()
}

fn main() {
    greet("Ann".to_owned());
}
