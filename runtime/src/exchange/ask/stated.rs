//! What an author's question requires of its answer. The answer is checked against this, and against the schema of the revision.

use std::any::Any;

use trueform_schema::{
    At, CreateMessageOutcome, CreateMessageRequestParams, DecodeError, ElicitAction, ElicitOutcome,
    ElicitRequestParams, ElicitResult, Revision,
};

use super::AskError;
use crate::check::{CompileOptions, Schema};

/// The `requestedSchema` of a form, compiled.
pub(crate) struct FormSchema {
    schema: Schema,
    revision: Revision,
}

impl FormSchema {
    /// Returns the schema that the clients of `revision` see in `params`; `None` if `params` do not ask for a form.
    ///
    /// # Errors
    /// [`AskError::NotAllowed`] for a schema that answers cannot be checked against: they would reach the author unchecked.
    #[cold]
    pub(crate) fn of(
        params: &ElicitRequestParams,
        revision: Revision,
    ) -> Result<Option<Self>, AskError> {
        let ElicitRequestParams::Form(form) = params else {
            return Ok(None);
        };
        let schema = At::new(&form.requested_schema, revision).to_json();
        match Schema::compile(&schema.to_value(), CompileOptions::default()) {
            Ok(schema) => Ok(Some(Self { schema, revision })),
            Err(errors) => {
                let errors: Vec<_> = errors.iter().map(ToString::to_string).collect();
                let problem = format!(
                    "no answer can be held to this `requestedSchema`: {}",
                    errors.join("; ")
                );
                Err(AskError::NotAllowed(problem))
            }
        }
    }

    /// Checks the content of `answer` against the schema, if the user accepted the form. Without content, no field is filled in.
    ///
    /// # Errors
    /// The first violation; the pointer is relative to the result.
    //
    pub(crate) fn check(&self, answer: &ElicitResult) -> Result<(), DecodeError> {
        if answer.action != ElicitAction::Accept {
            return Ok(());
        }
        let content = match &answer.content {
            Some(content) => At::new(content, self.revision).to_json().to_value(),
            None => serde_json::json!({}),
        };
        let Err(violations) = self.schema.check(&content) else {
            return Ok(());
        };
        let (pointer, problem) = match violations.iter().next() {
            Some(first) => {
                // Without the value, which is the user's data.
                let found = first.found.for_log();
                let problem = format!("expected {}, found {found}", first.expected);
                (&*first.pointer, problem)
            }
            None => ("", "expected what the form asks for".to_owned()),
        };
        Err(DecodeError::new(pointer, problem).under("/content"))
    }
}

/// What the params of a request require of its result.
#[derive(Default)]
pub(super) struct Stated {
    form: Option<FormSchema>,
    /// Whether the answer may be a task, whose result is fetched later.
    as_task: bool,
}

impl Stated {
    /// Returns what `params` require of the result, if they belong to a question.
    ///
    /// # Errors
    /// As [`FormSchema::of`].
    pub(super) fn of(params: &dyn Any, revision: Revision) -> Result<Self, AskError> {
        if let Some(elicit) = params.downcast_ref::<ElicitRequestParams>() {
            let task = match elicit {
                ElicitRequestParams::Form(form) => &form.task,
                ElicitRequestParams::Url(url) => &url.task,
                _ => &None,
            };
            let as_task = task.is_some();
            let form = FormSchema::of(elicit, revision)?;
            return Ok(Self { form, as_task });
        }
        let sample = params.downcast_ref::<CreateMessageRequestParams>();
        Ok(Self {
            form: None,
            as_task: sample.is_some_and(|sample| sample.task.is_some()),
        })
    }

    /// Checks `result`, the client's answer, against the requirements.
    ///
    /// # Errors
    /// The violation; the pointer is relative to the result.
    pub(super) fn check(&self, result: &dyn Any) -> Result<(), DecodeError> {
        let is_task = match result.downcast_ref::<ElicitOutcome>() {
            Some(ElicitOutcome::Complete(answer)) => {
                return self.form.as_ref().map_or(Ok(()), |form| form.check(answer));
            }
            Some(outcome) => matches!(outcome, ElicitOutcome::Task(_)),
            None => matches!(
                result.downcast_ref::<CreateMessageOutcome>(),
                Some(CreateMessageOutcome::Task(_))
            ),
        };
        match is_task && !self.as_task {
            // W-3
            true => Err(DecodeError::new(
                "/task",
                "expected the answer, found a task that was not asked for",
            )),
            false => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn form(requested: &Value) -> ElicitRequestParams {
        let params = json!({ "message": "m", "requestedSchema": requested });
        serde_json::from_value(params).unwrap()
    }

    //
    #[test]
    fn contents() {
        let names = json!({
            "type": "object",
            "properties": {
                "username": { "type": "string", "maxLength": 3 },
                "email": { "type": "string", "format": "email" },
                "size": { "type": "string", "oneOf": [{ "const": "s", "title": "Small" }] },
                "many": { "type": "array", "items": { "type": "string", "enum": ["a", "b"] } },
                "age": { "type": "integer", "minimum": 0 },
            },
            "required": ["username"],
        });
        let schema = FormSchema::of(&form(&names), Revision::V2025_11_25)
            .unwrap()
            .unwrap();
        for (answer, expected) in [
            (
                json!({ "action": "accept", "content": { "username": "Ann" } }),
                None,
            ),
            (
                json!({ "action": "accept", "content": { "username": "Ann", "age": 5.0, "other": 1 } }),
                None,
            ),
            (
                json!({ "action": "accept", "content": { "username": 5 } }),
                Some("/content/username"),
            ),
            (
                json!({ "action": "accept", "content": { "username": "Anna" } }),
                Some("/content/username"),
            ),
            (
                json!({ "action": "accept", "content": { "username": "Ann", "email": "no" } }),
                Some("/content/email"),
            ),
            (
                json!({ "action": "accept", "content": { "username": "Ann", "size": "Small" } }),
                Some("/content/size"),
            ),
            (
                json!({ "action": "accept", "content": { "username": "Ann", "many": ["c"] } }),
                Some("/content/many/0"),
            ),
            (
                json!({ "action": "accept", "content": { "username": "Ann", "age": -1 } }),
                Some("/content/age"),
            ),
            (
                json!({ "action": "accept", "content": {} }),
                Some("/content/username"),
            ),
            (json!({ "action": "accept" }), Some("/content/username")),
            (
                json!({ "action": "decline", "content": { "username": 5 } }),
                None,
            ),
            (json!({ "action": "cancel" }), None),
        ] {
            let result: ElicitResult = serde_json::from_value(answer.clone()).unwrap();
            let fault = schema.check(&result).err();
            let pointer = fault.as_ref().map(DecodeError::pointer);
            assert_eq!(pointer, expected, "{answer}: {fault:?}");
            if let Some(fault) = &fault {
                assert!(!fault.to_string().contains("Anna"), "{fault}");
            }
        }
    }

    //
    #[test]
    fn schemas_that_hold_nothing() {
        let broken = json!({
            "type": "object",
            "properties": { "a": { "type": "string", "pattern": "(" } },
        });
        let Err(AskError::NotAllowed(problem)) = FormSchema::of(&form(&broken), Revision::LATEST)
        else {
            panic!("it is refused")
        };
        assert!(problem.contains("/properties/a/pattern"), "{problem}");
        let page = json!({ "mode": "url", "url": "https://a.example", "message": "m", "elicitationId": "e" });
        let page: ElicitRequestParams = serde_json::from_value(page).unwrap();
        assert!(FormSchema::of(&page, Revision::LATEST).unwrap().is_none());
    }

    // W-3
    #[test]
    fn tasks_as_answers() {
        let task = json!({ "taskId": "t", "status": "working", "createdAt": "2026-01-01T00:00:00Z",
            "lastUpdatedAt": "2026-01-01T00:00:00Z", "ttl": null });
        let task = json!({ "task": task });
        let elicited: ElicitOutcome = serde_json::from_value(task.clone()).unwrap();
        let sampled: CreateMessageOutcome = serde_json::from_value(task).unwrap();
        for (as_task, is_let_in) in [(false, false), (true, true)] {
            let stated = Stated {
                form: None,
                as_task,
            };
            assert_eq!(stated.check(&elicited).is_ok(), is_let_in);
            assert_eq!(stated.check(&sampled).is_ok(), is_let_in);
        }
        let mut params = form(&json!({ "type": "object", "properties": {} }));
        let at = Revision::V2025_11_25;
        assert!(!Stated::of(&params, at).unwrap().as_task);
        if let ElicitRequestParams::Form(form) = &mut params {
            form.task = Some(Default::default());
        }
        assert!(Stated::of(&params, at).unwrap().as_task);
    }
}
