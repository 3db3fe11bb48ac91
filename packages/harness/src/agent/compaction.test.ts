import assert from "node:assert/strict";
import { test } from "node:test";
import { APICallError } from "@ai-sdk/provider";
import { SUMMARY_END } from "@palimpsest/core/internal/log";
import { type AiSdkMessage, aiSdkShape, assertValid, rulesOf } from "@palimpsest/core/internal/message";
import type { ScriptedCall } from "@palimpsest/testing";
import { tool } from "ai";
import { z } from "zod";
import { agentKit, deepAgentKit, type Kit, textOf } from "../../test/agent/agent-kit.ts";
import { summarization } from "../compaction/middleware.ts";
import { SettingsError } from "../compaction/summarization.ts";
import type { SummaryWriter } from "../compaction/summarize.ts";
import type { Middleware } from "./run.ts";

const WORDS = "the parser reads tokens one by one and keeps a stack of what is open ".repeat(12);
const read = tool({ inputSchema: z.object({ path: z.string() }), execute: ({ path }) => `${path}: ${WORDS}` });
const messages = (call: ScriptedCall): readonly AiSdkMessage[] => call.prompt as never;

test("[F15] [F18] one long turn of 227 tool calls compacts inside the turn and keeps the request word for word", async () => {
  const request = "Read every file and tell me which one holds the quicksilver switch.";
  const kit = deepAgentKit(
    ({ index }) =>
      index < 227 ? { calls: [{ name: "read", input: { path: `src/${index}.ts` } }] } : "it is in src/7.ts",
    { tools: { read }, window: 8_000, maxSteps: 300 },
  );
  const { text, steps } = await kit.agent.generate({ threadId: "t", prompt: request });
  assert.deepEqual([text, steps], ["it is in src/7.ts", 228]);
  assertRequests(kit, 7_000);
  for (const call of kit.model.calls) assert.ok(messages(call).some((message) => textOf(message).includes(request)));
  assert.equal((await kit.said()).length, 1 + 227 * 2 + 1);
});

test("what stands for hidden and shortened messages names only tools that the agent has", async () => {
  const shown = async (kit: Kit): Promise<string> => {
    for (let turn = 0; turn < 30; turn++)
      await kit.agent.generate({
        threadId: "t",
        prompt: `Question ${turn}: ${WORDS}${turn % 9 ? "" : WORDS.repeat(8)}`,
      });
    assert.ok(kit.of("compaction-end").some(({ outcome }) => outcome.kind === "compacted"));
    return kit.model.calls.flatMap((call) => messages(call).map(textOf)).join("\n");
  };
  const alone = agentKit(() => WORDS, { window: 6_000, middleware: [summarization({ summarizer: null })] });
  assert.doesNotMatch(await shown(alone), /recall|history\//);
  const whole = deepAgentKit(() => WORDS, { window: 6_000 });
  assert.match(await shown(whole), /kept word for word: find them with recall\./);
});

for (const summaryFormat of ["pair", "user", "system"] as const) {
  test(`with summary_format ${summaryFormat} the user's request stands apart from the summary, and both are known`, async () => {
    const kit = deepAgentKit(() => WORDS, { window: 6_000, summarization: { summaryFormat } });
    for (let turn = 0; turn < 25; turn++)
      await kit.agent.generate({ threadId: "t", prompt: `Question ${turn}: ${WORDS}` });
    const outcomes = kit.of("compaction-end").flatMap(({ outcome }) => (outcome.kind === "compacted" ? [outcome] : []));
    assert.ok(outcomes.length > 0);
    for (const { messages: sent, sources } of outcomes) {
      assert.equal(sources.length, sent.length);
      const [first] = sent as AiSdkMessage[];
      assert.equal(sources[0], "summary");
      assert.deepEqual(first?.providerOptions, { palimpsest: { source: "summarization" } });
      const text = textOf(first!);
      if (summaryFormat === "user") assert.match(text, /^Here is a summary of the conversation to date:/);
      if (summaryFormat !== "pair") assert.equal(text.split(SUMMARY_END).length, 2);
      // The user's words are the end of their turn, behind the summary's end where they share one.
      const asked = textOf((sent as AiSdkMessage[]).findLast(({ role }) => role === "user")!);
      assert.match(asked.split(SUMMARY_END).at(-1)!.trim(), /^Question \d+:/);
    }
    const view = (await kit.agent.thread("t").view()) as AiSdkMessage[];
    assert.deepEqual(view[0]?.providerOptions, { palimpsest: { source: "summarization" } });
  });
}

test("[F22] the system prompt stands before every request, also after compactions, with the date as its last line", async () => {
  const kit = deepAgentKit(() => WORDS, {
    window: 6_000,
    instructions: "You are the archivist.",
    deps: { clock: () => new Date("2026-03-04T10:00:00Z") },
  });
  for (let turn = 0; turn < 30; turn++)
    await kit.agent.generate({ threadId: "t", prompt: `Question ${turn}: ${WORDS}` });
  assert.ok(kit.of("compaction-end").some(({ outcome }) => outcome.kind === "compacted"));
  const prompts = new Set(kit.model.calls.map((call) => textOf(messages(call)[0]!)));
  assert.equal(prompts.size, 1);
  assert.match([...prompts][0]!, /^You are the archivist\.[\s\S]*\nCurrent date: 2026-03-04$/);
});

test("[F12] a run that fails after compacting has compacted: the next one does not do it again", async () => {
  let down = false;
  const kit = deepAgentKit(() => (down ? { error: new Error("down") } : WORDS), { window: 8_000 });
  for (let turn = 0; turn < 40 && !compacted(kit); turn++) {
    down = kit.model.calls.length > 0 && (kit.model.calls.at(-1)?.inputTokens ?? 0) > 6_000;
    await kit.agent.stream({ threadId: "t", prompt: `Question ${turn}: ${WORDS}` }).result;
  }
  assert.ok(compacted(kit));
  const before = compacted(kit);
  down = false;
  await kit.agent.generate({ threadId: "t" });
  assert.equal(compacted(kit), before);
});

test("[F8] the summarizer's words are in no event that a chat shows", async () => {
  const writer: SummaryWriter = async () => ({ kind: "failed", reason: "invalid", detail: "half a summary", calls: 1 });
  const shown: string[] = [];
  const kit = deepAgentKit(() => WORDS, { window: 6_000, summarizer: writer });
  for (let turn = 0; turn < 20; turn++) {
    const stream = kit.agent.stream({ threadId: "t", prompt: `Question ${turn}: ${WORDS}` });
    for await (const chunk of stream.toUIMessageStream()) shown.push(JSON.stringify(chunk));
  }
  const [summary] = await kit.agent.thread("t").view();
  const words = textOf(summary as AiSdkMessage).slice(0, 60);
  assert.ok(!shown.join().includes("half a summary") && !shown.join().includes(JSON.stringify(words).slice(1, -1)));
  assert.ok(shown.some((chunk) => chunk.includes("data-compaction")));
  assert.ok(kit.of("summary-failed").length > 0);
});

test("[F26] a provider that reports impossible usage triggers nothing and is flagged", async () => {
  const usage = (total: number) => ({
    inputTokens: { total, noCache: total, cacheRead: 0, cacheWrite: 0 },
    outputTokens: { total: 5, text: 5, reasoning: 0 },
  });
  const kit = deepAgentKit(({ index }) => ({ text: "ok", usage: usage(index % 2 === 0 ? 9_000_000 : 0) }), {
    window: 20_000,
  });
  for (let turn = 0; turn < 6; turn++) await kit.agent.generate({ threadId: "t", prompt: "hi" });
  assert.equal(compacted(kit), 0);
  const flaws: unknown[] = [];
  for await (const { record } of kit.store.records("t", { kinds: ["usage"] }))
    if (record.kind === "usage") flaws.push(record.flaw);
  assert.deepEqual(flaws, ["over-window", "zero", "over-window", "zero", "over-window", "zero"]);
});

test("the count is anchored on what the provider reports, also by the next agent on the thread", async () => {
  const kit = deepAgentKit(() => WORDS, { window: 50_000 });
  for (let turn = 0; turn < 4; turn++) await kit.agent.generate({ threadId: "t", prompt: WORDS });
  const next = deepAgentKit(() => WORDS, { store: kit.store, window: 50_000 });
  await next.agent.generate({ threadId: "t", prompt: WORDS });
  const { source, tokens } = next.of("compaction-check")[0]!;
  assert.equal(source, "anchored");
  assert.ok(Math.abs(tokens - next.model.calls[0]!.inputTokens) < 40, `${tokens} ${next.model.calls[0]!.inputTokens}`);
});

test("a refusal as too long is recovered from without a model: compact, learn the limit, ask once more", async () => {
  const limit = 5_000;
  const kit = deepAgentKit(
    ({ inputTokens }) => (inputTokens > limit ? { error: tooLong(inputTokens, limit) } : WORDS),
    {
      window: 100_000,
    },
  );
  for (let turn = 0; turn < 30; turn++)
    await kit.agent.generate({ threadId: "t", prompt: `Question ${turn}: ${WORDS}` });
  assert.equal(kit.of("overflow-recover").length, 1);
  assert.equal(kit.of("overflow-recover")[0]!.stated, limit);
  assert.equal((await kit.said()).length, 60);
});

test("an agent without automatic compaction recovers as well, and a manual one works at any size", async () => {
  const kit = agentKit(({ inputTokens }) => (inputTokens > 3_000 ? { error: new Error("prompt is too long") } : WORDS));
  for (let turn = 0; turn < 12; turn++)
    await kit.agent.generate({ threadId: "t", prompt: `Question ${turn}: ${WORDS}` });
  assert.ok(kit.of("overflow-recover").length > 0);
  assert.equal((await kit.agent.compact("missing")).kind, "unchanged");
  const dry = await kit.agent.compact("t", { dryRun: true, keep: { type: "messages", value: 2 } });
  const real = await kit.agent.compact("t", { keep: { type: "messages", value: 2 }, focus: "the parser" });
  assert.deepEqual([dry.kind, real.kind], ["compacted", "compacted"]);
  assert.equal((await kit.agent.thread("t").undo()).kind, "undone");
  assert.equal((await kit.agent.thread("t").redo()).kind, "redone");
  assert.equal((await kit.agent.thread("t").fork({ as: "t2" })).kind, "forked");
  assert.deepEqual(await kit.said("t2"), await kit.said("t"));
});

test("a prompt that stays too long after recovery is an error, not a loop", async () => {
  const kit = agentKit(() => ({ error: new Error("prompt is too long") }));
  for (let turn = 0; turn < 2; turn++) {
    await assert.rejects(kit.agent.generate({ threadId: "t", prompt: WORDS.repeat(20) }), { code: "too-long" });
  }
  assert.ok(kit.model.calls.length <= 4);
});

test("summarization null turns it off, both spellings at once are an error", async () => {
  const kit = deepAgentKit(() => WORDS, { window: 4_000, summarization: false });
  for (let turn = 0; turn < 20; turn++) await kit.agent.generate({ threadId: "t", prompt: WORDS });
  assert.equal(compacted(kit), 0);
  assert.throws(
    () => deepAgentKit([], { summarization: { triggerFraction: 0.5, trigger: { type: "messages", value: 50 } } }),
    SettingsError,
  );
});

test("drafts can be switched off, and a keep that can't be meant is refused by name", async () => {
  const writer: SummaryWriter = async () => ({ kind: "failed", reason: "empty", detail: "nothing", calls: 1 });
  for (const drafts of [true, false]) {
    const kit = deepAgentKit(() => WORDS, { window: 8_000, summarizer: writer, summarization: { drafts } });
    for (let turn = 0; turn < 30; turn++) await kit.agent.generate({ threadId: "t", prompt: `${turn}: ${WORDS}` });
    assert.ok(compacted(kit) > 0);
    assert.equal(kit.of("draft-start").length > 0, drafts);
    await assert.rejects(kit.agent.compact("t", { keep: [] }), /keep is an empty list/);
  }
});

test("the agent can ask for a compaction itself; it happens when the step's results are in the log", async () => {
  const kit = deepAgentKit(
    ({ index }) => (index === 12 ? { calls: [{ name: "compact_conversation", input: { focus: "parser" } }] } : WORDS),
    { window: 100_000 },
  );
  for (let turn = 0; turn < 14; turn++)
    await kit.agent.generate({ threadId: "t", prompt: `Question ${turn}: ${WORDS}` });
  assert.equal(compacted(kit), 1);
  assertRequests(kit, 90_000);
});

function compacted(kit: Kit): number {
  return kit.of("compaction-end").filter(({ outcome }) => outcome.kind === "compacted").length;
}

function assertRequests(kit: Kit, fits: number): void {
  for (const call of kit.model.calls) {
    assertValid(messages(call), aiSdkShape, rulesOf("ai-sdk"));
    assert.ok(call.inputTokens <= fits, `request ${call.index} has ${call.inputTokens} tokens`);
  }
}

function tooLong(tokens: number, limit: number): APICallError {
  const message = `prompt is too long: ${tokens} tokens > ${limit} maximum`;
  return new APICallError({ message, url: "", requestBodyValues: {}, statusCode: 400, responseBody: message });
}

test("a tool that compacts and one that writes, side by side in one step: both come through", async () => {
  const beside: Middleware = {
    name: "beside",
    tools: (run) => ({
      shorten: tool({
        inputSchema: z.object({}),
        execute: async () => (await run.compact({ cause: "manual", keep: { type: "messages", value: 2 } })).kind,
      }),
      note: tool({
        inputSchema: z.object({}),
        async execute() {
          for (let at = 0; at < 20; at++) await run.commit([{ kind: "state", patch: { note: at } }]);
          return "noted";
        },
      }),
    }),
  };
  const kit = agentKit(
    ({ index }) =>
      index === 3
        ? {
            calls: [
              { name: "note", input: {} },
              { name: "shorten", input: {} },
            ],
          }
        : WORDS,
    { window: 50_000, middleware: [beside, summarization({ summarizer: null })] },
  );
  for (let turn = 0; turn < 4; turn++)
    await kit.agent.generate({ threadId: "t", prompt: `Question ${turn}: ${WORDS}` });
  const [results] = (await kit.said()).filter(({ role }) => role === "tool");
  assert.match(textOf(results!), /noted\ncompacted/);
});
