//! What a tool may return.

use std::{borrow::Cow, sync::Arc};

use schemars::JsonSchema;
use serde::Serialize;
use trueform_schema::{
    AudioContent, CallToolResult, ContentBlock, EmbeddedResource, ImageContent, ResourceLink,
    TextContent,
};

use super::output::OutputSchema;
use crate::exchange::InputRequired;
use crate::feature::{
    content::{Audio, Blob, Image, IntoContent},
    failure::{Instead, IntoToolError, ToolError},
};

/// A structured result: any value with a schema, which becomes the tool's `outputSchema`.
///
/// The value is checked against that schema before it is sent, and is also sent as text, for clients without structured results.
///
/// ```
/// use serde::Serialize;
/// use trueform::{prelude::*, schemars::JsonSchema};
///
/// #[derive(Serialize, JsonSchema)]
/// struct Sum {
///     sum: i64,
/// }
///
/// /// Adds two numbers.
/// #[tool]
/// fn add(a: i64, b: i64) -> Json<Sum> {
///     Json(Sum { sum: a + b })
/// }
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Json<T>(pub T);

type ToolOutcome = Result<CallToolResult, ToolError>;

/// What a tool may return: text, numbers, content, [`Json`], a complete [`CallToolResult`]; `Option` of these, `Vec` of content, `Result`
/// with any error, or nothing.
///
/// Implement it for types of your own that tools return:
///
/// ```
/// use trueform::{prelude::*, tool::IntoToolResult};
///
/// struct Celsius(f64);
///
/// impl IntoToolResult for Celsius {
///     fn into_tool_result(self) -> Result<CallToolResult, ToolError> {
///         format!("{:.1} °C", self.0).into_tool_result()
///     }
/// }
///
/// /// Says how warm it is.
/// #[tool]
/// fn temperature() -> Celsius {
///     Celsius(21.5)
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the result of a tool",
    label = "not a result",
    note = "return text, a number, content such as `Image`, or `Json<T>` for a structured value `T` that derives both: \
            `#[derive(Serialize, JsonSchema)]` with the prelude, or \
            `#[derive(serde::Serialize, schemars::JsonSchema)]`; both need a dependency: `cargo add serde --features derive`",
    note = "without `serde` as a dependency: `#[derive(trueform::serde::Serialize, trueform::schemars::JsonSchema)] #[serde(crate = \"trueform::serde\")] \
            #[schemars(crate = \"trueform::schemars\")]`",
    note = "and these in a `Result` with any error, in an `Option`, and content in a `Vec`"
)]
pub trait IntoToolResult {
    /// Converts the value into the result of the call.
    ///
    /// # Errors
    /// The tool failed.
    fn into_tool_result(self) -> Result<CallToolResult, ToolError>;

    /// Describes the structured result, if it is one.
    #[doc(hidden)]
    fn output_schema(_output: &mut OutputSchema) {}
}

/// Implements the traits for one type, not for all [`IntoContent`]: with only one candidate, the compiler reports what is wrong inside a
/// `Vec` or a `Result`.
macro_rules! content_result {
    ($($ty:ty)*) => {$(
        impl IntoToolResult for $ty {
            fn into_tool_result(self) -> ToolOutcome {
                Ok(CallToolResult::new(vec![self.into_content()]))
            }
        }
    )*};
}

content_result!(String &str Box<str> Arc<str> Cow<'_, str> bool char);
content_result!(i8 i16 i32 i64 i128 isize u8 u16 u32 u64 u128 usize f32 f64);
content_result!(ContentBlock TextContent ImageContent AudioContent ResourceLink EmbeddedResource Image Audio Blob);

impl<T: IntoContent> IntoToolResult for Vec<T> {
    fn into_tool_result(self) -> ToolOutcome {
        let content: Vec<ContentBlock> = self.into_iter().map(IntoContent::into_content).collect();
        Ok(CallToolResult::new(content))
    }
}

impl IntoToolResult for () {
    fn into_tool_result(self) -> ToolOutcome {
        Ok(CallToolResult::new(Vec::<ContentBlock>::new()))
    }
}

impl IntoToolResult for InputRequired {
    fn into_tool_result(self) -> ToolOutcome {
        Err(ToolError::instead(Instead::Required(self)))
    }
}

impl IntoToolResult for CallToolResult {
    fn into_tool_result(self) -> ToolOutcome {
        Ok(self)
    }
}

/// Half of what [`Json`] may hold. Two traits, so that the compiler says which half is missing.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a structured result: it does not implement `serde::Serialize`",
    label = "cannot be serialised",
    note = "a structured result derives two traits: `#[derive(Serialize, JsonSchema)]` with the prelude, or \
            `#[derive(serde::Serialize, schemars::JsonSchema)]`; both need a dependency: `cargo add serde --features derive`",
    note = "without `serde` as a dependency: `#[derive(trueform::serde::Serialize, trueform::schemars::JsonSchema)] #[serde(crate = \"trueform::serde\")] \
            #[schemars(crate = \"trueform::schemars\")]`"
)]
pub trait OutputValue: Serialize {}

#[diagnostic::do_not_recommend]
impl<T: Serialize> OutputValue for T {}

/// The other half of what [`Json`] may hold.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a structured result: it does not implement `schemars::JsonSchema`",
    label = "has no schema",
    note = "a structured result derives two traits: `#[derive(Serialize, JsonSchema)]` with the prelude, or \
            `#[derive(serde::Serialize, schemars::JsonSchema)]`; both need a dependency: `cargo add serde --features derive`",
    note = "without `serde` as a dependency: `#[derive(trueform::serde::Serialize, trueform::schemars::JsonSchema)] #[serde(crate = \"trueform::serde\")] \
            #[schemars(crate = \"trueform::schemars\")]`",
    note = "`trueform::schemars` is schemars 1.x; `JsonSchema` of another version is another trait"
)]
pub trait OutputSchemaOf: JsonSchema {}

#[diagnostic::do_not_recommend]
impl<T: JsonSchema> OutputSchemaOf for T {}

impl<T: OutputValue + OutputSchemaOf> IntoToolResult for Json<T> {
    fn into_tool_result(self) -> ToolOutcome {
        structured(trueform_schema::Json::from_value(&self.0))
    }

    fn output_schema(output: &mut OutputSchema) {
        output.structured::<T>();
    }
}

/// Not generic over the serialised type.
fn structured(json: serde_json::Result<trueform_schema::Json>) -> ToolOutcome {
    let json = json.map_err(ToolError::internal)?;
    // The text that says the same is added when the result is finished.
    Ok(CallToolResult::new(Vec::<ContentBlock>::new()).with_structured_content(json))
}

/// `None` is a result without content; with an output schema, it is `null`.
impl<T: IntoToolResult> IntoToolResult for Option<T> {
    fn into_tool_result(self) -> ToolOutcome {
        match self {
            Some(result) => result.into_tool_result(),
            // With an output schema, the `null` is added when the result is finished.
            None => ().into_tool_result(),
        }
    }

    fn output_schema(output: &mut OutputSchema) {
        T::output_schema(output);
        output.nullable();
    }
}

impl<T: IntoToolResult, E: IntoToolError> IntoToolResult for Result<T, E> {
    fn into_tool_result(self) -> ToolOutcome {
        match self {
            Ok(result) => result.into_tool_result(),
            Err(error) => Err(error.into()),
        }
    }

    fn output_schema(output: &mut OutputSchema) {
        T::output_schema(output);
    }
}
