//! Requests that were read in one pass, from the checks on.

use trueform_schema::{
    Method, methods,
    serve::server::{ServeMethods, dispatch},
};

use super::{
    Engine,
    admit::{Admitted, Entered, QuickMeta, Received},
    serve::Answered,
};
use crate::{
    drive::Reply,
    feature::tools::ToolCall,
    gate::{Quick, QuickCall},
};

impl Engine {
    /// Serves a request that passed every check but those of its params. They have nothing that would have to be checked: members that
    /// all revisions have, and a `_meta` that was checked before.
    #[inline]
    pub(super) fn quick(&self, received: &Received<'_>, by: Entered, quick: Quick<'_>) -> Reply {
        let Quick {
            call,
            stated,
            progress,
        } = quick;
        let meta = QuickMeta { stated, progress };
        match call {
            QuickCall::Tool { name, arguments } => {
                let mut cx = Admitted::new(received, Method::CallTool.as_str(), by);
                cx.quick = meta;
                let call = ToolCall::plain(name, arguments.as_ref());
                match self.call_of_tool(&mut cx, call, None) {
                    Some(called) => self.answer::<methods::CallTool>(cx, called),
                    None => self.not_served(cx, Method::CallTool),
                }
            }
            QuickCall::Other(request) => {
                let mut cx = Admitted::new(received, request.method().as_str(), by);
                cx.quick = meta;
                dispatch(self, cx, request)
            }
        }
    }

    /// Answers `tools/call`.
    #[inline(always)]
    pub(super) fn call_of_tool(
        &self,
        cx: &mut Admitted<'_>,
        call: ToolCall<'_>,
        meta: Option<&mut trueform_schema::RequestMetaObject>,
    ) -> Option<Answered<methods::CallTool>> {
        let tools = self.features.tools.as_ref()?;
        let headers = cx.headers();
        let conditions = self.conditions(cx.source, cx.message);
        let exchange = || cx.exchange(self, meta);
        let tasks = self.features.tasks.as_ref();
        Some(Answered::Called(tools.call(
            call,
            headers,
            exchange,
            tasks,
            &conditions,
        )))
    }
}
