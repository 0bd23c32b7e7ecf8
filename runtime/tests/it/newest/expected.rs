//! Which definitions of its revision a session has to have, or it proves little.

use trueform::{prelude::*, schema::Era};

/// What a session has to have of the server, or it proves little.
pub(super) fn of_server(revision: Revision) -> Vec<&'static str> {
    let mut names = vec![
        "ListToolsResult",
        "CallToolResult",
        "ProgressNotification",
        "LoggingMessageNotification",
        "ToolListChangedNotification",
        "ListPromptsResult",
        "GetPromptResult",
        "ListResourcesResult",
        "ListResourceTemplatesResult",
        "ReadResourceResult",
        "CompleteResult",
        "PromptListChangedNotification",
        "ResourceListChangedNotification",
        "ResourceUpdatedNotification",
    ];
    names.extend(match revision {
        Revision::V2026_07_28 => &[
            "DiscoverResult",
            "SubscriptionsAcknowledgedNotification",
            "UnsupportedProtocolVersionError",
            "MissingRequiredClientCapabilityError",
            "MethodNotFoundError",
            "InvalidParamsError",
            "InvalidRequestError",
            "InternalError",
            "ParseError",
        ][..],
        _ => &[
            "InitializeResult",
            "EmptyResult",
            "ListRootsRequest",
            "PingRequest",
            "CreateMessageRequest",
        ],
    });
    if revision >= Revision::V2025_06_18 && revision.era() == Era::Legacy {
        names.push("ElicitRequest");
    }
    if revision == Revision::V2025_11_25 {
        names.push("URLElicitationRequiredError");
    }
    names
}

/// The same of the client.
pub(super) fn of_client(revision: Revision) -> Vec<&'static str> {
    let mut names = vec![
        "ListToolsRequest",
        "CallToolRequest",
        "ListPromptsRequest",
        "GetPromptRequest",
        "ListResourcesRequest",
        "ListResourceTemplatesRequest",
        "ReadResourceRequest",
        "CompleteRequest",
    ];
    names.extend(match revision {
        Revision::V2026_07_28 => &["DiscoverRequest", "SubscriptionsListenRequest"][..],
        _ => &[
            "InitializeRequest",
            "InitializedNotification",
            "SetLevelRequest",
            "SubscribeRequest",
            "UnsubscribeRequest",
            "ListRootsResult",
            "CreateMessageResult",
        ],
    });
    if revision >= Revision::V2025_06_18 && revision.era() == Era::Legacy {
        names.push("ElicitResult");
    }
    names
}
