use trueform::prelude::*;

struct Notes;

#[server]
impl Notes {
    /// A note.
    #[resource = "notes://today"]
    fn today(&self) -> String {
        String::new()
    }
}

fn main() {}
