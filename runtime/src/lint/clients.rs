//! The known limits of clients: the table that all findings of the lint come from.

/// A limit of a client, and where it was reported.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fact {
    /// The client, or the model service behind it.
    pub client: &'static str,
    /// The rule of the lint that concerns it: [`Finding::code`](super::Finding::code).
    pub code: &'static str,
    /// What the client does.
    pub limit: &'static str,
    /// The day of the report, as `YYYY-MM-DD`.
    pub date: &'static str,
    /// The report: an issue or a pull request of a public repository on GitHub, as `owner/name#number`, or a chapter of the
    /// specification.
    pub source: &'static str,
}

const fn fact(
    code: &'static str,
    client: &'static str,
    limit: &'static str,
    date: &'static str,
    source: &'static str,
) -> Fact {
    Fact {
        client,
        code,
        limit,
        date,
        source,
    }
}

/// Every client that follows the specification.
const ALL: &str = "every client that follows the specification";

/// All facts, by rule.
#[rustfmt::skip]
pub const FACTS: &[Fact] = &[
    fact("root-type", ALL, "expects an object schema at the root of `inputSchema`, and before 2026-07-28 of `outputSchema`", "2025-11-25", "specification, Tools"),
    fact("root-type", "TypeScript SDK 1.x clients", "lose all tools because of an `outputSchema` that is not of type `object`", "2026-09-21", "opentokenz/mcpx#28"),
    fact("root-type", "Claude Code", "loses all tools because of an `inputSchema` that is not of type `object`, without a message", "2026-08-19", "anthropics/claude-code#88049"),
    fact("root-combinator", "Claude Code", "drops a tool with a combinator at the root, without a message", "2026-09-19", "anthropics/claude-code#95504"),
    fact("root-combinator", "Claude API", "refuses requests with such a tool", "2026-08-05", "makenotion/notion-mcp-server#341"),
    fact("dialect", "Claude", "refuses a tool whose schema names another dialect than 2020-12", "2026-09-11", "ankimcp/anki-mcp-server-addon#75"),
    fact("dialect", "Claude API", "refuses requests with a tool whose schema names draft-07", "2025-07-08", "anthropics/claude-code#586"),
    fact("dialect", "VS Code", "drops a tool whose dialect it cannot load", "2026-05-12", "executeautomation/mcp-playwright#219"),
    fact("boolean-subschema", "TypeScript SDK 1.x clients", "lose all tools because of `true` or `false` as the schema of a property", "2026-05-20", "agent-sh/computer-use-linux#1"),
    fact("boolean-subschema", "Claude Code", "loses all tools of the server, without a message", "2026-09-08", "anthropics/claude-code#92900"),
    fact("boolean-subschema", "OpenCode", "loses all tools of the server", "2026-09-17", "anomalyco/opencode#49464"),
    fact("unknown-format", "ajv-based clients", "refuse a schema with such a format in strict mode", "2022-06-29", "ajv-validator/ajv#2021"),
    fact("unknown-format", "OpenCode", "writes a warning over its interface for each", "2026-06-05", "anomalyco/opencode#31002"),
    fact("unknown-format", "CodeBuddy Code", "writes a warning for each at every call", "2026-09-19", "longbridge/developers#1264"),
    fact("reference", "Copilot CLI", "does not follow `$ref`, and calls the tool without the argument", "2026-03-06", "github/copilot-cli#1876"),
    fact("reference", "Claude Code", "loses all tools when it cannot resolve `$ref`", "2026-07-12", "anthropics/claude-code#76881"),
    fact("reference", "LM Studio", "does not find the target of `$ref`", "2025-07-06", "lmstudio-ai/lmstudio-bug-tracker#738"),
    fact("reference", "n8n", "drops `$ref` and `$defs`, and shows the model an empty schema", "2026-02-19", "n8n-io/n8n#25964"),
    fact("remote-reference", ALL, "fetches no documents that a schema refers to", "2025-11-25", "specification, Security Best Practices"),
    fact("nullable", ALL, "ignores `nullable`, which is OpenAPI", "2025-11-25", "specification, Tools"),
    fact("null", "Gemini API", "refuses requests with a list as `type`", "2026-09-17", "aoci-spec/aoci-code#61"),
    fact("null", "Copilot CLI with Gemini", "fails every request because of array items that may be null", "2026-09-08", "github/copilot-cli#4623"),
    fact("null", "Cursor", "refuses right values of a property that may be null", "2025-11-13", "cursor/cursor#3778"),
    fact("null", "Kuadrant MCP gateway", "drops a tool with a list as `type`", "2026-08-22", "baruchiro/paperless-mcp#138"),
    fact("null-default", "Claude Desktop", "demands an optional argument whose default is null", "2026-09-15", "anthropics/claude-code#94608"),
    fact("no-properties", "OpenAI API", "refuses requests with an object schema without `properties`", "2026-03-19", "NousResearch/hermes-agent#2095"),
    fact("no-properties", "Osaurus", "does not load a tool whose input schema has no `properties`", "2026-09-22", "osaurus-ai/osaurus#2847"),
    fact("no-items", "OpenAI API", "refuses requests with an array schema without `items`", "2026-03-18", "spacelift-io/spacectl#402"),
    fact("no-items", "Gemini API", "refuses requests with an array schema without `items`", "2026-04-21", "Ingenimax/agent-sdk-go#319"),
    fact("no-items", "VS Code", "drops a tool with an array schema without `items`", "2026-03-20", "DeusData/codebase-memory-mcp#79"),
    fact("exclusive-bound", "Gemini API", "refuses requests with `exclusiveMinimum` or `exclusiveMaximum`", "2025-04-29", "modelcontextprotocol/servers#1624"),
    fact("prompt-name", "Claude Code", "does not run a prompt whose name has a space", "2025-08-11", "anthropics/claude-code#5542"),
    fact("prompt-name", "Claude Desktop", "cuts the command that it makes of a prompt's name at a space", "2025-09-05", "basicmachines-co/basic-memory#289"),
    fact("argument-name", "Gemini CLI", "takes arguments of prompts as `--name=\"value\"`, so that a name cannot have a `=`", "2025-08-21", "google-gemini/gemini-cli#6779"),
    fact("argument-order", "Claude Code", "gives values to the arguments of a prompt in their order", "2026-06-23", "anthropics/claude-code#70284"),
    fact("no-description", ALL, "shows the description to those who choose a prompt or fill in a template", "2025-11-25", "specification, Prompts"),
    fact("uri-case", "clients that normalise URIs", "ask for the scheme in small letters, which is another URI to most servers", "2026-07-06", "WordPress/mcp-adapter#235"),
    fact("web-uri", ALL, "reads `https` URIs from the web itself", "2025-11-25", "specification, Resources"),
    fact("large-content", "Go SDK", "fails on a message of more than 1 MB", "2026-02-14", "modelcontextprotocol/go-sdk#793"),
    fact("huge-content", "TypeScript SDK clients", "refuse a message of more than 10 MiB over stdio", "2026-09-16", "anvia-hq/anvia#453"),
    fact("form-revision", ALL, "understands the forms of its revision only: several choices, titles and defaults came with 2025-11-25", "2025-11-25", "specification, Elicitation"),
    fact("form-secret", ALL, "shows forms to users who should not type secrets into them", "2025-11-25", "specification, Elicitation"),
    fact("form-rule", ALL, "shows and checks the formats `email`, `uri`, `date` and `date-time` only, and no patterns", "2025-11-25", "specification, Elicitation"),
];

/// Returns the clients that a rule concerns.
pub(super) fn clients(code: &str) -> Vec<&'static str> {
    let facts = FACTS.iter().filter(|fact| fact.code == code);
    facts.map(|fact| fact.client).collect()
}
