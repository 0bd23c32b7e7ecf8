//! Ids of tasks, which cannot be guessed.

use trueform_schema::ErrorObject;

use crate::jsonrpc;

/// Random bytes of an id: 128 bits. W-10 and W-20 want ids that cannot be guessed.
const BYTES: usize = 16;

/// Returns a new id of hexadecimal digits.
///
/// # Errors
/// -32603 if the system has no randomness.
pub(super) fn new_id() -> Result<String, ErrorObject> {
    let mut bytes = [0; BYTES];
    getrandom::fill(&mut bytes).map_err(|error| {
        tracing::error!(%error, "no randomness for the id of a task");
        jsonrpc::internal("the server cannot make the id of a task")
    })?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    // W-10, W-20
    #[test]
    fn ids_differ_in_all_of_their_digits() {
        let ids: Vec<String> = (0..256).map(|_| new_id().unwrap()).collect();
        let distinct: HashSet<&String> = ids.iter().collect();
        assert_eq!(distinct.len(), ids.len());
        for place in 0..2 * BYTES {
            let found: HashSet<u8> = ids.iter().map(|id| id.as_bytes()[place]).collect();
            assert!(found.len() > 8, "digit {place}: {found:?}");
        }
        assert!(ids.iter().all(|id| id.len() == 2 * BYTES));
    }
}
