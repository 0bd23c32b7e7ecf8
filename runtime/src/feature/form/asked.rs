//! The forms that a function asks for, known when a server starts.

use std::{any::type_name, marker::PhantomData, sync::Arc};

use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use trueform_schema::{Revision, Revisions};

use super::Form;
use crate::feature::offered::Named;

/// The form of a type that a function asks for.
#[derive(Debug)]
pub struct AskedForm {
    type_name: &'static str,
    form: Result<Form, Vec<String>>,
}

/// Creates the form of a type that a function asks for; `None` if the type belongs to another method called `ask`.
pub(crate) type AsksFor = fn() -> Option<AskedForm>;

/// The forms that one function asks for.
#[derive(Clone, Debug, Default)]
pub(crate) struct Forms(Arc<[NamedForm]>);

#[derive(Debug)]
pub(crate) struct NamedForm {
    /// The path of the type.
    pub(crate) type_name: &'static str,
    pub(crate) form: Form,
}

#[doc = include_str!("askable.md")]
#[diagnostic::on_unimplemented(
    message = "clients cannot be asked for `{Self}`",
    label = "`serde::Deserialize` or `schemars::JsonSchema` is not implemented",
    note = "derive both: `#[derive(Deserialize, JsonSchema)]` with the prelude, or \
            `#[derive(serde::Deserialize, schemars::JsonSchema)]`; both need a dependency: `cargo add serde --features derive`",
    note = "without `serde` as a dependency: `#[derive(trueform::serde::Deserialize, trueform::schemars::JsonSchema)] #[serde(crate = \"trueform::serde\")] \
            #[schemars(crate = \"trueform::schemars\")]`",
    note = "`trueform::schemars` is schemars 1.x; `JsonSchema` of another version is another trait"
)]
pub trait Askable: DeserializeOwned + JsonSchema {}

#[diagnostic::do_not_recommend]
impl<T: DeserializeOwned + JsonSchema> Askable for T {}

/// Returns the form of a type in `asks(…)`.
#[must_use]
pub fn form<T: Askable>() -> Option<AskedForm> {
    Some(AskedForm {
        type_name: type_name::<T>(),
        form: Form::of::<T>(),
    })
}

/// A type that a call of a method `ask` names. Its inherent function has precedence over that of [`OtherCall`], if the type has a form.
#[derive(Debug)]
pub struct AskCall<T>(PhantomData<T>);

impl<T: Askable> AskCall<T> {
    /// Returns the form of the type.
    #[must_use]
    pub fn form() -> Option<AskedForm> {
        form::<T>()
    }
}

/// For other types, which belong to methods of other crates with the same name.
pub trait OtherCall {
    /// Returns no form.
    #[must_use]
    fn form() -> Option<AskedForm> {
        None
    }
}

impl<T> OtherCall for AskCall<T> {}

impl Forms {
    /// Creates the forms of `asked`. What no form can express is appended to `problems`, which begin with a verb.
    pub(crate) fn of(asked: &[AsksFor], problems: &mut Vec<String>) -> Self {
        let mut forms = Vec::new();
        for AskedForm { type_name, form } in asked.iter().filter_map(|form| form()) {
            match form {
                Ok(form) => forms.push(NamedForm { type_name, form }),
                Err(found) => problems.extend(found.into_iter().map(|problem| {
                    format!("asks clients for `{type_name}`, which cannot be a form: {problem}")
                })),
            }
        }
        Self(forms.into())
    }

    /// Creates the forms of `asked`, which the code of a value asks for. What no form can express is appended to `problems`, which name the
    /// `kind`, `name` and `place`.
    pub(crate) fn of_value(
        asked: &[AsksFor],
        named: Named<'_>,
        problems: &mut Vec<String>,
    ) -> Self {
        let mut found = Vec::new();
        let forms = Self::of(asked, &mut found);
        let Named { kind, name, place } = named;
        let found = found.into_iter();
        problems.extend(found.map(|problem| format!("{kind} `{name}` ({place}) {problem}")));
        forms
    }

    /// Returns the forms, in the order of the function.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &NamedForm> {
        self.0.iter()
    }
}

impl Named<'_> {
    /// Returns the problems of the `forms` that none of `revisions` can express.
    pub(crate) fn inexpressible(
        self,
        forms: &Forms,
        revisions: Revisions,
    ) -> impl Iterator<Item = String> {
        let Self { kind, name, place } = self;
        forms.iter().filter_map(move |NamedForm { type_name, form }| {
            let newest = newest_first(revisions).next()?;
            let reason = form.at(newest).err()?;
            let nowhere = newest_first(revisions).all(|revision| form.at(revision).is_err());
            nowhere.then(|| {
                format!(
                    "{kind} `{name}` ({place}) asks clients for `{type_name}`, whose form no served revision can express: {reason}"
                )
            })
        })
    }
}

fn newest_first(revisions: Revisions) -> impl Iterator<Item = Revision> {
    let newest_first = Revision::ALL.into_iter().rev();
    newest_first.filter(move |revision| revisions.contains(*revision))
}
