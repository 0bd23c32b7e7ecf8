#[allow(clippy::needless_pass_by_value)]
/// How to use the shop.
fn readme() -> &'static str {
    "Buy things."
}
#[doc(hidden)]
#[allow(warnings)]
struct readme {}
#[allow(warnings)]
impl ::trueform::__private::ResourceFunction for readme {
    fn spec() -> ::trueform::__private::ResourceSpec {
        use ::trueform::__private as __tf;
        __tf::resource(
                "shop://readme",
                "readme",
                "How to use the shop.",
                "readme",
                ::core::file!(),
                ::core::line!(),
            )
            .call(|_| {
                __tf::ready(
                    <&'static str as __tf::IntoResourceResult>::into_resource_result(
                        readme(),
                    ),
                )
            })
    }
}
#[allow(clippy::needless_pass_by_value)]
/// A row of a table.
fn row(table: String, id: u64, State(pool): State<Pool>) -> Result<Json<Row>, Error> {
    pool.row(&table, id)
}
#[doc(hidden)]
#[allow(warnings)]
struct row {}
#[allow(warnings)]
impl ::trueform::__private::ResourceFunction for row {
    fn spec() -> ::trueform::__private::ResourceSpec {
        use ::trueform::__private as __tf;
        __tf::resource(
                "db://{table}/{id}",
                "row",
                "A row of a table.",
                "row",
                ::core::file!(),
                ::core::line!(),
            )
            .input("table", "", <String as __tf::Parameter<_>>::describe)
            .input("id", "", <u64 as __tf::Parameter<_>>::describe)
            .input("", "", <State<Pool> as __tf::UnnamedParameter<_>>::describe)
            .complete("table", __tf::completer(tables))
            .call(|__call| {
                let __0 = <String as __tf::Parameter<_>>::take(__call, 0)?;
                let __1 = <u64 as __tf::Parameter<_>>::take(__call, 1)?;
                let __2 = <State<Pool> as __tf::UnnamedParameter<_>>::take(__call, 2)?;
                __tf::blocking(move || <Result<
                    Json<Row>,
                    Error,
                > as __tf::IntoResourceResult>::into_resource_result(row(__0, __1, __2)))
            })
    }
}
const RESOURCES: () = {
    ::trueform::__private::ResourceSet::from_specs(
        ::trueform::__private::Vec::from([
            <readme as ::trueform::__private::ResourceFunction>::spec(),
            <row as ::trueform::__private::ResourceFunction>::spec(),
        ]),
    )
};
