//! What nearly every server uses, for `use trueform::prelude::*`.

pub use crate::{
    Args, Asked, Client, Context, DynamicPrompt, DynamicResource, DynamicTemplate, DynamicTool,
    Json, Principal, Server, State, ToolError,
    client::ClientMethods,
    resource::{Caching, Folder},
    schema::{CallToolResult, ContentBlock, LoggingLevel, Revision},
    schemars::{self, JsonSchema},
    serde::{self, Deserialize, Serialize},
};
pub use crate::{prompt, prompts, resource, resources, server, tool, tools};
