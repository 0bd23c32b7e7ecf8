use trueform::prelude::*;

struct Greeter;

#[server]
impl Greeter {
    /// Greets.
    #[prompt]
    fn greet(&self, #[arg(complete = Self::names)] name: String) -> String {
        format!("Hello {name}")
    }

    fn names(&self) -> [&'static str; 1] {
        ["Ann"]
    }
}

fn main() {}
