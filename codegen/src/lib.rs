//! Imports official Model Context Protocol schemas and generates the Rust bindings of Trueform.
//!
//! Its tests check that the bindings conform to the schemas: they compare them with an independent validator on random and damaged
//! values. Every run makes 5,000 comparisons of each revision, and CI 500,000. This command makes 10⁷ in all:
//!
//! ```sh
//! TRUEFORM_COMPARISONS=2_000_000 cargo test -p trueform-codegen --test it -- --nocapture proof::conform:: proof::twin::
//! ```

pub mod bind;
pub mod check;
mod correct;
pub mod coverage;
pub mod diff;
pub mod docs;
mod emit;
mod generate;
mod generated;
pub mod import;
mod inputs;
pub mod load;
mod merge;
mod methods;
pub mod model;
mod names;
pub mod normalise;
mod older;
pub mod overlay;
pub mod problem;
pub mod projection;
pub mod provenance;
mod report;
pub mod store;
mod types;

pub use self::{
    generate::{generate, model},
    generated::Generated,
    inputs::Inputs,
    model::Model,
    report::report,
};
