//! What a client answers, and what it makes of notifications: one function for each method. The generated dispatch calls them.

use std::sync::Arc;

use trueform_schema::{
    CancelTaskRequestParams, CancelledNotificationParams, CreateMessageRequestParams,
    ElicitRequestParams, EmptyResult, GetTaskPayloadRequestParams, GetTaskRequestParams, Json,
    ListRootsRequestParams, Method, PaginatedRequestParams, ProgressNotificationParams, RequestId,
    RequestParams, Revision, View,
    methods::{self, Request},
    serve::client::{ServeMethods, ServeNotifications},
};

use super::{link::Link, notified::Notified};
use crate::{
    gate::{Outgoing, Policy},
    jsonrpc,
};

/// The link whose server is served.
pub(crate) struct Serving<'l>(pub(super) &'l Arc<Link>);

/// A request of the server, on its way through the dispatch.
pub(crate) struct Asked<'a> {
    pub(super) id: &'a RequestId,
    /// The params as the handler sees them.
    pub(super) params: Option<Json>,
}

/// How a request of the server is answered.
pub(crate) enum Answered<M: Request> {
    Now(M::Result),
    /// By the [`ClientHandler`](super::ClientHandler).
    ByHandler,
}

/// A request that the handler answers.
macro_rules! by_handler {
    ($($name:ident($params:ty) -> $method:ident;)*) => {$(
        fn $name(&self, _: &mut Asked<'_>, _: Box<$params>) -> Option<Answered<methods::$method>> {
            Some(Answered::ByHandler)
        }
    )*};
}

impl ServeMethods for Serving<'_> {
    type Cx<'a> = Asked<'a>;
    type Reply<M: Request> = Answered<M>;
    type Answer = ();

    fn answer<M: Request>(&self, cx: Asked<'_>, answered: Answered<M>) {
        match answered {
            Answered::ByHandler => self.0.ask_handler(cx.id, M::METHOD.as_str(), cx.params),
            Answered::Now(result) => {
                let revision = self.0.gate.revision().unwrap_or(Revision::LATEST_LEGACY);
                let view = View::at(revision);
                let method = M::METHOD.as_str();
                let response = Outgoing::result(cx.id, view, Policy::Enforce, method, &result);
                self.0
                    .respond(response.unwrap_or_else(|error| self.0.gate.refusal(cx.id, &error)));
            }
        }
    }

    fn not_served(&self, cx: Asked<'_>, method: Method) {
        let error = jsonrpc::method_not_found(method.as_str(), "is not known here");
        self.0.respond(self.0.gate.refusal(cx.id, &error));
    }

    fn ping(&self, _: &mut Asked<'_>, _: Box<RequestParams>) -> Option<Answered<methods::Ping>> {
        Some(Answered::Now(EmptyResult::default()))
    }

    by_handler! {
        elicit(ElicitRequestParams) -> Elicit;
        list_roots(ListRootsRequestParams) -> ListRoots;
        create_message(CreateMessageRequestParams) -> CreateMessage;
        cancel_task(CancelTaskRequestParams) -> CancelTask;
        get_task(GetTaskRequestParams) -> GetTask;
        list_tasks(PaginatedRequestParams) -> ListTasks;
        get_task_payload(GetTaskPayloadRequestParams) -> GetTaskPayload;
    }
}

impl ServeNotifications for Serving<'_> {
    /// The notification as it was written.
    type Cx<'a> = Notified;

    /// Publishes a notification that the client itself does not act on.
    fn ignored(&self, notified: Notified, _: Method) {
        self.0.publish(&notified);
    }

    fn cancelled(&self, notified: Notified, params: Box<CancelledNotificationParams>) {
        if let Some(id) = &params.request_id {
            self.0.server_requests.cancel(id);
        }
        self.0.publish(&notified);
    }

    fn progress(&self, notified: Notified, params: Box<ProgressNotificationParams>) {
        self.0.progressed(&params.progress_token, &notified);
        self.0.publish(&notified);
    }
}
