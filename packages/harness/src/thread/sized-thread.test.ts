import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { type Dialect, type OpenAiMessage, rulesOf, shapeOf } from "@palimpsest/core/internal/message";
import { fixedSize } from "@palimpsest/core/internal/prompt";
import { charsPerToken, createMeter } from "@palimpsest/core/internal/tokens";
import { summarizationFromOptions } from "../compaction/summarization.ts";
import { openSqlite } from "../stores/index.ts";
import { appendMessages, appendUsage, withWriter } from "./acts.ts";
import { openLog } from "./log.ts";
import { redact } from "./redact.ts";
import { compactThread, threadPrompt } from "./sized-thread.ts";
import { type OpenSizer, openSizer } from "./thread-view.ts";
import { threadWindow } from "./thread-window.ts";
import { createThread, openLeases, threadDeps } from "./writer.ts";

async function thread(t: TestContext, messages: readonly object[]) {
  const store = openSqlite({ path: ":memory:" });
  t.after(() => store.close());
  const kit = threadDeps(store);
  await createThread(kit, { id: "a" });
  const append = (added: readonly object[], dialect: Dialect = "openai") =>
    withWriter(kit, "a", (writer) =>
      appendMessages(
        writer,
        added.map((body) => ({ dialect, origin: "user" as const, body })),
      ),
    );
  await append(messages);
  const report = (of: number, input: number) =>
    withWriter(kit, "a", (writer) =>
      appendUsage(writer, {
        of,
        model: "gpt-4o",
        input,
        output: 5,
        cacheRead: 0,
        cacheWrite: 0,
        factor: null,
        measured: { compaction: null, prune: null, promptHash: null },
      }),
    );
  return { store, append, report };
}

async function count(at: { store: Parameters<typeof threadPrompt>[0] }) {
  const prompt = await threadPrompt(at.store, "a");
  assert.equal(prompt.kind, "prompt");
  return prompt.kind === "prompt" ? prompt.count : assert.fail();
}

async function breakdownOf(at: { store: Parameters<typeof threadPrompt>[0] }) {
  const prompt = await threadPrompt(at.store, "a");
  return prompt.kind === "prompt" ? prompt.breakdown : assert.fail();
}

const user = { role: "user", content: "Which river runs through Vienna?" };
const assistant = { role: "assistant", content: "The Danube." };

test("before the first report the count is an estimate, after it the report plus what was added", async (t) => {
  const at = await thread(t, [user, assistant]);
  const estimated = await count(at);
  assert.equal(estimated.source, "estimated");
  await at.report(2, 1000);
  const anchored = await count(at);
  assert.equal(anchored.source, "anchored");
  assert.ok(anchored.tokens > 1000 && anchored.tokens < 1050, String(anchored.tokens));
});

test("[F49] a call nobody answered is repaired in the prompt, and the repair is counted", async (t) => {
  const call = { id: "1", type: "function", function: { name: "look", arguments: "{}" } };
  const at = await thread(t, [user, { role: "assistant", content: null, tool_calls: [call] }, user]);
  const prompt = await threadPrompt(at.store, "a", { window: 1000 });
  assert.ok(prompt.kind === "prompt");
  assert.equal(prompt.messages.length, 4);
  assert.equal(prompt.repairs.length, 1);
  assert.ok((prompt.breakdown.parts.repairs ?? 0) > 0);
});

test("[F25] an image counts, apart from the text beside it", async (t) => {
  const image = { type: "image_url", image_url: { url: "https://example.com/cat.png" } };
  const at = await thread(t, [{ role: "user", content: [{ type: "text", text: "What is this?" }, image] }]);
  const prompt = await threadPrompt(at.store, "a");
  assert.ok(prompt.kind === "prompt" && (prompt.breakdown.parts.images ?? 0) > 50);
});

test("an empty and a missing thread are no errors", async (t) => {
  const at = await thread(t, []);
  assert.equal((await threadPrompt(at.store, "a")).kind, "prompt");
  assert.equal((await threadPrompt(at.store, "b")).kind, "missing");
});

test("a thread that goes on in another dialect is shown in the newest one", async (t) => {
  const call = { id: "1", type: "function", function: { name: "look", arguments: "{}" } };
  const at = await thread(t, [
    user,
    { role: "assistant", content: null, tool_calls: [call] },
    { role: "tool", tool_call_id: "1", content: "42" },
  ]);
  await at.append([{ role: "assistant", content: [{ type: "text", text: "It is 42." }] }], "ai-sdk");
  const prompt = await threadPrompt(at.store, "a");
  assert.ok(prompt.kind === "prompt" && prompt.dialect === "ai-sdk");
  assert.deepEqual(
    prompt.messages.map((message) => "role" in message && message.role),
    ["user", "assistant", "tool", "assistant"],
  );
});

test("of a thread without its system prompt and tools, what was charged beyond its messages is a part of its own", async (t) => {
  const at = await thread(t, [user, assistant]);
  await at.report(2, 12_000);
  const prompt = await threadPrompt(at.store, "a");
  assert.ok(prompt.kind === "prompt");
  const { unseen = 0, user: asked = 0, assistant: answered = 0 } = prompt.breakdown.parts;
  assert.ok(unseen > 11_900 && asked < 30 && answered < 30, JSON.stringify(prompt.breakdown.parts));
  assert.equal(unseen + asked + answered, prompt.count.tokens);
});

test("a compaction's figures, the count after it and its parts are one count, also of a thread without its system prompt", async (t) => {
  const at = await thread(t, talk(16));
  await at.report(16, 12_000);
  const settings = compactionSettings(t);
  const request = { cause: "manual", keep: { type: "messages", value: 4 } } as const;
  const planned = await compactThread(threadDeps(at.store), "a", { ...request, dryRun: true }, settings);
  const outcome = await compactThread(threadDeps(at.store), "a", request, settings);
  assert.ok(planned.kind === "compacted" && outcome.kind === "compacted");
  assert.equal(planned.tokensAfter, outcome.tokensAfter);
  const { total, parts } = await breakdownOf(at);
  assert.ok(Math.abs(total - outcome.tokensAfter) <= 2, `${total} is not ${outcome.tokensAfter}`);
  assert.ok((parts.unseen ?? 0) > 7_000, JSON.stringify(parts));
  await at.append([{ role: "user", content: wordsOf(17) }]);
  const grown = await breakdownOf(at);
  assert.equal(grown.parts.unseen, parts.unseen);
  assert.ok(grown.total > total);
});

test("a summary that was erased is not counted as something that was sent beside the messages", async (t) => {
  // No summary can be made anew without these words, since each one says them.
  const own = { role: "user", content: "It is a record, not a request" };
  const at = await thread(t, [own, ...talk(16)]);
  await at.report(17, 4_000);
  const deps = threadDeps(at.store);
  const request = { cause: "manual", keep: { type: "messages", value: 1 } } as const;
  const outcome = await compactThread(deps, "a", request, compactionSettings(t));
  assert.equal(outcome.kind, "compacted");
  const redacted = await redact(deps, "a", 1);
  assert.deepEqual(redacted.kind === "redacted" && redacted.summaries, { rebuilt: 0, erased: 1 });
  const { parts } = await breakdownOf(at);
  assert.equal(parts.unseen ?? 0, 0, JSON.stringify(parts));
});

const wordsOf = (turn: number) => `Message ${turn} tells of the river and of its banks. `.repeat(20);

function talk(messages: number): object[] {
  const roles = ["user", "assistant"] as const;
  return Array.from({ length: messages }, (_, index) => ({ role: roles[index % 2], content: wordsOf(index) }));
}

function compactionSettings(t: TestContext) {
  const home = mkdtempSync(join(tmpdir(), "palimpsest-prompt-"));
  t.after(() => rmSync(home, { recursive: true }));
  const { policy } = summarizationFromOptions({ keep: { type: "messages", value: 4 } });
  return { home, policy, window: { size: 32_768, reserve: 4_096 }, writer: null, on: () => {} };
}

test("who opens a thread next goes on with the sizer that was left, unless it counts otherwise or others have written", async (t) => {
  const { store } = await thread(t, [user, assistant]);
  const shape = shapeOf<OpenAiMessage>("openai");
  const deps = threadDeps(store);
  const leases = openLeases({ deps, id: "a", lease: "per-write" });
  const log = (await openLog({ id: "a", shape }, leases, async () => {}))!;
  const meter = createMeter(shape, { counter: charsPerToken(4) });
  const counting = { model: "m", prior: 1, meter, window: () => 8000 };
  const rest = { rules: rulesOf("openai"), fixed: fixedSize({}), bind: null };
  const open = (changes: Partial<typeof counting>, before: OpenSizer<OpenAiMessage> | null) =>
    openSizer({ store, log }, { ...counting, ...rest, ...changes, before });
  const left = await open({}, null);
  assert.equal(await open({}, left), left);
  const other = createMeter(shape, { counter: charsPerToken(3) });
  for (const changes of [{ model: "n" }, { prior: 2 }, { meter: other }]) {
    const { sizer } = await open(changes, left);
    const { model, prior } = sizer.account!;
    assert.notEqual(sizer, left.sizer);
    assert.deepEqual({ model, prior, meter: sizer.meter, window: counting.window }, { ...counting, ...changes });
  }
  assert.notEqual((await open({}, { ...left, moved: true })).sizer, left.sizer);
});

test("a thread's window is broken down like its prompt, with what is kept for the answer", async (t) => {
  const { store } = await thread(t, [user, assistant]);
  const [prompt, shown] = [
    await threadPrompt(store, "a", { window: 8000 }),
    await threadWindow(store, "a", { window: 8000 }),
  ];
  assert.ok(prompt.kind === "prompt" && shown !== null);
  const { window, total, source, parts, groups } = shown;
  assert.deepEqual({ window, total, source, parts, groups }, prompt.breakdown);
});
