impl Shop {
    #[allow(clippy::needless_pass_by_value)]
    /// Counts the orders.
    fn count(&self) -> usize {
        self.orders.len()
    }
    #[allow(clippy::needless_pass_by_value)]
    /// An order.
    async fn order(&self, id: u64) -> Option<Json<Order>> {
        self.orders.get(id).await
    }
    #[allow(clippy::needless_pass_by_value)]
    /// All orders.
    #[cfg(feature = "all")]
    fn orders() -> String {
        String::new()
    }
    #[allow(clippy::needless_pass_by_value)]
    /// Writes to a customer.
    fn letter(&self, name: String, place: String, other: String) -> String {
        format!("Dear {name}")
    }
    fn ids(query: CompletionQuery) -> Vec<String> {
        ids(&query.value)
    }
    async fn names(&self, query: CompletionQuery, store: State<Store>) -> Vec<String> {
        store.names(&query.value).await
    }
    fn later(&self, query: CompletionQuery) -> Vec<String> {
        self.places(&query.value)
    }
}
#[allow(warnings)]
impl ::trueform::__private::ServerMethods for Shop {
    fn tools() -> ::trueform::__private::Vec<::trueform::__private::ToolSpec> {
        use ::trueform::__private as __tf;
        __tf::Vec::from([
            __tf::tool(
                    "count",
                    "Counts the orders.",
                    "Shop::count",
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
        ])
    }
    fn prompts() -> ::trueform::__private::Vec<::trueform::__private::PromptSpec> {
        use ::trueform::__private as __tf;
        __tf::Vec::from([
            __tf::prompt(
                    "letter",
                    "Writes to a customer.",
                    "Shop::letter",
                    ::core::file!(),
                    ::core::line!(),
                )
                .input("name", "", <String as __tf::Parameter<_>>::describe)
                .input("place", "", <String as __tf::Parameter<_>>::describe)
                .input("other", "", <String as __tf::Parameter<_>>::describe)
                .complete(
                    "name",
                    __tf::method_completer(
                        |__receiver, __query| {
                            let __server = __tf::completing_server::<Self>(__receiver);
                            let __0 = __tf::injected::<State<Store>>(&__query)?;
                            __tf::later(async move {
                                __tf::IntoCompletion::into_completion(
                                    Self::names(&__server, __query, __0).await,
                                )
                            })
                        },
                        |__needed| {
                            <State<Store> as __tf::FromContext>::require(__needed);
                        },
                    ),
                )
                .complete(
                    "place",
                    __tf::method_completer(
                        |__receiver, __query| {
                            let __server = __tf::completing_server::<Self>(__receiver);
                            __tf::blocking(move || __tf::IntoCompletion::into_completion(
                                Self::later(&__server, __query),
                            ))
                        },
                        |__needed| {},
                    ),
                )
                .complete("other", __tf::completer(__tf::Blocking(places)))
                .call(|__call| {
                    let __0 = <String as __tf::Parameter<_>>::take(__call, 0)?;
                    let __1 = <String as __tf::Parameter<_>>::take(__call, 1)?;
                    let __2 = <String as __tf::Parameter<_>>::take(__call, 2)?;
                    __tf::ready(
                        <String as __tf::IntoPromptResult>::into_prompt_result(
                            Self::letter(__call.server::<Self>(), __0, __1, __2),
                        ),
                    )
                }),
        ])
    }
    fn resources() -> ::trueform::__private::Vec<::trueform::__private::ResourceSpec> {
        use ::trueform::__private as __tf;
        __tf::Vec::from([
            __tf::resource(
                    "shop://orders/{id}",
                    "order",
                    "An order.",
                    "Shop::order",
                    ::core::file!(),
                    ::core::line!(),
                )
                .input("id", "", <u64 as __tf::Parameter<_>>::describe)
                .complete("id", __tf::completer(Self::ids))
                .call(|__call| {
                    let __server = __call.shared_server::<Self>();
                    let __0 = <u64 as __tf::Parameter<_>>::take(__call, 0)?;
                    __tf::later(async move {
                        <Option<
                            Json<Order>,
                        > as __tf::IntoResourceResult>::into_resource_result(
                            Self::order(&__server, __0).await,
                        )
                    })
                }),
            #[cfg(feature = "all")]
            __tf::resource(
                    "shop://orders",
                    "orders",
                    "All orders.",
                    "Shop::orders",
                    ::core::file!(),
                    ::core::line!(),
                )
                .call(|_| {
                    __tf::ready(
                        <String as __tf::IntoResourceResult>::into_resource_result(
                            Self::orders(),
                        ),
                    )
                }),
        ])
    }
}
