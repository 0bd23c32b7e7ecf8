#[allow(clippy::needless_pass_by_value)]
#[cfg(feature = "files")]
#[tracing::instrument]
async fn remove(path: String) {}
#[cfg(feature = "files")]
#[doc(hidden)]
#[allow(warnings)]
struct remove {}
#[cfg(feature = "files")]
#[allow(warnings)]
impl ::trueform::__private::ToolFunction for remove {
    fn spec() -> ::trueform::__private::ToolSpec {
        use ::trueform::__private as __tf;
        __tf::tool(
                "files.remove",
                "Removes a file for good.",
                "remove",
                ::core::file!(),
                ::core::line!(),
            )
            .input("path", "", <String as __tf::Parameter<_>>::describe)
            .title("Remove a file")
            .open_world(false)
            .destructive(true)
            .icon(
                "https://example.com/a.png",
                ::core::option::Option::None,
                ::core::option::Option::None,
                ::core::option::Option::None,
            )
            .icon(
                "data:,",
                ::core::option::Option::Some("image/svg+xml"),
                ::core::option::Option::Some("any"),
                ::core::option::Option::Some("dark"),
            )
            .meta("com.example/tier", &"gold")
            .meta("level", &-3)
            .timeout(30000, true, ::core::option::Option::Some(600000))
            .needs(__tf::RequiredCapabilities::ELICITATION)
            .needs(__tf::RequiredCapabilities::ROOTS)
            .profile(__tf::Profile::Portable)
            .returns(<() as __tf::IntoToolResult>::output_schema)
            .call(|__call| {
                let __0 = <String as __tf::Parameter<_>>::take(__call, 0)?;
                __tf::later(async move {
                    <() as __tf::IntoToolResult>::into_tool_result(remove(__0).await)
                })
            })
    }
}
