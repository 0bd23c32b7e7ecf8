use trueform::prelude::*;

/// Says hello.
#[tool]
fn hello<'a>(name: std::borrow::Cow<'a, str>) -> String {
    name.into_owned()
}

fn main() {}
