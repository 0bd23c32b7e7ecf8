//! Pass 1: faults of the official files, corrected as the overlay lists them. A correction that finds something else
//! than it expects is an error, so that none outlives its fault.

use serde_json::Value;

use crate::{load::Inputs, overlay::Correction, problem::Problem};

/// Applies every correction of the overlay.
///
/// # Errors
/// A correction names a file that is not there, or does not find what it expects.
pub(crate) fn apply(inputs: &mut Inputs) -> Result<(), Problem> {
    let corrections = inputs.overlay.correct.clone();
    for correction in &corrections {
        for file in &correction.files {
            let document = match file.strip_prefix("extension:") {
                Some(name) => inputs.extensions.get_mut(name),
                None => inputs.revisions.get_mut(file),
            };
            let Some(document) = document else {
                let message = format!("correction names the unknown file `{file}`");
                return Err(Problem::at("", message).in_file("overlay.toml"));
            };
            correct(document, correction).map_err(|problem| problem.in_file(file))?;
        }
    }
    Ok(())
}

fn correct(document: &mut Value, correction: &Correction) -> Result<(), Problem> {
    let Some(found) = document.pointer_mut(&correction.pointer) else {
        let message =
            "the correction no longer applies: nothing is there; remove it from the overlay";
        return Err(Problem::at(correction.pointer.clone(), message));
    };
    if *found != correction.expect {
        let message = format!(
            "the correction no longer applies: expected {}, found {found}; remove it from the overlay",
            correction.expect
        );
        return Err(Problem::at(correction.pointer.clone(), message));
    }
    *found = correction.set.clone();
    Ok(())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn number_is_missing() -> Correction {
        Correction {
            why: String::new(),
            files: Vec::new(),
            pointer: "/$defs/X/type".to_owned(),
            expect: json!(["string"]),
            set: json!(["string", "number"]),
        }
    }

    #[test]
    fn a_correction_applies_once() {
        let mut document = json!({"$defs": {"X": {"type": ["string"]}}});
        correct(&mut document, &number_is_missing()).unwrap();
        assert_eq!(document.pointer("/$defs/X/type/1"), Some(&json!("number")));
        let problem = correct(&mut document, &number_is_missing()).unwrap_err();
        assert!(problem.to_string().contains("definition `X`"), "{problem}");
    }

    #[test]
    fn a_correction_of_nothing_is_an_error() {
        assert!(correct(&mut json!({}), &number_is_missing()).is_err());
    }
}
