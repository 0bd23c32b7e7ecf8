//! A resource or template before the server is built.

use std::sync::Arc;

use trueform_schema::{Annotations, Icon, Meta, Resource, ResourceTemplate, conform::is_uri};

use super::{
    contents::ResourceOutput,
    date::is_date,
    items::{StaticResource, TemplateResource},
    reading::{Code, DynamicCode, Reader},
    template::Template,
};
use crate::{
    check::CompileOptions,
    feature::{
        caching::Caching,
        callable::Timeout,
        completion::Completer,
        form::{AsksFor, Forms},
        function::{Function, Input, Place, RequiredState, TextFunction},
        listing::Item,
        lost::ReportedLosses,
        offered::Named,
    },
    needs::RequiredCapabilities,
};

/// The data that lists show.
#[derive(Clone, Debug, Default)]
pub(super) struct Shown {
    /// A URI, or a template if it has a brace.
    pub(super) uri: String,
    pub(super) name: String,
    pub(super) title: Option<String>,
    pub(super) description: Option<String>,
    pub(super) mime_type: Option<String>,
    /// In bytes; only for a resource.
    pub(super) size: Option<u64>,
    pub(super) annotations: Option<Annotations>,
    pub(super) icons: Option<Vec<Icon>>,
    pub(super) meta: Option<Meta>,
}

/// A resource or template whose parameters are not checked.
#[derive(Debug)]
pub(super) struct ResourceDraft {
    pub(super) shown: Shown,
    pub(super) place: Place,
    pub(super) timeout: Option<Timeout>,
    pub(super) needs: RequiredCapabilities,
    pub(super) caching: Caching,
    /// Whether the values of its variables are paths below a folder.
    pub(super) is_file_like: bool,
    /// `None` if the author did not set it.
    pub(super) code: Option<DraftCode>,
    pub(super) states: Vec<RequiredState>,
    /// What its function asks clients for.
    pub(super) forms: Forms,
    /// The types that the code of a value asks clients for; added to `forms` with the others.
    pub(super) asks: Vec<AsksFor>,
    /// Whether it may be added without its completers if the server did not declare completions.
    pub(super) may_not_complete: bool,
    pub(super) completers: Vec<(String, Completer)>,
    /// Problems that were found earlier.
    pub(super) problems: Vec<String>,
    /// Whether the author marked it as a template; `None` if its URI decides.
    pub(super) is_called_template: Option<bool>,
}

pub(super) enum DraftCode {
    Function {
        input: Box<Input>,
        function: Function<ResourceOutput>,
    },
    Dynamic(DynamicCode),
}

/// The result of finishing a draft.
#[derive(Debug)]
pub(super) enum Finished {
    Static(StaticResource),
    Template(TemplateResource),
}

impl ResourceDraft {
    /// Creates a draft without code and without settings.
    pub(super) fn new(shown: Shown, place: Place) -> Self {
        Self {
            shown,
            place,
            timeout: None,
            needs: RequiredCapabilities::NONE,
            caching: Caching::default(),
            is_file_like: false,
            code: None,
            states: Vec::new(),
            forms: Forms::default(),
            asks: Vec::new(),
            may_not_complete: false,
            completers: Vec::new(),
            problems: Vec::new(),
            is_called_template: None,
        }
    }

    /// Creates the forms of `asks`.
    pub(super) fn with_asked_forms(mut self) -> Self {
        let asks = std::mem::take(&mut self.asks);
        self.forms = Forms::of(&asks, &mut self.problems);
        self
    }

    /// Returns whether it is a template.
    pub(super) fn is_template(&self) -> bool {
        self.shown.uri.contains('{')
    }

    pub(super) fn named(&self) -> Named<'_> {
        Named {
            kind: match self.is_template() {
                true => TemplateResource::KIND,
                false => StaticResource::KIND,
            },
            name: &self.shown.uri,
            place: &self.place,
        }
    }

    /// Returns the finished resource or template. If it has problems, they are appended to `problems`. `is_limited` says whether some
    /// callers do not see everything.
    pub(super) fn finished(
        self,
        options: CompileOptions,
        is_limited: bool,
        problems: &mut Vec<String>,
    ) -> Option<Finished> {
        let before = problems.len();
        let Named { kind, name, place } = self.named();
        let called = format!("{kind} `{name}` ({place})");
        if !self.problems.is_empty() {
            let wrong = self.problems.iter();
            problems.extend(wrong.map(|problem| format!("{called}: {problem}")));
            return None;
        }
        problems.extend(self.named().no_time(self.timeout));
        if let Some(meta) = &self.shown.meta {
            problems.extend(self.named().illegal_meta(meta));
        }
        match self.is_called_template {
            Some(true) if !self.is_template() => problems.push(format!(
                "{called} has no variables in braces, such as `{{name}}`; a `DynamicResource` needs none"
            )),
            Some(false) if self.is_template() => problems.push(format!(
                "{called} has variables in braces; a `DynamicTemplate` takes them"
            )),
            _ => {}
        }
        let template = match self.is_template() {
            false => {
                if !is_uri(&self.shown.uri) {
                    problems.push(format!("{called} is not a URI of RFC 3986"));
                }
                None
            }
            true => match Template::parse(&self.shown.uri) {
                Ok(template) if self.is_file_like => Some(template.file_like()),
                Ok(template) => Some(template),
                Err(problem) => {
                    problems.push(format!("{called} {problem}"));
                    None
                }
            },
        };
        if template.is_some() && self.shown.size.is_some() {
            problems.push(format!(
                "{called} has a size, and only resources have one, not templates"
            ));
        }
        let annotations = self.shown.annotations.as_ref();
        if let Some(time) = annotations.and_then(|one| one.last_modified.as_deref())
            && !is_date(time)
        {
            // Z-13
            problems.push(format!(
                "{called} has the `lastModified` `{time}`, which is not a date: expected `2026-01-31` or `2026-01-31T15:00:58Z`"
            ));
        }
        if i64::try_from(self.shown.size.unwrap_or(0)).is_err() {
            problems.push(format!("{called} has a size beyond 2^63 - 1"));
        }
        let names: Vec<Box<str>> = template
            .iter()
            .flat_map(Template::names)
            .map(Into::into)
            .collect();
        let code = match self.code {
            None => {
                problems.push(format!("{called} has no handler"));
                None
            }
            Some(DraftCode::Dynamic(code)) => Some(Code::Dynamic(code)),
            Some(DraftCode::Function { input, function }) => {
                let wrong = input.problems.iter();
                problems.extend(wrong.map(|problem| format!("{} {problem}", self.place)));
                match TextFunction::new(&input, function, options) {
                    Ok(function) => {
                        problems.extend(function.structured().map(|variable| {
                            format!(
                                "{called} takes `{variable}`, which is a list, a map or a struct, and a URI has text: take a `String` and parse it"
                            )
                        }));
                        // Without a template, its own problem is sufficient.
                        if template.is_some() || !self.shown.uri.contains('{') {
                            problems.extend(unlike(&function, &names, &called));
                        }
                        Some(Code::Function(function))
                    }
                    Err(errors) => {
                        let wrong = errors.into_iter();
                        problems.extend(
                            wrong.map(|error| format!("the parameters of {called}: {error}")),
                        );
                        None
                    }
                }
            }
        };
        // An enumeration suggests its values, unless the author sets a completer.
        let mut completers = vec![None; names.len()];
        if let Some(Code::Function(function)) = &code {
            for parameter in function.parameters() {
                if let Some(at) = names.iter().position(|name| *name == parameter.name)
                    && !parameter.values.is_empty()
                {
                    completers[at] = Some(Completer::of_values(parameter.values.iter().cloned()));
                }
            }
        }
        for (variable, completer) in self.completers {
            match names.iter().position(|name| **name == *variable) {
                Some(at) => completers[at] = Some(completer),
                // Reported already.
                None if self.is_called_template == Some(true) && names.is_empty() => {}
                None if names.is_empty() => problems.push(format!(
                    "{called} completes `{variable}`, and its URI has no variables"
                )),
                None => problems.push(format!(
                    "{called} completes `{variable}`, which is not a variable of it"
                )),
            }
        }
        if problems.len() != before {
            return None;
        }
        let reader = Arc::new(Reader {
            uri: self.shown.uri.as_str().into(),
            place: self.place,
            timeout: self.timeout,
            needs: self.needs,
            forms: self.forms,
            caching: self.caching,
            is_limited,
            mime_type: self.shown.mime_type.as_deref().map(Into::into),
            code: code?,
            variables: names,
            completers,
            reported: ReportedLosses::default(),
        });
        Some(match template {
            Some(template) => Finished::Template(TemplateResource {
                shown: self.shown.template(),
                template,
                reader,
            }),
            None => Finished::Static(StaticResource {
                shown: self.shown.resource(),
                reader,
            }),
        })
    }
}

impl Shown {
    fn resource(self) -> Resource {
        let mut resource = Resource::new(self.name, self.uri);
        resource.title = self.title;
        resource.description = self.description;
        resource.mime_type = self.mime_type;
        resource.size = self.size.and_then(|size| i64::try_from(size).ok());
        resource.annotations = self.annotations;
        resource.icons = self.icons;
        resource.meta = self.meta;
        resource
    }

    fn template(self) -> ResourceTemplate {
        let mut template = ResourceTemplate::new(self.name, self.uri);
        template.title = self.title;
        template.description = self.description;
        template.mime_type = self.mime_type;
        template.annotations = self.annotations;
        template.icons = self.icons;
        template.meta = self.meta;
        template
    }
}

/// Returns problems for variables without parameter and parameters without variable.
fn unlike<R>(function: &TextFunction<R>, names: &[Box<str>], called: &str) -> Vec<String> {
    let parameters = function.parameters();
    let without_parameter = names
        .iter()
        .filter(|name| parameters.iter().all(|parameter| parameter.name != **name))
        .map(|name| {
            format!(
                "{called} has the variable `{name}`, and its function has no parameter of that name"
            )
        });
    let without_variable = parameters
        .iter()
        .filter(|parameter| !names.contains(&parameter.name))
        .map(|parameter| {
            let name = &parameter.name;
            let why = match names.is_empty() {
                true => "and the URI has no variables; a template has them in braces, such as `notes://{name}`".to_owned(),
                false => "and the template has no variable of that name".to_owned(),
            };
            format!("the function of {called} takes `{name}`, {why}")
        });
    without_parameter.chain(without_variable).collect()
}

impl std::fmt::Debug for DraftCode {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Function { .. } => "Function",
            Self::Dynamic(_) => "Dynamic",
        })
    }
}
