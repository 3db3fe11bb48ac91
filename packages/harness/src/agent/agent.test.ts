import assert from "node:assert/strict";
import { test } from "node:test";
import { scriptedModel } from "@palimpsest/testing";
import { tool } from "ai";
import { z } from "zod";
import { countTurns, slowClock } from "../../test/turns.ts";
import { openSqlite } from "../stores/sqlite.ts";
import { createAgent } from "./agent.ts";

test("a run logs the prompt, the answer, the results and the last answer, each before the next step", async (t) => {
  const store = openSqlite({ path: ":memory:" });
  t.after(() => store.close());
  const model = scriptedModel([{ text: "let me add", calls: [{ name: "add", input: { a: 1, b: 2 } }] }, "it is 3"]);
  const seen: string[] = [];
  const add = tool({
    inputSchema: z.object({ a: z.number(), b: z.number() }),
    execute: async ({ a, b }) => {
      for await (const { record } of store.records("t", { kinds: ["message"] })) {
        if (record.kind === "message") seen.push(`${record.origin} ${record.body.slice(0, 30)}`);
      }
      return a + b;
    },
  });
  const agent = createAgent({ model, tools: { add }, store });
  const result = await agent.generate({ threadId: "t", prompt: "what is 1 + 2?" });
  assert.equal(result.text, "it is 3");
  assert.deepEqual(result.end, { kind: "answered", finish: "stop" });
  assert.equal(result.steps, 2);
  assert.equal(seen.length, 2);
  const roles: string[] = [];
  for await (const record of agent.thread("t").replay()) roles.push(JSON.parse(record.body).role);
  assert.deepEqual(roles, ["user", "assistant", "tool", "assistant"]);
});

test("a message of megabytes is read and written down in a turn of the event loop each", async (t) => {
  const store = openSqlite({ path: ":memory:" });
  t.after(() => store.close());
  const agent = createAgent({ model: scriptedModel(["noted"]), store });
  slowClock(t);
  const turns = countTurns(t);
  const spelled: number[] = [];
  const stringify = JSON.stringify;
  t.mock.method(JSON, "stringify", (...given: Parameters<typeof stringify>) => {
    const text = stringify(...given);
    if (text?.length > 1_000_000) spelled.push(turns());
    return text;
  });
  const said = { id: "m", role: "user" as const, parts: [{ type: "text" as const, text: "word ".repeat(300_000) }] };
  await agent.generate({ threadId: "t", uiMessages: [said] });
  assert.ok(spelled.length >= 2);
  assert.equal(new Set(spelled.slice(0, 2)).size, 2, spelled.join());
});
