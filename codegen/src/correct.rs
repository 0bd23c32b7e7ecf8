//! Pass 1: corrects the faults of the official files that the overlay lists. A correction that does not find the expected fault is
//! an error, so that none outlives its fault.

use serde_json::Value;

use crate::{
    inputs::Inputs,
    overlay::Correction,
    problem::{Problem, unescape},
};

/// Applies every correction of the overlay.
///
/// # Errors
/// A correction names a file that does not exist, does not find what it expects, or finds the member that it would add.
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

/// Applies every correction of `revision` whose fault `document`, the schema of an extension, has copied from it.
///
/// Without this, a copied definition would not equal that of the core, which is corrected.
pub(crate) fn copied(document: &mut Value, corrections: &[Correction], revision: &str) {
    for correction in corrections {
        if correction.files.iter().any(|file| file == revision) {
            // A document without the definition, or with a different one of that name, does not have this fault.
            let _ = correct(document, correction);
        }
    }
}

fn correct(document: &mut Value, correction: &Correction) -> Result<(), Problem> {
    let no_longer = |why: String| {
        let message =
            format!("the correction no longer applies: {why}; remove it from the overlay");
        Problem::at(correction.pointer.clone(), message)
    };
    let found = document.pointer_mut(&correction.pointer);
    match (&correction.expect, found) {
        (Some(expected), Some(found)) if found == expected => *found = correction.set.clone(),
        (Some(expected), Some(found)) => {
            return Err(no_longer(format!("expected {expected}, found {found}")));
        }
        (Some(_), None) => return Err(no_longer("nothing is there".to_owned())),
        (None, Some(_)) => return Err(no_longer("the member is already there".to_owned())),
        (None, None) => {
            let (parent, name) = correction.pointer.rsplit_once('/').unwrap_or_default();
            let Some(Value::Object(parent)) = document.pointer_mut(parent) else {
                return Err(no_longer("no object to add to was found".to_owned()));
            };
            parent.insert(unescape(name), correction.set.clone());
        }
    }
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
            expect: Some(json!(["string"])),
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

    #[test]
    fn a_correction_without_expectation_adds_a_member_once() {
        let mut document = json!({"$defs": {"X": {"type": ["string"]}}});
        let mut addition = number_is_missing();
        addition.expect = None;
        let problem = correct(&mut document, &addition).unwrap_err().to_string();
        assert!(problem.contains("the member is already there"), "{problem}");

        addition.pointer = "/$defs/X/a~1b".to_owned();
        correct(&mut document, &addition).unwrap();
        assert_eq!(
            document,
            json!({"$defs": {"X": {"type": ["string"], "a/b": ["string", "number"]}}})
        );
        let problem = correct(&mut document, &addition).unwrap_err().to_string();
        assert!(problem.contains("the member is already there"), "{problem}");

        // The parent must exist and be an object.
        for parent in ["", "/$defs/Y", "/$defs/X/type"] {
            addition.pointer = format!("{parent}/z");
            let before = document.clone();
            let corrected = correct(&mut document, &addition);
            if parent.is_empty() {
                corrected.unwrap();
                assert_eq!(document["z"], addition.set);
                continue;
            }
            let problem = corrected.unwrap_err().to_string();
            assert!(problem.contains("no object to add to"), "{problem}");
            assert_eq!(document, before);
        }
    }
}
