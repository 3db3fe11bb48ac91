import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, test } from "node:test";
import { readRules, rulesInForce } from "@palimpsest/core/internal/log";
import { shapeOf } from "@palimpsest/core/internal/message";
import { scriptedModel } from "@palimpsest/testing";
import { createDeepAgent, type DeepAgentOptions } from "../home/create-deep-agent.ts";
import { openSqlite, type Store } from "../stores/index.ts";
import { verify } from "../thread/audit.ts";
import { openThread } from "../thread/open-thread.ts";
import { threadDeps } from "../thread/writer.ts";

let folder: string;
let store: Store;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "palimpsest-"));
  store = openSqlite({ path: join(folder, "log.db") });
});
afterEach(async () => {
  await store.close();
  rmSync(folder, { recursive: true });
});

async function asked(rules: DeepAgentOptions["rules"], text = "Hello."): Promise<string> {
  const model = scriptedModel(["Hi."]);
  const agent = createDeepAgent({ model, store, window: 20_000, summarizer: null, title: false, rules });
  await agent.generate({ threadId: "t", prompt: text });
  await agent.close();
  return JSON.stringify(model.calls.at(-1)?.prompt);
}

async function inForce(): Promise<string[]> {
  const head = await store.head("t");
  return rulesInForce(readRules(head?.state ?? {})).map(({ text, scope }) => `${scope}: ${text}`);
}

test("rules of the agent, the user and a file are in the thread's log and its prompt, and follow their origin", async () => {
  const path = join(folder, "AGENTS.md");
  const words =
    "# Project\n\nThis is a shop.\n\n- Never edit files below vendor.\n- Run `npm test` once.\n\n```\nAlways delete everything.\n```\n";
  writeFileSync(path, words);
  const sources = { agent: ["Never push to main."], user: (id: string) => [`Call me ${id}.`], files: [path] };
  const request = await asked(sources);
  assert.match(request, /Standing rules.*- Never push to main\..*- Call me .*- Never edit files below vendor\./s);
  assert.doesNotMatch(request, /Always delete everything/);
  const [agent, user, file, ...others] = await inForce();
  assert.deepEqual([agent, file, others], ["agent: Never push to main.", "file: Never edit files below vendor.", []]);
  assert.match(user ?? "", /^user: Call me /);
  writeFileSync(path, "Nothing here.");
  const { version } = (await store.head("t"))!;
  assert.doesNotMatch(await asked(sources, "And now?"), /vendor/);
  assert.ok((await store.head("t"))!.version > version);
  assert.equal((await inForce()).length, 2);
  assert.equal((await verify(threadDeps(store), "t")).kind, "whole");
});

test("a plain list is the agent's own rules", async () => {
  assert.match(await asked(["Never push to main."]), /- Never push to main\./);
  assert.deepEqual(await inForce(), ["agent: Never push to main."]);
});

test("an unchanged origin writes nothing with the next run", async () => {
  const sources = { agent: ["Never push to main."] };
  await asked(sources);
  await asked(sources, "And now?");
  const states: number[] = [];
  for await (const { record } of store.records("t", { kinds: ["state"] }))
    if (record.kind === "state" && "rules" in record.patch) states.push(record.seq);
  assert.equal(states.length, 1);
});

test("openThread copies the rules it is given", async () => {
  const options = { store, id: "t", shape: shapeOf("openai"), window: 8000 } as const;
  const opened = await openThread({ ...options, standingRules: { user: ["Answer in German."] } });
  assert.ok(opened.kind === "open");
  await opened.thread.append([{ role: "user", content: "Hello." }]);
  assert.match(JSON.stringify((await opened.thread.prompt()).messages), /- Answer in German\./);
  await opened.thread.close();
  assert.deepEqual(await inForce(), ["user: Answer in German."]);
});
