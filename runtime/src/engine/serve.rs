//! What this server answers: one function for each request of the protocol that it serves. The generated dispatch calls them.

use std::collections::HashSet;

use trueform_schema::{
    CallToolRequestParams, CancelTaskRequestParams, CompleteRequestParams, CompletionReference,
    EmptyResult, ErrorObject, GetPromptRequestParams, GetTaskPayloadRequestParams,
    GetTaskRequestParams, InitializeRequestParams, Method, PaginatedRequestParams,
    ReadResourceRequestParams, RequestMetaObject, RequestParams, SetLevelRequestParams,
    SubscribeRequestParams, SubscriptionsListenRequestParams, UnsubscribeRequestParams,
    methods::{self, Request},
    serve::server::ServeMethods,
};

use super::{Engine, admit::Admitted, refused_call, route::RefusedMessage, source::Source};
use crate::{
    drive::{self, Reply},
    feature::{
        call::Conditions,
        completion::{Argument, Completions},
        job::Called,
        listing::{Item, Listing},
        logging,
        subscriptions::Wanted,
        tasks::CoreRequest,
        tools::ToolCall,
        visibility::Sight,
    },
    gate::{Checked, Outgoing},
    jsonrpc::{self, ErrorDetail},
};

/// The answer to a request of method `M`.
pub(crate) enum Answered<M: Request> {
    Result(Result<M::Result, ErrorObject>),
    /// A page of a list.
    Page(Result<Checked, ErrorObject>),
    /// Something was called, which has its own way through the gate.
    Called(Result<Called, ErrorObject>),
}

impl Engine {
    /// What a call of a request from `source` needs, which was read from `message`.
    pub(super) fn conditions<'a>(
        &'a self,
        source: &'a Source<'a>,
        message: &'a [u8],
    ) -> Conditions<'a> {
        Conditions {
            layers: &self.layers,
            sight: self.sight(source),
            capacity: source.capacity(),
            unread: &self.host.unread,
            message,
            run_apart: drive::run_apart,
        }
    }

    /// What the sender of a request from `source` sees; `None` for everything.
    #[inline]
    pub(super) fn sight<'a>(&'a self, source: &'a Source<'a>) -> Option<Sight<'a>> {
        match self.visibility.is_unlimited() {
            true => None,
            false => Some(self.visibility.of(source.viewer())),
        }
    }

    /// Answers a request about the tasks of 2025-11-25.
    fn about_tasks<M: Request>(
        &self,
        cx: &mut Admitted<'_>,
        meta: Option<&mut RequestMetaObject>,
        request: CoreRequest,
    ) -> Option<Answered<M>> {
        let tasks = self.features.tasks.as_ref()?;
        let exchange = cx.exchange(self, meta);
        let called = tasks.answer(request, exchange, &self.conditions(cx.source, &[]));
        Some(Answered::Called(Ok(called)))
    }

    /// The page of `listing` that `cursor` asks for.
    fn page<T: Item, M: Request>(
        &self,
        cx: &Admitted<'_>,
        listing: &Listing<T>,
        cursor: Option<&str>,
    ) -> Answered<M> {
        let view = self.host.view(cx.revision());
        let policy = self.host.settings.outgoing;
        let sight = self.sight(cx.source);
        Answered::Page(listing.page(cursor, sight.as_ref(), view, policy))
    }

    /// The reply with `response`, if there is room for it.
    fn answered(&self, cx: &Admitted<'_>, response: Result<Outgoing, ErrorObject>) -> Reply {
        let (id, revision) = (cx.id, cx.revision());
        // A handshake is answered: the session that it opened would be there without its client.
        if cx.opening.is_none()
            && response.as_ref().is_ok_and(Outgoing::is_counted)
            && let Err(refusal) = self.host.unread.check()
        {
            return RefusedMessage::turned_away(&refusal, revision).reply(id);
        }
        let response = response.map(|response| response.counted(&self.host.unread));
        match (response, cx.opening) {
            (Ok(response), None) => Reply::Ready(response),
            (Ok(response), Some(opening)) => match self.opened(cx, opening) {
                Ok(()) => Reply::Ready(response),
                Err(refusal) => RefusedMessage::turned_away(&refusal, revision).reply(id),
            },
            (Err(error), _) => Reply::Ready(refused_call(id, revision, &error)),
        }
    }

    /// The argument that `params` are about (L-3).
    fn argument(
        &self,
        params: &CompleteRequestParams,
        sight: Option<&Sight<'_>>,
    ) -> Result<Argument, ErrorObject> {
        let name = &params.argument.name;
        let features = &self.features;
        match (&params.reference, &features.prompts, &features.resources) {
            (CompletionReference::Prompt(prompt), Some(prompts), _) => {
                prompts.argument(&prompt.name, name, sight)
            }
            (CompletionReference::ResourceTemplate(template), _, Some(resources)) => {
                resources.argument(&template.uri, name, sight)
            }
            _ => Err(unknown_reference()),
        }
    }
}

/// The error for something that has no arguments to be completed here.
#[cold]
fn unknown_reference() -> ErrorObject {
    let expected = "a prompt or a resource template of this server";
    let detail = ErrorDetail::new("/params/ref", "known-reference", expected, "something else");
    jsonrpc::invalid_params("`ref` names nothing that this server has", &detail)
}

impl ServeMethods for Engine {
    type Cx<'a> = Admitted<'a>;
    type Reply<M: Request> = Answered<M>;
    type Answer = Reply;

    fn answer<M: Request>(&self, cx: Admitted<'_>, answered: Answered<M>) -> Reply {
        let (id, revision) = (cx.id, cx.revision());
        let response = match answered {
            Answered::Result(Ok(result)) => {
                let policy = self.host.settings.outgoing;
                let view = self.host.view(revision);
                Outgoing::result(id, view, policy, M::METHOD.as_str(), &result)
            }
            Answered::Page(Ok(page)) => Ok(Outgoing::written(id, revision, &page)),
            Answered::Called(Ok(called)) => return self.called(id, revision, called),
            Answered::Result(Err(error))
            | Answered::Page(Err(error))
            | Answered::Called(Err(error)) => Err(error),
        };
        self.answered(&cx, response)
    }

    fn not_served(&self, cx: Admitted<'_>, method: Method) -> Reply {
        let error = jsonrpc::method_not_found(method.as_str(), "is not offered by this server");
        Reply::Ready(refused_call(cx.id, cx.revision(), &error))
    }

    fn initialize(
        &self,
        cx: &mut Admitted<'_>,
        params: Box<InitializeRequestParams>,
    ) -> Option<Answered<methods::Initialize>> {
        Some(Answered::Result(self.open_session(cx, Ok(*params))))
    }

    // B-10
    fn ping(&self, _: &mut Admitted<'_>, _: Box<RequestParams>) -> Option<Answered<methods::Ping>> {
        Some(Answered::Result(Ok(EmptyResult::default())))
    }

    fn discover(
        &self,
        cx: &mut Admitted<'_>,
        _: Box<RequestParams>,
    ) -> Option<Answered<methods::Discover>> {
        Some(Answered::Result(Ok(self.described(cx.revision()))))
    }

    fn set_level(
        &self,
        cx: &mut Admitted<'_>,
        params: Box<SetLevelRequestParams>,
    ) -> Option<Answered<methods::SetLevel>> {
        let session = cx.by.session.as_ref()?;
        let set = logging::set_level(session, &params.level);
        Some(Answered::Result(set.map(|()| EmptyResult::default())))
    }

    fn list_tools(
        &self,
        cx: &mut Admitted<'_>,
        params: Box<PaginatedRequestParams>,
    ) -> Option<Answered<methods::ListTools>> {
        let listing = self.features.tools.as_ref()?.now();
        Some(self.page(cx, &listing, params.cursor.as_deref()))
    }

    fn call_tool(
        &self,
        cx: &mut Admitted<'_>,
        params: Box<CallToolRequestParams>,
    ) -> Option<Answered<methods::CallTool>> {
        let mut params = *params;
        let call = ToolCall {
            name: &params.name,
            arguments: params.arguments.as_ref().map(|arguments| arguments.get()),
            noted: None,
            resumes: params.input_responses.is_some() || params.request_state.is_some(),
            task: params.task.take(),
        };
        self.call_of_tool(cx, call, params.meta.as_mut())
    }

    fn get_task(
        &self,
        cx: &mut Admitted<'_>,
        mut params: Box<GetTaskRequestParams>,
    ) -> Option<Answered<methods::GetTask>> {
        let request = CoreRequest::Get(params.task_id);
        self.about_tasks(cx, params.meta.as_mut(), request)
    }

    fn get_task_payload(
        &self,
        cx: &mut Admitted<'_>,
        mut params: Box<GetTaskPayloadRequestParams>,
    ) -> Option<Answered<methods::GetTaskPayload>> {
        let request = CoreRequest::Result(params.task_id);
        self.about_tasks(cx, params.meta.as_mut(), request)
    }

    fn cancel_task(
        &self,
        cx: &mut Admitted<'_>,
        mut params: Box<CancelTaskRequestParams>,
    ) -> Option<Answered<methods::CancelTask>> {
        let request = CoreRequest::Cancel(params.task_id);
        self.about_tasks(cx, params.meta.as_mut(), request)
    }

    fn list_tasks(
        &self,
        cx: &mut Admitted<'_>,
        mut params: Box<PaginatedRequestParams>,
    ) -> Option<Answered<methods::ListTasks>> {
        let request = CoreRequest::List(params.cursor);
        self.about_tasks(cx, params.meta.as_mut(), request)
    }

    fn list_prompts(
        &self,
        cx: &mut Admitted<'_>,
        params: Box<PaginatedRequestParams>,
    ) -> Option<Answered<methods::ListPrompts>> {
        let listing = self.features.prompts.as_ref()?.now();
        Some(self.page(cx, &listing, params.cursor.as_deref()))
    }

    fn get_prompt(
        &self,
        cx: &mut Admitted<'_>,
        params: Box<GetPromptRequestParams>,
    ) -> Option<Answered<methods::GetPrompt>> {
        let prompts = self.features.prompts.as_ref()?;
        let conditions = self.conditions(cx.source, cx.message);
        let exchange =
            |params: &mut GetPromptRequestParams| cx.exchange(self, params.meta.as_mut());
        Some(Answered::Called(prompts.get(params, exchange, &conditions)))
    }

    fn list_resources(
        &self,
        cx: &mut Admitted<'_>,
        params: Box<PaginatedRequestParams>,
    ) -> Option<Answered<methods::ListResources>> {
        let listing = self.features.resources.as_ref()?.now();
        Some(self.page(cx, &listing, params.cursor.as_deref()))
    }

    fn list_resource_templates(
        &self,
        cx: &mut Admitted<'_>,
        params: Box<PaginatedRequestParams>,
    ) -> Option<Answered<methods::ListResourceTemplates>> {
        let listing = self.features.resources.as_ref()?.templates_now();
        Some(self.page(cx, &listing, params.cursor.as_deref()))
    }

    fn read_resource(
        &self,
        cx: &mut Admitted<'_>,
        params: Box<ReadResourceRequestParams>,
    ) -> Option<Answered<methods::ReadResource>> {
        let resources = self.features.resources.as_ref()?;
        let conditions = self.conditions(cx.source, cx.message);
        let revision = cx.revision();
        let exchange =
            |params: &mut ReadResourceRequestParams| cx.exchange(self, params.meta.as_mut());
        let called = resources.read(params, revision, exchange, &conditions);
        Some(Answered::Called(called))
    }

    fn subscribe(
        &self,
        cx: &mut Admitted<'_>,
        params: Box<SubscribeRequestParams>,
    ) -> Option<Answered<methods::Subscribe>> {
        let resources = self.features.resources.as_ref()?;
        let session = cx.by.session.as_ref()?;
        let all = &self.subscriptions.bytes;
        let sight = self.sight(cx.source);
        let revision = cx.revision();
        let subscribed = resources.subscribe(session, &params.uri, revision, sight.as_ref(), all);
        if let Ok(true) = subscribed {
            self.subscriptions.watch(session, &params.uri);
        }
        Some(Answered::Result(subscribed.map(|_| EmptyResult::default())))
    }

    fn unsubscribe(
        &self,
        cx: &mut Admitted<'_>,
        params: Box<UnsubscribeRequestParams>,
    ) -> Option<Answered<methods::Unsubscribe>> {
        self.features.resources.as_ref()?;
        let session = cx.by.session.as_ref()?;
        self.subscriptions.unwatch(session, &params.uri);
        Some(Answered::Result(Ok(EmptyResult::default())))
    }

    fn complete(
        &self,
        cx: &mut Admitted<'_>,
        mut params: Box<CompleteRequestParams>,
    ) -> Option<Answered<methods::Complete>> {
        self.features.completions.as_ref()?;
        let conditions = self.conditions(cx.source, cx.message);
        let argument = self.argument(&params, conditions.sight.as_ref());
        let called = argument.map(|argument| {
            let exchange = cx.exchange(self, params.meta.as_mut());
            Completions::complete(argument, *params, exchange, &conditions)
        });
        Some(Answered::Called(called))
    }

    fn subscriptions_listen(
        &self,
        cx: &mut Admitted<'_>,
        mut params: Box<SubscriptionsListenRequestParams>,
    ) -> Option<Answered<methods::SubscriptionsListen>> {
        let mut muted = HashSet::new();
        if let Some(resources) = &self.features.resources
            && let Some(uris) = &mut params.notifications.resource_subscriptions
        {
            let sight = self.sight(cx.source);
            muted = resources.retain_found(uris, cx.revision(), sight.as_ref());
        }
        let exchange = cx.exchange(self, Some(&mut params.meta));
        let listened = match &self.features.tasks {
            Some(tasks) => tasks.listened(&exchange, &params.notifications),
            None => Ok(None),
        };
        let listened = match listened {
            Ok(listened) => listened,
            Err(error) => return Some(Answered::Called(Err(error))),
        };
        let topics = self.features.topics();
        let capacity = cx.source.capacity();
        let wanted = Wanted {
            filter: &params.notifications,
            muted: &muted,
            tasks: listened.as_ref(),
        };
        let listening = self
            .subscriptions
            .listen(&exchange, wanted, topics, capacity);
        if let (Called::Running(_), Some(tasks), Some(listened)) =
            (&listening, &self.features.tasks, listened)
        {
            tasks.listen(&exchange, listened);
        }
        Some(Answered::Called(Ok(listening)))
    }
}
