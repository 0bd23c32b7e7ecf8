//! Imports official Model Context Protocol schemas and generates the Rust bindings of Trueform.

pub mod bind;
pub mod check;
mod correct;
pub mod coverage;
pub mod diff;
pub mod docs;
mod emit;
mod generate;
pub mod import;
pub mod load;
mod merge;
mod methods;
pub mod model;
mod names;
pub mod normalise;
pub mod overlay;
pub mod problem;
pub mod projection;
pub mod provenance;
mod report;
pub mod store;
mod types;

pub use self::{
    generate::{Generated, generate, model},
    load::Inputs,
    model::Model,
    report::report,
};
