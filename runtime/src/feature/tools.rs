//! Tools: content that they return, sets of them, and tools that are known only at run time.
//!
//! The page of [`#[tool]`](macro@crate::tool) describes how a function becomes a tool, its parameters and return types, and how it fails.

// A tool is registered once, as a `ToolRoute`: its definition for `tools/list`, the compiled checks of its schemas, and a function
// pointer over type-erased state. After that, nothing here is generic, and nothing depends on a transport. The `#[tool]` and `#[server]`
// macros emit calls to the builder in `spec`; everything else is in this module.

mod draft;
mod dynamic;
pub(crate) mod header_params;
mod invoke;
mod output;
mod rejected;
mod result;
mod room;
mod route;
mod set;
mod spec;

pub(crate) use self::{
    draft::SchemaSettings,
    room::{TOPIC, ToolCall, Tools},
    route::ToolRoute,
};
pub use self::{
    dynamic::DynamicTool,
    result::{IntoToolResult, Json},
    set::{IntoTools, ToolSet},
};
pub use crate::feature::{
    content::{Audio, Blob, Image, IntoContent},
    failure::{IntoToolError, ToolError},
    function::{Args, Arguments, Extension, FromContext, Invocation, Parameter, Shared, State},
};

use trueform_schema::{CallToolResult, ContentBlock, TextContent};

/// Returns a result that reports to the model, with `message`, that the call failed (I-5).
pub(crate) fn failed(message: &str) -> CallToolResult {
    CallToolResult::new(vec![ContentBlock::Text(TextContent::new(message))]).with_is_error(true)
}

/// Items that the expansions of macros use, apart from the traits above.
pub(crate) mod macro_support {
    pub use super::{
        output::OutputSchema,
        set::ToolFunction,
        spec::{ToolSpec, tool},
    };
}
