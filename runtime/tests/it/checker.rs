//! The checker of traffic: silent about what this crate says, and loud about each thing that is wrong.

mod bad;
mod recorded;
mod told;
