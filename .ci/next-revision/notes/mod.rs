//! Notes, a feature of a made-up revision. Its room has the shape of the others, and uses only their generic parts.

use std::{fmt::Display, panic::Location, sync::Arc, time::Duration};

use trueform_schema::{
    self as schema, ErrorObject, GetNoteResult, ListNotesResult, Method, Revision, Revisions,
    ServerCapabilities, ServerCapabilitiesNotes, View,
};

pub use super::callable::Step;
use super::{
    Room,
    call::{Called, Conditions, run},
    callable::{Callable, Timeout},
    failure::ToolError,
    listing::{Item, Listed, name_taken, unlistable},
    subscriptions::Topic,
};
use crate::{exchange::Context, exchange::Exchange, gate::Outgoing};

/// Changes to the list of notes.
pub(crate) static TOPIC: Topic = Topic {
    method: Method::NoteListChanged,
    is_in: |filter| filter.notes_list_changed == Some(true),
    honour: |filter| filter.notes_list_changed = Some(true),
};

type Text = Result<String, ToolError>;
type Write = fn(&Context) -> Step<Text>;

/// A note: its entry in the list, and the function that writes its text.
#[derive(Debug)]
pub struct Note {
    shown: schema::Note,
    place: &'static Location<'static>,
    /// How long writing the text may take.
    pub timeout: Option<Duration>,
    write: Write,
}

impl Note {
    /// A note whose text `write` returns, at once or later.
    #[track_caller]
    pub fn new(shown: schema::Note, write: Write) -> Self {
        Self {
            shown,
            place: Location::caller(),
            timeout: None,
            write,
        }
    }
}

/// The notes of a server.
#[derive(Debug)]
pub(crate) struct Notes(pub(crate) Listed<Note>);

impl Notes {
    /// The room with `notes`; all problems with them are appended to `problems`. `None` without notes.
    pub(crate) fn build(
        notes: Vec<Note>,
        page_size: usize,
        revisions: Revisions,
        problems: &mut Vec<String>,
    ) -> Option<Self> {
        for (at, note) in notes.iter().enumerate() {
            let (name, place) = (&note.shown.name, &note.place);
            if let Some(first) = notes[..at].iter().find(|first| first.shown.name == *name) {
                problems.push(name_taken::<Note>(name, &first.place, place));
            }
        }
        problems.extend(unlistable(notes.iter(), revisions));
        (!notes.is_empty()).then(|| Self(Listed::new(notes, page_size)))
    }

    /// Answers `notes/get`.
    pub(crate) fn get(
        &self,
        name: &str,
        exchange: impl FnOnce() -> Arc<Exchange>,
        conditions: &Conditions<'_>,
    ) -> Result<Called, ErrorObject> {
        let note = self.0.now().find(name, conditions.sight.as_ref())?.clone();
        Ok(run(&note, Context(exchange()), (), conditions))
    }
}

impl Room for Notes {
    fn declare(&self, _: Revision, capabilities: &mut ServerCapabilities) {
        capabilities.notes = Some(ServerCapabilitiesNotes::default().with_list_changed(true));
    }

    fn topics(&self) -> &'static [Topic] {
        std::slice::from_ref(&TOPIC)
    }
}

impl Item for Note {
    const KIND: &'static str = "note";
    const RULE: &'static str = "known-note";
    const POINTER: &'static str = "/params/name";
    const METHOD: Method = Method::ListNotes;
    type Page = ListNotesResult;
    type Shown = schema::Note;

    fn name(&self) -> &str {
        &self.shown.name
    }

    fn place(&self) -> &dyn Display {
        &self.place
    }

    fn shown(&self, _: View<'_>) -> schema::Note {
        self.shown.clone()
    }

    fn page(shown: Vec<schema::Note>, next_cursor: Option<String>) -> ListNotesResult {
        let mut result = ListNotesResult::new(shown);
        result.next_cursor = next_cursor;
        result
    }
}

impl Callable for Note {
    type Params = ();
    type Output = String;

    fn name(&self) -> &str {
        &self.shown.name
    }

    fn place(&self) -> &dyn Display {
        &self.place
    }

    fn timeout(&self) -> Option<Timeout> {
        self.timeout.map(Timeout::of)
    }

    fn call(self: &Arc<Self>, cx: &Context, (): ()) -> Step<Text> {
        (self.write)(cx)
    }

    fn respond(&self, cx: &Context, text: Text) -> Result<Outgoing, ErrorObject> {
        let text = text.map_err(|error| self.error(error))?;
        let result = GetNoteResult::new(self.shown.clone(), text);
        cx.0.result(&self.shown.name, &result)
    }
}
