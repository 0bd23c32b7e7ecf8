#[allow(clippy::needless_pass_by_value)]
fn review<T>(style: &str, Wrapped(depth): Wrapped) -> impl Into<String> {
    style
}
#[doc(hidden)]
#[allow(warnings)]
struct review {}
#[allow(warnings)]
impl ::trueform::__private::PromptFunction for review {
    fn spec() -> ::trueform::__private::PromptSpec {
        use ::trueform::__private as __tf;
        ::core::unreachable!()
    }
}
::core::compile_error! {
    "`read_only` is for tools, not for prompts\nknown keys: `name`, `title`, `description`, `icons`, `meta`, `timeout`, `blocking`, `needs`, `asks`, `crate`"
}
::core::compile_error! {
    "unknown key `titel`; did you mean `title`?\nknown keys: `name`, `title`, `description`, `icons`, `meta`, `timeout`, `blocking`, `needs`, `asks`, `crate`"
}
::core::compile_error! {
    "a prompt needs a description, by which people choose it: write a doc comment, or `#[prompt(description = \"…\")]`"
}
::core::compile_error! {
    "a prompt has one signature, so it cannot be generic over `T`: use a concrete type"
}
::core::compile_error! {
    "expected `complete = function` or `complete = [\"first\", \"second\"]`"
}
::core::compile_error! {
    "prompts own their arguments: use `String`"
}
::core::compile_error! {
    "this completes nothing: list the values, or drop the attribute"
}
::core::compile_error! {
    "`complete` is given twice"
}
::core::compile_error! {
    "a pattern has no name that this could describe: name the parameter"
}
::core::compile_error! {
    "a prompt names its result type: use a concrete type"
}
