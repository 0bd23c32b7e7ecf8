//! What a folder of skills is to clients.

use std::time::Duration;

use serde_json::json;
use trueform::{
    client::ClientOptions,
    resource::{Caching, Folder},
    schema::{Era, Revision},
};
use trueform_skills::{Skills, bindings::IDENTIFIER};

use crate::support::{
    HAVING, Made, all, connect, directory, get, list, read, serve, soon, text_of,
};

fn filled(name: &str) -> Made {
    let made = Made::new(name);
    made.write(
        "pdf/SKILL.md",
        "---\nname: pdf\ndescription: Fills forms.\nlicense: MIT\nmetadata:\n  version: 1.0\n  tags: [a, ~]\n---\n# PDF\n",
    );
    made.write("pdf/forms/order form.md", "# Order");
    made.write("pdf/forms/deep/logo.png", b"\x89PNG\xff");
    made.skill("acme/billing/refunds");
    made.write("README.md", "Not of a skill.");
    made.write("acme/notes.txt", "Not of a skill.");
    made.write("pdf/.secret", "hidden");
    made
}

// GAP-12: declared where servers can declare extensions, and served there to every client.
#[tokio::test]
async fn skills_are_listed_with_digests() {
    let made = filled("served-listed");
    let service = made.service();
    for revision in HAVING {
        let client = connect(&service, revision).await;
        let declared = client.server_capabilities();
        let extensions = declared.extensions.as_ref().unwrap();
        let settings = extensions.get(IDENTIFIER).unwrap().to_value();
        assert_eq!(settings, json!({ "directoryRead": true }));
        assert!(
            declared.resources.is_some(),
            "the extension depends on resources"
        );

        let listed = list(&client, None).await.unwrap();
        let mut expected = json!({
            "skills": [
                {
                    "uri": "skill://acme/billing/refunds/SKILL.md",
                    "frontmatter": { "name": "refunds", "description": "About refunds." },
                    "resources": [{
                        "uri": "skill://acme/billing/refunds/SKILL.md",
                        "size": text_of("refunds").len(),
                        // By `sha256sum`.
                        "digest": "sha256:dafea0f69e91c3994e493b016412e495b2168a11ed5c515c7d1ec7b269b6dad5",
                    }],
                },
                {
                    "uri": "skill://pdf/SKILL.md",
                    "frontmatter": {
                        "name": "pdf",
                        "description": "Fills forms.",
                        "license": "MIT",
                        "metadata": { "version": 1.0, "tags": ["a", null] },
                    },
                    "resources": [
                        {
                            "uri": "skill://pdf/SKILL.md",
                            "size": 103,
                            "digest": "sha256:82b80a90c5aca75bf45178d14e9a238d068a36c086baeb9794e706eae1552ce1",
                        },
                        {
                            "uri": "skill://pdf/forms/deep/logo.png",
                            "size": 5,
                            "digest": "sha256:88d68653bc6eba8184e26ce031ad2c828ea72973d7fd3863823a2704e6b41940",
                        },
                        {
                            "uri": "skill://pdf/forms/order%20form.md",
                            "size": 7,
                            "digest": "sha256:97dac3585ec5614e51b07883b22a79a90b8d937a6a134418776363578fcfbd23",
                        },
                    ],
                },
            ],
        });
        if revision.era() == Era::Modern {
            expected["resultType"] = "complete".into();
            expected["ttlMs"] = 0.into();
            expected["cacheScope"] = "private".into();
        }
        assert_eq!(listed, expected, "{revision}");

        let mut one = json!({ "skill": expected["skills"][1] });
        for member in ["resultType", "ttlMs", "cacheScope"] {
            if let Some(value) = expected.get(member) {
                one[member] = value.clone();
            }
        }
        assert_eq!(
            get(&client, "skill://pdf/SKILL.md").await.unwrap(),
            one,
            "{revision}"
        );
    }
}

// GAP-12: before, a server cannot declare extensions, and the files are ordinary resources.
#[tokio::test]
async fn older_revisions_have_the_files_alone() {
    let made = filled("served-older");
    let service = made.service();
    for revision in Revision::ALL {
        if HAVING.contains(&revision) {
            continue;
        }
        let options = ClientOptions::at(revision).outgoing(trueform::Policy::Off);
        let client = soon(service.connect_as(options)).await.unwrap();
        assert!(
            client.server_capabilities().extensions.is_none(),
            "{revision}"
        );
        let content = read(&client, "skill://pdf/SKILL.md").await.unwrap();
        assert_eq!(content["mimeType"], "text/markdown", "{revision}");
        let error = {
            client
                .send_raw(r#"{"jsonrpc":"2.0","id":"own","method":"skills/list","params":{}}"#)
                .unwrap();
            let line = soon(client.next_message()).await.unwrap();
            serde_json::from_str::<serde_json::Value>(&line).unwrap()
        };
        assert_eq!(error["error"]["code"], -32601, "{revision}: {error}");
    }
}

#[tokio::test]
async fn the_files_are_resources() {
    let made = filled("served-read");
    let service = made.service();
    for revision in HAVING {
        let client = connect(&service, revision).await;
        let listed = soon(client.list_resources()).await.unwrap();
        let listed: Vec<_> = listed
            .iter()
            .map(|one| {
                (
                    &*one.uri,
                    &*one.name,
                    one.description.as_deref(),
                    one.mime_type.as_deref(),
                )
            })
            .collect();
        assert_eq!(
            listed,
            [
                (
                    "skill://acme/billing/refunds/SKILL.md",
                    "refunds",
                    Some("About refunds."),
                    Some("text/markdown")
                ),
                (
                    "skill://pdf/SKILL.md",
                    "pdf",
                    Some("Fills forms."),
                    Some("text/markdown")
                ),
            ]
        );
        for (uri, member, value, mime_type) in [
            (
                "skill://pdf/forms/order%20form.md",
                "text",
                "# Order",
                "text/markdown",
            ),
            (
                "skill://pdf/forms/deep/logo.png",
                "blob",
                "iVBOR/8=",
                "image/png",
            ),
            (
                "skill://acme/billing/refunds/SKILL.md",
                "text",
                &*text_of("refunds"),
                "text/markdown",
            ),
        ] {
            let content = read(&client, uri).await.unwrap();
            assert_eq!(
                (&content["uri"], &content[member], &content["mimeType"]),
                (&json!(uri), &json!(value), &json!(mime_type))
            );
        }
        // What is in no skill, is hidden, is a folder, or is not there.
        for uri in [
            "skill://README.md",
            "skill://acme/notes.txt",
            "skill://pdf/.secret",
            "skill://pdf/forms",
            "skill://pdf/none.md",
            "skill://pdf/SKILL.md/x",
            "skill://pdf/../pdf/SKILL.md",
            "skill://pdf/%2e%2e/README.md",
        ] {
            let error = read(&client, uri).await.unwrap_err();
            assert!(
                [-32602, -32002].contains(&error["code"].as_i64().unwrap()),
                "{uri}: {error}"
            );
        }
    }
}

#[tokio::test]
async fn folders_are_directories() {
    let made = filled("served-directory");
    std::fs::create_dir(made.skills().join("pdf/empty")).unwrap();
    let service = made.service();
    for revision in HAVING {
        let client = connect(&service, revision).await;
        let root = directory(&client, "skill://pdf", None).await.unwrap();
        let mut expected = json!({
            "resources": [
                {
                    "uri": "skill://pdf/SKILL.md",
                    "name": "pdf",
                    "description": "Fills forms.",
                    "mimeType": "text/markdown",
                    "size": 103,
                },
                { "uri": "skill://pdf/empty", "name": "empty", "mimeType": "inode/directory" },
                { "uri": "skill://pdf/forms", "name": "forms", "mimeType": "inode/directory" },
            ],
        });
        if revision.era() == Era::Modern {
            expected["resultType"] = "complete".into();
        }
        assert_eq!(root, expected, "{revision}");
        for (uri, expected) in [
            (
                "skill://pdf/forms",
                &[
                    "skill://pdf/forms/deep",
                    "skill://pdf/forms/order%20form.md",
                ][..],
            ),
            ("skill://pdf/empty", &[]),
            // Of what groups skills, only the way to them.
            ("skill://acme", &["skill://acme/billing"]),
            ("skill://acme/billing", &["skill://acme/billing/refunds"]),
        ] {
            let found = directory(&client, uri, None).await.unwrap();
            assert_eq!(all(&found, "resources", "uri"), expected, "{uri}");
        }
        for uri in [
            "skill://pdf/SKILL.md",
            "skill://pdf/",
            "skill://pdf/none",
            "skill://none",
            "skill://",
            "skill://pdf/.git",
            "skill://pdf/forms/..",
            "file:///etc",
        ] {
            let error = directory(&client, uri, None).await.unwrap_err();
            assert_eq!(
                (&error["code"], &error["data"]["pointer"]),
                (&json!(-32602), &json!("/params/uri")),
                "{uri}: {error}"
            );
        }
    }
}

// P-1, P-3, V-8
#[tokio::test]
async fn lists_have_pages() {
    let made = Made::new("served-pages");
    for name in ["a", "b", "c", "d", "e"] {
        made.skill(name);
        made.write(&format!("a/{name}.md"), name);
    }
    let caching = Caching::public(Duration::from_secs(5));
    let service = serve(Skills::folder(made.skills()).page_size(2).caching(caching));
    for revision in HAVING {
        let client = connect(&service, revision).await;
        let (mut found, mut cursor) = (Vec::new(), None);
        for _ in 0..3 {
            let page = list(&client, cursor.as_deref()).await.unwrap();
            found.extend(all(&page, "skills", "uri").into_iter().map(str::to_owned));
            cursor = page["nextCursor"].as_str().map(str::to_owned);
            if revision.era() == Era::Modern {
                assert_eq!(
                    (&page["ttlMs"], &page["cacheScope"]),
                    (&json!(5000), &json!("public"))
                );
            }
        }
        assert_eq!(cursor, None);
        let expected = ["a", "b", "c", "d", "e"].map(|name| format!("skill://{name}/SKILL.md"));
        assert_eq!(found, expected);

        let (mut found, mut cursor) = (Vec::new(), None);
        for _ in 0..3 {
            let page = directory(&client, "skill://a", cursor.as_deref())
                .await
                .unwrap();
            found.extend(
                all(&page, "resources", "name")
                    .into_iter()
                    .map(str::to_owned),
            );
            cursor = page["nextCursor"].as_str().map(str::to_owned);
        }
        assert_eq!(cursor, None);
        assert_eq!(found, ["a", "a.md", "b.md", "c.md", "d.md", "e.md"]);

        for cursor in ["", "!", "bm9uZQ", "_w"] {
            for error in [
                list(&client, Some(cursor)).await.unwrap_err(),
                directory(&client, "skill://a", Some(cursor))
                    .await
                    .unwrap_err(),
            ] {
                assert_eq!(
                    (&error["code"], &error["data"]["pointer"]),
                    (&json!(-32602), &json!("/params/cursor")),
                    "{cursor}: {error}"
                );
            }
        }
    }
}

#[tokio::test]
async fn another_base_and_rules_of_the_folder() {
    let made = filled("served-base");
    made.write("pdf/draft.tmp", "x");
    made.skill("drafts/half");
    let folder = Folder::new(made.skills()).ignore("*.tmp").ignore("drafts");
    let skills = Skills::new()
        .in_folder(folder)
        .base_uri("github://owner/repository");
    let client = connect(&serve(skills), Revision::V2026_07_28).await;
    let listed = list(&client, None).await.unwrap();
    assert_eq!(
        all(&listed, "skills", "uri"),
        [
            "github://owner/repository/acme/billing/refunds/SKILL.md",
            "github://owner/repository/pdf/SKILL.md"
        ]
    );
    assert!(!listed.to_string().contains(".tmp"), "{listed}");
    read(
        &client,
        "github://owner/repository/pdf/forms/order%20form.md",
    )
    .await
    .unwrap();
    read(&client, "github://owner/repository/pdf/draft.tmp")
        .await
        .unwrap_err();
    directory(&client, "github://owner/repository/drafts", None)
        .await
        .unwrap_err();
}

/// A skill in another one is one of its own, and its files are files of both.
#[tokio::test]
async fn skills_nest() {
    let made = Made::new("served-nest");
    made.skill("outer");
    made.skill("outer/more/inner");
    let client = connect(&made.service(), Revision::V2026_07_28).await;
    let listed = list(&client, None).await.unwrap();
    let inner = "skill://outer/more/inner/SKILL.md";
    assert_eq!(
        all(&listed, "skills", "uri"),
        ["skill://outer/SKILL.md", inner]
    );
    assert_eq!(
        all(&listed["skills"][0], "resources", "uri"),
        ["skill://outer/SKILL.md", inner]
    );
    assert_eq!(all(&listed["skills"][1], "resources", "uri"), [inner]);
}
