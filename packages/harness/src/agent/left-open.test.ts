import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import fc from "fast-check";
import { deepAgentKit } from "../../test/agent/agent-kit.ts";
import { openSqlite } from "../stores/sqlite.ts";
import type { Store } from "../stores/store.ts";
import { redact } from "../thread/redact.ts";
import { threadDeps } from "../thread/writer.ts";
import type { Middleware, Run } from "./run.ts";

test("agents made one after the other read a thread once between them", async (t) => {
  const { store, loads } = counting(opened(t));
  for (const prompt of ["one", "two"]) await ask(store, prompt);
  assert.deepEqual(said(await ask(store, "three")), ["one", "two", "three"]);
  assert.equal(loads(), 1);
});

test("an agent made anew sees what another process has said, and nothing of what was erased or taken back", async (t) => {
  const here = opened(t);
  const elsewhere = opened(t, here.path);
  await ask(here, "one");
  await ask(elsewhere, "two");
  assert.deepEqual(said(await ask(here, "three")), ["one", "two", "three"]);
  await redact(threadDeps(elsewhere), "t", await seqOf(elsewhere, "two"));
  assert.ok(!said(await ask(here, "four")).includes("two"));
});

test("threads of one id are two users' own, whichever agent has left them open", async (t) => {
  const store = opened(t);
  await ask(store, "a's", "alice");
  await ask(store, "b's", "bob");
  assert.deepEqual(said(await ask(store, "more of a's", "alice")), ["a's", "more of a's"]);
  assert.deepEqual(said(await ask(store.forUser("bob"), "more of b's", "bob")), ["b's", "more of b's"]);
});

const ACTS = ["ask", "ask", "another model", "elsewhere", "compact", "undo", "redact"] as const;

test("what an agent made anew would send is what it would be in a process that has just started", async (t) => {
  const acts = fc.array(fc.constantFrom(...ACTS), { minLength: 1, maxLength: 9 });
  await fc.assert(
    fc.asyncProperty(acts, async (given) => {
      const here = opened(t);
      const elsewhere = opened(t, here.path);
      await ask(here, words(0));
      for (const [index, act] of given.entries()) {
        await carryOut(act, index + 1, { here, elsewhere });
        const started = opened(t, here.path);
        const [now, anew] = [await wouldSend(here), await wouldSend(started)];
        assert.deepEqual(now.sent, anew.sent, given.slice(0, index + 1).join(", "));
        // A process that has just started knows the reports on what is visible, this one also those before.
        assert.ok(Math.abs(now.tokens - anew.tokens) <= 0.05 * anew.tokens, `${now.tokens}, ${anew.tokens}`);
        await started.close();
      }
    }),
    { numRuns: 10 },
  );
});

async function carryOut(act: (typeof ACTS)[number], index: number, stores: { here: Store; elsewhere: Store }) {
  const { here, elsewhere } = stores;
  const { agent } = kitOn(here);
  if (act === "ask") await ask(here, words(index));
  if (act === "another model") await ask(here, words(index), "default", "m2");
  if (act === "elsewhere") await ask(elsewhere, words(index));
  if (act === "compact") await agent.compact("t", { keep: { type: "messages", value: 2 } });
  if (act === "undo") await agent.thread("t").undo();
  if (act === "redact") await redact(threadDeps(elsewhere), "t", await seqOf(elsewhere, words(0)));
}

function words(index: number): string {
  return `Question ${index}: ${"what does the tide do by noon? ".repeat(1 + (index % 4))}`;
}

function kitOn(store: Store, modelId = "m1", middleware: readonly Middleware[] = []) {
  return deepAgentKit(() => ({ text: "By noon it turns, and the boats go out.", calls: [] }), {
    store,
    window: 100_000,
    middleware,
    scripted: { modelId },
  });
}

async function ask(store: Store, prompt: string, userId = "default", modelId = "m1") {
  const { agent, model } = kitOn(store, modelId);
  await agent.generate({ threadId: "t", prompt, userId });
  return model.calls.at(-1)!.prompt;
}

/** What a run that goes on from here would send; it is not sent, and nothing is written. */
async function wouldSend(store: Store) {
  const prompts: ReturnType<Run["prompt"]>[] = [];
  const looking: Middleware = {
    name: "looking",
    async wrapModel(_request, _next, run) {
      prompts.push(run.prompt());
      return { kind: "aborted", text: "" };
    },
  };
  const { agent } = kitOn(store, "m1", [looking]);
  await agent.generate({ threadId: "t" });
  const [{ messages, sources, shownTokens, sentTokens, count }] = prompts as [(typeof prompts)[0]];
  return { sent: { messages, sources, shownTokens, sentTokens }, tokens: count.tokens };
}

function said(prompt: Awaited<ReturnType<typeof ask>>): readonly string[] {
  return prompt.flatMap(({ role, content }) =>
    role === "user" ? content.flatMap((part) => (part.type === "text" ? [part.text] : [])) : [],
  );
}

async function seqOf(store: Store, text: string): Promise<number> {
  for await (const { record } of store.records("t", { kinds: ["message"] }))
    if (record.kind === "message" && record.body.includes(JSON.stringify(text))) return record.seq;
  return 0;
}

/** On a file of its own, or on this one as another process would. */
function opened(t: TestContext, path = newFile(t)) {
  const store = Object.assign(openSqlite({ path }), { path });
  t.after(() => store.close());
  return store;
}

function newFile(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), "palimpsest-open-"));
  t.after(() => rmSync(folder, { recursive: true }));
  return join(folder, "log.db");
}

function counting<S extends Store>(store: S): { readonly store: S; loads(): number } {
  let loads = 0;
  const load: Store["load"] = (threadId) => {
    loads += 1;
    return store.load(threadId);
  };
  return { store: { ...store, load }, loads: () => loads };
}
