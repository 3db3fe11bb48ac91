// A server of the Model Context Protocol with one tool, which only reads.
import { McpServer } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { z } from "zod";

serveStdio(() => {
  const server = new McpServer({ name: "words", version: "1.0.0" });
  const about = { inputSchema: z.object({ word: z.string() }), annotations: { readOnlyHint: true } };
  server.registerTool("look up", about, async ({ word }) => ({
    content: [{ type: "text", text: `${word} means so` }],
  }));
  return server;
});
