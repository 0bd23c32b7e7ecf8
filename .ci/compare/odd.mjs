// Tools that misbehave. `odd.mjs --twice` has two of one name.

import { McpServer } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";

const text = (text) => ({ content: [{ type: "text", text }] });

serveStdio(() => {
  const server = new McpServer({ name: "odd", version: "1.0.0" });
  server.registerTool("fails", { description: "Throws." }, () => {
    throw new Error("on purpose");
  });
  server.registerTool("prints", { description: "Prints to standard output." }, () => {
    console.log("working on it");
    return text("printed");
  });
  server.registerTool("works", { description: "Returns a text." }, () => text("first"));
  if (process.argv.includes("--twice")) {
    server.registerTool("works", { description: "Returns another text." }, () => text("second"));
  }
  return server;
});
