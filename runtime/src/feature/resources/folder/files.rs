//! The files of a folder, for code that serves them in its own way.

use std::{
    fs::{self, Metadata},
    io::{self, Read},
    path::Path,
    sync::Arc,
};

use super::{Folder, MAX_ENTRIES, Root};

/// The files of a [`Folder`], with its rules: files that are hidden, too large, or behind a link that leads out of the folder cannot be
/// read. [`Folder::open`] returns it.
///
/// Paths are relative to the folder, with slashes, and without a slash at the beginning or the end. The folder itself is the empty path.
/// Unlike [`Folder`] as resources, this never enters a folder that is a link, so [`entries`](Self::entries) finds everything that can be
/// read. Every call accesses the disk and blocks: in async code, call it from a thread that may block.
///
/// ```no_run
/// use trueform::resource::Folder;
///
/// # fn main() -> std::io::Result<()> {
/// let files = Folder::new("docs").ignore("*.tmp").open()?;
/// for entry in files.entries("guide")? {
///     println!("{} {}", entry.path(), entry.metadata().len());
/// }
/// let start = files.read("guide/start.md")?;
/// # Ok(())
/// # }
/// ```
// J-6
#[derive(Clone, Debug)]
pub struct FolderFiles(Arc<Root>);

/// A file or folder in a [`FolderFiles`].
#[derive(Clone, Debug)]
pub struct FolderEntry {
    path: String,
    metadata: Metadata,
}

impl FolderEntry {
    /// Returns the path below the folder.
    #[must_use]
    pub fn path(&self) -> &str {
        &self.path
    }

    /// Returns the last part of the path.
    #[must_use]
    pub fn name(&self) -> &str {
        self.path.rsplit('/').next().unwrap_or_default()
    }

    /// Returns whether it is a folder.
    #[must_use]
    pub fn is_folder(&self) -> bool {
        self.metadata.is_dir()
    }

    /// Returns the metadata from the file system; for a link, that of the target.
    #[must_use]
    pub fn metadata(&self) -> &Metadata {
        &self.metadata
    }
}

impl Folder {
    /// Returns the files of the folder, for code that serves them in its own way. Of the settings, [`ignore`](Self::ignore),
    /// [`hidden`](Self::hidden) and [`max_file_size`](Self::max_file_size) apply.
    ///
    /// # Errors
    /// There is no folder at the path, it cannot be read, or a pattern of `ignore` matches nothing.
    pub fn open(&self) -> io::Result<FolderFiles> {
        if let Some(problem) = self.rules.problems().next() {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, problem));
        }
        let root = Root::open(&self.path, self.rules.clone()).map_err(|error| {
            let tried = std::path::absolute(&self.path);
            let tried = tried.as_deref().unwrap_or(&self.path);
            let problem = format!("`{}` cannot be served: {error}", tried.display());
            io::Error::new(error.kind(), problem)
        })?;
        Ok(FolderFiles(Arc::new(root)))
    }
}

impl FolderFiles {
    /// Returns the path of the folder, without links.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.0.path
    }

    /// Returns the direct children of the folder `below`, in the order of their names. Names that are not UTF-8 are left out.
    ///
    /// # Errors
    /// [`NotFound`](io::ErrorKind::NotFound) if there is no such folder, it is hidden, or it is behind a link;
    /// [`NotADirectory`](io::ErrorKind::NotADirectory) for a file; `FileTooLarge` for more than 100,000 entries, including those that are
    /// left out; other errors of the file system.
    pub fn entries(&self, below: &str) -> io::Result<Vec<FolderEntry>> {
        let folder = match below {
            "" => self.0.path.clone(),
            below => match self.entry(below)?.is_folder() {
                true => self.0.join(below).ok_or(io::ErrorKind::NotFound)?,
                false => return Err(io::ErrorKind::NotADirectory.into()),
            },
        };
        let names = names(&folder, MAX_ENTRIES)?.ok_or_else(|| {
            let problem = format!("`{below}` has more than {MAX_ENTRIES} entries");
            io::Error::new(io::ErrorKind::FileTooLarge, problem)
        })?;
        let mut found = Vec::new();
        for name in names {
            let path = match below {
                "" => name,
                below => format!("{below}/{name}"),
            };
            match self.entry(&path) {
                Ok(entry) => found.push(entry),
                // It is hidden, or it was deleted meanwhile.
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(error),
            }
        }
        Ok(found)
    }

    /// Returns the file or folder `below` the folder.
    ///
    /// # Errors
    /// [`NotFound`](io::ErrorKind::NotFound) if it does not or cannot exist, is hidden, or is behind a link that leads out of the folder or
    /// to a folder; other errors of the file system.
    pub fn entry(&self, below: &str) -> io::Result<FolderEntry> {
        let missing = || io::Error::from(io::ErrorKind::NotFound);
        let root = &self.0;
        let own = root.join(below).ok_or_else(missing)?;
        // With a link in its path, it could be found at two paths, or at infinitely many.
        match own.parent().map(fs::canonicalize).transpose() {
            Ok(real) if real.as_deref() == own.parent() => {}
            Ok(_) => return Err(missing()),
            Err(error) => return Err(unreachable(error)),
        }
        let path = below.to_owned();
        let metadata = fs::symlink_metadata(&own).map_err(unreachable)?;
        if metadata.is_dir() {
            return match root.rules.show(below) {
                true => Ok(FolderEntry { path, metadata }),
                false => Err(missing()),
            };
        }
        let (_, metadata) = root.file(below).ok_or_else(missing)?;
        Ok(FolderEntry { path, metadata })
    }

    /// Returns the bytes of the file `below` the folder.
    ///
    /// # Errors
    /// As for [`entry`](Self::entry); [`IsADirectory`](io::ErrorKind::IsADirectory) for a folder, `FileTooLarge` for a file above
    /// the largest size.
    pub fn read(&self, below: &str) -> io::Result<Vec<u8>> {
        if self.entry(below)?.is_folder() {
            return Err(io::ErrorKind::IsADirectory.into());
        }
        let (path, _) = self.0.file(below).ok_or(io::ErrorKind::NotFound)?;
        let most = self.0.rules.max_file_size;
        let bytes = read_at_most(&path, most)?;
        bytes.ok_or_else(|| {
            let problem = format!("`{below}` is larger than {most} bytes");
            io::Error::new(io::ErrorKind::FileTooLarge, problem)
        })
    }
}

/// Returns `error`, or `NotFound` if the file system reports that such a file cannot exist: its name is too long, or it is below links that
/// lead to each other.
fn unreachable(error: io::Error) -> io::Error {
    #[cfg(unix)]
    let is_loop = error.raw_os_error() == Some(rustix::io::Errno::LOOP.raw_os_error());
    #[cfg(not(unix))]
    let is_loop = false;
    match is_loop || error.kind() == io::ErrorKind::InvalidFilename {
        true => io::ErrorKind::NotFound.into(),
        false => error,
    }
}

/// Returns the names in `folder` that are UTF-8, in order. `None` if it has more than `most` entries, including those with other names,
/// because each costs time.
fn names(folder: &Path, most: usize) -> io::Result<Option<Vec<String>>> {
    let mut names = Vec::new();
    for (at, entry) in fs::read_dir(folder)?.enumerate() {
        if at == most {
            return Ok(None);
        }
        names.extend(entry?.file_name().into_string());
    }
    names.sort_unstable();
    Ok(Some(names))
}

/// Returns the bytes of the file at `path`; `None` if there are more than `most`.
pub(super) fn read_at_most(path: &Path, most: u64) -> io::Result<Option<Vec<u8>>> {
    let file = fs::File::open(path)?;
    if most < file.metadata()?.len() {
        return Ok(None);
    }
    let mut bytes = Vec::new();
    // It may grow while it is read.
    file.take(most.saturating_add(1)).read_to_end(&mut bytes)?;
    Ok((bytes.len() as u64 <= most).then_some(bytes))
}

// File systems of other operating systems refuse such names.
#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::{ffi::OsStr, os::unix::ffi::OsStrExt};

    use super::*;
    use crate::feature::resources::folder::MAX_DEPTH;

    // Y-6: names that are not UTF-8 are left out, and count as entries that are looked at.
    #[test]
    fn names_that_are_not_utf_8_count() {
        let made = std::env::temp_dir().join(format!("trueform-names-{}", std::process::id()));
        fs::create_dir_all(&made).unwrap();
        for name in [&b"a.txt"[..], b"b\xff.txt", b"c\xfe.txt", b"d.txt"] {
            fs::write(made.join(OsStr::from_bytes(name)), "x").unwrap();
        }
        let all = Some(vec!["a.txt".to_owned(), "d.txt".to_owned()]);
        let files = Folder::new(&made).open().unwrap();
        let listed = |mut left: usize| {
            let (root, mut found) = (&files.0, Vec::new());
            let more = root.list(&root.path, "", 10, MAX_DEPTH, &mut left, &mut found);
            (found.len(), left, more)
        };
        let found = [4, 3, 2].map(|most| names(&made, most).unwrap());
        let listed = [listed(6), listed(3)];
        let entries = files.entries("").unwrap();
        fs::remove_dir_all(&made).unwrap();
        assert_eq!(found, [all, None, None]);
        assert_eq!(listed[0], (2, 2, false));
        // The order of the names depends on the file system: of three, at least one is UTF-8.
        let (seen, left, more) = listed[1];
        assert!((1..=2).contains(&seen) && left == 0 && more, "{listed:?}");
        let entries: Vec<_> = entries.iter().map(FolderEntry::name).collect();
        assert_eq!(entries, ["a.txt", "d.txt"]);
    }
}
