//! Digests and sizes of files.

use std::fmt::Write as _;

use sha2::{Digest as _, Sha256};

/// The digest of a file in the form of the extension, and its size.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Digest {
    pub(crate) text: String,
    /// The size in bytes.
    pub(crate) size: u64,
}

impl Digest {
    /// Computes the digest of `bytes`.
    pub(crate) fn of(bytes: &[u8]) -> Self {
        let mut text = String::from("sha256:");
        for byte in Sha256::digest(bytes) {
            let _ = write!(text, "{byte:02x}");
        }
        Self {
            text,
            size: bytes.len() as u64,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_form_is_that_of_the_extension() {
        let digest = Digest::of(b"abc");
        assert_eq!(
            digest.text,
            "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
        );
        assert_eq!(digest.size, 3);
    }
}
