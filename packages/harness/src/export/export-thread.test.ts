import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { importFile } from "../import/import-file.ts";
import { openSqlite } from "../stores/sqlite.ts";
import { replay } from "../thread/audit.ts";
import { threadDeps } from "../thread/writer.ts";
import { type ExportFormat, exportThread } from "./export-thread.ts";
import { htmlHead, htmlMessage } from "./html.ts";

const MESSAGES = [
  { role: "user", content: "Is <b>a & b</b> safe?" },
  {
    role: "assistant",
    content: null,
    tool_calls: [{ id: "1", type: "function", function: { name: "look", arguments: '{"path":"a.md"}' } }],
  },
  { role: "tool", tool_call_id: "1", content: "```js\nfence inside\n```" },
  { role: "assistant", content: "It is." },
];

async function thread(t: TestContext) {
  const folder = mkdtempSync(join(tmpdir(), "palimpsest-export-"));
  const deps = threadDeps(openSqlite({ path: ":memory:" }));
  t.after(async () => {
    await deps.store.close();
    rmSync(folder, { recursive: true });
  });
  const path = join(folder, "said.jsonl");
  const bring = async (text: string, id: string) => {
    writeFileSync(path, text);
    assert.equal((await importFile(deps, path, { threadId: id, onInvalid: "refuse" })).kind, "imported");
  };
  await bring(MESSAGES.map((message) => JSON.stringify(message)).join("\n"), "t");
  const said = async (format: ExportFormat, id = "t") => (await all(exportThread(deps.store, id, format))).join("");
  const bodies = async (id: string) => (await all(replay(deps, id))).map(({ body }) => body);
  return { said, bring, bodies };
}

test("JSON lines come back by import, message for message, byte for byte", async (t) => {
  const { said, bring, bodies } = await thread(t);
  await bring(await said("jsonl"), "again");
  assert.deepEqual(await bodies("again"), await bodies("t"));
});

test("Markdown has a heading for each message, and a fence that a result can't close", async (t) => {
  const text = await (await thread(t)).said("markdown");
  assert.match(text, /^# .+\n\n## user · #1 · \d{4}-\d\d-\d\d \d\d:\d\d\n\nIs <b>a & b<\/b> safe\?\n/);
  assert.match(text, /`look`\n\n```json\n\{"path":"a\.md"\}\n```/);
  assert.match(text, /Result:\n\n````\n```js\nfence inside\n```\n````/);
});

test("a result with very many fences is exported", async (t) => {
  const { said, bring } = await thread(t);
  const result = { role: "tool", tool_call_id: "1", content: `${"` ".repeat(200_000)}\`\`\`\`` };
  await bring([...MESSAGES.slice(0, 2), result].map((message) => JSON.stringify(message)).join("\n"), "fences");
  assert.match(await said("markdown", "fences"), /Result:\n\n`{5}\n/);
});

test("a page holds everything escaped, and neither script nor address", async (t) => {
  const page = await (await thread(t)).said("html");
  assert.match(page, /Is &#60;b&#62;a &#38; b&#60;\/b&#62; safe\?/);
  assert.doesNotMatch(page, /<script|<b>|https?:/);
  assert.ok(page.endsWith("</html>\n"));
});

async function all<T>(pieces: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const piece of pieces) found.push(piece);
  return found;
}

test("signs that turn or hide words don't reach the title of an exported page", () => {
  assert.match(htmlHead("a\u202eb\u200bc\u2028d"), /<title>a\ufffdb\ufffdc\ufffdd<\/title>/);
});

test("characters that reverse or hide text are visible signs in an exported message; line ends and tabs stay", () => {
  const text = "turned \u202e txet \u2066 hidden \u200b zero \u0000\n\tnext line";
  const html = htmlMessage({ seq: 1, at: "2026-11-19T12:00:00Z", role: "user", parts: [{ kind: "text", text }] });
  assert.match(html, /<p>turned \ufffd txet \ufffd hidden \ufffd zero \ufffd\n\tnext line<\/p>/);
});
