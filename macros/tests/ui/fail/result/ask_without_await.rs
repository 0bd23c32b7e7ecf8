use trueform::prelude::*;

/// Books a table.
#[tool]
async fn book(context: Context) -> Result<String, ToolError> {
    match context.ask::<u8>("people", "For how many people?") {
        Ok(Asked::Accepted(people)) => Ok(format!("A table for {people}.")),
        _ => Ok("Nothing is booked.".to_owned()),
    }
}

fn main() {}
