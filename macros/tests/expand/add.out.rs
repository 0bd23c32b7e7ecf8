#[allow(clippy::needless_pass_by_value)]
/// Add two numbers.
fn add(a: i64, b: i64) -> i64 {
    a + b
}
#[doc(hidden)]
#[allow(warnings)]
struct add {}
#[allow(warnings)]
impl ::trueform::__private::ToolFunction for add {
    fn spec() -> ::trueform::__private::ToolSpec {
        use ::trueform::__private as __tf;
        __tf::tool("add", "Add two numbers.", "add", ::core::file!(), ::core::line!())
            .input("a", "", <i64 as __tf::Parameter<_>>::describe)
            .input("b", "", <i64 as __tf::Parameter<_>>::describe)
            .returns(<i64 as __tf::IntoToolResult>::output_schema)
            .call(|__call| {
                let __0 = <i64 as __tf::Parameter<_>>::take(__call, 0)?;
                let __1 = <i64 as __tf::Parameter<_>>::take(__call, 1)?;
                __tf::ready(
                    <i64 as __tf::IntoToolResult>::into_tool_result(add(__0, __1)),
                )
            })
    }
}
#[allow(clippy::needless_pass_by_value)]
/// Says hello.
pub async fn hello() -> &'static str {
    "hello"
}
#[doc(hidden)]
#[allow(warnings)]
pub struct hello {}
#[allow(warnings)]
impl ::trueform::__private::ToolFunction for hello {
    fn spec() -> ::trueform::__private::ToolSpec {
        use ::trueform::__private as __tf;
        __tf::tool("hello", "Says hello.", "hello", ::core::file!(), ::core::line!())
            .returns(<&'static str as __tf::IntoToolResult>::output_schema)
            .call(|_| {
                __tf::later(async move {
                    <&'static str as __tf::IntoToolResult>::into_tool_result(
                        hello().await,
                    )
                })
            })
    }
}
