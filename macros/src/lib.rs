//! Attribute macros of Trueform.
