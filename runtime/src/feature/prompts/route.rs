//! A registered prompt: how it is called and how its result is finished.

use std::{collections::HashSet, fmt::Display, sync::Arc};

use trueform_schema::{ErrorObject, GetPromptResult, Map, Prompt, PromptArgument};

use crate::{
    check::CompileOptions,
    exchange::Context,
    feature::{
        callable::{Callable, Step, Timeout},
        completion::{Argument, Completer, unknown_argument},
        failure::ToolError,
        form::Forms,
        function::{Function, Input, Place, RequiredState, TextFunction, Wording},
        listing::Item,
        lost::ReportedLosses,
        offered::Named,
    },
    gate::Outgoing,
    needs::RequiredCapabilities,
};

/// A prompt whose arguments are not compiled.
#[derive(Debug)]
pub(super) struct PromptDraft {
    pub(super) prompt: Prompt,
    pub(super) place: Place,
    pub(super) timeout: Option<Timeout>,
    pub(super) needs: RequiredCapabilities,
    pub(super) completers: Vec<(String, Completer)>,
    pub(super) input: Input,
    pub(super) function: Function<GetPromptResult>,
    pub(super) problems: Vec<String>,
}

/// A prompt, ready to be listed and called.
#[derive(Debug)]
pub(crate) struct PromptRoute {
    prompt: Prompt,
    place: Place,
    timeout: Option<Timeout>,
    needs: RequiredCapabilities,
    states: Vec<RequiredState>,
    forms: Forms,
    /// The completers of the arguments that the function takes.
    completers: Vec<Option<Completer>>,
    function: TextFunction<GetPromptResult>,
    reported: ReportedLosses,
}

impl PromptDraft {
    pub(super) fn name(&self) -> &str {
        &self.prompt.name
    }

    /// Compiles the arguments and returns the finished prompt.
    ///
    /// # Errors
    /// All problems of the prompt.
    pub(super) fn finished(self, options: CompileOptions) -> Result<PromptRoute, Vec<String>> {
        let Self {
            mut prompt,
            place,
            input,
            mut problems,
            ..
        } = self;
        let name = prompt.name.clone();
        let named = Named {
            kind: PromptRoute::KIND,
            name: &name,
            place: &place,
        };
        if name.is_empty() {
            problems.push(format!("a prompt ({place}) has an empty name"));
        }
        let described = input.problems.iter();
        problems.extend(described.map(|problem| format!("{place} {problem}")));
        problems.extend(named.no_time(self.timeout));
        if let Some(meta) = &prompt.meta {
            problems.extend(named.illegal_meta(meta));
        }
        let function = match TextFunction::new(&input, self.function, options) {
            Ok(function) => function,
            Err(errors) => {
                let complain =
                    |error| format!("the arguments of prompt `{name}` ({place}): {error}");
                problems.extend(errors.into_iter().map(complain));
                return Err(problems);
            }
        };
        problems.extend(function.structured().map(|argument| {
            format!(
                "prompt `{name}` ({place}) takes `{argument}`, which is a list, a map or a struct, and clients send text: take a `String` and parse it"
            )
        }));
        let parameters = function.parameters();
        let mut own: Vec<Option<Completer>> = parameters
            .iter()
            .map(|one| {
                let values = one.values.iter().cloned();
                (!one.values.is_empty()).then(|| Completer::of_values(values))
            })
            .collect();
        for (argument, completer) in self.completers {
            match parameters.iter().position(|one| *one.name == *argument) {
                Some(at) => own[at] = Some(completer),
                None => problems.push(format!(
                    "prompt `{name}` ({place}) completes `{argument}`, which is not an argument of it"
                )),
            }
        }
        let arguments: Vec<PromptArgument> = parameters
            .iter()
            .map(|one| {
                let mut argument = PromptArgument::new(&*one.name);
                argument.title.clone_from(&one.title);
                argument.description.clone_from(&one.description);
                argument.required = Some(one.required);
                argument
            })
            .collect();
        // The author's own arguments of a dynamic prompt have more details.
        if prompt.arguments.is_none() && !arguments.is_empty() {
            prompt.arguments = Some(arguments);
        }
        match problems.is_empty() {
            false => Err(problems),
            true => Ok(PromptRoute {
                prompt,
                place,
                timeout: self.timeout,
                needs: self.needs,
                states: input.states,
                forms: input.forms,
                completers: own,
                function,
                reported: ReportedLosses::default(),
            }),
        }
    }
}

impl PromptRoute {
    pub(super) fn name(&self) -> &str {
        &self.prompt.name
    }

    pub(super) fn place(&self) -> &Place {
        &self.place
    }

    pub(super) fn prompt(&self) -> &Prompt {
        &self.prompt
    }

    /// Returns the required capabilities of the client.
    pub(crate) fn needs(&self) -> RequiredCapabilities {
        self.needs
    }

    /// Returns the state that the server must have.
    pub(super) fn required_states(&self) -> &[RequiredState] {
        &self.states
    }

    /// Returns the completers, each with its argument.
    pub(super) fn completers(&self) -> impl Iterator<Item = (&str, &Completer)> {
        let parameters = self.function.parameters().iter().zip(&self.completers);
        parameters.filter_map(|(one, completer)| Some((&*one.name, completer.as_ref()?)))
    }

    /// Returns the forms that the function asks clients for.
    pub(crate) fn forms(&self) -> &Forms {
        &self.forms
    }

    /// Returns whether anything suggests values for an argument.
    pub(super) fn completes(&self) -> bool {
        self.completers.iter().any(Option::is_some)
    }

    /// Returns the argument `name`, for completion.
    ///
    /// # Errors
    /// -32602 if the prompt has no such argument (L-3).
    pub(super) fn argument(&self, name: &str) -> Result<Argument, ErrorObject> {
        let parameters = self.function.parameters();
        match parameters.iter().position(|one| *one.name == *name) {
            Some(at) => Ok(Argument {
                owner: self.name().to_owned(),
                argument: name.to_owned(),
                place: self.place.clone(),
                completer: self.completers[at].clone(),
            }),
            None => {
                let names = parameters.iter().map(|one| &*one.name);
                Err(unknown_argument("prompt", self.name(), name, names))
            }
        }
    }

    fn wording(&self) -> Wording<'_> {
        Wording {
            kind: Self::KIND,
            name: self.name(),
            pointer: "/params/arguments",
            in_one_string: false,
        }
    }

    /// Returns a name that two arguments have. The parameters of a function always differ.
    pub(super) fn repeated<'a>(names: impl Iterator<Item = &'a str>) -> Option<&'a str> {
        let mut seen = HashSet::new();
        names.into_iter().find(|name| !seen.insert(*name))
    }
}

impl Callable for PromptRoute {
    type Params = Option<Map<String>>;
    type Output = GetPromptResult;

    fn name(&self) -> &str {
        &self.prompt.name
    }

    fn place(&self) -> &dyn Display {
        &self.place
    }

    fn timeout(&self) -> Option<Timeout> {
        self.timeout
    }

    fn call(
        self: &Arc<Self>,
        cx: &Context,
        arguments: Option<Map<String>>,
    ) -> Step<Result<GetPromptResult, ToolError>> {
        let arguments = arguments.iter().flat_map(Map::iter);
        let arguments = arguments.map(|(name, value)| (name, value.as_str()));
        self.function.call(cx, arguments, self.wording())
    }

    fn wrong_argument(&self, argument: &str, problem: &str) -> ErrorObject {
        self.wording().wrong_argument(argument, problem)
    }

    fn respond(
        &self,
        cx: &Context,
        outcome: Result<GetPromptResult, ToolError>,
    ) -> Result<Outgoing, ErrorObject> {
        let mut result = outcome.map_err(|error| self.error(error))?;
        let (kind, name, place) = (Self::KIND, self.name(), &self.place);
        let named = Named { kind, name, place };
        named.finish_meta(&cx.0, &mut result, |result| &mut result.meta)?;
        let response = cx.0.result(name, &result)?;
        self.reported
            .log((kind, name), &result, None, cx.0.revision());
        Ok(response)
    }
}
