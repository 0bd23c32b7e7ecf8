//! What the generator writes. `store` compares it with the files on disk.

use std::collections::BTreeMap;

/// Generated files: path below `schema/src` to text.
pub type Generated = BTreeMap<String, String>;
