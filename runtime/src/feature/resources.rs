//! Resources: what a server lets clients read by its URI.

pub(crate) mod template;
pub(crate) mod trie;
