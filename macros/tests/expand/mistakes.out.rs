#[allow(clippy::needless_pass_by_value)]
/// Adds.
fn add(a: &str, b: impl Into<i64>) -> i64 {
    0
}
#[doc(hidden)]
#[allow(warnings)]
struct add {}
#[allow(warnings)]
impl ::trueform::__private::ToolFunction for add {
    fn spec() -> ::trueform::__private::ToolSpec {
        use ::trueform::__private as __tf;
        ::core::unreachable!()
    }
}
::core::compile_error! {
    "unknown key `tittle`; did you mean `title`?\nknown keys: `name`, `title`, `description`, `read_only`, `destructive`, `idempotent`, `open_world`, `icons`, `meta`, `timeout`, `blocking`, `task`, `needs`, `asks`, `profile`, `crate`"
}
::core::compile_error! {
    "expected `read_only`, `read_only = true` or `read_only = false`"
}
::core::compile_error! {
    "tools own their arguments: use `String`"
}
::core::compile_error! {
    "a tool has one schema, so its parameters have one type: name it"
}
