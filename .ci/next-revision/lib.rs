//! Has tests only.
