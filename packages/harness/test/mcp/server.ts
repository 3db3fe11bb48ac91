/** A server of the Model Context Protocol on stdin and stdout, for the tests: every kind of answer, and two ways to fail. */
import { appendFileSync } from "node:fs";
import { McpServer } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { z } from "zod";

const text = (said: string) => ({ content: [{ type: "text" as const, text: said }] });
const started = process.env["STARTED"];
if (started !== undefined) appendFileSync(started, `${process.pid}\n`);

serveStdio(() => {
  const server = new McpServer({ name: "fixture", version: "1.0.0" });
  server.registerTool(
    "look up",
    {
      description: "Looks a word up",
      inputSchema: z.object({ word: z.string() }),
      annotations: { readOnlyHint: true },
    },
    async ({ word }) => text(`${word} means so`),
  );
  server.registerTool("write", { inputSchema: z.object({ note: z.string() }) }, async ({ note }) =>
    text(`kept ${note}`),
  );
  server.registerTool("fail", { annotations: { readOnlyHint: true } }, async () => ({
    ...text("no such row"),
    isError: true,
  }));
  server.registerTool("die", { annotations: { readOnlyHint: true } }, () => process.exit(1));
  server.registerTool("secrets", { annotations: { readOnlyHint: true } }, async () =>
    text(JSON.stringify([process.env["NAMED"] ?? null, process.env["UNNAMED"] ?? null])),
  );
  server.registerTool("picture", { annotations: { readOnlyHint: true } }, async () => ({
    content: [
      { type: "text", text: "a dot" },
      { type: "image", data: "iVBORw0KGgo=", mimeType: "image/png" },
    ],
  }));
  return server;
});
