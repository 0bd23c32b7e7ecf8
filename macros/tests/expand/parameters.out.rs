#[allow(clippy::needless_pass_by_value)]
/// Searches.
///
/// Finds what matches.
fn search(query: String, mut limit: u32, r#type: Option<Kind>) -> Vec<String> {
    vec![]
}
#[doc(hidden)]
#[allow(warnings)]
struct search {}
#[allow(warnings)]
impl ::trueform::__private::ToolFunction for search {
    fn spec() -> ::trueform::__private::ToolSpec {
        use ::trueform::__private as __tf;
        {
            #[derive(__tf::serde::Deserialize, __tf::schemars::JsonSchema)]
            #[serde(crate = "::trueform::__private::serde")]
            #[schemars(crate = "::trueform::__private::schemars")]
            struct Parameter0 {
                #[schemars(length(min = 1))]
                query: String,
            }
            #[derive(__tf::serde::Deserialize, __tf::schemars::JsonSchema)]
            #[serde(crate = "::trueform::__private::serde")]
            #[schemars(crate = "::trueform::__private::schemars")]
            struct Parameter1 {
                #[serde(default = "ten")]
                #[schemars(range(min = 1, max = 100))]
                limit: u32,
            }
            __tf::tool(
                    "search",
                    "Searches.\n\nFinds what matches.",
                    "search",
                    ::core::file!(),
                    ::core::line!(),
                )
                .input(
                    "query",
                    "What to look for.",
                    <__tf::Field<Parameter0> as __tf::Parameter<_>>::describe,
                )
                .constrained("length", &["/minLength", "/minItems"])
                .input(
                    "limit",
                    "At most so many answers.",
                    <__tf::Field<Parameter1> as __tf::Parameter<_>>::describe,
                )
                .constrained("range", &["/minimum"])
                .input("type", "", <Option<Kind> as __tf::Parameter<_>>::describe)
                .returns(<Vec<String> as __tf::IntoToolResult>::output_schema)
                .call(|__call| {
                    let __0 = <__tf::Field<
                        Parameter0,
                    > as __tf::Parameter<_>>::take(__call, 0)?
                        .0
                        .query;
                    let __1 = <__tf::Field<
                        Parameter1,
                    > as __tf::Parameter<_>>::take(__call, 1)?
                        .0
                        .limit;
                    let __2 = <Option<Kind> as __tf::Parameter<_>>::take(__call, 2)?;
                    __tf::ready(
                        <Vec<
                            String,
                        > as __tf::IntoToolResult>::into_tool_result(
                            search(__0, __1, __2),
                        ),
                    )
                })
        }
    }
}
