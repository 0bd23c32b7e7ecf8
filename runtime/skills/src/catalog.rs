//! All skills of a server: those of its folders, and those that the program makes.

use std::collections::BTreeMap;

use trueform::{Context, ToolError};
use trueform_schema::Resource;

use crate::{
    SKILL_FILE, bindings,
    folder::SkillFolder,
    found::Found,
    skill::{Checked, Reading},
    uri,
};

/// The skills of a server. Folders are read at the time of the call, so calls may block.
#[derive(Debug)]
pub(crate) struct Catalog {
    pub(crate) base: String,
    pub(crate) made: Vec<Checked>,
    pub(crate) folders: Vec<SkillFolder>,
}

/// The origin of a skill.
#[derive(Clone, Copy)]
enum Source<'a> {
    Made(&'a Checked),
    Folder(&'a SkillFolder),
}

/// Skills, and the path where the next page begins.
pub(crate) type SkillPage = (Vec<bindings::Skill>, Option<String>);

/// Something is wrong with a folder; the log has the details.
#[derive(Debug)]
pub(crate) struct Unreadable;

/// Logs why a part of a folder is not served.
fn log(problem: &str) {
    tracing::warn!(problem, "a skill is not served");
}

impl Catalog {
    /// Returns the skills by their paths. If two have the same path, the one that was registered first is used.
    fn sources(&self) -> Result<BTreeMap<String, Source<'_>>, Unreadable> {
        let mut sources: BTreeMap<String, Source<'_>> = BTreeMap::new();
        for made in &self.made {
            sources
                .entry(made.path().to_owned())
                .or_insert(Source::Made(made));
        }
        for folder in &self.folders {
            let found = folder.skills().map_err(|problem| {
                log(&problem);
                Unreadable
            })?;
            found.problems.iter().for_each(|problem| log(problem));
            for path in found.paths {
                sources.entry(path).or_insert(Source::Folder(folder));
            }
        }
        Ok(sources)
    }

    /// Returns all current problems, and the skills that are served. This check runs before the server starts.
    pub(crate) fn check(&self) -> (Vec<Found>, Vec<String>) {
        let mut problems = Vec::new();
        let mut found: BTreeMap<String, Found> = BTreeMap::new();
        let mut add = |skill: Found, problems: &mut Vec<String>| {
            let path = skill.path.clone();
            if found.insert(path.clone(), skill).is_some() {
                let uri = uri::of(&self.base, &path);
                problems.push(format!("there are two skills at `{uri}`"));
            }
        };
        for made in &self.made {
            add(made.found(), &mut problems);
        }
        for folder in &self.folders {
            problems.extend(folder.problem());
            let skills = match folder.skills() {
                Ok(skills) => skills,
                Err(problem) => {
                    problems.push(problem);
                    continue;
                }
            };
            problems.extend(skills.problems);
            for path in skills.paths {
                match folder.skill(&path) {
                    Ok(Some(skill)) => add(skill, &mut problems),
                    Ok(None) => {}
                    // This is a folder in a skill that cannot be read, and was already reported.
                    Err(problem) if problems.contains(&problem) => {}
                    Err(problem) => problems.push(problem),
                }
            }
        }
        (found.into_values().collect(), problems)
    }

    /// Returns the first `most` skills, starting at the path `from`, and the path where the next page begins. `None` if `from` is not the
    /// path of a skill.
    pub(crate) fn page(
        &self,
        from: Option<&str>,
        most: usize,
    ) -> Result<Option<SkillPage>, Unreadable> {
        let mut sources = self.sources()?;
        if let Some(from) = from {
            if !sources.contains_key(from) {
                return Ok(None);
            }
            sources = sources.split_off(from);
        }
        let mut sources = sources.into_iter();
        let page = sources.by_ref().take(most);
        let entries = page.filter_map(|(path, source)| entry(&path, source));
        let entries = entries.map(|found| found.entry(&self.base)).collect();
        Ok(Some((entries, sources.next().map(|(path, _)| path))))
    }

    /// Returns the skill whose `SKILL.md` has `uri`. `None` if no skill is served there.
    pub(crate) fn get(&self, uri: &str) -> Option<bindings::Skill> {
        let file = uri::path_of(&self.base, uri)?;
        let path = file.strip_suffix(SKILL_FILE)?.strip_suffix('/')?;
        let made = self.made.iter().find(|made| made.path() == path);
        let found = match made {
            Some(made) => Some(made.found()),
            None => self
                .folders
                .iter()
                .find_map(|folder| entry(path, Source::Folder(folder))),
        };
        found.map(|found| found.entry(&self.base))
    }

    /// Returns the file at `path` of a skill that the program makes. `None` if no such skill has it.
    pub(crate) fn read_made(&self, path: &str, context: &Context) -> Option<Reading> {
        self.made.iter().find_map(|made| made.read(path, context))
    }

    /// Returns the file at `path` of a skill in a folder.
    ///
    /// # Errors
    /// The file does not exist, or it cannot be read.
    pub(crate) fn read_found(
        &self,
        path: &str,
    ) -> Result<trueform::resource::ResourceOutput, ToolError> {
        let mut missing = ToolError::not_found("");
        for folder in &self.folders {
            match folder.read(path) {
                Err(error) if error.is_not_found() => missing = error,
                outcome => return outcome,
            }
        }
        Err(missing)
    }

    /// Returns the direct children of the folder with `uri`, in the order of their URIs. `None` if there is no such folder.
    pub(crate) fn children(&self, uri: &str) -> Result<Option<Vec<Resource>>, Unreadable> {
        let Some(path) = uri::path_of(&self.base, uri).filter(|path| !path.is_empty()) else {
            return Ok(None);
        };
        let mut found: Option<BTreeMap<String, Resource>> = None;
        let mut add = |children: Vec<crate::found::Child>| {
            let all = found.get_or_insert_default();
            for child in children {
                let resource = child.resource(&self.base);
                all.entry(resource.uri.clone()).or_insert(resource);
            }
        };
        self.made
            .iter()
            .filter_map(|made| made.children(&path))
            .for_each(&mut add);
        for folder in &self.folders {
            match folder.children(&path) {
                Ok(Some(children)) => add(children),
                Ok(None) => {}
                Err(problem) => {
                    log(&problem);
                    return Err(Unreadable);
                }
            }
        }
        Ok(found.map(|found| found.into_values().collect()))
    }
}

/// Returns the skill at `path`. `None` if it is not served; the log has the reason.
fn entry(path: &str, source: Source<'_>) -> Option<Found> {
    match source {
        Source::Made(made) => Some(made.found()),
        Source::Folder(folder) => match folder.skill(path) {
            Ok(found) => found,
            Err(problem) => {
                log(&problem);
                None
            }
        },
    }
}
