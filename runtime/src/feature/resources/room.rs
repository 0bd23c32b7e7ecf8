//! The resources of a server: collects, declares, lists, finds and reads them.

use std::{
    borrow::Cow,
    collections::{HashMap, HashSet, hash_map},
    iter,
    sync::{Arc, PoisonError, RwLock},
};

use trueform_schema::{
    ErrorObject, Method, ReadResourceRequestParams, Revision, Revisions, ServerCapabilities,
    ServerCapabilitiesResources, conform::is_uri,
};

use super::{
    draft::Finished,
    items::{StaticResource, TemplateResource},
    matcher::Matcher,
    reading::{POINTER, Reader, Reading, not_found},
    set::ResourceSet,
    spelling::{Hidden, hides},
};
use crate::{
    check::CompileOptions,
    error::{Error, Result},
    exchange::{Context, Exchange},
    feature::{
        Room,
        caching::Caching,
        call::{Conditions, run},
        completion::{Argument, Completer, missing_states, unknown_argument},
        job::Called,
        listing::{Entry, Item, Listed, Listing, name_taken, unlistable},
        subscriptions::{RESOURCE_UPDATED, Topic},
        undeclared,
        visibility::Sight,
    },
    host::States,
    jsonrpc::{self, ErrorDetail},
    needs::RequiredCapabilities,
    peer::{MAX_RESOURCE_SUBSCRIPTIONS, Session, SubscriptionBytes, TooManySubscriptions},
};

static TOPICS: [Topic; 2] = [
    Topic {
        method: Method::ResourceListChanged,
        is_in: |filter| filter.resources_list_changed == Some(true),
        honour: |filter| filter.resources_list_changed = Some(true),
    },
    RESOURCE_UPDATED,
];

/// Changes to the lists of resources and of templates.
pub(crate) static TOPIC: &Topic = &TOPICS[0];

/// The resources of a server.
#[derive(Debug)]
pub(crate) struct Resources {
    resources: Listed<StaticResource>,
    templates: Listed<TemplateResource>,
    /// Rebuilt when the list of templates has changed.
    matcher: RwLock<Arc<Matcher>>,
    options: CompileOptions,
    /// Whether some callers do not see everything.
    is_limited: bool,
}

/// The resources and templates of a set.
#[derive(Default)]
struct GatheredResources {
    resources: Vec<StaticResource>,
    templates: Vec<TemplateResource>,
}

impl Resources {
    /// Builds the resources of `set`. All their problems are appended to `problems`.
    pub(crate) fn build(
        set: ResourceSet,
        options: CompileOptions,
        (page_size, [caching, caching_of_templates]): (usize, [Caching; 2]),
        is_limited: bool,
        states: &States,
        revisions: Revisions,
        problems: &mut Vec<String>,
    ) -> Self {
        let GatheredResources {
            resources,
            templates,
        } = gathered(set, options, is_limited, states, revisions, problems);
        let templates = Listed::new(templates, page_size).with_caching(caching_of_templates);
        Self {
            resources: Listed::new(resources, page_size).with_caching(caching),
            matcher: RwLock::new(Arc::new(Matcher::new(templates.now()))),
            templates,
            options,
            is_limited,
        }
    }

    /// Returns the current resources.
    pub(crate) fn now(&self) -> Arc<Listing<StaticResource>> {
        self.resources.now()
    }

    /// Returns the current templates.
    pub(crate) fn templates_now(&self) -> Arc<Listing<TemplateResource>> {
        self.templates.now()
    }

    /// Returns whether anything suggests values for a variable of a template.
    pub(crate) fn completes(&self) -> bool {
        let listing = self.templates_now();
        let mut entries = listing.entries().iter();
        entries.any(|entry| entry.item.completes())
    }

    /// Returns the variable `variable` of the template `template`, for completion.
    ///
    /// # Errors
    /// -32602 if there is no such template or variable (L-3).
    pub(crate) fn argument(
        &self,
        template: &str,
        variable: &str,
        sight: Option<&Sight<'_>>,
    ) -> std::result::Result<Argument, ErrorObject> {
        let listing = self.templates_now();
        let found = listing.find_at(template, "/params/ref/uri", sight)?;
        let reader = &found.reader;
        match reader.variables.iter().position(|own| **own == *variable) {
            Some(at) => Ok(Argument {
                owner: found.name().to_owned(),
                argument: variable.to_owned(),
                place: reader.place.clone(),
                completer: self.completer(found, at, sight),
            }),
            None => {
                let names = reader.variables.iter().map(|name| &**name);
                Err(unknown_argument(
                    TemplateResource::KIND,
                    found.name(),
                    variable,
                    names,
                ))
            }
        }
    }

    /// Returns the completer of the variable `at` of `template`. A list leaves out values that result in the URI of a resource that a
    /// caller with `sight` does not see. Functions can check the caller themselves.
    fn completer(
        &self,
        template: &TemplateResource,
        at: usize,
        sight: Option<&Sight<'_>>,
    ) -> Option<Completer> {
        let completer = template.reader.completers[at].clone()?;
        let is_alone = template.reader.variables.len() == 1;
        let hidden = Hidden::of(&self.now(), sight).filter(|_| is_alone);
        Some(match hidden {
            None => completer,
            Some(hidden) => {
                completer.retaining(|value| !hidden.contains(&template.template.expanded(&[value])))
            }
        })
    }

    /// Adds the resources of `set`; `completes` says whether the server declared that it completes arguments.
    ///
    /// # Errors
    /// All problems of the resources; then nothing is added.
    pub(crate) fn add(
        &self,
        mut set: ResourceSet,
        completes: bool,
        states: &States,
        revisions: Revisions,
    ) -> Result {
        let mut problems = Vec::new();
        for draft in set
            .0
            .iter_mut()
            .filter(|draft| draft.may_not_complete && !completes)
        {
            draft.completers.clear();
        }
        let gathered = gathered(
            set,
            self.options,
            self.is_limited,
            states,
            revisions,
            &mut problems,
        );
        let completing = gathered.templates.iter().filter(|one| one.completes());
        problems.extend(completing.filter(|_| !completes).map(|template| {
            format!(
                "resource template `{}` ({}) completes a variable, but the server was built without anything to complete, so it did not declare the capability to clients",
                template.name(),
                template.place()
            )
        }));
        if !problems.is_empty() {
            return Err(Error::registration(problems));
        }
        // Templates are changed inside this closure, so that either everything is added or nothing.
        self.resources.change(|resources| {
            let before = resources.iter().map(|entry| &*entry.item);
            let mut problems = clashes(before, &gathered.resources);
            let added = self.templates.change(|templates| {
                let before = templates.iter().map(|entry| &*entry.item);
                problems.append(&mut ambiguities(before, &gathered.templates));
                if !problems.is_empty() {
                    return Err(Error::registration(std::mem::take(&mut problems)));
                }
                let added = !gathered.templates.is_empty();
                templates.extend(gathered.templates.into_iter().map(Entry::new));
                Ok(added)
            });
            added?;
            let added = !gathered.resources.is_empty();
            resources.extend(gathered.resources.into_iter().map(Entry::new));
            Ok::<_, Error>(added)
        })?;
        Ok(())
    }

    /// Removes the resource or template `uri`. Returns `false` if it does not exist.
    pub(crate) fn remove(&self, uri: &str) -> bool {
        self.resources.remove(uri) || self.templates.remove(uri)
    }

    /// Lists the resource or template `uri`, or hides it. Returns `false` if it does not exist, or if nothing changed.
    pub(crate) fn enable(&self, uri: &str, enabled: bool) -> bool {
        self.resources.enable(uri, enabled) || self.templates.enable(uri, enabled)
    }

    /// Returns the URIs of the listed items, resources before templates.
    pub(crate) fn uris(&self) -> Vec<String> {
        let (resources, templates) = (self.now(), self.templates_now());
        let resources = resources
            .visible()
            .map(|resource| resource.name().to_owned());
        let templates = templates
            .visible()
            .map(|template| template.name().to_owned());
        resources.chain(templates).collect()
    }

    /// Finds what is read for `uri`: the resource with that URI, otherwise the most specific template that matches it.
    ///
    /// # Errors
    /// It is not a URI, there is no such resource, or a variable has no valid value.
    fn find(
        &self,
        uri: &str,
        revision: Revision,
        sight: Option<&Sight<'_>>,
    ) -> std::result::Result<(Arc<Reader>, Vec<String>), ErrorObject> {
        let resources = self.now();
        if let Some(resource) = resources.get(uri, sight) {
            return Ok((resource.reader.clone(), Vec::new()));
        }
        if !is_uri(uri) {
            return Err(not_a_uri(uri));
        }
        // A hidden resource is not found through a template either.
        if resources.has(uri) {
            return Err(not_found(revision, uri, None));
        }
        match self.matcher().find(uri, sight) {
            None => Err(not_found(revision, uri, None)),
            Some((_, Ok(_))) if hides(&resources, uri, sight) => {
                Err(not_found(revision, uri, None))
            }
            Some((template, Ok(values))) => Ok((template.reader.clone(), values)),
            Some((_, Err(problem))) => {
                let detail = ErrorDetail::new(
                    POINTER,
                    "template",
                    "a URI that the template of a resource allows",
                    format!("string of {} bytes", uri.len() + 2),
                );
                Err(jsonrpc::invalid_params(
                    format!("`{}`: {problem}", jsonrpc::shortened(uri)),
                    &detail,
                ))
            }
        }
    }

    fn matcher(&self) -> Arc<Matcher> {
        let listing = self.templates.now();
        let matcher = self.matcher.read().unwrap_or_else(PoisonError::into_inner);
        if Arc::ptr_eq(&matcher.listing, &listing) {
            return matcher.clone();
        }
        drop(matcher);
        let renewed = Arc::new(Matcher::new(listing));
        let mut matcher = self.matcher.write().unwrap_or_else(PoisonError::into_inner);
        *matcher = renewed.clone();
        renewed
    }

    /// Answers `resources/read`.
    ///
    /// # Errors
    /// There is no resource with the URI, or the client lacks a capability that the resource needs.
    pub(crate) fn read(
        &self,
        mut params: Box<ReadResourceRequestParams>,
        revision: Revision,
        exchange: impl FnOnce(&mut ReadResourceRequestParams) -> Arc<Exchange>,
        conditions: &Conditions<'_>,
    ) -> std::result::Result<Called, ErrorObject> {
        let uri = std::mem::take(&mut params.uri);
        let (reader, values) = self.find(&uri, revision, conditions.sight.as_ref())?;
        let exchange = exchange(&mut params);
        let missing = reader.needs.missing_from(&exchange.peer().capabilities);
        if !missing.is_empty() {
            // DEC-9
            return Err(undeclared(revision.era(), missing));
        }
        if params.input_responses.is_some() || params.request_state.is_some() {
            exchange.resume(conditions.message)?;
        }
        let reading = Arc::new(Reading {
            reader,
            uri,
            values,
        });
        Ok(run(&reading, Context(exchange), (), conditions))
    }

    /// Keeps those of `uris`, whose changes a client asks for, that it could read (J-8). At most the number that may be honoured is looked
    /// up. Returns those that are kept but whose changes are not sent: they match a template and are hidden from the caller, who must not
    /// learn which of them exist.
    pub(crate) fn retain_found(
        &self,
        uris: &mut Vec<String>,
        revision: Revision,
        sight: Option<&Sight<'_>>,
    ) -> HashSet<String> {
        let mut muted = HashSet::new();
        uris.truncate(MAX_RESOURCE_SUBSCRIPTIONS);
        uris.retain(|uri| match self.find(uri, revision, sight) {
            Ok(_) => true,
            Err(_) if self.may_be(uri, sight) => {
                muted.insert(uri.clone());
                true
            }
            Err(_) => false,
        });
        muted
    }

    /// Returns whether `uri` is a URI that matches a template that a caller with `sight` sees, so that the caller could assume that the
    /// resource exists.
    fn may_be(&self, uri: &str, sight: Option<&Sight<'_>>) -> bool {
        let matcher = self.matcher();
        is_uri(uri) && matches!(matcher.find(uri, sight), Some((_, Ok(_))))
    }

    /// Adds `uri` to the subscriptions of `session`, for `resources/subscribe` (J-7). Returns whether its changes are sent.
    ///
    /// # Errors
    /// There is no resource with the URI, or there are too many subscriptions in the session or in `all`.
    pub(crate) fn subscribe(
        &self,
        session: &Session,
        uri: &str,
        revision: Revision,
        sight: Option<&Sight<'_>>,
        all: &Arc<SubscriptionBytes>,
    ) -> std::result::Result<bool, ErrorObject> {
        let is_sent = match self.find(uri, revision, sight) {
            Ok(_) => true,
            // As in `retain_found`: the answer is the same for a hidden resource and for one that does not exist, and no changes are sent.
            // Both count, otherwise the limits would distinguish them.
            Err(_) if self.may_be(uri, sight) => false,
            Err(error) => return Err(error),
        };
        let whose = match session.watched.add(uri, all) {
            Ok(()) => return Ok(is_sent),
            Err(TooManySubscriptions::Here) => "this session has",
            Err(TooManySubscriptions::InAll) => "the sessions of this server have",
        };
        Err(jsonrpc::internal(format!(
            "{whose} too many subscriptions to resources"
        )))
    }
}

impl Room for Resources {
    fn declare(&self, _: Revision, capabilities: &mut ServerCapabilities) {
        let resources = ServerCapabilitiesResources::default()
            .with_list_changed(true)
            .with_subscribe(true);
        capabilities.resources = Some(resources);
    }

    fn topics(&self) -> &'static [Topic] {
        &TOPICS
    }

    fn needs(&self, method: Method, name: &str, sight: Option<&Sight<'_>>) -> RequiredCapabilities {
        if method != Method::ReadResource {
            return RequiredCapabilities::NONE;
        }
        match self.find(name, Revision::LATEST, sight) {
            Ok((reader, _)) => reader.needs,
            Err(_) => RequiredCapabilities::NONE,
        }
    }
}

#[cold]
fn not_a_uri(uri: &str) -> ErrorObject {
    let found = format!("string of {} bytes", uri.len() + 2);
    let detail = ErrorDetail::new(POINTER, "format", "a URI of RFC 3986", found);
    let problem = format!(
        "`{}` is not a URI: one begins with a scheme and a colon, and characters such as spaces are percent-encoded",
        jsonrpc::shortened(uri)
    );
    jsonrpc::invalid_params(problem, &detail)
}

fn gathered(
    set: ResourceSet,
    options: CompileOptions,
    is_limited: bool,
    states: &States,
    revisions: Revisions,
    problems: &mut Vec<String>,
) -> GatheredResources {
    let mut all = GatheredResources::default();
    for draft in set.0 {
        let named = draft.named();
        problems.extend(named.missing_states(&draft.states, states));
        for (variable, completer) in &draft.completers {
            problems.extend(missing_states(named, variable, completer, states));
        }
        problems.extend(named.undeclarable(draft.needs, revisions));
        problems.extend(named.inexpressible(&draft.forms, revisions));
        if is_limited && draft.caching.is_public() {
            // V-10
            problems.push(format!(
                "{} `{}` ({}) may be cached publicly, but `Server::visible` limits who sees it",
                named.kind, named.name, named.place
            ));
        }
        match draft.finished(options, is_limited, problems) {
            Some(Finished::Static(resource)) => all.resources.push(resource),
            Some(Finished::Template(template)) => all.templates.push(template),
            None => {}
        }
    }
    problems.extend(clashes(iter::empty(), &all.resources));
    problems.extend(ambiguities(iter::empty(), &all.templates));
    problems.extend(unlistable(all.resources.iter(), revisions));
    problems.extend(unlistable(all.templates.iter(), revisions));
    all
}

/// Returns problems for the URIs of `added` that exist already.
fn clashes<'r>(
    before: impl Iterator<Item = &'r StaticResource>,
    added: &'r [StaticResource],
) -> Vec<String> {
    let key = |resource: &'r StaticResource| Cow::Borrowed(resource.name());
    repeated(before, added, key, |first, second| {
        name_taken::<StaticResource>(second.name(), first.place(), second.place())
    })
}

/// Returns problems for the templates of `added` that match the same URIs as another template, so that the choice between them would be
/// arbitrary.
fn ambiguities<'r>(
    before: impl Iterator<Item = &'r TemplateResource>,
    added: &'r [TemplateResource],
) -> Vec<String> {
    let key = |resource: &'r TemplateResource| Cow::Owned(resource.template.form());
    repeated(before, added, key, |first, second| {
        format!(
            "the resource templates `{}` ({}) and `{}` ({}) match the same URIs",
            first.name(),
            first.place(),
            second.name(),
            second.place()
        )
    })
}

/// Returns a problem for each of `added` whose key an earlier item has.
fn repeated<'r, T>(
    before: impl Iterator<Item = &'r T>,
    added: &'r [T],
    key: impl Fn(&'r T) -> Cow<'r, str>,
    problem: impl Fn(&T, &T) -> String,
) -> Vec<String> {
    let mut seen: HashMap<_, _> = before.map(|one| (key(one), one)).collect();
    let mut problems = Vec::new();
    for one in added {
        match seen.entry(key(one)) {
            hash_map::Entry::Occupied(first) => problems.push(problem(first.get(), one)),
            hash_map::Entry::Vacant(free) => {
                free.insert(one);
            }
        }
    }
    problems
}
