//! The extension for skills, over the folder `skills` of this example.

use trueform_skills::Skills;

/// The skills in the folder.
pub(crate) fn skills() -> Skills {
    Skills::folder(concat!(env!("CARGO_MANIFEST_DIR"), "/skills"))
}
