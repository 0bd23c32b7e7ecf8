//! What authors write: functions as tools, what they may take, what they may return, how they fail.
//!
//! A tool is registered once, as a `ToolRoute`: its definition for `tools/list`, the compiled checks of its schemas,
//! and a function pointer over type-erased state. Nothing here is generic after that, and nothing here knows a
//! transport. The `#[tool]` and `#[server]` macros emit calls to the builder in `spec`; everything else is in this
//! module.

mod arguments;
mod call;
mod content;
mod draft;
mod dynamic;
pub(crate) mod header_params;
mod injected;
mod input;
mod invoke;
mod lost;
mod output;
mod parameter;
mod plain;
mod rejected;
mod report;
mod result;
mod room;
mod route;
mod schema;
mod set;
mod spec;

pub use self::{
    call::ToolInvocation,
    content::{Audio, Blob, Image, IntoContent},
    dynamic::DynamicTool,
    injected::{Extension, FromContext, State},
    parameter::{Args, ToolArgs, ToolParameter},
    result::{IntoToolError, IntoToolResult, Json},
    set::{IntoTools, ToolSet},
};
pub(crate) use self::{
    draft::SchemaSettings,
    room::{TOPIC, Tools},
    route::ToolRoute,
};
pub use crate::feature::failure::ToolError;

use trueform_schema::{CallToolResult, ContentBlock, TextContent};

/// A result that reports to the model, in `message`, that the call failed (I-5).
pub(crate) fn failed(message: &str) -> CallToolResult {
    CallToolResult::new(vec![ContentBlock::Text(TextContent::new(message))]).with_is_error(true)
}

/// What expansions of the macros call, apart from the traits above.
pub(crate) mod macro_support {
    pub use super::{
        call::{ParameterError, ToolOutcome, ToolStep, blocking, later, ready},
        input::InputSchema,
        output::OutputSchema,
        parameter::{Field, UnnamedParameter},
        set::{ToolFunction, ToolServer},
        spec::{ToolSpec, tool},
    };
}
