//! The folder: which of its files are shown, and what is in them.

use std::{
    cmp::Ordering,
    fs::File,
    io::{self, Read},
    path::{Path, PathBuf},
    sync::Arc,
};

use ignore::{DirEntry, WalkBuilder};
use trueform::ToolError;

/// Largest file that is searched or read, in bytes.
pub const MAX_FILE_BYTES: u64 = 1 << 20;

/// A folder of files. Clones are cheap.
#[derive(Clone, Debug)]
pub struct Folder {
    root: Arc<Path>,
}

/// A file that the folder shows.
pub(crate) struct Entry {
    /// Relative to the folder, with `/` between its parts.
    pub(crate) path: String,
    pub(crate) location: PathBuf,
}

impl Folder {
    /// The folder at `path`, with the links in `path` resolved.
    ///
    /// # Errors
    /// If it does not exist, cannot be read or is not a folder.
    pub fn open(path: impl AsRef<Path>) -> trueform::Result<Self> {
        let path = path.as_ref();
        let refused = |problem: &dyn std::fmt::Display| {
            trueform::Error::other(format!("cannot search `{}`: {problem}", path.display()))
        };
        let root = path.canonicalize().map_err(|error| refused(&error))?;
        // Reading it shows that it is a folder, and one that may be read.
        root.read_dir().map_err(|error| refused(&error))?;
        Ok(Self { root: root.into() })
    }

    /// The visible files of the folders that `enters` accepts, in the [order](order) of their paths. An error means that a folder cannot
    /// be read; the walk goes on after it.
    pub(crate) fn files(
        &self,
        enters: impl Fn(&str) -> bool + Send + Sync + 'static,
    ) -> impl Iterator<Item = Result<Entry, ignore::Error>> {
        self.found(self.walk(enters).sort_by_file_name(Ord::cmp))
    }

    /// A walk over the visible entries of the folders that `enters` accepts.
    fn walk(&self, enters: impl Fn(&str) -> bool + Send + Sync + 'static) -> WalkBuilder {
        let root = self.root.clone();
        let mut walk = WalkBuilder::new(&self.root);
        // Ignore files also count in a folder that is not (yet) a repository.
        walk.require_git(false);
        walk.follow_links(false);
        walk.filter_entry(move |entry| {
            let is_folder = entry.file_type().is_some_and(|kind| kind.is_dir());
            !is_folder
                || relative(&root, entry).is_some_and(|path| path.is_empty() || enters(&path))
        });
        walk
    }

    /// The files of `walk`.
    fn found(
        &self,
        walk: &WalkBuilder,
    ) -> impl Iterator<Item = Result<Entry, ignore::Error>> + use<> {
        let walk = walk.build();
        let root = self.root.clone();
        walk.filter_map(move |entry| match entry {
            Ok(entry) => {
                // Neither a folder, nor a link, a pipe or a device.
                entry.file_type().filter(std::fs::FileType::is_file)?;
                let path = relative(&root, &entry)?;
                let location = entry.into_path();
                Some(Ok(Entry { path, location }))
            }
            Err(error) => Some(Err(error)),
        })
    }

    /// The content of the file at `path`, if it is shown.
    ///
    /// # Errors
    /// [`ToolError::not_found`] if it is not; another error if the file is too large or cannot be read.
    pub fn read(&self, path: &str) -> Result<Vec<u8>, ToolError> {
        // The walk finds the file, so that exactly the files that are searched can be read. It is not sorted, which would need all names of a
        // folder before the first one.
        let target = path.to_owned();
        let walk = self.walk(move |folder| is_within(&target, folder));
        let mut found = self.found(&walk).filter_map(Result::ok);
        let found = found.find(|entry| entry.path == path);
        match found {
            Some(entry) => read(&entry.location).map_err(|error| refusal(path, &error)),
            None => Err(not_found(path)),
        }
    }
}

/// The path of `entry`, with `/` between its parts; `None` if it is not UTF-8, and so cannot be named in a message.
fn relative(root: &Path, entry: &DirEntry) -> Option<String> {
    let path = entry.path().strip_prefix(root).ok()?;
    let parts: Option<Vec<&str>> = path.iter().map(|part| part.to_str()).collect();
    Some(parts?.join("/"))
}

/// Whether `path` is within the folder at `folder`.
pub(crate) fn is_within(path: &str, folder: &str) -> bool {
    path.strip_prefix(folder)
        .is_some_and(|rest| rest.starts_with('/'))
}

/// The order in which the walk comes to two paths.
pub(crate) fn order(one: &str, other: &str) -> Ordering {
    one.split('/').cmp(other.split('/'))
}

/// The bytes of the file at `location`.
///
/// # Errors
/// [`io::ErrorKind::FileTooLarge`] if there are more than [`MAX_FILE_BYTES`].
pub(crate) fn read(location: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    // Bounded as it is read: a file may grow meanwhile.
    File::open(location)?
        .take(MAX_FILE_BYTES + 1)
        .read_to_end(&mut bytes)?;
    match u64::try_from(bytes.len()) {
        Ok(..=MAX_FILE_BYTES) => Ok(bytes),
        _ => Err(io::ErrorKind::FileTooLarge.into()),
    }
}

/// Most characters of a path that the error for one without a file repeats.
const MAX_REPEATED_CHARS: usize = 200;

fn not_found(path: &str) -> ToolError {
    let shown = match path.char_indices().nth(MAX_REPEATED_CHARS) {
        Some((end, _)) => format!("{}…", &path[..end]),
        None => path.to_owned(),
    };
    ToolError::not_found(format!(
        "there is no file `{shown}`, or it is hidden or ignored"
    ))
}

/// Why the file at `path`, which is visible, cannot be returned.
fn refusal(path: &str, error: &io::Error) -> ToolError {
    match error.kind() {
        // It was removed after the walk had found it.
        io::ErrorKind::NotFound => not_found(path),
        io::ErrorKind::FileTooLarge => ToolError::new(format!(
            "`{path}` has more than {MAX_FILE_BYTES} bytes, and is not read"
        )),
        _ => ToolError::new(format!("`{path}` cannot be read: {error}")),
    }
}
