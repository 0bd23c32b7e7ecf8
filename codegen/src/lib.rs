//! Imports official Model Context Protocol schemas and generates the Rust bindings of Trueform.
//!
//! That the bindings keep to the schemas is proven by its tests, which compare them with an independent validator on random and
//! damaged values: 5,000 comparisons of each revision in every run, 500,000 in CI, and 10⁷ in all by
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
