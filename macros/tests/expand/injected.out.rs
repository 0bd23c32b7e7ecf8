#[allow(clippy::needless_pass_by_value)]
/// Greets with what the server knows.
async fn greet(
    name: String,
    State(greeting): State<Greeting>,
    context: Context,
) -> Result<Json<Greeted>, ToolError> {
    context.log("greeting");
    Ok(Json(greeting.to(&name)))
}
#[doc(hidden)]
#[allow(warnings)]
struct greet {}
#[allow(warnings)]
impl ::trueform::__private::ToolFunction for greet {
    fn spec() -> ::trueform::__private::ToolSpec {
        use ::trueform::__private as __tf;
        __tf::tool(
                "greet",
                "Greets with what the server knows.",
                "greet",
                ::core::file!(),
                ::core::line!(),
            )
            .input("name", "", <String as __tf::Parameter<_>>::describe)
            .input("", "", <State<Greeting> as __tf::UnnamedParameter<_>>::describe)
            .input("context", "", <Context as __tf::Parameter<_>>::describe)
            .returns(
                <Result<Json<Greeted>, ToolError> as __tf::IntoToolResult>::output_schema,
            )
            .call(|__call| {
                let __0 = <String as __tf::Parameter<_>>::take(__call, 0)?;
                let __1 = <State<
                    Greeting,
                > as __tf::UnnamedParameter<_>>::take(__call, 1)?;
                let __2 = <Context as __tf::Parameter<_>>::take(__call, 2)?;
                __tf::later(async move {
                    <Result<
                        Json<Greeted>,
                        ToolError,
                    > as __tf::IntoToolResult>::into_tool_result(
                        greet(__0, __1, __2).await,
                    )
                })
            })
    }
}
