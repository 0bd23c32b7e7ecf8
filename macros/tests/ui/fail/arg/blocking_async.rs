use trueform::{completion::CompletionQuery, prelude::*};

struct Greeter;

#[server]
impl Greeter {
    /// Greets.
    #[prompt]
    fn greet(&self, #[arg(complete = Self::names, blocking)] name: String) -> String {
        format!("Hello {name}")
    }

    async fn names(&self, _: CompletionQuery) -> [&'static str; 1] {
        ["Ann"]
    }
}

fn main() {}
