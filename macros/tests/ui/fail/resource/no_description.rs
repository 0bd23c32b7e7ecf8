use trueform::prelude::*;

#[resource("notes://today")]
fn note() -> String {
    String::new()
}

fn main() {
    note();
}
