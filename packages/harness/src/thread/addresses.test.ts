// Files that a message names by an address: who may have them fetched.
import assert from "node:assert/strict";
import { test } from "node:test";
import { tool } from "ai";
import { z } from "zod";
import { agentKit } from "../../test/agent/agent-kit.ts";
import { importFile } from "../import/import-file.ts";
import { withoutAddresses } from "./thread-view.ts";
import { threadDeps } from "./writer.ts";

const PIXEL = "iVBORw0KGgo=";
const files = (data: unknown) => [
  { type: "file", data, mediaType: "image/png" },
  { type: "image", image: data },
];

test("a file by its address becomes text, in whatever form the address is given", () => {
  const forms = [
    "http://169.254.169.254/latest",
    " https://tracker.test/a.png",
    "FTP://host/x",
    "file:///etc/passwd",
    new URL("https://tracker.test/a.png"),
    { type: "url", url: "https://tracker.test/a.png" },
    { type: "url", url: new URL("https://tracker.test/a.png") },
  ];
  for (const form of forms)
    for (const part of files(form)) {
      const [first] = withoutAddresses({ role: "user", content: [part] }).content as { type: string; text?: string }[];
      assert.equal(first?.type, "text", String(form));
      assert.match(first.text!, /^\[a file at .*which was not fetched\]$/);
    }
});

test("what comes with its content, and what is only words, stays the same object", () => {
  const result = (output: object) => ({ type: "tool-result", toolCallId: "c", toolName: "t", output });
  const messages = [
    { role: "user", content: "see https://example.org/a.png" },
    { role: "user", content: [{ type: "text", text: "https://example.org/a.png" }] },
    ...[PIXEL, `data:image/png;base64,${PIXEL}`, new Uint8Array([1, 2]), { type: "data", data: PIXEL }].map((data) => ({
      role: "user",
      content: files(data),
    })),
    {
      role: "assistant",
      content: [{ type: "tool-call", toolCallId: "c", toolName: "t", input: { url: "https://x" } }],
    },
    { role: "tool", content: [result({ type: "text", value: "https://x" })] },
    {
      role: "tool",
      content: [result({ type: "content", value: [{ type: "media", data: PIXEL, mediaType: "image/png" }] })],
    },
  ];
  for (const message of messages) assert.equal(withoutAddresses(message), message);
});

test("nothing that an import or a tool names is fetched when the thread goes on", async (t) => {
  // Fetching it would fail the run.
  const base = "https://tracker.invalid";
  const look = tool({
    inputSchema: z.object({}),
    execute: () => "seen",
    toModelOutput: () => ({ type: "content", value: [{ type: "image-url", url: `${base}/tool.png` }] }),
  });
  const kit = agentKit([{ calls: [{ id: "c", name: "look", input: {} }] }, "done"], { tools: { look } });
  t.after(() => kit.store.close());
  const image = { type: "image_url", image_url: { url: `${base}/import.png` } };
  const message = { role: "user", content: [{ type: "text", text: "look" }, image] };
  const bytes = Buffer.from(JSON.stringify({ messages: [message, { role: "assistant", content: "ok" }] }));
  await importFile(threadDeps(kit.store), "x.json", { threadId: "t", bytes, onInvalid: "refuse" });
  await kit.agent.generate({ threadId: "t", prompt: "go on" });
  const sent = JSON.stringify(kit.model.calls.at(-1)!.prompt);
  assert.match(sent, /import\.png, which was not fetched/);
  assert.match(sent, /tool\.png, which was not fetched/);
});
