use trueform::prelude::*;

/// Tells the revision.
#[tool]
fn revision(context: &Context) -> String {
    context.revision().to_string()
}

fn main() {}
