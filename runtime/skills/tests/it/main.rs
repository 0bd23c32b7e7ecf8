//! The extension as clients see it.

mod bindings;
mod changes;
mod made;
mod served;
mod support;
mod wrong;
