const TOOLS: () = {
    ::core::compile_error! {
        "`add` is listed twice"
    }
    ::trueform::__private::ToolSet::from_specs(
        ::trueform::__private::Vec::from([
            <add as ::trueform::__private::ToolFunction>::spec(),
            #[cfg(feature = "files")]
            <files::remove as ::trueform::__private::ToolFunction>::spec(),
        ]),
    )
};
