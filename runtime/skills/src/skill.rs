//! Skills that a program makes.

use std::{
    borrow::Cow, collections::BTreeMap, fmt, future::Future, panic::Location, pin::Pin, sync::Arc,
};

use trueform::{
    Context, ToolError,
    resource::{IntoResourceResult, ResourceOutput},
};

use crate::{
    MAX_FILES, MAX_SKILL_BYTES, SKILL_FILE,
    digest::Digest,
    found::{Child, Found, Manifest},
    front_matter::FrontMatter,
};

/// A skill that a program makes; in contrast, [`Skills::folder`](crate::Skills::folder) serves those of a folder.
///
/// ```
/// use trueform::prelude::*;
/// use trueform_skills::{Skill, Skills};
///
/// let text = "---\nname: git-workflow\ndescription: How this team uses Git.\n---\n\nSee references/branches.md.\n";
/// let skill = Skill::new("git-workflow", text).file("references/branches.md", "# Branches\n");
/// let server = Server::new("team", "1.0.0").with(Skills::new().skill(skill));
/// # assert!(server.build().is_ok());
/// ```
#[must_use = "a skill does nothing until it is added to `Skills`"]
pub struct Skill {
    path: String,
    /// The files by their paths below the skill.
    files: BTreeMap<String, Content>,
    place: &'static Location<'static>,
    problems: Vec<String>,
}

type Generate = Arc<dyn Fn(Context) -> Reading + Send + Sync>;

/// A future of the content of one file.
pub(crate) type Reading = Pin<Box<dyn Future<Output = Result<ResourceOutput, ToolError>> + Send>>;

#[derive(Clone)]
enum Content {
    Fixed {
        bytes: Cow<'static, [u8]>,
        digest: Digest,
    },
    Generated(Generate),
}

impl Skill {
    /// Creates the skill at `path`, such as `git-workflow` or `acme/billing/refunds`, with `text` as its `SKILL.md`. The last part of the
    /// path must be the `name` in the front matter of the text. The parts before it group skills, in any way.
    #[track_caller]
    pub fn new(path: impl Into<String>, text: impl Into<Cow<'static, str>>) -> Self {
        let this = Self {
            path: path.into(),
            files: BTreeMap::new(),
            place: Location::caller(),
            problems: Vec::new(),
        };
        match text.into() {
            Cow::Borrowed(text) => this.file(SKILL_FILE, text),
            Cow::Owned(text) => this.file(SKILL_FILE, text.into_bytes()),
        }
    }

    /// Adds a file at `path` below the skill, with slashes: text, or bytes such as those of `include_bytes!`.
    ///
    /// ```
    /// use trueform_skills::Skill;
    ///
    /// let text = "---\nname: release\ndescription: How to make a release.\n---\nTag, then publish.";
    /// let skill = Skill::new("release", text).file("scripts/tag.sh", "git tag \"$1\"");
    /// ```
    pub fn file(self, path: impl Into<String>, content: impl IntoContent) -> Self {
        let bytes = content.into_content();
        let digest = Digest::of(&bytes);
        self.with(path.into(), Content::Fixed { bytes, digest })
    }

    /// Adds a file at `path` below the skill whose content is generated for each read. It may have any type that functions marked
    /// `#[resource]` may return.
    ///
    /// Clients see that the content of the skill is dynamic. They cannot verify any of its files, and some refuse such skills.
    ///
    /// ```
    /// use trueform_skills::Skill;
    ///
    /// let text = "---\nname: release\ndescription: How to make a release.\n---\nTag, then publish.";
    /// let skill = Skill::new("release", text).generated("tags.txt", |_context| async { "v1.0.0" });
    /// ```
    pub fn generated<F, R>(
        self,
        path: impl Into<String>,
        generate: impl Fn(Context) -> F + Send + Sync + 'static,
    ) -> Self
    where
        F: Future<Output = R> + Send + 'static,
        R: IntoResourceResult,
    {
        let generate: Generate = Arc::new(move |context| {
            let content = generate(context);
            Box::pin(async move { content.await.into_resource_result() })
        });
        self.with(path.into(), Content::Generated(generate))
    }

    fn with(mut self, path: String, content: Content) -> Self {
        let is_path = |path: &str| !path.split('/').any(|name| matches!(name, "" | "." | ".."));
        if !is_path(&path) || path.contains(['\\', '\0']) {
            self.problems.push(format!(
                "`{path}` is not the path of a file: names with slashes between, without `.` and `..`"
            ));
            return self;
        }
        if self.files.contains_key(&path) {
            self.problems.push(format!("it has two files `{path}`"));
            return self;
        }
        self.files.insert(path, content);
        self
    }

    /// Checks the skill.
    ///
    /// # Errors
    /// All faults of the skill.
    pub(crate) fn checked(mut self) -> Result<Checked, Vec<String>> {
        let called = format!(
            "the skill `{}` ({}:{})",
            self.path,
            self.place.file(),
            self.place.line()
        );
        let mut problems = std::mem::take(&mut self.problems);
        if self
            .path
            .split('/')
            .any(|name| matches!(name, "" | "." | ".."))
            || self.path.contains(['\\', '\0'])
        {
            problems.push("its path is not made of names with slashes between".to_owned());
        }
        if MAX_FILES < self.files.len() {
            problems.push(format!(
                "it has {} files, and at most {MAX_FILES} are allowed",
                self.files.len()
            ));
        }
        let bytes: u64 = self
            .files
            .values()
            .map(|content| match content {
                Content::Fixed { digest, .. } => digest.size,
                Content::Generated(_) => 0,
            })
            .sum();
        if MAX_SKILL_BYTES < bytes {
            problems.push(format!(
                "its files have {bytes} bytes, and at most {MAX_SKILL_BYTES} are allowed"
            ));
        }
        let clash = self
            .files
            .keys()
            .zip(self.files.keys().skip(1))
            .find(|(first, second)| {
                second
                    .strip_prefix(first.as_str())
                    .is_some_and(|rest| rest.starts_with('/'))
            });
        if let Some((file, _)) = clash {
            problems.push(format!("`{file}` is a file, and a folder of others"));
        }
        let front_matter = match self.files.get(SKILL_FILE) {
            Some(Content::Fixed { bytes, .. }) => match std::str::from_utf8(bytes) {
                Ok(text) => FrontMatter::parse(text)
                    .map_err(|unfit| {
                        problems.push(format!(
                            "{SKILL_FILE}, line {}: {}",
                            unfit.line, unfit.problem
                        ))
                    })
                    .ok(),
                Err(_) => None,
            },
            _ => None,
        };
        let name = self.path.rsplit('/').next().unwrap_or_default();
        if let Some(problem) = front_matter
            .as_ref()
            .and_then(|front| unlike(name, &front.name))
        {
            problems.push(problem);
        }
        match front_matter {
            Some(front_matter) if problems.is_empty() => Ok(Checked {
                path: self.path,
                files: self.files,
                front_matter,
            }),
            _ => Err(problems
                .into_iter()
                .map(|problem| format!("{called}: {problem}"))
                .collect()),
        }
    }
}

/// Returns why a skill in a folder `folder` cannot be called `name`.
pub(crate) fn unlike(folder: &str, name: &str) -> Option<String> {
    (folder != name).then(|| {
        format!("`name` is `{name}`, and the skill is in `{folder}`; both have to be the same")
    })
}

/// A skill without faults.
pub(crate) struct Checked {
    path: String,
    files: BTreeMap<String, Content>,
    front_matter: FrontMatter,
}

impl Checked {
    pub(crate) fn path(&self) -> &str {
        &self.path
    }

    /// Returns the skill in the form that clients get.
    pub(crate) fn found(&self) -> Found {
        let manifest = self.files.iter().map(|(file, content)| match content {
            Content::Fixed { digest, .. } => {
                Some((format!("{}/{file}", self.path), digest.clone()))
            }
            Content::Generated(_) => None,
        });
        Found {
            path: self.path.clone(),
            front_matter: self.front_matter.clone(),
            manifest: match manifest.collect::<Option<Vec<_>>>() {
                Some(files) => Manifest::Files(files),
                None => Manifest::Dynamic,
            },
        }
    }

    /// Returns the file at `path`, which begins with that of the skill. `None` if the skill has no such file.
    pub(crate) fn read(&self, path: &str, context: &Context) -> Option<Reading> {
        let below = path.strip_prefix(&*self.path)?.strip_prefix('/')?;
        Some(match self.files.get(below)? {
            Content::Fixed { bytes, .. } => {
                let content = ResourceOutput::of_file(below, bytes.to_vec());
                Box::pin(std::future::ready(Ok(content)))
            }
            Content::Generated(generate) => generate(context.clone()),
        })
    }

    /// Returns the direct children of the folder `path` that belong to this skill, or contain it. `None` if it is not such a folder.
    pub(crate) fn children(&self, path: &str) -> Option<Vec<Child>> {
        let mut children = BTreeMap::new();
        for (file, content) in &self.files {
            let whole = format!("{}/{file}", self.path);
            let Some(rest) = whole
                .strip_prefix(path)
                .and_then(|rest| rest.strip_prefix('/'))
            else {
                continue;
            };
            let size = match content {
                Content::Fixed { digest, .. } => Some(digest.size),
                Content::Generated(_) => None,
            };
            let child = match rest.split_once('/') {
                Some((folder, _)) => Child::folder(format!("{path}/{folder}")),
                None if rest == SKILL_FILE => Child::skill_file(whole, size, &self.front_matter),
                None => Child::file(whole, size),
            };
            children.insert(child.path.clone(), child);
        }
        (!children.is_empty()).then(|| children.into_values().collect())
    }
}

/// The content that [`Skill::file`] accepts: text or bytes.
pub trait IntoContent {
    /// Returns the bytes.
    fn into_content(self) -> Cow<'static, [u8]>;
}

impl IntoContent for &'static str {
    fn into_content(self) -> Cow<'static, [u8]> {
        Cow::Borrowed(self.as_bytes())
    }
}

impl IntoContent for String {
    fn into_content(self) -> Cow<'static, [u8]> {
        Cow::Owned(self.into_bytes())
    }
}

impl IntoContent for &'static [u8] {
    fn into_content(self) -> Cow<'static, [u8]> {
        Cow::Borrowed(self)
    }
}

/// The type of `include_bytes!`.
impl<const N: usize> IntoContent for &'static [u8; N] {
    fn into_content(self) -> Cow<'static, [u8]> {
        Cow::Borrowed(self)
    }
}

impl IntoContent for Vec<u8> {
    fn into_content(self) -> Cow<'static, [u8]> {
        Cow::Owned(self)
    }
}

impl fmt::Debug for Skill {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Skill")
            .field("path", &self.path)
            .field("files", &self.files.keys())
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for Checked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Checked")
            .field("path", &self.path)
            .field("files", &self.files.keys())
            .finish_non_exhaustive()
    }
}
