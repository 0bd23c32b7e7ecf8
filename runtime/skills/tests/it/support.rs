//! Folders of skills, and clients of both eras.

use std::{
    fs,
    future::IntoFuture,
    path::{Path, PathBuf},
    time::Duration,
};

use serde_json::Value;
use trueform::{Client, Server, Service, client::ClientOptions, schema::Revision};
use trueform_skills::{
    Skills,
    bindings::{
        GetSkillRequestParams, ListSkillsRequestParams, ReadResourceDirectoryRequestParams,
        methods::{GetSkill, ListSkills, ReadResourceDirectory},
    },
};

/// The revisions that have the extension.
pub(crate) const HAVING: [Revision; 2] = [Revision::V2025_11_25, Revision::V2026_07_28];

/// A folder that is removed at the end.
pub(crate) struct Made(PathBuf);

impl Made {
    pub(crate) fn new(name: &str) -> Self {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(path.join("skills")).unwrap();
        Self(path)
    }

    /// The folder of skills.
    pub(crate) fn skills(&self) -> PathBuf {
        self.0.join("skills")
    }

    /// Writes a file below the folder of skills.
    pub(crate) fn write(&self, path: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
        let path = self.skills().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, bytes).unwrap();
        path
    }

    /// Writes the `SKILL.md` of a skill that is called as the folder at `path`.
    pub(crate) fn skill(&self, path: &str) -> PathBuf {
        self.write(&format!("{path}/SKILL.md"), text_of(path))
    }

    pub(crate) fn service(&self) -> Service {
        serve(Skills::folder(self.skills()))
    }
}

impl Drop for Made {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// The `SKILL.md` of a skill at `path`.
pub(crate) fn text_of(path: &str) -> String {
    let name = path.rsplit('/').next().unwrap();
    format!("---\nname: {name}\ndescription: About {name}.\n---\nDo it.\n")
}

/// A server of `skills` alone.
pub(crate) fn serve(skills: Skills) -> Service {
    Server::new("t", "1").with(skills).build().unwrap()
}

/// The output of `future`; panics if it takes too long.
pub(crate) async fn soon<F: IntoFuture>(future: F) -> F::Output {
    let limited = tokio::time::timeout(Duration::from_secs(60), future.into_future());
    limited.await.expect("took too long")
}

pub(crate) async fn connect(service: &Service, revision: Revision) -> Client {
    soon(service.connect_as(ClientOptions::at(revision)))
        .await
        .unwrap()
}

/// What the server answers: the result, or the error, as JSON.
pub(crate) type Answered = Result<Value, Value>;

fn answered<T: trueform::schema::Conform>(
    result: Result<T, trueform::client::ClientError>,
    revision: Revision,
) -> Answered {
    match result {
        Ok(result) => Ok(trueform::schema::At::new(&result, revision)
            .to_json()
            .to_value()),
        Err(error) => {
            let error = error
                .remote()
                .unwrap_or_else(|| panic!("the server refuses: {error}"));
            Err(serde_json::to_value(error).unwrap())
        }
    }
}

pub(crate) async fn list(client: &Client, cursor: Option<&str>) -> Answered {
    let mut params = ListSkillsRequestParams::new();
    params.cursor = cursor.map(str::to_owned);
    answered(
        soon(client.request::<ListSkills>(params)).await,
        client.revision(),
    )
}

pub(crate) async fn get(client: &Client, uri: &str) -> Answered {
    let params = GetSkillRequestParams::new(uri);
    answered(
        soon(client.request::<GetSkill>(params)).await,
        client.revision(),
    )
}

pub(crate) async fn directory(client: &Client, uri: &str, cursor: Option<&str>) -> Answered {
    let mut params = ReadResourceDirectoryRequestParams::new(uri);
    params.cursor = cursor.map(str::to_owned);
    let asked = client.request::<ReadResourceDirectory>(params);
    answered(soon(asked).await, client.revision())
}

/// The content of a resource, as its first contents or the error.
pub(crate) async fn read(client: &Client, uri: &str) -> Answered {
    match soon(client.read_resource(uri)).await {
        Ok(read) => Ok(serde_json::to_value(&read.contents[0]).unwrap()),
        Err(error) => Err(serde_json::to_value(error.remote().unwrap()).unwrap()),
    }
}

/// The member `name` of the items of the list `of` in `result`.
pub(crate) fn all<'a>(result: &'a Value, of: &str, name: &str) -> Vec<&'a str> {
    let items = result[of]
        .as_array()
        .unwrap_or_else(|| panic!("{of}: {result}"));
    items
        .iter()
        .map(|item| item[name].as_str().unwrap_or_default())
        .collect()
}
