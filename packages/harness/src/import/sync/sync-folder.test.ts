import assert from "node:assert/strict";
import {
  appendFileSync,
  mkdirSync,
  mkdtempSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import fc from "fast-check";
import { openSqlite } from "../../stores/index.ts";
import { appendMessages, withWriter } from "../../thread/acts.ts";
import { replay } from "../../thread/audit.ts";
import { threadDeps } from "../../thread/writer.ts";
import { claudeCode } from "../formats/claude-code.ts";
import { codex } from "../formats/codex.ts";
import { syncFolder } from "./sync-folder.ts";

/** A folder and a store. `settled`: an hour has passed since anything was written. */
function place(t: TestContext, format: typeof codex | null = claudeCode) {
  const folder = mkdtempSync(join(tmpdir(), "palimpsest-sync-"));
  const store = openSqlite({ path: ":memory:" });
  t.after(async () => {
    await store.close();
    rmSync(folder, { recursive: true, force: true });
  });
  let later = 3_600_000;
  const deps = threadDeps(store, { clock: () => new Date(Date.now() + later) });
  return {
    folder,
    store,
    path: (name: string) => join(folder, name),
    live: () => {
      later = 0;
    },
    sync: () => syncFolder(folder, { deps, format, title: {}, memory: "skip" }),
    said: async (threadId: string) => {
      const words: string[] = [];
      for await (const { body } of replay({ store }, threadId)) words.push(JSON.parse(body).content);
      return words.join(" ");
    },
    threads: async () => (await store.threads()).threads.map(({ header }) => header.id).sort(),
  };
}

const line = (uuid: string, parentUuid: string | null, content: string, more: object = {}) => {
  const type = /^[A-Z]/.test(content) ? "assistant" : "user";
  const message = { role: type, content };
  const session = { sessionId: "s", cwd: "/w" };
  return `${JSON.stringify({ uuid, parentUuid, type, message, ...session, ...more })}\n`;
};

test("only what is new is added, any number of times; a half line waits for its end", async (t) => {
  const at = place(t);
  const file = at.path("s.jsonl");
  writeFileSync(file, line("1", null, "one") + line("2", "1", "Two").slice(0, 30));
  assert.equal((await at.sync()).messages, 1);
  appendFileSync(file, line("2", "1", "Two").slice(30));
  assert.equal((await at.sync()).messages, 1);
  const again = await at.sync();
  assert.deepEqual([again.messages, again.changed, again.files], [0, 0, 1]);
  assert.equal(await at.said("claude-code-s"), "one Two");
  const { source } = (await at.store.head("claude-code-s"))!.state as { source: Record<string, unknown> };
  assert.deepEqual([source["program"], source["project"], source["session"]], ["claude-code", "/w", "s"]);
});

test("a file that is as it was is not read again, and one that was renamed is the same session", async (t) => {
  const at = place(t);
  writeFileSync(at.path("s.jsonl"), line("1", null, "one"));
  await at.sync();
  const { version } = (await at.store.head("claude-code-s"))!;
  renameSync(at.path("s.jsonl"), at.path("other.jsonl"));
  assert.equal((await at.sync()).messages, 0);
  assert.equal((await at.store.head("claude-code-s"))!.version, version);
  assert.deepEqual(await at.threads(), ["claude-code-s"]);
});

test("a truncated file takes nothing away; one that was rewritten goes on in a fork", async (t) => {
  const at = place(t);
  const file = at.path("s.jsonl");
  const first = line("1", null, "one") + line("2", "1", "Two");
  writeFileSync(file, first + line("3", "2", "three"));
  await at.sync();
  writeFileSync(file, first);
  assert.equal((await at.sync()).messages, 0);
  assert.equal(await at.said("claude-code-s"), "one Two three");
  writeFileSync(file, first + line("9", "2", "another") + line("10", "9", "Way"));
  assert.equal((await at.sync()).messages, 2);
  assert.equal((await at.sync()).messages, 0);
  appendFileSync(file, line("11", "10", "on"));
  assert.equal((await at.sync()).messages, 1);
  assert.equal(await at.said("claude-code-s-rewrite-2"), "one Two another Way on");
  assert.equal(await at.said("claude-code-s"), "one Two three");
});

test("branches and side chains that come later are forks and sub-agents of the session", async (t) => {
  const at = place(t);
  const file = at.path("s.jsonl");
  writeFileSync(file, line("1", null, "one") + line("2", "1", "Two") + line("3", "2", "three"));
  await at.sync();
  appendFileSync(file, line("4", "2", "instead") + line("a", null, "sub", { isSidechain: true, agentId: "x" }));
  mkdirSync(at.path("s/subagents"), { recursive: true });
  const agent = { isSidechain: true, agentId: "y" };
  writeFileSync(at.path("s/subagents/agent-y.jsonl"), line("b", null, "own file", agent));
  assert.equal((await at.sync()).messages, 3);
  assert.equal((await at.sync()).messages, 0);
  assert.equal(await at.said("claude-code-s-fork-1"), "one Two instead");
  for (const id of ["claude-code-s-agent-x", "claude-code-s-agent-y"]) {
    const header = await at.store.header(id);
    assert.deepEqual([header?.kind, header?.parent], ["subagent", "claude-code-s"]);
  }
});

test("what somebody said in the thread here stays, and what the program says goes on in a fork", async (t) => {
  const at = place(t);
  writeFileSync(at.path("s.jsonl"), line("1", null, "one"));
  await at.sync();
  const body = { role: "user", content: "mine" };
  await withWriter(threadDeps(at.store), "claude-code-s", (writer) =>
    appendMessages(writer, [{ dialect: "anthropic", origin: "user", body }]),
  );
  appendFileSync(at.path("s.jsonl"), line("2", "1", "Two"));
  assert.equal((await at.sync()).messages, 1);
  assert.equal((await at.sync()).messages, 0);
  assert.equal(await at.said("claude-code-s"), "one mine");
  assert.equal(await at.said("claude-code-s-rewrite-2"), "one Two");
});

test("while a session is live, items of one answer wait for each other; then they are one message", async (t) => {
  const at = place(t, codex);
  at.live();
  const item = (payload: object) => `${JSON.stringify({ type: "response_item", payload })}\n`;
  const file = at.path("rollout-1.jsonl");
  writeFileSync(file, `${JSON.stringify({ type: "session_meta", payload: { id: "r", cwd: "/w" } })}\n`);
  appendFileSync(file, item({ type: "message", role: "user", content: [{ type: "input_text", text: "go" }] }));
  appendFileSync(file, item({ type: "reasoning", summary: [], encrypted_content: "x" }));
  assert.equal((await at.sync()).messages, 1);
  appendFileSync(file, item({ type: "function_call", name: "f", arguments: "{}", call_id: "c" }));
  assert.equal((await at.sync()).messages, 0);
  appendFileSync(file, item({ type: "function_call_output", call_id: "c", output: "ok" }));
  assert.equal((await at.sync()).messages, 1);
  utimesSync(file, new Date(0), new Date(0));
  assert.equal((await at.sync()).messages, 1);
  assert.equal((await at.store.head("codex-r"))?.messages, 3);
});

test("links are not followed, and are named", async (t) => {
  const at = place(t);
  const outside = place(t);
  writeFileSync(outside.path("secret.jsonl"), line("1", null, "secret"));
  symlinkSync(outside.path("secret.jsonl"), at.path("s.jsonl"));
  symlinkSync(outside.folder, at.path("folder"));
  const { messages, notes } = await at.sync();
  assert.equal(messages, 0);
  assert.deepEqual(notes.map(({ place: name }) => name).sort(), ["folder", "s.jsonl"]);
});

test("whatever a file says and however it grows, each message of it is there once and in order", async (t) => {
  const at = place(t, null);
  let round = 0;
  const message = fc.record({ role: fc.constantFrom("user", "assistant"), content: fc.string({ minLength: 1 }) });
  const steps = fc.array(fc.array(message, { minLength: 1, maxLength: 4 }), { minLength: 1, maxLength: 5 });
  await fc.assert(
    fc.asyncProperty(steps, fc.boolean(), async (grown, live) => {
      round += 1;
      if (live) at.live();
      const bodies: string[] = [];
      for (const messages of grown) {
        for (const one of messages) bodies.push(JSON.stringify(one));
        writeFileSync(at.path(`f${round}.jsonl`), bodies.map((body) => `${body}\n`).join(""));
        await at.sync();
      }
      const stored: string[] = [];
      for await (const { body } of replay({ store: at.store }, `messages-f${round}`)) stored.push(body);
      assert.deepEqual(stored, bodies);
      rmSync(at.path(`f${round}.jsonl`));
    }),
    { numRuns: 20 },
  );
});
