//! A tool that cannot be registered: the data that is kept, so that all other problems are reported too.

use super::route::Definition;
use crate::feature::function::{Place, RequiredState};

/// The data of a tool without its schemas.
#[derive(Debug)]
pub(crate) struct Rejected {
    pub(super) name: String,
    pub(super) place: Place,
    pub(super) states: Vec<RequiredState>,
    pub(super) problems: Vec<String>,
}

impl Rejected {
    pub(super) fn of(definition: Definition, problems: Vec<String>) -> Self {
        Self {
            name: definition.tool.name,
            place: definition.place,
            states: definition.states,
            problems,
        }
    }
}
