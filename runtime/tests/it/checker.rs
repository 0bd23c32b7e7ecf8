//! The checker of traffic: silent about what this crate says, and loud about each thing that is wrong.

mod bad;
mod recorded;
mod tasks;
mod told;
mod unreadable;
mod within;
