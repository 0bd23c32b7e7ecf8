//! Agent Skills over the Model Context Protocol: the extension `io.modelcontextprotocol/skills` (SEP-2640) for servers of
//! [`trueform`].
//!
//! A skill is a folder with a `SKILL.md`, instructions for an agent that begin with YAML front matter, and other files that the
//! instructions refer to. One line serves all skills of a folder:
//!
//! ```no_run
//! use trueform::prelude::*;
//! use trueform_skills::Skills;
//!
//! #[tokio::main]
//! async fn main() -> trueform::Result {
//!     Server::new("team", "1.0.0").with(Skills::folder("skills")).run().await
//! }
//! ```
//!
//! `skills/pdf-processing/SKILL.md` is then the resource `skill://pdf-processing/SKILL.md` of the skill `pdf-processing`.
//! [`Skill`] makes skills in code.
//!
//! # What is served
//!
//! * Each folder with a `SKILL.md`, at any depth, is a skill; its path below the folder is its path in the URI. A skill inside
//!   another one is a separate skill, and its files are files of the outer one too.
//! * `skills/list` and `skills/get` return the front matter as JSON, and the SHA-256 and the size of every file. They read the files at
//!   the time of the request, and so does each read: a skill that changed is served in its current form. A skill that was added after
//!   the start is served too; only `resources/list` does not contain it. A host that finds another digest than the one that it got
//!   should request the entry again.
//! * `resources/read` reads the files of skills, and no others. `resources/list` contains the `SKILL.md` of each skill, with the name and
//!   the description of its front matter.
//! * `resources/directory/read` lists the folder of a skill, folders in it, and folders that group skills.
//!
//! The methods exist at 2026-07-28, for which the extension is written, and at 2025-11-25, where a server can declare extensions too.
//! There, results have no `ttlMs` and `cacheScope`. At earlier revisions nothing can be declared, so the methods do not exist (-32601), and
//! `SKILL.md` files are ordinary resources. Clients need not declare the extension, because it defines nothing for clients to declare.
//!
//! # What is not served
//!
//! Files and folders whose name begins with a dot, those that [`Folder::ignore`] matches, links that lead out of the folder, and links to
//! folders. These are neither listed nor read.
//!
//! The server does not start if a skill has invalid front matter, is not in a folder of its name, or exceeds one of the limits
//! ([`MAX_FILES`], [`MAX_SKILL_BYTES`], [`MAX_DEPTH`], [`MAX_ENTRIES`], [`MAX_FRONT_MATTER`]): [`Server::build`] reports the file, the line
//! and the problem. If a skill becomes invalid later, `skills/list` leaves it out, `skills/get` does not know it, and the log has the
//! reason. A subfolder that cannot be read, or that is too deep, is left out in the same way, and the folders beside it are served.
//!
//! # For clients
//!
//! [`bindings`] has the messages with which a [`Client`](trueform::Client) calls the methods:
//!
//! ```
//! use trueform::prelude::*;
//! use trueform_skills::{Skill, Skills, bindings::{ListSkillsRequestParams, methods::ListSkills}};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let skill = Skill::new("hello", "---\nname: hello\ndescription: Says hello.\n---\nSay hello.\n");
//! let client = Server::new("team", "1.0.0").with(Skills::new().skill(skill)).connect().await?;
//!
//! let listed = client.request::<ListSkills>(ListSkillsRequestParams::new()).await?;
//! assert_eq!(listed.skills[0].uri, "skill://hello/SKILL.md");
//! assert_eq!(listed.skills[0].frontmatter.description, "Says hello.");
//! client.read_resource("skill://hello/SKILL.md").await?;
//! # Ok(())
//! # }
//! ```

/// The messages and methods of the extension, generated from `skills.schema.json`.
#[rustfmt::skip]
#[allow(clippy::all, clippy::pedantic, unreachable_pub, missing_docs, reason = "generated")]
#[path = "generated.rs"]
pub mod bindings;
mod catalog;
mod digest;
mod folder;
mod found;
mod front_matter;
mod methods;
mod skill;
mod uri;
mod verify;

use std::{path::PathBuf, sync::Arc};

use serde_json::json;
use trueform::{
    Context, DynamicResource, DynamicTemplate, Plugin, Server, ToolError,
    resource::{Caching, Folder, ResourceOutput},
};
use trueform_schema::JsonObject;

use self::{bindings::handler, catalog::Catalog, folder::SkillFolder, methods::SkillMethods};
pub use self::{
    front_matter::{MAX_DESCRIPTION, MAX_FRONT_MATTER, MAX_NAME},
    skill::{IntoContent, Skill},
    verify::{Mismatch, verify},
};

/// Most files of a skill, `SKILL.md` included. Hosts need not accept more.
pub const MAX_FILES: usize = 512;

/// Most bytes of all files of a skill: 16 MiB. Hosts need not accept more.
pub const MAX_SKILL_BYTES: u64 = 16 << 20;

/// Deepest nesting of folders in a folder of skills.
pub const MAX_DEPTH: usize = 16;

/// Most files and folders in a folder of skills.
pub const MAX_ENTRIES: usize = 100_000;

/// Skills, or children of a directory, on a page unless [`Skills::page_size`] sets another number.
pub const DEFAULT_PAGE_SIZE: usize = 100;

/// The file that makes a folder a skill.
const SKILL_FILE: &str = "SKILL.md";

/// The media type of a directory.
const DIRECTORY: &str = "inode/directory";

/// The skills of a server, to be added by [`Server::with`]. A server can have only one.
#[derive(Debug)]
#[must_use = "skills do nothing until they are added to a server"]
pub struct Skills {
    folders: Vec<Folder>,
    made: Vec<Skill>,
    base: String,
    page_size: usize,
    caching: Caching,
}

impl Default for Skills {
    fn default() -> Self {
        Self::new()
    }
}

impl Skills {
    /// Creates a set without skills.
    pub fn new() -> Self {
        Self {
            folders: Vec::new(),
            made: Vec::new(),
            base: "skill://".to_owned(),
            page_size: DEFAULT_PAGE_SIZE,
            caching: Caching::default(),
        }
    }

    /// Serves the skills in the folder at `path`. If there is no such folder, [`Server::build`] fails. [`Folder::new`] describes how a
    /// relative path is resolved.
    #[track_caller]
    pub fn folder(path: impl Into<PathBuf>) -> Self {
        Self::new().in_folder(Folder::new(path))
    }

    /// Adds the skills in `folder`. Its settings [`ignore`](Folder::ignore) and [`hidden`](Folder::hidden) apply.
    ///
    /// ```no_run
    /// use trueform::resource::Folder;
    /// use trueform_skills::Skills;
    ///
    /// let skills = Skills::new().in_folder(Folder::new("skills").ignore("*.tmp"));
    /// ```
    pub fn in_folder(mut self, folder: Folder) -> Self {
        self.folders.push(folder.max_file_size(MAX_SKILL_BYTES));
        self
    }

    /// Adds a skill that the program makes.
    ///
    /// ```
    /// use trueform_skills::{Skill, Skills};
    ///
    /// let text = "---\nname: release\ndescription: How to make a release.\n---\nTag, then publish.";
    /// let skills = Skills::new().skill(Skill::new("release", text));
    /// ```
    pub fn skill(mut self, skill: Skill) -> Self {
        self.made.push(skill);
        self
    }

    /// Sets the beginning of the URIs of all files, such as `github://owner/repository/`. A slash is added if it does not end with one.
    /// Default: `skill://`, which the extension recommends.
    ///
    /// ```
    /// use trueform_skills::Skills;
    ///
    /// let skills = Skills::new().base_uri("github://owner/repository/");
    /// ```
    pub fn base_uri(mut self, uri: impl Into<String>) -> Self {
        self.base = uri.into();
        if !self.base.ends_with('/') {
            self.base.push('/');
        }
        self
    }

    /// Sets how many skills, or children of a directory, are on a page, at least 1. Default: [`DEFAULT_PAGE_SIZE`].
    ///
    /// ```
    /// use trueform_skills::Skills;
    ///
    /// let skills = Skills::new().page_size(20);
    /// ```
    pub fn page_size(mut self, entries: usize) -> Self {
        self.page_size = entries;
        self
    }

    /// Sets how long clients may keep lists, entries and files, at 2026-07-28. Default: they fetch them again each time. A host compares
    /// digests even of what it keeps.
    ///
    /// ```
    /// use std::time::Duration;
    /// use trueform::resource::Caching;
    /// use trueform_skills::Skills;
    ///
    /// let skills = Skills::new().caching(Caching::public(Duration::from_secs(3600)));
    /// ```
    pub fn caching(mut self, caching: Caching) -> Self {
        self.caching = caching;
        self
    }
}

impl Plugin for Skills {
    fn add_to(self, mut server: Server) -> Server {
        let mut catalog = Catalog {
            base: self.base,
            made: Vec::new(),
            folders: Vec::new(),
        };
        if self.page_size == 0 {
            server = server.problem("`Skills::page_size` is zero; expected at least 1 entry");
        }
        for skill in self.made {
            match skill.checked() {
                Ok(skill) => catalog.made.push(skill),
                Err(problems) => server = problems.into_iter().fold(server, Server::problem),
            }
        }
        for folder in self.folders {
            match folder.open() {
                Ok(files) => catalog.folders.push(SkillFolder::new(files)),
                Err(error) => server = server.problem(error.to_string()),
            }
        }
        let (found, problems) = catalog.check();
        server = problems.into_iter().fold(server, Server::problem);
        let catalog = Arc::new(catalog);
        for skill in found {
            let path = format!("{}/{SKILL_FILE}", skill.path);
            let resource =
                DynamicResource::new(uri::of(&catalog.base, &path), skill.front_matter.name)
                    .description(skill.front_matter.description)
                    .mime_type("text/markdown")
                    .caching(self.caching);
            let catalog = catalog.clone();
            server = server.resources(
                resource.handler(move |context| read(catalog.clone(), path.clone(), context)),
            );
        }
        let of_template = catalog.clone();
        let template = DynamicTemplate::new(format!("{}{{+path}}", catalog.base), "skill files")
            .description("The files of skills.")
            // The folders refuse such paths too. Here, the request does not even reach them.
            .file_like()
            .caching(self.caching)
            .handler(move |context, variables| {
                read(of_template.clone(), variables["path"].to_owned(), context)
            });
        let settings = json!({ "directoryRead": true });
        let settings = JsonObject::from_value(&settings).expect("an object is an object");
        let methods = SkillMethods {
            catalog,
            page_size: self.page_size,
            caching: self.caching,
        };
        server
            .resources(template)
            .extension_with(handler::Server(methods), settings)
    }
}

/// Reads the file at `path`.
async fn read(
    catalog: Arc<Catalog>,
    path: String,
    context: Context,
) -> Result<ResourceOutput, ToolError> {
    if let Some(content) = catalog.read_made(&path, &context) {
        return content.await;
    }
    let found = tokio::task::spawn_blocking(move || catalog.read_found(&path)).await;
    found.unwrap_or_else(|failed| Err(ToolError::internal(failed)))
}
