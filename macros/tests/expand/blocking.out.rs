#[allow(clippy::needless_pass_by_value)]
/// Hashes a file.
fn hash(path: PathBuf) -> std::io::Result<String> {
    std::fs::read_to_string(path)
}
#[doc(hidden)]
#[allow(warnings)]
struct hash {}
#[allow(warnings)]
impl ::trueform::__private::ToolFunction for hash {
    fn spec() -> ::trueform::__private::ToolSpec {
        use ::trueform::__private as __tf;
        __tf::tool("hash", "Hashes a file.", "hash", ::core::file!(), ::core::line!())
            .input("path", "", <PathBuf as __tf::Parameter<_>>::describe)
            .timeout(300000, false, ::core::option::Option::None)
            .returns(<std::io::Result<String> as __tf::IntoToolResult>::output_schema)
            .call(|__call| {
                let __0 = <PathBuf as __tf::Parameter<_>>::take(__call, 0)?;
                __tf::blocking(move || <std::io::Result<
                    String,
                > as __tf::IntoToolResult>::into_tool_result(hash(__0)))
            })
    }
}
