/// Books a table.
#[tool(asks(Seat, Option<bool>))]
async fn book(context: Context) -> Result<String, ToolError> {
    let (name, seat) = tokio::join!(context.ask::<forms::Name>("name", "Who?"), context.ask::<Seat>("seat", "Where?"));
    struct Local;
    let unknown = context.ask::<Local>("local", "What?").await?;
    Ok("booked".to_owned())
}
