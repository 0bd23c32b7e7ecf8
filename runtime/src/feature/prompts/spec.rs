//! The builder that expansions call: the data of a prompt before it is registered.

use trueform_schema::{GetPromptResult, Prompt};

use super::route::PromptDraft;
use crate::feature::{
    completion::Completer,
    function::{Function, Handler, MethodReceiver},
    offered::{OfferedFacts, facts_methods},
};

/// A prompt that is being built.
pub struct PromptSpec {
    facts: OfferedFacts,
    completers: Vec<(String, Completer)>,
    handler: Option<Handler<GetPromptResult>>,
}

facts_methods!(PromptSpec);

/// Begins a prompt for the function `function` of `file`.
#[must_use]
pub fn prompt(
    name: &'static str,
    description: &'static str,
    function: &'static str,
    file: &'static str,
    line: u32,
) -> PromptSpec {
    PromptSpec {
        facts: OfferedFacts::new(name, description, function, file, line),
        completers: Vec::new(),
        handler: None,
    }
}

impl PromptSpec {
    /// Sets the completer of the parameter `name`, which was added before.
    #[must_use]
    pub fn complete(mut self, name: &'static str, completer: Completer) -> Self {
        let argument = self.facts.input.argument_of(name).to_owned();
        self.completers.push((argument, completer));
        self
    }

    /// Sets the code.
    #[must_use]
    pub fn call(mut self, handler: Handler<GetPromptResult>) -> Self {
        self.handler = Some(handler);
        self
    }

    /// Returns the prompt before the server is built; `receiver` is the value whose method it is.
    pub(super) fn draft(mut self, receiver: &MethodReceiver) -> PromptDraft {
        let mut input = std::mem::take(&mut self.facts.input).finish();
        let mut prompt = Prompt::new(self.facts.name);
        prompt.description = self.facts.description();
        prompt.title = self.facts.title.map(str::to_owned);
        prompt.icons = self.facts.take_icons();
        prompt.meta = self.facts.take_meta();
        let completers = self.completers.into_iter();
        PromptDraft {
            prompt,
            place: self.facts.place,
            timeout: self.facts.timeout,
            needs: self.facts.needs,
            completers: completers
                .map(|(argument, completer)| (argument, completer.bound(receiver)))
                .collect(),
            function: Function {
                names: std::mem::take(&mut input.names),
                handler: self.handler.expect("expansions end with `call`"),
                receiver: receiver.clone(),
            },
            problems: Vec::new(),
            input,
        }
    }
}
