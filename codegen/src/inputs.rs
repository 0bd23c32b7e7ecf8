//! Everything that determines the generated code. Data only: `load` fills it, `correct` is the only pass that changes it.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::overlay::Overlay;

/// Everything the generator reads: the normal forms with the overlay's corrections applied, the overlay, our own docs.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Inputs {
    /// Normal form by revision, oldest first, corrected.
    pub revisions: BTreeMap<String, Value>,
    /// Normal form by extension, corrected.
    pub extensions: BTreeMap<String, Value>,
    /// The facts that a JSON schema cannot express.
    pub overlay: Overlay,
    /// Our own words by item path: `Tool`, `Tool.title`, `Role.user`.
    pub docs: BTreeMap<String, String>,
    /// FNV-1a over names and bytes of all input files.
    pub fingerprint: u64,
}
