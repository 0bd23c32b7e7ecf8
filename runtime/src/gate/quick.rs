//! The requests that call something, as nearly all clients write them, read in one pass: `tools/call`, `prompts/get`,
//! `resources/read`. Every other message, and what is written in another way, is left to the careful reader.

use trueform_schema::{
    CallToolRequestParams, ClientRequest, GetPromptRequestParams, JsonObject, Map, Method,
    ProgressToken, ReadResourceRequestParams, RequestId, RequestMetaObject, decode,
};

use super::remembered::{Remembered, Stated};
use crate::jsonrpc::{self, NotedObject};

/// A request that was read quickly.
#[derive(Debug)]
pub(crate) struct Quick<'a> {
    pub(crate) call: QuickCall<'a>,
    /// What a modern request says about itself; `None` if its `_meta` names no protocol version.
    pub(crate) stated: Option<Stated>,
    pub(crate) progress: Option<ProgressToken>,
}

/// What is called.
#[derive(Debug)]
pub(crate) enum QuickCall<'a> {
    Tool {
        name: &'a str,
        arguments: Option<NotedObject<'a>>,
    },
    /// The params, without their `_meta`.
    Other(ClientRequest),
}

/// Reads `bytes`. `None` if they are left to the careful reader.
pub(super) fn read<'a>(
    bytes: &'a [u8],
    remembered: &Remembered,
) -> Option<(RequestId, &'a str, Quick<'a>)> {
    let (mut name, mut uri, mut arguments) = (None, None, None);
    let (mut has_meta, mut stated, mut progress) = (false, None, None);
    let request = jsonrpc::quick(bytes, |cursor| {
        cursor.members(|cursor, member| match member {
            "name" if name.is_none() => {
                name = Some(cursor.plain()?);
                Some(())
            }
            "arguments" if arguments.is_none() => {
                arguments = Some(cursor.noted_object()?);
                Some(())
            }
            "_meta" if !has_meta => {
                has_meta = true;
                stated = remembered.read(cursor, &mut progress)?;
                Some(())
            }
            "uri" if uri.is_none() => {
                uri = Some(cursor.plain()?);
                Some(())
            }
            _ => None,
        })
    })?;
    let jsonrpc::QuickRequest { id, method } = request;
    let call = match (Method::from_wire(method)?, name, uri) {
        (Method::CallTool, Some(name), None) => QuickCall::Tool { name, arguments },
        (Method::GetPrompt, Some(name), None) => {
            let mut params = GetPromptRequestParams::new(name);
            if let Some(arguments) = arguments {
                params.arguments = Some(decode::from_str::<Map<String>>(arguments.text()).ok()?);
            }
            QuickCall::Other(ClientRequest::GetPrompt(Box::new(params)))
        }
        (Method::ReadResource, None, Some(uri)) if arguments.is_none() => {
            let params = ReadResourceRequestParams::new(uri);
            QuickCall::Other(ClientRequest::ReadResource(Box::new(params)))
        }
        _ => return None,
    };
    let quick = Quick {
        call,
        stated,
        progress,
    };
    Some((id, method, quick))
}

impl Quick<'_> {
    pub(super) fn method(&self) -> Method {
        match &self.call {
            QuickCall::Tool { .. } => Method::CallTool,
            QuickCall::Other(request) => request.method(),
        }
    }

    /// The member that `Mcp-Name` repeats.
    pub(super) fn name(&self) -> Option<&str> {
        match &self.call {
            QuickCall::Tool { name, .. } => Some(name),
            QuickCall::Other(request) => request.header_name(),
        }
    }

    /// The request as the careful reader gives it.
    #[cold]
    pub(crate) fn to_request(&self) -> ClientRequest {
        let meta = self.meta();
        match &self.call {
            QuickCall::Tool { name, arguments } => {
                let mut params = CallToolRequestParams::new(*name);
                params.meta = meta;
                params.arguments = arguments.map(|arguments| {
                    let object: Result<JsonObject, _> = serde_json::from_str(arguments.text());
                    object.expect("what is read quickly is an object")
                });
                ClientRequest::CallTool(Box::new(params))
            }
            QuickCall::Other(request) => {
                let mut request = request.clone();
                match &mut request {
                    ClientRequest::GetPrompt(params) => params.meta = meta,
                    ClientRequest::ReadResource(params) => params.meta = meta,
                    _ => {}
                }
                request
            }
        }
    }

    fn meta(&self) -> Option<RequestMetaObject> {
        if self.stated.is_none() && self.progress.is_none() {
            return None;
        }
        let mut meta = RequestMetaObject::default();
        if let Some(stated) = &self.stated {
            meta.protocol_version = Some(stated.revision.as_str().to_owned());
            meta.client_info.clone_from(&stated.facts.client_info);
            meta.client_capabilities = Some(stated.facts.capabilities.clone());
        }
        meta.progress_token.clone_from(&self.progress);
        Some(meta)
    }
}
