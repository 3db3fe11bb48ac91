// What a long thread's own past gives a question: hidden values, results of tools, excerpts that were shown before.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { emptyDocument } from "@palimpsest/core/internal/memory";
import type { OpenAiMessage } from "@palimpsest/core/internal/message";
import { scriptedModel } from "@palimpsest/testing";
import { createDeepAgent } from "../../home/create-deep-agent.ts";
import { openSqlite } from "../../stores/sqlite.ts";
import { appendMessages, withWriter } from "../../thread/acts.ts";
import { createThread, threadDeps } from "../../thread/writer.ts";
import { gatherEvidence } from "./evidence.ts";
import { fileStorage } from "./file-storage.ts";
import { memory } from "./middleware.ts";
import { openRepository } from "./repository.ts";

const folder = mkdtempSync(join(tmpdir(), "palimpsest-evidence-"));
after(() => rmSync(folder, { recursive: true, force: true }));

const said = (content: string): OpenAiMessage => ({ role: "user", content });
const list = (name: string, from: number) =>
  Array.from({ length: 40 }, (_, at) => `${name}-${from + at}=value-${name}${from + at}x;`).join(" ");
/** A call, and a tool's result that nobody repeats. */
const looked = (probe: string, result: string): OpenAiMessage[] => [
  {
    role: "assistant",
    content: null,
    tool_calls: [{ id: probe, type: "function", function: { name: "look", arguments: "{}" } }],
  },
  { role: "tool", tool_call_id: probe, content: result },
];

async function threadOf(messages: readonly OpenAiMessage[], id = "t") {
  const store = openSqlite({ path: ":memory:" });
  after(() => store.close());
  const add = async (threadId: string, own: readonly OpenAiMessage[]) => {
    const deps = threadDeps(store);
    await createThread(deps, { id: threadId });
    const all = own.map((body) => ({ dialect: "openai", origin: "user", body }) as const);
    await withWriter(deps, threadId, (writer) => appendMessages(writer, all));
  };
  await add(id, messages);
  const gather = (question: string, more: { readonly threadId?: string; readonly earlier?: readonly string[] } = {}) =>
    gatherEvidence(store, emptyDocument(), {
      question,
      agentName: "default",
      threadId: id,
      visibleAfter: messages.length,
      shown: new Set(),
      tokens: 500,
      count: (text) => Math.ceil(text.length / 4),
      ...more,
    });
  return { store, add, gather };
}

test("a question in the turn that compacts the thread gets evidence from what that compaction hides", async (t) => {
  const past = Array.from({ length: 30 }, (_, at) => [
    said(`Ledger ${at}: ${list("parameter", 100 * at)}`),
    { role: "assistant", content: `Recorded ledger ${at}.` } as const,
  ]).flat();
  const { store } = await threadOf(past);
  const clock = () => new Date(Date.UTC(2026, 10, 15));
  const repository = openRepository(fileStorage({ base: folder, storagePath: "memory.json" }), clock);
  const model = scriptedModel(["Noted."]);
  const agent = createDeepAgent({
    model,
    store,
    window: 10_000,
    summarizer: null,
    title: false,
    memory: memory({ repository }),
  });
  t.after(() => agent.close());
  await agent.generate({ threadId: "t", prompt: "What is the value of parameter-317?" });
  const sent = JSON.stringify(model.calls[0]!.prompt);
  assert.match(sent, /Record of the earlier conversation/);
  assert.match(sent, /<evidence>[\s\S]*parameter-317=value-parameter317x/);
});

test("a tool's result is evidence in its own thread for a question that quotes an identifier of it, and nowhere else", async () => {
  const { add, gather } = await threadOf([said("Please probe."), ...looked("a", "OUTPUT probe-301-61=5f3a095e")]);
  assert.match((await gather("What did probe-301-61 return?"))!.text, /tool: OUTPUT probe-301-61=5f3a095e/);
  assert.doesNotMatch((await gather("What was the output of the probe?"))?.text ?? "", /5f3a095e/);
  await add("other", [said("Something else.")]);
  assert.doesNotMatch((await gather("What did probe-301-61 return?", { threadId: "other" }))?.text ?? "", /5f3a095e/);
});

test("an excerpt that an earlier question was shown doesn't keep the rest of its message from a later one", async () => {
  const { gather } = await threadOf([said(`Ledger: ${list("parameter", 100)}`), said("Thanks for the ledger.")]);
  const first = (await gather("What is the value of parameter-101?"))!;
  assert.doesNotMatch(first.text, /parameter-137=/);
  const second = await gather("What is the value of parameter-137?", { earlier: [first.text] });
  assert.match(second?.text ?? "", /parameter-137=value-parameter137x/);
  const again = await gather("What is the value of parameter-101?", { earlier: [first.text] });
  assert.doesNotMatch(again?.text ?? "", /parameter-101=/, "the same words are not shown twice");
});

test("an identifier that is quoted whole comes first, however well other words of the question match elsewhere", async () => {
  const words = "northern harbor survey, anchor depth, pilot schedule, winter ledger and granite pier";
  const noise = Array.from({ length: 15 }, (_, at) =>
    said(`${at}: ${words}. ${"It was noted down there. ".repeat(8)}`),
  );
  const filler = Array.from({ length: 200 }, (_, at) => said(`Entry ${at} is about nothing else.`));
  const item = said(`work-item-7:DONE next=n9. ${"More words of another kind. ".repeat(40)}`);
  const { gather } = await threadOf([item, ...filler, ...noise]);
  const { text } = (await gather(`Where does work-item-7 stand, of the ${words}?`))!;
  assert.match(text, /work-item-7:DONE next=n9/);
});
