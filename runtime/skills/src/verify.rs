//! The client's side: checks whether a file of a skill conforms to the skill's entry.

use std::fmt;

use crate::{
    bindings::{Skill, SkillFrontmatter, SkillResources},
    digest::Digest,
    front_matter::FrontMatter,
};

/// How a file of a skill differs from the skill's entry. Content with a mismatch must not be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mismatch {
    uri: String,
    problem: String,
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "`{}` is not what its entry says: {}",
            self.uri, self.problem
        )
    }
}

impl std::error::Error for Mismatch {}

/// Compares `content`, which `resources/read` of `uri` returned, with the `entry` of `skills/list` or `skills/get`: the size, the digest,
/// and for `SKILL.md` each field of the front matter. The files of an entry with `dynamic` resources have neither sizes nor digests.
///
/// # Errors
/// The entry has no such file, or the content differs from it.
///
/// ```
/// use trueform_skills::{bindings::{Skill, SkillFrontmatter, SkillResources}, verify};
///
/// let front_matter = SkillFrontmatter::new("Says hello.", "hello");
/// let entry = Skill::new(front_matter, SkillResources::from("dynamic".to_owned()), "skill://hello/SKILL.md");
///
/// let text = "---\nname: hello\ndescription: Says hello.\n---\nSay hello.\n";
/// assert_eq!(verify(&entry, "skill://hello/SKILL.md", text.as_bytes()), Ok(()));
/// let text = text.replace("Says hello.", "Sends secrets.");
/// assert!(verify(&entry, "skill://hello/SKILL.md", text.as_bytes()).is_err());
/// ```
pub fn verify(entry: &Skill, uri: &str, content: &[u8]) -> Result<(), Mismatch> {
    let mismatch = |problem: String| Mismatch {
        uri: uri.to_owned(),
        problem,
    };
    if let SkillResources::Array(files) = &entry.resources {
        let mut listed = files.iter().filter(|file| file.uri == uri).peekable();
        if listed.peek().is_none() {
            return Err(mismatch("the skill has no such file".to_owned()));
        }
        let found = Digest::of(content);
        for file in listed {
            if u64::try_from(file.size) != Ok(found.size) {
                let (expected, found) = (file.size, found.size);
                return Err(mismatch(format!(
                    "expected {expected} bytes, found {found}"
                )));
            }
            if file.digest != found.text {
                let (expected, found) = (&file.digest, &found.text);
                return Err(mismatch(format!(
                    "expected the digest `{expected}`, found `{found}`"
                )));
            }
        }
    }
    if uri == entry.uri {
        compare_front_matter(&entry.frontmatter, content).map_err(mismatch)?;
    }
    Ok(())
}

fn compare_front_matter(expected: &SkillFrontmatter, content: &[u8]) -> Result<(), String> {
    let text = std::str::from_utf8(content).map_err(|error| error.to_string())?;
    let found = FrontMatter::parse(text)
        .map_err(|unfit| format!("line {}: {}", unfit.line, unfit.problem))?;
    let differs = |field: &str| Err(format!("`{field}` of its front matter differs"));
    if found.name != expected.name {
        return differs("name");
    }
    if found.description != expected.description {
        return differs("description");
    }
    let mut others = found.others;
    for (field, value) in expected.extras().iter() {
        if others.shift_remove(field) != Some(value.to_value()) {
            return differs(field);
        }
    }
    others.keys().next().map_or(Ok(()), |field| differs(field))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};
    use trueform_schema::Json;

    use super::*;
    use crate::bindings::SkillResource;

    const URI: &str = "skill://a/SKILL.md";
    const TEXT: &str = "---\nname: a\ndescription: Does a.\nlicense: MIT\n---\nBody.\n";

    fn entry(text: &str, license: Option<Value>) -> Skill {
        let mut front_matter = SkillFrontmatter::new("Does a.", "a");
        if let Some(license) = license {
            front_matter
                .extras_mut()
                .insert("license".to_owned(), Json::from(license));
        }
        let file = |uri: &str, text: &str| {
            let digest = Digest::of(text.as_bytes());
            SkillResource::new(digest.text, digest.size.try_into().unwrap(), uri)
        };
        let files = vec![file(URI, text), file("skill://a/b", "b")];
        Skill::new(front_matter, files, URI)
    }

    #[test]
    fn what_is_as_the_entry_says() {
        let entry = entry(TEXT, Some(json!("MIT")));
        assert_eq!(verify(&entry, URI, TEXT.as_bytes()), Ok(()));
        assert_eq!(verify(&entry, "skill://a/b", b"b"), Ok(()));
    }

    #[test]
    fn what_differs() {
        let mit = || Some(json!("MIT"));
        let other_name = TEXT.replace("name: a", "name: b");
        let other_description = TEXT.replace("Does a.", "Does b.");
        for (entry, uri, content, expected) in [
            (
                entry(TEXT, mit()),
                URI,
                TEXT.replace("Body", "Ydob"),
                "expected the digest `sha256:",
            ),
            (
                entry(TEXT, mit()),
                URI,
                format!("{TEXT}more"),
                "expected 56 bytes, found 60",
            ),
            (
                entry(TEXT, mit()),
                "skill://a/b",
                "bb".to_owned(),
                "expected 1 bytes, found 2",
            ),
            (
                entry(TEXT, mit()),
                "skill://a/c",
                "c".to_owned(),
                "the skill has no such file",
            ),
            (
                entry(&other_name, mit()),
                URI,
                other_name.clone(),
                "`name` of its front matter differs",
            ),
            (
                entry(&other_description, mit()),
                URI,
                other_description.clone(),
                "`description` of",
            ),
            (
                entry(TEXT, None),
                URI,
                TEXT.to_owned(),
                "`license` of its front matter differs",
            ),
            (
                entry(TEXT, Some(json!("ISC"))),
                URI,
                TEXT.to_owned(),
                "`license` of",
            ),
            (entry("Body.", mit()), URI, "Body.".to_owned(), "line 1: "),
        ] {
            let text = verify(&entry, uri, content.as_bytes())
                .unwrap_err()
                .to_string();
            let start = format!("`{uri}` is not what its entry says: ");
            assert!(
                text.starts_with(&start) && text.contains(expected),
                "{text}"
            );
        }
    }
}
