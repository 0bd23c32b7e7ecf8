use trueform::prelude::*;

/// A note.
#[resource("notes://{id}")]
async fn note(id: u64) -> Result<u64, ToolError> {
    Ok(id)
}

fn main() {
    let _ = note(1);
}
