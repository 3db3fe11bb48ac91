// A zip archive over HTTP: its files become threads of the caller, or are played in the lab, and one that would burst is refused before it is unpacked.
import assert from "node:assert/strict";
import { test } from "node:test";
import { createClient } from "palimpsest/client";
import { world } from "../../test/examples.ts";
import { zip } from "../../test/zip.ts";

const chat = (text: string): string => JSON.stringify([{ role: "user", content: text }]);

test("the files of a zip archive become threads of who sends it, and the result of each is told", async (t) => {
  const at = await world(t);
  const client = createClient({ url: at.url, key: at.keys.ada });
  const archive = zip({
    "a/one.json": chat("How deep?"),
    "two.jsonl": chat("Nine."),
    "bad.json": "{",
    "x.txt": "-",
  });
  const body = new Blob([new Uint8Array(archive)]);
  const answer = await client.call("POST /api/threads/{id}/import", { params: { id: "zip" }, body });
  assert.deepEqual(
    [answer.imported, answer.threads.map(({ thread }) => thread), answer.dialect],
    [2, ["zip-a-one", "zip-two"], "openai"],
  );
  assert.deepEqual(
    answer.files?.map(({ file, imported }) => [file, imported]),
    [
      ["a/one.json", 1],
      ["two.jsonl", 1],
      ["bad.json", 0],
    ],
  );
  assert.match(answer.files?.[2]?.problem ?? "", /not valid JSON/);
  const other = createClient({ url: at.url, key: at.keys.bob });
  const { threads } = await other.call("GET /api/threads");
  assert.ok(!threads.some(({ id }) => id.startsWith("zip")), "another user has none of them");
});

test("a file is imported from its bytes: a mark at its beginning is no part of it, and one that is no UTF-8 is refused", async (t) => {
  const at = await world(t);
  const send = async (id: string, body: Uint8Array<ArrayBuffer>) => {
    const headers = { authorization: `Bearer ${at.keys.ada}`, "content-type": "application/json" };
    const answer = await fetch(`${at.url}/api/threads/${id}/import`, { method: "POST", headers, body });
    return { status: answer.status, body: (await answer.json()) as { imported?: number; error?: { code: string } } };
  };
  const marked = await send("marked", new TextEncoder().encode(`\ufeff${chat("How deep?")}`));
  assert.deepEqual([marked.status, marked.body.imported], [200, 1]);
  const broken = await send("broken", Uint8Array.from([...new TextEncoder().encode(chat("How deep?")), 0xff]));
  assert.deepEqual([broken.status, broken.body.error?.code], [400, "bad-text"]);
});

test("an archive that unpacks to too much, holds nothing to read or is damaged is refused with the reason, and nothing is written", async (t) => {
  const at = await world(t);
  const client = createClient({ url: at.url, key: at.keys.ada });
  const large = zip({ "a.json": chat("hello"), "bomb.json": "[]" });
  // Its list says four gigabytes less one byte for the second file.
  large.writeUInt32LE(0xfffffffe, large.lastIndexOf("PK\u0001\u0002") + 24);
  const whole = zip({ "a.json": chat("hello") });
  for (const [archive, code, said] of [
    [large, "unreadable", /unpacks to more than 268435456 bytes/],
    [zip({ "notes.txt": "-" }), "empty", /no \.json or \.jsonl file/],
    [zip({ "a.json": "{" }), "invalid-messages", /not valid JSON/],
    [zip({ "inner.json": zip({ "a.json": "[]" }).toString("latin1") }), "invalid-messages", /not valid JSON/],
    [whole.subarray(0, whole.length - 30), "unreadable", /without its list of files/],
  ] as const) {
    const body = new Blob([new Uint8Array(archive)]);
    const refused = client.call("POST /api/threads/{id}/import", { params: { id: "no" }, body });
    await assert.rejects(refused, (error: { code?: string; message: string }) => {
      assert.deepEqual([error.code, said.test(error.message)], [code, true], error.message);
      return true;
    });
  }
  const { threads } = await client.call("GET /api/threads");
  assert.ok(!threads.some(({ id }) => id.startsWith("no")));
});

test("a line in an archive that is longer than a body may be is refused with the setting, without being parsed", async (t) => {
  const at = await world(t, { config: "gateway: {body_limit_mb: 1}\n" });
  const client = createClient({ url: at.url, key: at.keys.ada });
  const archive = zip({ "a.jsonl": `${JSON.stringify({ role: "user", content: "a".repeat(3 << 20) })}\n` });
  const body = new Blob([new Uint8Array(archive)]);
  await assert.rejects(client.call("POST /api/threads/{id}/import", { params: { id: "long" }, body }), {
    code: "invalid-messages",
    message: /line 1: it is one value of over 1 MB \(gateway\.body_limit_mb\)/,
  });
});

test("the lab plays each file of a zip archive, tells which it can't read, and refuses one that holds nothing to play", async (t) => {
  const at = await world(t);
  const client = createClient({ url: at.url, key: at.keys.ada });
  const play = (files: Readonly<Record<string, string>>) =>
    client.call("POST /api/lab", { query: { window: 4000 }, body: new Blob([new Uint8Array(zip(files))]) });
  const { transcripts, problems } = await play({
    "a/one.json": chat("How deep?"),
    "two.jsonl": chat("Nine."),
    "bad.json": "{",
  });
  assert.deepEqual(
    transcripts.map(({ name, messages }) => [name, messages]),
    [
      ["a/one.json", 1],
      ["two.jsonl", 1],
    ],
  );
  assert.match(problems.join(), /^bad\.json: .*not valid JSON/);
  await assert.rejects(play({ "notes.txt": "-" }), { code: "no-transcript", message: /no \.json or \.jsonl file/ });
});
