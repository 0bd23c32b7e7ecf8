//! The generated bindings as a user sees them: what decodes, what is written at which revision, what the table says.

mod allocations;
mod conforming;
mod decoding;
mod encoding;
mod methods;
