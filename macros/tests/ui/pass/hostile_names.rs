// What the macros emit depends on no name in scope.

#[allow(non_camel_case_types, dead_code)]
mod shadows {
    pub struct String;
    pub struct Option;
    pub struct Vec;
    pub struct Result;
    pub const call: u8 = 0;
    pub const arg0: u8 = 0;
    pub fn drop() {}
}

#[allow(unused_imports)]
mod tools {
    use super::shadows::*;

    /// Adds.
    #[trueform::tool(icons("https://example.com/a.png"), meta(a = 1))]
    pub fn add(add: i64, arg1: i64, call: i64, server: bool) -> i64 {
        add + arg1 + call + i64::from(server)
    }
}

fn main() {
    assert!(trueform::Server::new("sdk", "1").tools(trueform::tools![tools::add]).build().is_ok());
}
