//! What each scenario expects of a client.

use serde_json::{Value, json};
use trueform::{
    client::Client,
    schema::{ResourceContents, Tool},
};
use trueform_skills::{
    bindings::{ListSkillsRequestParams, SkillResources, methods::ListSkills},
    verify,
};

use crate::Failure;

/// Plays one scenario.
pub(crate) async fn play(client: &Client, scenario: &str, context: &Value) -> Result<(), Failure> {
    match scenario {
        // These scenarios test the connection. Not all of their servers have tools.
        "initialize" | "request-metadata" if client.server_capabilities().tools.is_none() => {}
        "initialize" | "request-metadata" | "json-schema-ref-no-deref" => {
            client.list_tools().await?;
        }
        "tools_call" => {
            client.list_tools().await?;
            call(client, "add_numbers", json!({ "a": 2, "b": 3 })).await?;
        }
        "elicitation-sep1034-client-defaults" => {
            client.list_tools().await?;
            call(client, "test_client_elicitation_defaults", json!({})).await?;
        }
        "sse-retry" => {
            client.list_tools().await?;
            call(client, "test_reconnection", json!({})).await?;
        }
        "sep-2322-client-request-state" => {
            client.list_tools().await?;
            // The user at this client makes the unrelated call before the answer.
            for name in [
                "test_mrtr_echo_state",
                "test_mrtr_no_state",
                "test_mrtr_no_result_type",
            ] {
                call(client, name, json!({})).await?;
            }
        }
        "http-standard-headers" => every_list(client).await?,
        "http-custom-headers" => {
            client.list_tools().await?;
            let calls = context["toolCalls"].as_array();
            for asked in calls.ok_or("the context has no `toolCalls`")? {
                let name = asked["name"].as_str().ok_or("a call has no name")?;
                call(client, name, asked["arguments"].clone()).await?;
            }
        }
        // The others are not in the list: a client must not offer tools whose annotations break a rule.
        "http-invalid-tool-headers" => {
            for tool in client.list_tools().await? {
                call(client, &tool.name, arguments_of(&tool)).await?;
            }
        }
        "json-schema-2020-12-preservation" => {
            let tools = client.list_tools().await?;
            let named = |tool: &&Tool| tool.name == "json_schema_2020_12_tool";
            let tool = tools.iter().find(named).ok_or("the tool is not listed")?;
            let listed = serde_json::to_value(tool)?;
            call(
                client,
                "json_schema_echo",
                json!({ "schema": listed["inputSchema"] }),
            )
            .await?;
        }
        "sep-2640-client-no-prefetch" => {
            client
                .request::<ListSkills>(ListSkillsRequestParams::new())
                .await?;
        }
        name if name.starts_with("sep-2640-client-verify-") => load_skills(client).await?,
        other => return Err(format!("the scenario `{other}` is not known").into()),
    }
    Ok(())
}

async fn call(client: &Client, name: &str, arguments: Value) -> Result<(), Failure> {
    let result = client.call_tool(name, arguments).await?;
    match result.is_error {
        Some(true) => Err(format!("{name} failed: {}", result.text()).into()),
        _ => Ok(()),
    }
}

/// Lists everything, and uses each item.
async fn every_list(client: &Client) -> Result<(), Failure> {
    for tool in client.list_tools().await? {
        call(client, &tool.name, json!({})).await?;
    }
    for resource in client.list_resources().await? {
        client.read_resource(resource.uri).await?;
    }
    for prompt in client.list_prompts().await? {
        client.get_prompt(prompt.name, ()).await?;
    }
    Ok(())
}

/// A text for each property that the tool requires.
fn arguments_of(tool: &Tool) -> Value {
    let schema = serde_json::to_value(tool).unwrap_or_default();
    let required = schema.pointer("/inputSchema/required");
    let required = required.and_then(Value::as_array).into_iter().flatten();
    let required = required.filter_map(Value::as_str);
    required
        .map(|name| (name.to_owned(), json!("us-west1")))
        .collect()
}

/// Loads each skill: `SKILL.md` first, and the other files only if that is what the entry says.
async fn load_skills(client: &Client) -> Result<(), Failure> {
    let listed = client
        .request::<ListSkills>(ListSkillsRequestParams::new())
        .await?;
    for skill in &listed.skills {
        let mut uris = vec![&skill.uri];
        if let SkillResources::Array(files) = &skill.resources {
            let others = files.iter().map(|file| &file.uri);
            uris.extend(others.filter(|uri| **uri != skill.uri));
        }
        for uri in uris {
            let read = client.read_resource(uri).await?;
            let text = read.contents.iter().find_map(|content| match content {
                ResourceContents::Text(text) => Some(text.text.as_bytes()),
                _ => None,
            });
            verify(skill, uri, text.ok_or("the file is not text")?)?;
        }
    }
    Ok(())
}
