//! Imports official Model Context Protocol schemas and generates the Rust bindings of Trueform.

pub mod check;
pub mod diff;
pub mod import;
pub mod problem;
pub mod provenance;
pub mod store;
