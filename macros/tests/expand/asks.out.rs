#[allow(clippy::needless_pass_by_value)]
/// Books a table.
async fn book(context: Context) -> Result<String, ToolError> {
    let (name, seat) = tokio::join!(
        context.ask::< forms::Name > ("name", "Who?"), context.ask::< Seat > ("seat",
        "Where?")
    );
    struct Local;
    let unknown = context.ask::<Local>("local", "What?").await?;
    Ok("booked".to_owned())
}
#[doc(hidden)]
#[allow(warnings)]
struct book {}
#[allow(warnings)]
impl ::trueform::__private::ToolFunction for book {
    fn spec() -> ::trueform::__private::ToolSpec {
        use ::trueform::__private as __tf;
        __tf::tool("book", "Books a table.", "book", ::core::file!(), ::core::line!())
            .input("context", "", <Context as __tf::Parameter<_>>::describe)
            .asks(__tf::form::<Seat>)
            .asks(__tf::form::<Option<bool>>)
            .asks({
                use __tf::OtherCall as _;
                __tf::AskCall::<forms::Name>::form
            })
            .returns(<Result<String, ToolError> as __tf::IntoToolResult>::output_schema)
            .call(|__call| {
                let __0 = <Context as __tf::Parameter<_>>::take(__call, 0)?;
                __tf::later(async move {
                    <Result<
                        String,
                        ToolError,
                    > as __tf::IntoToolResult>::into_tool_result(book(__0).await)
                })
            })
    }
}
