/// Greets with what the server knows.
#[tool]
async fn greet(name: String, State(greeting): State<Greeting>, context: Context) -> Result<Json<Greeted>, ToolError> {
    context.log("greeting");
    Ok(Json(greeting.to(&name)))
}
