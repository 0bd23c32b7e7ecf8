#[allow(clippy::needless_pass_by_value)]
/// Reviews code.
async fn review(
    code: String,
    language: Option<String>,
    style: String,
    context: Context,
) -> Result<Vec<PromptMessage>, Error> {
    messages(code, language, style).await
}
#[doc(hidden)]
#[allow(warnings)]
struct review {}
#[allow(warnings)]
impl ::trueform::__private::PromptFunction for review {
    fn spec() -> ::trueform::__private::PromptSpec {
        use ::trueform::__private as __tf;
        {
            #[derive(__tf::serde::Deserialize, __tf::schemars::JsonSchema)]
            #[serde(crate = "::trueform::__private::serde")]
            #[schemars(crate = "::trueform::__private::schemars")]
            struct Parameter2 {
                #[serde(rename = "houseStyle")]
                style: String,
            }
            __tf::prompt(
                    "review",
                    "Reviews code.",
                    "review",
                    ::core::file!(),
                    ::core::line!(),
                )
                .input(
                    "code",
                    "What to review.",
                    <String as __tf::Parameter<_>>::describe,
                )
                .input(
                    "language",
                    "The language it is written in.",
                    <Option<String> as __tf::Parameter<_>>::describe,
                )
                .input(
                    "style",
                    "",
                    <__tf::Field<Parameter2> as __tf::Parameter<_>>::describe,
                )
                .input("context", "", <Context as __tf::Parameter<_>>::describe)
                .complete("language", __tf::values(&["rust", "python"]))
                .complete("houseStyle", __tf::completer(styles::of_team))
                .title("Code review")
                .icon(
                    "https://example.com/a.png",
                    ::core::option::Option::None,
                    ::core::option::Option::None,
                    ::core::option::Option::None,
                )
                .meta("level", &3)
                .timeout(30000, false, ::core::option::Option::None)
                .needs(__tf::RequiredCapabilities::ROOTS)
                .call(|__call| {
                    let __0 = <String as __tf::Parameter<_>>::take(__call, 0)?;
                    let __1 = <Option<String> as __tf::Parameter<_>>::take(__call, 1)?;
                    let __2 = <__tf::Field<
                        Parameter2,
                    > as __tf::Parameter<_>>::take(__call, 2)?
                        .0
                        .style;
                    let __3 = <Context as __tf::Parameter<_>>::take(__call, 3)?;
                    __tf::later(async move {
                        <Result<
                            Vec<PromptMessage>,
                            Error,
                        > as __tf::IntoPromptResult>::into_prompt_result(
                            review(__0, __1, __2, __3).await,
                        )
                    })
                })
        }
    }
}
const PROMPTS: () = {
    ::trueform::__private::PromptSet::from_specs(
        ::trueform::__private::Vec::from([
            <review as ::trueform::__private::PromptFunction>::spec(),
            <team::greet as ::trueform::__private::PromptFunction>::spec(),
        ]),
    )
};
