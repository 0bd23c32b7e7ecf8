impl<T: Store> Notes<T>
where
    T: 'static,
{
    const LIMIT: usize = 10;
    pub fn new(store: T) -> Self {
        Self { store }
    }
    #[allow(clippy::needless_pass_by_value)]
    /// Reads a note.
    pub async fn read<'a>(&'a self, id: Id) -> Result<&'a str, Error> {
        self.store.read(id).await
    }
    #[allow(clippy::needless_pass_by_value)]
    /// Counts the notes.
    #[cfg(feature = "count")]
    fn count(&self) -> usize {
        self.store.len()
    }
    #[allow(clippy::needless_pass_by_value)]
    /// Says which version runs.
    fn version() -> &'static str {
        "1"
    }
}
#[allow(warnings)]
impl<T: Store> ::trueform::__private::ServerMethods for Notes<T>
where
    T: 'static,
{
    fn tools() -> ::trueform::__private::Vec<::trueform::__private::ToolSpec> {
        use ::trueform::__private as __tf;
        __tf::Vec::from([
            __tf::tool(
                    "read",
                    "Reads a note.",
                    "Notes::read",
                    ::core::file!(),
                    ::core::line!(),
                )
                .input("id", "", <Id as __tf::Parameter<_>>::describe)
                .read_only(true)
                .returns(<Result<&'_ str, Error> as __tf::IntoToolResult>::output_schema)
                .call(|__call| {
                    let __server = __call.shared_server::<Self>();
                    let __0 = <Id as __tf::Parameter<_>>::take(__call, 0)?;
                    __tf::later(async move {
                        <Result<
                            &'_ str,
                            Error,
                        > as __tf::IntoToolResult>::into_tool_result(
                            Self::read(&__server, __0).await,
                        )
                    })
                }),
            #[cfg(feature = "count")]
            __tf::tool(
                    "count",
                    "Counts the notes.",
                    "Notes::count",
                    ::core::file!(),
                    ::core::line!(),
                )
                .returns(<usize as __tf::IntoToolResult>::output_schema)
                .call(|__call| {
                    __tf::ready(
                        <usize as __tf::IntoToolResult>::into_tool_result(
                            Self::count(__call.server::<Self>()),
                        ),
                    )
                }),
            __tf::tool(
                    "version",
                    "Says which version runs.",
                    "Notes::version",
                    ::core::file!(),
                    ::core::line!(),
                )
                .returns(<&'static str as __tf::IntoToolResult>::output_schema)
                .call(|_| {
                    __tf::ready(
                        <&'static str as __tf::IntoToolResult>::into_tool_result(
                            Self::version(),
                        ),
                    )
                }),
        ])
    }
}
