use trueform::prelude::*;

/// Greets.
#[prompt]
async fn greet(name: String) -> Result<Vec<usize>, ToolError> {
    Ok(vec![name.len()])
}

fn main() {
    let _ = greet("Ann".to_owned());
}
