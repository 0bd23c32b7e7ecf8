//! The comparison against an independent validator.

mod made_up;
mod sample;
mod schemas;
mod soundness;
