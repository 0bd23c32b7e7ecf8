use trueform::prelude::*;

struct Notes;

#[server]
impl Notes {
    /// The note of today.
    #[resource("notes://today")]
    fn today(&self) -> &'static str {
        "Buy milk."
    }

    /// The newest note.
    #[resource("notes://today")]
    fn newest(&self) -> &'static str {
        "Buy milk."
    }
}

fn main() {}
