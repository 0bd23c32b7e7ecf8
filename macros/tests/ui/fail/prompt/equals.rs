use trueform::prelude::*;

struct Greeter;

#[server]
impl Greeter {
    /// Greets.
    #[prompt = "greet"]
    fn greet(&self, name: String) -> String {
        format!("Hello {name}")
    }
}

fn main() {}
