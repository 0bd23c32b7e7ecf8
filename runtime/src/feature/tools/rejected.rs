//! A tool that cannot be registered: what is kept of it, so that everything else that is wrong is reported too.

use super::route::Definition;
use crate::feature::function::{Place, RequiredState};

/// What is known of a tool without its schemas.
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
