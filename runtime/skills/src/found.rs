//! The contents of a skill, in the forms of the extension.

use trueform_schema::{Json, Resource};

use crate::{
    DIRECTORY, SKILL_FILE,
    bindings::{self, SkillFrontmatter, SkillResource, SkillResources},
    digest::Digest,
    front_matter::FrontMatter,
    uri,
};

/// A skill at one moment.
#[derive(Clone, Debug)]
pub(crate) struct Found {
    pub(crate) path: String,
    pub(crate) front_matter: FrontMatter,
    pub(crate) manifest: Manifest,
}

/// The files of a skill.
#[derive(Clone, Debug)]
pub(crate) enum Manifest {
    /// The files by their paths, which begin with that of the skill.
    Files(Vec<(String, Digest)>),
    /// The content is generated.
    Dynamic,
}

impl Found {
    /// Returns the entry of the extension, with URIs below `base`.
    pub(crate) fn entry(self, base: &str) -> bindings::Skill {
        let FrontMatter {
            name,
            description,
            others,
        } = self.front_matter;
        let mut front_matter = SkillFrontmatter::new(description, name);
        for (field, value) in others {
            front_matter.extras_mut().insert(field, Json::from(value));
        }
        let resources = match self.manifest {
            Manifest::Files(files) => {
                let files = files.into_iter().map(|(path, digest)| {
                    // The limit of a skill's size bounds sizes.
                    let size = i64::try_from(digest.size).unwrap_or(i64::MAX);
                    SkillResource::new(digest.text, size, uri::of(base, &path))
                });
                SkillResources::from(files.collect::<Vec<_>>())
            }
            Manifest::Dynamic => SkillResources::from("dynamic".to_owned()),
        };
        bindings::Skill::new(
            front_matter,
            resources,
            uri::of(base, &format!("{}/{SKILL_FILE}", self.path)),
        )
    }
}

/// A direct child of a folder.
#[derive(Clone, Debug)]
pub(crate) struct Child {
    pub(crate) path: String,
    is_folder: bool,
    size: Option<u64>,
    /// For a `SKILL.md`: the name and the description of its skill.
    skill: Option<(String, String)>,
}

impl Child {
    pub(crate) fn folder(path: String) -> Self {
        Self {
            path,
            is_folder: true,
            size: None,
            skill: None,
        }
    }

    pub(crate) fn file(path: String, size: Option<u64>) -> Self {
        Self {
            path,
            is_folder: false,
            size,
            skill: None,
        }
    }

    /// Creates the child for the `SKILL.md` of a skill.
    pub(crate) fn skill_file(path: String, size: Option<u64>, front_matter: &FrontMatter) -> Self {
        let skill = Some((front_matter.name.clone(), front_matter.description.clone()));
        Self {
            skill,
            ..Self::file(path, size)
        }
    }

    /// Returns the resource, with a URI below `base`.
    pub(crate) fn resource(self, base: &str) -> Resource {
        let own_name = self.path.rsplit('/').next().unwrap_or_default().to_owned();
        let (name, description) = match self.skill {
            Some((name, description)) => (name, Some(description)),
            None => (own_name, None),
        };
        let mut resource = Resource::new(name, uri::of(base, &self.path));
        resource.description = description;
        resource.mime_type = match self.is_folder {
            true => Some(DIRECTORY.to_owned()),
            false => trueform::resource::media_type(&self.path).map(str::to_owned),
        };
        resource.size = self.size.and_then(|size| i64::try_from(size).ok());
        resource
    }
}
