//! The items that nearly every server uses, for `use trueform::prelude::*`.

pub use crate::{
    Args, Asked, Context, DynamicPrompt, DynamicResource, DynamicTemplate, DynamicTool, Json,
    Principal, Server, State, ToolError,
    resource::{Caching, Folder},
    schema::{CallToolResult, ContentBlock, LoggingLevel, Revision},
    schemars::{self, JsonSchema},
    serde::{self, Deserialize, Serialize},
};
#[cfg(feature = "client")]
pub use crate::{Client, client::ClientMethods};
pub use crate::{prompt, prompts, resource, resources, server, tool, tools};
