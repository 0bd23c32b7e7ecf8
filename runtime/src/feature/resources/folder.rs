//! A folder whose files are resources.

mod files;
mod glob;
mod media;

pub use self::files::{FolderEntry, FolderFiles};

use std::{
    fs, io,
    panic::Location,
    path::{Path, PathBuf},
    sync::Arc,
};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use trueform_schema::{BlobResourceContents, ReadResourceResult, TextResourceContents};

use super::{
    contents::ResourceOutput,
    draft::{DraftCode, ResourceDraft, Shown},
    reading::{DynamicCode, ResourceOutcome},
    set::{IntoResources, ResourceSet},
    template::encode,
};
use crate::feature::{
    caching::Caching, callable::Step, completion::Completer, failure::ToolError, function::Place,
};

/// Largest file that a [`Folder`] sends unless [`Folder::max_file_size`] sets another limit: 10 MiB.
pub const DEFAULT_MAX_FILE_SIZE: u64 = 10 << 20;

/// Most files that a [`Folder`] lists unless [`Folder::max_listed`] sets another limit.
pub const DEFAULT_MAX_LISTED: usize = 1000;

/// Most entries of folders that are looked at while the files are listed.
const MAX_ENTRIES: usize = 100_000;

/// Longest path below the folder that is looked up, in bytes: no file system has longer ones.
const MAX_PATH: usize = 32 << 10;

/// Deepest nesting of folders whose files are listed.
const MAX_DEPTH: usize = 32;

/// The files of a folder and of the folders in it, as resources.
///
/// ```no_run
/// use trueform::{prelude::*, resource::Folder};
///
/// # async fn run() -> trueform::Result {
/// Server::new("handbook", "1.0.0").resources(Folder::new("docs")).run().await
/// # }
/// ```
///
/// The file `docs/guide/start.md` is read as `file:///docs/guide/start.md`; [`base_uri`](Self::base_uri) sets another prefix. Clients never
/// learn the path of the folder.
///
/// * The files that exist when the folder is registered are listed, at most [`DEFAULT_MAX_LISTED`], with their sizes and the media types of
///   their names. A template, such as `file:///docs/{+path}`, matches all files, also those that are created later. It suggests the listed
///   paths as completions of its variable.
/// * Each read gets the current file, on a thread for blocking work. If the file was deleted, the resource no longer exists. Files are not
///   watched: call [`ServerHandle::resource_updated`](crate::ServerHandle::resource_updated) when a file has changed.
/// * Files and folders whose name begins with a dot are hidden, and so are those that [`ignore`](Self::ignore) matches: they are neither
///   listed nor read. The ignore files of version control systems have no effect: there are crates for that, and too much is specific to
///   each system.
/// * A link is followed only if its target is in the folder, and is hidden if its target is hidden. The files of a folder behind a link can
///   be read, but are not listed. This protects against existing links, not against changes to the folder while it is read.
/// * Text that is UTF-8 is sent as text, everything else as a blob. Larger files than [`DEFAULT_MAX_FILE_SIZE`] are an error (-32603).
// J-5, J-6
#[derive(Debug)]
#[must_use = "a folder does nothing until it is registered"]
pub struct Folder {
    path: PathBuf,
    base_uri: Option<String>,
    description: Option<String>,
    rules: Rules,
    max_listed: usize,
    caching: Caching,
    place: Place,
}

/// Which files are sent.
#[derive(Clone, Debug)]
struct Rules {
    ignored: Vec<String>,
    shows_hidden: bool,
    max_file_size: u64,
}

impl Folder {
    /// Creates the resources of the folder at `path`. If it does not exist, [`Server::build`](crate::Server::build) fails.
    ///
    /// A relative path is resolved from the working directory of the process. For a server on standard input and output, the client chooses
    /// this directory. Use a full path, such as one from the command line, or `concat!(env!("CARGO_MANIFEST_DIR"), "/docs")` while you
    /// develop.
    #[track_caller]
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self {
            path: path.into(),
            base_uri: None,
            description: None,
            rules: Rules {
                ignored: Vec::new(),
                shows_hidden: false,
                max_file_size: DEFAULT_MAX_FILE_SIZE,
            },
            max_listed: DEFAULT_MAX_LISTED,
            caching: Caching::default(),
            place: Place::value("folder", Location::caller()),
        }
    }

    /// Sets the prefix of the URIs of the files, such as `docs://`. A slash is added if the prefix does not end with one. Default:
    /// `file:///` and the name of the folder.
    ///
    /// ```
    /// use trueform::resource::Folder;
    ///
    /// let folder = Folder::new("docs").base_uri("docs://");
    /// ```
    pub fn base_uri(mut self, uri: impl Into<String>) -> Self {
        self.base_uri = Some(uri.into());
        self
    }

    /// Sets the description of the template, for the model. The default says that it is a file of the folder, and what `path` is.
    ///
    /// ```
    /// use trueform::resource::Folder;
    ///
    /// let folder = Folder::new("docs").description("A page of the handbook.");
    /// ```
    pub fn description(mut self, description: impl Into<String>) -> Self {
        self.description = Some(description.into());
        self
    }

    /// Hides the files and folders that `pattern` matches. It is compared with their name or, if it has a slash, with their path below the
    /// folder. `*` matches any text without a slash, `**` any text, `?` one character.
    ///
    /// ```no_run
    /// use trueform::resource::Folder;
    ///
    /// let docs = Folder::new("docs").ignore("*.tmp").ignore("drafts/*/notes");
    /// ```
    pub fn ignore(mut self, pattern: impl Into<String>) -> Self {
        self.rules.ignored.push(pattern.into());
        self
    }

    /// Sets whether files and folders whose name begins with a dot are shown. Default: no.
    ///
    /// ```
    /// use trueform::resource::Folder;
    ///
    /// let folder = Folder::new("docs").hidden(true);
    /// ```
    pub fn hidden(mut self, shown: bool) -> Self {
        self.rules.shows_hidden = shown;
        self
    }

    /// Sets the size of the largest file that is sent, in bytes. Default: [`DEFAULT_MAX_FILE_SIZE`].
    ///
    /// ```
    /// use trueform::resource::Folder;
    ///
    /// let folder = Folder::new("docs").max_file_size(1 << 20);
    /// ```
    pub fn max_file_size(mut self, bytes: u64) -> Self {
        self.rules.max_file_size = bytes;
        self
    }

    /// Sets how many files are listed at most; with 0, only the template is listed. Default: [`DEFAULT_MAX_LISTED`].
    ///
    /// ```
    /// use trueform::resource::Folder;
    ///
    /// let folder = Folder::new("docs").max_listed(0);
    /// ```
    pub fn max_listed(mut self, files: usize) -> Self {
        self.max_listed = files;
        self
    }

    /// Sets how long clients may cache the files. Default: not at all.
    ///
    /// ```
    /// use std::time::Duration;
    /// use trueform::resource::{Caching, Folder};
    ///
    /// let folder = Folder::new("docs").caching(Caching::public(Duration::from_secs(60)));
    /// ```
    pub fn caching(mut self, caching: Caching) -> Self {
        self.caching = caching;
        self
    }
}

impl IntoResources for Folder {
    fn into_resources(self) -> ResourceSet {
        let name = self.path.file_name().map(|name| name.to_string_lossy());
        let mut base = self.base_uri.unwrap_or_else(|| {
            let mut base = "file:///".to_owned();
            encode(name.as_deref().unwrap_or("files"), false, &mut base);
            base
        });
        if !base.ends_with('/') {
            base.push('/');
        }
        let mut template = ResourceDraft::new(
            Shown {
                uri: format!("{base}{{+path}}"),
                description: Some(self.description.unwrap_or_else(|| {
                    let name = name.as_deref().unwrap_or("files");
                    format!(
                        "A file of the folder `{name}`; `path` is its path below it, with slashes."
                    )
                })),
                name: name.as_deref().unwrap_or("files").to_owned(),
                ..Shown::default()
            },
            self.place.clone(),
        );
        template.caching = self.caching;
        template.is_file_like = true;
        template.problems.extend(self.rules.problems());
        let root = match Root::open(&self.path, self.rules) {
            Ok(root) => Arc::new(root),
            Err(error) => {
                let tried = std::path::absolute(&self.path);
                let tried = tried.as_deref().unwrap_or(&self.path);
                let problem = format!("`{}` cannot be served: {error}", tried.display());
                template.problems.push(problem);
                return ResourceSet(vec![template]);
            }
        };
        let files = root.files(self.max_listed);
        let paths = files.iter().map(|file| file.path.clone());
        template.may_not_complete = true;
        template.completers = vec![("path".to_owned(), Completer::of_values(paths))];
        let of_template = root.clone();
        let read: DynamicCode = Arc::new(move |_, reading| {
            let root = of_template.clone();
            let path = reading.values.first().cloned().unwrap_or_default();
            Step::Blocking(Box::new(move || root.read(&path)))
        });
        template.code = Some(DraftCode::Dynamic(read));
        let mut drafts: Vec<ResourceDraft> = files
            .into_iter()
            .map(|file| {
                let mut uri = base.clone();
                for (at, segment) in file.path.split('/').enumerate() {
                    uri.push_str(if at == 0 { "" } else { "/" });
                    encode(segment, false, &mut uri);
                }
                let shown = Shown {
                    uri,
                    name: file.path.clone(),
                    mime_type: media_type(&file.path).map(str::to_owned),
                    size: Some(file.size),
                    ..Shown::default()
                };
                let root = root.clone();
                let read: DynamicCode = Arc::new(move |_, _| {
                    let (root, path) = (root.clone(), file.path.clone());
                    Step::Blocking(Box::new(move || root.read(&path)))
                });
                ResourceDraft {
                    caching: self.caching,
                    code: Some(DraftCode::Dynamic(read)),
                    ..ResourceDraft::new(shown, self.place.clone())
                }
            })
            .collect();
        drafts.push(template);
        ResourceSet(drafts)
    }
}

/// An existing folder.
#[derive(Debug)]
struct Root {
    /// Without links.
    path: PathBuf,
    rules: Rules,
}

/// A file that is listed.
struct Found {
    /// The path below the folder, with slashes.
    path: String,
    size: u64,
}

impl Root {
    fn open(path: &Path, rules: Rules) -> io::Result<Self> {
        let path = fs::canonicalize(path)?;
        match fs::metadata(&path)?.is_dir() {
            true => Ok(Self { path, rules }),
            false => Err(io::Error::from(io::ErrorKind::NotADirectory)),
        }
    }

    /// Returns the first `most` files, in the order of their names. Files that cannot be accessed are left out.
    fn files(&self, most: usize) -> Vec<Found> {
        let mut found = Vec::new();
        let mut left = MAX_ENTRIES;
        if self.list(&self.path, "", most, MAX_DEPTH, &mut left, &mut found) {
            tracing::warn!(
                folder = %self.path.display(),
                listed = found.len(),
                "a folder has more files than are listed; all of them can be read"
            );
        }
        found
    }

    /// Adds the files of `folder`, which is `below` the root. Returns whether there are more than may be listed.
    fn list(
        &self,
        folder: &Path,
        below: &str,
        most: usize,
        depth: usize,
        left: &mut usize,
        found: &mut Vec<Found>,
    ) -> bool {
        let Ok(entries) = fs::read_dir(folder) else {
            return false;
        };
        let taken = entries.take(*left).inspect(|_| *left -= 1);
        let mut names: Vec<String> = taken
            .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
            .collect();
        names.sort_unstable();
        for name in names {
            let path = match below {
                "" => name,
                below => format!("{below}/{name}"),
            };
            if !self.rules.show(&path) {
                continue;
            }
            let Some(own) = self.join(&path) else {
                continue;
            };
            match fs::symlink_metadata(&own) {
                Ok(metadata) if metadata.is_dir() => {
                    // Files that are nested deeper are not listed; their siblings are.
                    if depth > 0 && self.list(&own, &path, most, depth - 1, left, found) {
                        return true;
                    }
                }
                Ok(_) => {
                    if let Some((_, metadata)) = self.file(&path) {
                        if found.len() == most {
                            return true;
                        }
                        found.push(Found {
                            size: metadata.len(),
                            path,
                        });
                    }
                }
                Err(_) => {}
            }
        }
        *left == 0
    }

    /// Returns the path of `below`; `None` if it contains anything but names, or is longer than [`MAX_PATH`].
    fn join(&self, below: &str) -> Option<PathBuf> {
        if MAX_PATH < below.len() {
            return None;
        }
        let mut path = self.path.clone();
        for name in below.split('/') {
            // On other systems, these two characters are allowed in names.
            let is_path = cfg!(windows) && name.contains(['\\', ':']);
            if is_path || matches!(name, "" | "." | "..") || name.contains('\0') {
                return None;
            }
            path.push(name);
        }
        Some(path)
    }

    /// Returns the file `below` the root, with its path without links. `None` if there is no such file, it is hidden, or a link leads out
    /// of the folder.
    fn file(&self, below: &str) -> Option<(PathBuf, fs::Metadata)> {
        // This comes first, because it limits the length of the path that the patterns are compared with.
        let own = self.join(below)?;
        if !self.rules.show(below) {
            return None;
        }
        // Also fails for links that lead to each other.
        let path = fs::canonicalize(own).ok()?;
        let own = path.strip_prefix(&self.path).ok()?;
        let names: Option<Vec<&str>> = own.iter().map(|name| name.to_str()).collect();
        if !self.rules.show(&names?.join("/")) {
            return None;
        }
        let metadata = fs::metadata(&path).ok()?;
        metadata.is_file().then_some((path, metadata))
    }

    /// Reads the file `below` the root.
    fn read(&self, below: &str) -> ResourceOutcome {
        let (path, _) = self.file(below).ok_or_else(|| ToolError::not_found(""))?;
        let most = self.rules.max_file_size;
        let too_large = || {
            ToolError::new(format!(
                "`{below}` is larger than the {most} bytes that are sent"
            ))
        };
        let failed = |error: io::Error| match error.kind() {
            // It was deleted meanwhile.
            io::ErrorKind::NotFound => ToolError::not_found(""),
            _ => ToolError::internal(error),
        };
        let bytes = files::read_at_most(&path, most).map_err(failed)?;
        let bytes = bytes.ok_or_else(too_large)?;
        Ok(contents(bytes, media_type(below)))
    }
}

impl Rules {
    /// Returns problems for patterns that cannot match any path, because files that they should hide would be sent, and for a limit that no
    /// file can meet.
    fn problems(&self) -> impl Iterator<Item = String> {
        let is_no_name = |name: &str| matches!(name, "" | "." | "..");
        let unusable = self.ignored.iter();
        let unusable = unusable.filter(move |pattern| pattern.split('/').any(is_no_name));
        let unusable = unusable.map(|pattern| {
            format!(
                "the pattern `{pattern}` hides nothing: it is a name, or a path below the folder without a slash at its beginning or end"
            )
        });
        let sends_nothing = self.max_file_size == 0;
        unusable.chain(
            sends_nothing
                .then(|| "`Folder::max_file_size` is zero; expected at least 1 byte".to_owned()),
        )
    }

    /// Returns whether neither the file `path` nor a folder that contains it is hidden.
    fn show(&self, path: &str) -> bool {
        let is_hidden = |name: &str| !self.shows_hidden && name.starts_with('.');
        let is_ignored = |pattern: &String| match pattern.contains('/') {
            true => glob::matches_upto(pattern, path),
            false => path.split('/').any(|name| glob::matches(pattern, name)),
        };
        !path.split('/').any(is_hidden) && !self.ignored.iter().any(is_ignored)
    }
}

/// Returns the media type for the name of a file, such as `text/markdown` for a name that ends with `.md`. `None` if it is unknown.
///
/// ```
/// assert_eq!(trueform::resource::media_type("docs/start.md"), Some("text/markdown"));
/// assert_eq!(trueform::resource::media_type("Makefile"), None);
/// ```
#[must_use]
pub fn media_type(path: &str) -> Option<&'static str> {
    let name = path.rsplit('/').next()?;
    let (_, extension) = name.rsplit_once('.')?;
    media::of_extension(extension)
}

/// Returns text as text, everything else as a blob (J-5).
pub(super) fn contents(bytes: Vec<u8>, media_type: Option<&str>) -> ResourceOutput {
    let may_be_text = media_type.is_none_or(media::is_text);
    let text = match may_be_text && !bytes.contains(&0) {
        true => String::from_utf8(bytes).map_err(std::string::FromUtf8Error::into_bytes),
        false => Err(bytes),
    };
    let contents = match text {
        Ok(text) => TextResourceContents::new(text, "")
            .with_mime_type(media_type.unwrap_or("text/plain"))
            .into(),
        Err(bytes) => BlobResourceContents::new(STANDARD.encode(bytes), "")
            .with_mime_type(media_type.unwrap_or("application/octet-stream"))
            .into(),
    };
    ReadResourceResult::new(vec![contents]).into()
}
