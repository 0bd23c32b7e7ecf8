//! The skills of a folder, as they are at the time of the call.

use std::{
    collections::HashMap,
    fs::Metadata,
    io::{self, ErrorKind},
    sync::{Mutex, PoisonError},
    time::{Duration, SystemTime},
};

use trueform::{
    ToolError,
    resource::{FolderEntry, FolderFiles, ResourceOutput},
};

use crate::{
    MAX_DEPTH, MAX_ENTRIES, MAX_FILES, MAX_SKILL_BYTES, SKILL_FILE,
    digest::Digest,
    found::{Child, Found, Manifest},
    front_matter::FrontMatter,
    skill::unlike,
};

/// How long a file must have been unchanged before its digest is kept. The clocks of file systems are coarse, and a change soon after
/// another one may leave no trace in them.
const SETTLED: Duration = Duration::from_secs(2);

/// A folder with skills.
#[derive(Debug)]
pub(crate) struct SkillFolder {
    files: FolderFiles,
    /// The digests of files that have not changed since, by their paths.
    digests: Mutex<HashMap<String, (Stamp, Digest)>>,
}

/// The metadata of a file that changes when the file does.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Stamp {
    size: u64,
    modified: Option<SystemTime>,
    /// On Unix: the file number, and the time of the last change of anything in the file.
    identity: (u64, i64, i64),
}

/// Why a skill is not served: a sentence with the file, and if possible the line.
pub(crate) type Unserved = String;

/// Maximum number of folders that are reported as left out in one reading of a folder with skills. Further ones are left out without a
/// report.
const MAX_REPORTED: usize = 20;

/// The folders of skills, in the order of their paths.
#[derive(Debug, Default)]
pub(crate) struct SkillPaths {
    pub(crate) paths: Vec<String>,
    /// Why folders were left out, at most [`MAX_REPORTED`].
    pub(crate) problems: Vec<Unserved>,
}

impl SkillPaths {
    fn leave_out(&mut self, problem: Unserved) {
        if self.problems.len() < MAX_REPORTED {
            self.problems.push(problem);
        }
    }
}

impl SkillFolder {
    pub(crate) fn new(files: FolderFiles) -> Self {
        Self {
            files,
            digests: Mutex::default(),
        }
    }

    /// Returns the folders of skills: those that have a `SKILL.md`.
    ///
    /// # Errors
    /// The folder as a whole cannot be read, or has more than [`MAX_ENTRIES`].
    pub(crate) fn skills(&self) -> Result<SkillPaths, Unserved> {
        let mut walked = SkillPaths::default();
        self.walk("", 0, &mut { MAX_ENTRIES }, &mut walked)?;
        walked.paths.sort_unstable();
        Ok(walked)
    }

    /// Returns what is wrong with the folder as a whole.
    pub(crate) fn problem(&self) -> Option<Unserved> {
        self.files.entry(SKILL_FILE).is_ok().then(|| {
            format!(
                "`{}` is a skill itself; name the folder that it is in",
                self.shown("")
            )
        })
    }

    /// Reads `folder` and everything below it. A folder that cannot be read, or is too deep, is left out, so that the skills beside it are
    /// still served.
    ///
    /// # Errors
    /// The folder at depth 0 cannot be read, or all folders together have more than `left` entries.
    fn walk(
        &self,
        folder: &str,
        depth: usize,
        left: &mut usize,
        walked: &mut SkillPaths,
    ) -> Result<(), Unserved> {
        let entries = match self.files.entries(folder) {
            Ok(entries) => entries,
            // The folder was removed meanwhile. That is an error only for the folder as a whole.
            Err(error) if is_absent(&error) && !folder.is_empty() => return Ok(()),
            Err(error) => {
                let problem = format!("`{}`: {error}", self.shown(folder));
                if folder.is_empty() {
                    return Err(problem);
                }
                walked.leave_out(problem);
                return Ok(());
            }
        };
        *left = left.checked_sub(entries.len()).ok_or_else(|| {
            format!(
                "`{}` has more than {MAX_ENTRIES} files and folders",
                self.shown("")
            )
        })?;
        if !folder.is_empty() && entries.iter().any(is_skill_file) {
            walked.paths.push(folder.to_owned());
        }
        for entry in entries.iter().filter(|entry| entry.is_folder()) {
            match depth < MAX_DEPTH {
                true => self.walk(entry.path(), depth + 1, left, walked)?,
                false => walked.leave_out(self.too_deep(entry)),
            }
        }
        Ok(())
    }

    /// Returns the skill in the folder `path`. `None` if it is not the folder of a skill.
    ///
    /// # Errors
    /// Something is wrong with the skill.
    pub(crate) fn skill(&self, path: &str) -> Result<Option<Found>, Unserved> {
        let Some(front_matter) = self.front_matter(path)? else {
            return Ok(None);
        };
        let mut entries = Vec::new();
        self.collect(path, path.split('/').count(), &mut entries)?;
        let bytes: u64 = entries.iter().map(|entry| entry.metadata().len()).sum();
        if MAX_SKILL_BYTES < bytes {
            return Err(format!(
                "`{}`: its files have {bytes} bytes, and at most {MAX_SKILL_BYTES} are allowed",
                self.shown(path)
            ));
        }
        let mut files = Vec::with_capacity(entries.len());
        for entry in entries {
            match self.digest(&entry) {
                Ok(digest) => files.push((entry.path().to_owned(), digest)),
                // The file was removed meanwhile.
                Err(error) if error.kind() == ErrorKind::NotFound => {}
                Err(error) => return Err(format!("`{}`: {error}", self.shown(entry.path()))),
            }
        }
        Ok(Some(Found {
            path: path.to_owned(),
            front_matter,
            manifest: Manifest::Files(files),
        }))
    }

    /// Returns the front matter of the skill in the folder `path`. `None` if there is no `SKILL.md`.
    ///
    /// # Errors
    /// It does not conform to the Agent Skills specification, or cannot be read.
    fn front_matter(&self, path: &str) -> Result<Option<FrontMatter>, Unserved> {
        let file = format!("{path}/{SKILL_FILE}");
        let bytes = match self.files.read(&file) {
            Ok(bytes) => bytes,
            Err(error) if is_absent(&error) => return Ok(None),
            Err(error) => return Err(format!("`{}`: {error}", self.shown(&file))),
        };
        let text = String::from_utf8(bytes)
            .map_err(|_| format!("`{}` is not UTF-8", self.shown(&file)))?;
        let unfit = |line, problem| format!("`{}`, line {line}: {problem}", self.shown(&file));
        let found = FrontMatter::parse(&text).map_err(|found| unfit(found.line, found.problem))?;
        let folder = path.rsplit('/').next().unwrap_or_default();
        match unlike(folder, &found.name) {
            Some(problem) => Err(format!("`{}`: {problem}", self.shown(&file))),
            None => Ok(Some(found)),
        }
    }

    /// Appends the files in `folder` and below it.
    fn collect(
        &self,
        folder: &str,
        depth: usize,
        found: &mut Vec<FolderEntry>,
    ) -> Result<(), Unserved> {
        let entries = self.files.entries(folder);
        for entry in entries.map_err(|error| format!("`{}`: {error}", self.shown(folder)))? {
            match entry.is_folder() {
                true if depth == MAX_DEPTH => return Err(self.too_deep(&entry)),
                true => self.collect(entry.path(), depth + 1, found)?,
                false if found.len() == MAX_FILES => {
                    return Err(format!(
                        "`{}`: a skill has at most {MAX_FILES} files, and here are more",
                        self.shown(folder)
                    ));
                }
                false => found.push(entry),
            }
        }
        Ok(())
    }

    /// Computes the digest of the file `entry` as it is now.
    fn digest(&self, entry: &FolderEntry) -> io::Result<Digest> {
        let stamp = Stamp::of(entry.metadata());
        let known = self.digests.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((of, digest)) = known.get(entry.path())
            && *of == stamp
        {
            return Ok(digest.clone());
        }
        drop(known);
        let digest = Digest::of(&self.files.read(entry.path())?);
        let mut known = self.digests.lock().unwrap_or_else(PoisonError::into_inner);
        match stamp.is_settled() {
            true if known.len() < MAX_ENTRIES => {
                known.insert(entry.path().to_owned(), (stamp, digest.clone()));
            }
            _ => drop(known.remove(entry.path())),
        }
        Ok(digest)
    }

    /// Returns the file at `path`, if it is in a skill.
    ///
    /// # Errors
    /// The file does not exist, or it cannot be read.
    pub(crate) fn read(&self, path: &str) -> Result<ResourceOutput, ToolError> {
        let (folder, _) = path.rsplit_once('/').unwrap_or_default();
        if !self.is_in_skill(folder) {
            return Err(ToolError::not_found(""));
        }
        match self.files.read(path) {
            Ok(bytes) => Ok(ResourceOutput::of_file(path, bytes)),
            Err(error) if is_absent(&error) || error.kind() == ErrorKind::IsADirectory => {
                Err(ToolError::not_found(""))
            }
            Err(error) if error.kind() == ErrorKind::FileTooLarge => {
                Err(ToolError::new(error.to_string()))
            }
            Err(error) => Err(ToolError::internal(error)),
        }
    }

    /// Returns whether the folder `path`, or one that contains it, is the folder of a skill.
    fn is_in_skill(&self, path: &str) -> bool {
        let ends = path
            .match_indices('/')
            .map(|(at, _)| at)
            .chain([path.len()]);
        // No skill is deeper, and a client chooses how many folders its URI names.
        let mut above = ends
            .take(MAX_DEPTH)
            .map(|end| &path[..end])
            .filter(|folder| !folder.is_empty());
        above.any(|folder| self.files.entry(&format!("{folder}/{SKILL_FILE}")).is_ok())
    }

    /// Returns the direct children of the folder `path`, if it is in a skill or has skills below it. `None` otherwise, or if it is not a
    /// folder.
    ///
    /// # Errors
    /// The folder cannot be read.
    pub(crate) fn children(&self, path: &str) -> Result<Option<Vec<Child>>, Unserved> {
        let entries = match self.files.entries(path) {
            Ok(entries) => entries,
            Err(error) if is_absent(&error) => return Ok(None),
            Err(error) => return Err(format!("`{}`: {error}", self.shown(path))),
        };
        let is_in_skill = self.is_in_skill(path);
        let mut children = Vec::new();
        for entry in entries {
            let path_of_child = entry.path().to_owned();
            if entry.is_folder() {
                if is_in_skill || self.leads_to_skill(entry.path())? {
                    children.push(Child::folder(path_of_child));
                }
            } else if is_in_skill {
                let size = Some(entry.metadata().len());
                let of_skill = match is_skill_file(&entry) {
                    // A fault of the front matter hides the skill, but not the file.
                    true => self.front_matter(path).unwrap_or_default(),
                    false => None,
                };
                children.push(match of_skill {
                    Some(front_matter) => Child::skill_file(path_of_child, size, &front_matter),
                    None => Child::file(path_of_child, size),
                });
            }
        }
        Ok((is_in_skill || !children.is_empty()).then_some(children))
    }

    /// Returns whether the folder `path`, or one below it, is the folder of a skill.
    fn leads_to_skill(&self, path: &str) -> Result<bool, Unserved> {
        let mut walked = SkillPaths::default();
        let depth = path.split('/').count();
        // Folders that are left out here are reported with the list of skills.
        self.walk(path, depth, &mut { MAX_ENTRIES }, &mut walked)?;
        Ok(!walked.paths.is_empty())
    }

    fn too_deep(&self, folder: &FolderEntry) -> Unserved {
        format!(
            "`{}` is more than {MAX_DEPTH} folders deep",
            self.shown(folder.path())
        )
    }

    /// Returns the location of `path` on the disk, for messages to the author.
    fn shown(&self, path: &str) -> String {
        let mut own = self.files.path().to_owned();
        own.extend(path.split('/').filter(|name| !name.is_empty()));
        own.display().to_string()
    }
}

fn is_skill_file(entry: &FolderEntry) -> bool {
    !entry.is_folder() && entry.name() == SKILL_FILE
}

/// Returns whether `error` says that the file or folder does not exist.
fn is_absent(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory)
}

impl Stamp {
    fn of(metadata: &Metadata) -> Self {
        #[cfg(unix)]
        let identity = {
            use std::os::unix::fs::MetadataExt;
            (metadata.ino(), metadata.ctime(), metadata.ctime_nsec())
        };
        #[cfg(not(unix))]
        let identity = (0, 0, 0);
        Self {
            size: metadata.len(),
            modified: metadata.modified().ok(),
            identity,
        }
    }

    /// Returns whether the last change is so long ago that the next one has another stamp.
    fn is_settled(&self) -> bool {
        let age = self.modified.and_then(|modified| modified.elapsed().ok());
        age.is_some_and(|age| SETTLED < age)
    }
}

#[cfg(all(test, unix))]
mod tests {
    use std::{fs, time::SystemTime};

    use trueform::resource::Folder;

    use super::*;

    /// A change soon after the digest was computed may leave a file with the same stamp.
    #[test]
    fn digests_of_files_that_just_changed_are_not_kept() {
        let path = std::env::temp_dir().join(format!("trueform-skills-{}", std::process::id()));
        fs::create_dir_all(path.join("a")).unwrap();
        let file = path.join("a/SKILL.md");
        fs::write(&file, "---\nname: a\ndescription: b\n---\n").unwrap();
        let skills = SkillFolder::new(Folder::new(&path).open().unwrap());
        let kept = || {
            skills.skill("a").unwrap().unwrap();
            skills.digests.lock().unwrap().len()
        };
        let at = |age: Duration| {
            let file = fs::File::options().write(true).open(&file).unwrap();
            file.set_modified(SystemTime::now() - age).unwrap();
        };
        let found = [Duration::ZERO, SETTLED * 2, Duration::ZERO].map(|age| {
            at(age);
            kept()
        });
        fs::remove_dir_all(&path).unwrap();
        assert_eq!(found, [0, 1, 0]);
    }
}
