#[allow(clippy::needless_pass_by_value)]
#[cfg(feature = "logo")]
async fn image() -> Blob {
    load().await
}
#[cfg(feature = "logo")]
#[doc(hidden)]
#[allow(warnings)]
struct image {}
#[cfg(feature = "logo")]
#[allow(warnings)]
impl ::trueform::__private::ResourceFunction for image {
    fn spec() -> ::trueform::__private::ResourceSpec {
        use ::trueform::__private as __tf;
        __tf::resource(
                "file:///logo.png",
                "logo",
                "The logo of the shop.",
                "image",
                ::core::file!(),
                ::core::line!(),
            )
            .title("The logo")
            .mime_type("image/png")
            .size(2048)
            .audience_user()
            .audience_assistant()
            .priority(1.0)
            .last_modified("2026-01-31T15:00:58Z")
            .ttl(60000)
            .public()
            .icon(
                "data:,",
                ::core::option::Option::None,
                ::core::option::Option::None,
                ::core::option::Option::None,
            )
            .meta("com.example/tier", &"gold")
            .timeout(5000, false, ::core::option::Option::None)
            .needs(__tf::RequiredCapabilities::SAMPLING)
            .call(|_| {
                __tf::later(async move {
                    <Blob as __tf::IntoResourceResult>::into_resource_result(
                        image().await,
                    )
                })
            })
    }
}
#[allow(clippy::needless_pass_by_value)]
/// Files.
fn file(path: PathBuf) -> std::io::Result<Vec<u8>> {
    std::fs::read(path)
}
#[doc(hidden)]
#[allow(warnings)]
struct file {}
#[allow(warnings)]
impl ::trueform::__private::ResourceFunction for file {
    fn spec() -> ::trueform::__private::ResourceSpec {
        use ::trueform::__private as __tf;
        __tf::resource(
                "file:///{+path}",
                "file",
                "Files.",
                "file",
                ::core::file!(),
                ::core::line!(),
            )
            .input("path", "", <PathBuf as __tf::Parameter<_>>::describe)
            .audience_user()
            .priority(0.25)
            .file_like()
            .call(|__call| {
                let __0 = <PathBuf as __tf::Parameter<_>>::take(__call, 0)?;
                __tf::ready(
                    <std::io::Result<
                        Vec<u8>,
                    > as __tf::IntoResourceResult>::into_resource_result(file(__0)),
                )
            })
    }
}
