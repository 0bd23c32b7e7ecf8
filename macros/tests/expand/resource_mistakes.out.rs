#[allow(clippy::needless_pass_by_value)]
/// A row.
fn row(table: String, number: u64) -> String {
    table
}
#[doc(hidden)]
#[allow(warnings)]
struct row {}
#[allow(warnings)]
impl ::trueform::__private::ResourceFunction for row {
    fn spec() -> ::trueform::__private::ResourceSpec {
        use ::trueform::__private as __tf;
        ::core::unreachable!()
    }
}
::core::compile_error! {
    "the URI stands before all keys"
}
::core::compile_error! {
    "`json` is not a MIME type: expected `type/subtype`, such as `text/markdown`"
}
::core::compile_error! {
    "expected `priority = 0.5`, a number from 0 (optional) to 1 (required)"
}
::core::compile_error! {
    "unknown role `users`; did you mean `user`?\nknown roles: `user`, `assistant`"
}
::core::compile_error! {
    "expected a duration above zero such as `500ms`, `30s`, `5m` or `1h`"
}
::core::compile_error! {
    "`today` is not a date: expected `2026-01-31` or `2026-01-31T15:00:58Z`"
}
::core::compile_error! {
    "a template stands for many resources, each of its own size: drop `size`"
}
::core::compile_error! {
    "`number` is not a variable of `db://{tabel}/{id}`, and clients complete variables only"
}
::core::compile_error! {
    "the variable `tabel` is not a parameter of the function; did you mean `table`?"
}
::core::compile_error! {
    "the variable `id` is not a parameter of the function: add it, for example `id: String`"
}
#[allow(clippy::needless_pass_by_value)]
/// No URI.
fn nothing() -> String {
    String::new()
}
#[doc(hidden)]
#[allow(warnings)]
struct nothing {}
#[allow(warnings)]
impl ::trueform::__private::ResourceFunction for nothing {
    fn spec() -> ::trueform::__private::ResourceSpec {
        use ::trueform::__private as __tf;
        ::core::unreachable!()
    }
}
::core::compile_error! {
    "a resource needs a URI, a string literal before all keys: `#[resource(\"scheme://path\", …)]`"
}
::core::compile_error! {
    "`profile` is for tools, not for resources\nknown keys: `name`, `title`, `description`, `mime_type`, `size`, `audience`, `priority`, `last_modified`, `ttl`, `public`, `file_like`, `icons`, `meta`, `timeout`, `blocking`, `needs`, `asks`, `crate`"
}
