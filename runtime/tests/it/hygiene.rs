//! What the macros emit depends neither on the name of the crate nor on names in scope.

#![allow(unreachable_pub, reason = "stands for other crates")]

/// The only thing the user of this library knows of Trueform.
mod sdk {
    pub mod mcp {
        pub use ::trueform::*;
    }
}

use self::sdk::mcp;

type Words<T> = Option<T>;
type Result = std::result::Result<String, std::fmt::Error>;

/// Finds.
#[mcp::tool(crate = crate::hygiene::sdk::mcp)]
fn find(
    /// What to look for.
    #[schemars(length(min = 1))]
    query: String,
    r#type: Words<String>,
    context: mcp::Context,
) -> Result {
    drop(context);
    Ok(format!("{query} {type:?}"))
}

/// Asks.
#[mcp::prompt(crate = crate::hygiene::sdk::mcp)]
fn ask(
    #[arg(complete = topics)]
    #[serde(rename = "about")]
    topic: String,
    #[arg(complete = ["short", "long"])] r#type: Words<String>,
    context: mcp::Context,
) -> Result {
    drop(context);
    Ok(format!("{topic} {type:?}"))
}

/// A page.
#[mcp::resource("wiki:///{language}/{+page}", file_like, public, crate = crate::hygiene::sdk::mcp)]
fn page(
    #[arg(complete = ["de", "en"])] language: String,
    #[serde(rename = "page")] title: String,
    context: mcp::Context,
) -> Result {
    drop(context);
    Ok(format!("{title} in {language}"))
}

fn topics(query: mcp::completion::CompletionQuery) -> [String; 1] {
    [query.value().to_owned()]
}

struct Calculator<T>(T);

#[mcp::server(crate = crate::hygiene::sdk::mcp)]
impl<T: Copy + Into<i64> + Send + Sync + 'static> Calculator<T> {
    /// Adds.
    #[tool(title = "Add", timeout = "1s")]
    async fn add(&self, #[serde(default)] a: i64) -> i64 {
        a + self.0.into()
    }

    /// Asks for a sum.
    #[prompt]
    fn sum(&self, #[arg(complete = Self::numbers)] a: i64) -> String {
        format!("What is {a} + {}?", self.0.into())
    }

    /// A sum.
    #[resource("sum:{a}")]
    async fn total(&self, #[arg(complete = Self::numbers)] a: i64) -> String {
        (a + self.0.into()).to_string()
    }

    fn numbers(_: mcp::completion::CompletionQuery) -> Vec<String> {
        vec![size_of::<T>().to_string()]
    }
}

#[test]
fn the_crate_may_have_another_name() {
    let calculator = std::sync::Arc::new(Calculator(1_i32));
    let server = mcp::Server::new("sdk", "1")
        .tools(mcp::tools![find])
        .tools(calculator.clone())
        .prompts(mcp::prompts![ask])
        .prompts(calculator.clone())
        .resources(mcp::resources![page])
        .resources(calculator);
    assert!(server.build().is_ok());
}

#[allow(non_upper_case_globals, dead_code)]
mod shadows {
    pub struct String;
    pub struct Option;
    pub struct Vec;
    pub struct Result;
    pub const call: u8 = 0;
    pub const arg0: u8 = 0;
    pub const server: u8 = 0;
    pub fn drop() {}
}

#[allow(unused_imports)]
mod shadowed {
    use super::shadows::*;

    /// Adds.
    #[trueform::tool(icons("https://example.com/a.png"), meta(a = 1))]
    pub fn add(add: i64, number: i64, call_: i64, flag: bool) -> i64 {
        add + number + call_ + i64::from(flag)
    }

    /// A number.
    #[trueform::resource("number:{resource}", priority = 1, audience = user, ttl = "1s")]
    pub fn number(#[arg(complete = ["1"])] resource: i64) -> &'static str {
        if resource == 0 { "0" } else { "1" }
    }

    /// Asks.
    #[trueform::prompt(icons("https://example.com/a.png"), meta(a = 1))]
    pub fn ask(#[arg(complete = ["1"])] ask: i64, number: i64, call_: i64) -> &'static str {
        if ask + number + call_ == 0 { "0" } else { "1" }
    }
}

#[test]
fn names_in_scope_do_not_matter() {
    assert!(
        trueform::Server::new("sdk", "1")
            .tools(trueform::tools![shadowed::add])
            .prompts(trueform::prompts![shadowed::ask])
            .resources(trueform::resources![shadowed::number])
            .build()
            .is_ok()
    );
}

/// Writes a server and a tool from what it is given.
macro_rules! priced {
    ($owner:ty, $vis:vis, $name:ident, $says:literal, $parameter:ty, $answer:ty, $body:block) => {
        #[trueform::server]
        impl $owner {
            #[doc = $says]
            #[tool]
            $vis fn $name(&self, of: $parameter) -> $answer {
                drop(of);
                $body
            }

            #[doc = $says]
            #[tool]
            $vis async fn total() -> $answer $body

            #[doc = $says]
            #[prompt]
            $vis fn ask(&self) -> $answer $body
        }

        #[doc = $says]
        #[trueform::tool]
        $vis fn $name(of: $parameter) -> $answer {
            drop(of);
            $body
        }
    };
}

struct Shop;

priced!(Shop, pub(crate), bread, "The price.", Option<String>, String, {
    "free".to_owned()
});

/// A macro that writes all of a server has all of its tools (entry 4 of `reports.toml`).
#[test]
fn a_macro_writes_a_server() {
    use trueform::__private::ServerMethods;

    let built = trueform::Server::new("sdk", "1")
        .tools(std::sync::Arc::new(Shop))
        .prompts(Shop)
        .build();
    assert!(built.is_ok());
    assert_eq!(<Shop as ServerMethods>::tools().len(), 2);
    assert_eq!(<Shop as ServerMethods>::prompts().len(), 1);
    let alone = trueform::Server::new("sdk", "1").tools(trueform::tools![bread]);
    assert!(alone.build().is_ok());
}
