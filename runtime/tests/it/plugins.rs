//! What other crates add to a server.

use serde_json::json;
use trueform::{Plugin, prelude::*, schema};

/// Says how the server is.
#[tool]
fn health() -> &'static str {
    "fine"
}

struct Health {
    identifier: &'static str,
    problem: Option<&'static str>,
}

impl Plugin for Health {
    fn add_to(self, server: Server) -> Server {
        let settings = schema::JsonObject::from_value(&json!({ "beats": [1] })).unwrap();
        let tools = tools![health].with_meta("com.example/health", json!({ "of": "all" }));
        let server = server
            .tools(tools)
            .announce_extension(self.identifier, settings);
        match self.problem {
            Some(problem) => server.problem(problem),
            None => server,
        }
    }
}

const HEALTH: Health = Health {
    identifier: "com.example/health",
    problem: None,
};

// C-14, GAP-12: an extension that is metadata alone.
#[tokio::test]
async fn a_plugin_adds_features_and_an_extension() {
    let service = Server::new("t", "1").with(HEALTH).build().unwrap();
    for revision in Revision::ALL {
        let options = trueform::client::ClientOptions::at(revision);
        let client = service.connect_as(options).await.unwrap();
        let declared = client.server_capabilities().extensions.as_ref();
        let settings = declared.and_then(|declared| declared.get("com.example/health"));
        let has_extensions = Revision::V2025_11_25 <= revision;
        let expected = has_extensions.then(|| json!({ "beats": [1] }));
        assert_eq!(
            settings.map(|settings| settings.to_value()),
            expected,
            "{revision}"
        );
        let listed = client.list_tools().await.unwrap();
        let meta = listed[0].meta.as_ref();
        let of = meta.and_then(|meta| meta.get("com.example/health"));
        let expected = json!({ "of": "all" });
        if Revision::V2025_06_18 <= revision {
            assert_eq!(of.map(|of| of.to_value()), Some(expected), "{revision}");
        }
    }
}

#[test]
fn what_a_plugin_finds_wrong_keeps_the_server_from_starting() {
    let broken = Health {
        problem: Some("there is no pulse"),
        ..HEALTH
    };
    let error = Server::new("t", "1")
        .with(broken)
        .tools(tools![health])
        .build()
        .unwrap_err();
    let problems = error.problems();
    assert!(
        problems.contains(&"there is no pulse".to_owned()),
        "{problems:?}"
    );
    // With all others.
    assert!(
        problems
            .iter()
            .any(|problem| problem.contains("two tools are named `health`")),
        "{problems:?}"
    );

    for (identifier, expected) in [
        (
            "health",
            "`health` cannot be the identifier of an extension",
        ),
        (
            "com.example/health",
            "the extension `com.example/health` was registered twice",
        ),
    ] {
        let server = Server::new("t", "1")
            .announce_extension("com.example/health", schema::JsonObject::empty())
            .announce_extension(identifier, schema::JsonObject::empty());
        let error = server.build().unwrap_err();
        assert!(error.problems()[0].contains(expected), "{error}");
    }
}
