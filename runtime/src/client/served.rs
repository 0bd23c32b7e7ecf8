//! What a client itself does about requests and notifications of the server: one function for each method. The generated
//! dispatch calls them. The author's handler answers all other requests.

use std::sync::Arc;

use trueform_schema::{
    CancelledNotificationParams, EmptyResult, Json, Method, NotificationParams,
    ProgressNotificationParams, RequestId, RequestParams, ResourceUpdatedNotificationParams,
    Revision, View,
    methods::Request,
    serve::client::{ServeMethods, ServeNotifications},
};

use super::{changes::Changing, link::Link, notified::Notified};
use crate::gate::{Outgoing, Policy, ToServer};

/// The link whose server is served.
pub(crate) struct Serving<'l>(pub(super) &'l Arc<Link>);

/// A request of the server, on its way through the dispatch.
pub(crate) struct ServerRequestContext<'a> {
    pub(super) id: &'a RequestId,
    /// The params as the handler sees them.
    pub(super) params: Option<Json>,
}

impl ServeMethods for Serving<'_> {
    type Cx<'a> = ServerRequestContext<'a>;
    type Reply<M: Request> = M::Result;
    type Answer = ();

    fn answer<M: Request>(&self, cx: ServerRequestContext<'_>, result: M::Result) {
        let revision = self.0.gate.revision().unwrap_or(Revision::LATEST_LEGACY);
        let view = View::at(revision);
        let method = M::METHOD.as_str();
        let response = Outgoing::result(cx.id, view, Policy::Enforce, method, &result);
        let response = response.map(ToServer::from);
        self.0
            .respond(response.unwrap_or_else(|error| self.0.gate.refusal(cx.id, &error)));
    }

    /// Asks the [`ClientHandler`](super::ClientHandler). The gate lets in only what the client declared.
    fn not_served(&self, cx: ServerRequestContext<'_>, method: Method) {
        self.0.ask_handler(cx.id, method.as_str(), cx.params);
    }

    fn ping(&self, _: &mut ServerRequestContext<'_>, _: Box<RequestParams>) -> Option<EmptyResult> {
        Some(EmptyResult::default())
    }
}

impl ServeNotifications for Serving<'_> {
    /// The notification as it was written.
    type Cx<'a> = Notified;

    /// Publishes a notification that the client itself does not act on.
    fn ignored(&self, notified: Notified, _: Method) {
        self.0.publish(notified);
    }

    fn cancelled(&self, notified: Notified, params: Box<CancelledNotificationParams>) {
        if let Some(id) = &params.request_id {
            self.0.server_requests.cancel(id);
        }
        self.0.publish(notified);
    }

    fn tool_list_changed(&self, notified: Notified, _: Box<NotificationParams>) {
        self.0.changed(Changing::Tools, notified);
    }

    fn prompt_list_changed(&self, notified: Notified, _: Box<NotificationParams>) {
        self.0.changed(Changing::Prompts, notified);
    }

    fn resource_list_changed(&self, notified: Notified, _: Box<NotificationParams>) {
        self.0.changed(Changing::Resources, notified);
    }

    fn resource_updated(&self, notified: Notified, _: Box<ResourceUpdatedNotificationParams>) {
        self.0.changed(Changing::Contents, notified);
    }

    fn progress(&self, notified: Notified, params: Box<ProgressNotificationParams>) {
        self.0.progressed(&params.progress_token, &notified);
        self.0.publish(notified);
    }
}
