import assert from "node:assert/strict";
import { test } from "node:test";
import { type CompactionOutcome, type Policy, storedSummary } from "@palimpsest/core/internal/compaction";
import type { Range } from "@palimpsest/core/internal/log";
import { type OpenAiMessage, openaiRules, openaiShape } from "@palimpsest/core/internal/message";
import { createSizer, type Sizer } from "@palimpsest/core/internal/prompt";
import { SECTIONS, type SummaryState } from "@palimpsest/core/internal/summary";
import { charsPerToken, createMeter } from "@palimpsest/core/internal/tokens";
import { scriptedModel } from "@palimpsest/testing";
import { openUnder } from "@palimpsest/testing/internal/thread-writer";
import { SUMMARIZERS } from "../../test/playback/summarizers.ts";
import { openSqlite } from "../stores/sqlite.ts";
import { pin, undo, withWriter } from "../thread/acts.ts";
import { redact } from "../thread/redact.ts";
import { livePrompt } from "../thread/thread-view.ts";
import { createThread, threadDeps, type Writer } from "../thread/writer.ts";
import { type Compactor, type CompactorOptions, createCompactor } from "./compactor.ts";
import { type DraftTable, drafting, draftTable } from "./drafts.ts";
import type { CompactionEvent } from "./events.ts";
import { modelSummarize } from "./model-summarize.ts";
import { createModelWriter } from "./model-writer.ts";
import { logLine } from "./summarization.ts";
import type { Summarize } from "./summarize.ts";

const meter = createMeter(openaiShape, { counter: charsPerToken(4) });
/** Counted as reported, so that the whole window is used. */
const reported: Sizer<OpenAiMessage> = {
  ...createSizer({ shape: openaiShape, rules: openaiRules, meter }),
  count: (_, estimate) => ({ tokens: estimate, source: "reported" }),
};
const POLICY: Policy = {
  trigger: [{ type: "tokens", value: 5000 }],
  keep: { type: "messages", value: 6 },
  lowWater: 0.6,
  minGain: 0.05,
  maxSummaryTokens: 600,
  summaryFormat: "pair",
};

test("with a ready draft the trigger makes no model call before the request, and nobody waits", async () => {
  await inThread(async (thread) => {
    const model = scriptedModel(async ({ prompt }) => {
      const text = JSON.stringify(prompt.at(-1)?.content);
      assert.match(text, /<transcript>/);
      return JSON.stringify({ add: { goals: [{ text: "Understand the parser", seqs: [1] }] } });
    });
    const compactor = thread.compactor(modelSummarize(model));
    const { outcome, callsBefore } = await thread.untilCompacted(compactor, () => model.calls.length);
    assert.equal(callsBefore, 1);
    assert.equal(model.calls.length, 1);
    assert.deepEqual([outcome.rung, outcome.shortfall], ["summarize", null]);
    assert.ok(outcome.tokensAfter <= 3000);
    assert.match(String(outcome.messages[0]!.content), /Understand the parser/);
    assert.deepEqual(thread.types("draft"), ["draft-start", "draft-ready", "draft-used"]);
  });
});

for (const [what, keep, most] of [
  [
    "ceilings",
    [
      { type: "messages", value: 6 },
      { type: "fraction", value: 0.25 },
    ],
    6,
  ],
  ["a promise", { type: "messages", value: 6 }, 7],
] as const) {
  test(`with a draft, too, the tail is what ${what} say: the rest is added to the draft by rules, without a model`, async () => {
    await inThread(async (thread) => {
      let calls = 0;
      const compactor = thread.compactor(
        async (request, signal) => {
          calls++;
          return SUMMARIZERS.extractive(request, signal);
        },
        {},
        {},
        { ...POLICY, keep },
      );
      const { outcome } = await thread.untilCompacted(compactor, () => calls);
      assert.deepEqual([thread.types("draft-used").length, calls, outcome.rung], [1, 1, "summarize"]);
      assert.ok(outcome.messages.length - 2 <= most, `${outcome.messages.length - 2} kept`);
      const [, drafted] = thread.covers("draft-used");
      const last = outcome.hidden![1];
      assert.ok(last > drafted, `drafted to ${drafted}, hidden to ${last}`);
      const summary = storedSummary(await thread.conversation.summaryState())!;
      const quoted = [...String(outcome.messages[0]!.content).matchAll(/^- \[(\d+)\] Question/gm)].map(([, seq]) =>
        Number(seq),
      );
      assert.ok(summary.through === last && quoted.some((seq) => seq > drafted && seq <= last));
    });
  });
}

test("a draft made before a restart is used after it", async () => {
  await inThread(async (thread) => {
    const first = thread.compactor(SUMMARIZERS.extractive);
    await thread.untilDrafted(first);
    const reopened = thread.compactor(SUMMARIZERS.failing);
    const { outcome } = await thread.untilCompacted(reopened, () => 0);
    assert.equal(outcome.rung, "summarize");
    assert.equal(thread.types("summary-failed").length, 0);
  });
});

test("a draft that goes on from an earlier summary is kept as what it changes, and is whole again after a restart", async () => {
  await inThread(async (thread) => {
    const drafting = thread.compactor(SUMMARIZERS.extractive);
    for (let round = 0; round < 8; round++) await thread.untilCompacted(drafting, () => 0);
    const [before, drafted] = [await thread.conversation.summaryState(), thread.types("draft-ready").length];
    await thread.sayUntil(drafting, () => thread.types("draft-ready").length > drafted);
    const kept = (await thread.table.get("draft"))!;
    assert.ok(kept.length < JSON.stringify(before).length / 2, `${kept.length}`);
    const reopened = thread.compactor(SUMMARIZERS.failing);
    const { outcome } = await thread.untilCompacted(reopened, () => 0);
    assert.equal(outcome.rung, "summarize");
    const [old, now] = [storedSummary(before)!, storedSummary(await thread.conversation.summaryState())!];
    assert.deepEqual(now.sections.goals.slice(0, old.sections.goals.length), old.sections.goals);
    assert.ok(now.sections.goals.length > old.sections.goals.length);
  });
});

test("new messages and a prune in its range leave a draft as it is", async () => {
  await inThread(async (thread) => {
    const compactor = thread.compactor(SUMMARIZERS.extractive);
    await thread.untilDrafted(compactor);
    const entries = [{ target: 3, part: 0, replacement: "(shortened)", reason: "stale-output" as const }];
    await thread.conversation.commit([{ kind: "prune", entries, tokensBefore: 1, tokensAfter: 1 }]);
    await thread.untilCompacted(compactor, () => 0);
    assert.deepEqual(thread.types("draft"), ["draft-start", "draft-ready", "draft-used"]);
  });
});

test("a summarizer slower than the conversation: one draft at a time, and the trigger waits for it instead of asking again", async () => {
  await inThread(async (thread) => {
    const gate = opened();
    let calls = 0;
    const compactor = thread.compactor(async (request, signal) => {
      calls++;
      await gate.open;
      return SUMMARIZERS.extractive(request, signal);
    });
    await thread.sayUntil(compactor, () => thread.tokens() >= 5000);
    const waiting = compactor.compact({ cause: "automatic" });
    gate.release();
    const outcome = compacted(await waiting);
    assert.deepEqual([outcome.rung, calls], ["summarize", 1]);
    assert.equal(thread.types("draft-start").length, 1);
  });
});

test("a draft that failed is an event; the trigger asks once more or does without", async () => {
  await inThread(async (thread) => {
    const compactor = thread.compactor(SUMMARIZERS.failing);
    const { outcome } = await thread.untilCompacted(compactor, () => 0);
    assert.equal(outcome.rung, "extract");
    assert.ok(thread.types("summary-failed").length >= 1);
    assert.ok(thread.events.map(logLine).some((line) => /Draft of .* dropped: the summarizer failed/.test(line)));
  });
});

const touches: Record<string, (thread: Thread) => Promise<unknown>> = {
  undo: async ({ writer }) => undo(writer),
  pin: async ({ writer }) => pin(writer, 20),
  "redaction of what it covers": async ({ writer }) => redacted(writer, 38),
  "redaction of what it folds": async ({ writer }) => redacted(writer, 20),
  "another compaction": async (thread) => thread.compactor(SUMMARIZERS.failing, null).compact({ cause: "manual" }),
};
for (const [what, touch] of Object.entries(touches)) {
  for (const when of ["ready", "being written"] as const) {
    test(`a draft that is ${when} is dropped when ${what} touched its range`, async () => {
      await inThread(async (thread) => {
        const gate = opened();
        const summarize: Summarize = async (request, signal) => {
          await gate.open;
          return SUMMARIZERS.extractive(request, signal);
        };
        await thread.say(20);
        compacted(await thread.compactor(SUMMARIZERS.failing, null).compact({ cause: "manual" }));
        const compactor = thread.compactor(summarize);
        if (when === "ready") gate.release();
        await thread.sayUntil(compactor, () => thread.types("draft-start").length > 0);
        if (when === "ready") await compactor.settled();
        await touch(thread);
        await thread.conversation.act(async () => undefined);
        await thread.conversation.catchUp();
        gate.release();
        await compactor.settled();
        if (when === "ready") await compactor.compact({ cause: "overflow" });
        assert.deepEqual(
          thread.events.flatMap((event) => (event.type === "draft-dropped" ? [event.reason] : [])),
          ["outdated"],
        );
        assert.equal(await thread.table.get("draft"), null);
        assert.equal(thread.types("draft-used").length, 0);
      });
    });
  }
}

test("closing stops the draft being written, and its finished parts are kept", async () => {
  await inThread(async (thread) => {
    let calls = 0;
    const stopped = opened();
    const hanging: Summarize = async (request, signal) => {
      if (++calls === 1) return SUMMARIZERS.extractive(request, signal);
      signal.addEventListener("abort", stopped.release);
      return new Promise(() => undefined);
    };
    const compactor = thread.compactor(hanging, {}, { trimTokensToSummarize: 800, concurrency: 1 });
    await thread.sayUntil(compactor, () => calls === 2);
    await compactor.close();
    await stopped.open;
    const asked: string[] = [];
    const rest: Summarize = async (request, signal) => {
      asked.push(request.prompt);
      return SUMMARIZERS.extractive(request, signal);
    };
    const next = thread.compactor(rest, {}, { trimTokensToSummarize: 800, concurrency: 1 });
    await thread.untilCompacted(next, () => 0);
    assert.ok(asked.length > 0);
    assert.ok(asked.every((prompt) => !prompt.includes("[#1 user]")));
  });
});

for (const [what, answer] of Object.entries({
  "only what stands now": JSON.stringify({ add: { now: [{ text: "Going on", seqs: [] }] } }),
  "nothing at all": "{}",
})) {
  test(`[F6] 20 rolling compactions with a summarizer that mentions ${what}: no item is lost`, async () => {
    await inThread(async (thread) => {
      const items = (kind: string) =>
        Array.from({ length: 5 }, (_, n) => ({ text: `${kind} ${n} of the first day`, seqs: [1] }));
      const first = {
        goals: items("Goal"),
        decisions: items("Decision"),
        facts: items("Fact"),
        errors: items("Error"),
        files: items("File"),
      };
      let round = 0;
      const summarize: Summarize = async () => ({
        text: round === 0 ? JSON.stringify({ add: first }) : answer,
        finish: "stop",
      });
      const compactor = thread.compactor(summarize, null);
      for (; round < 20; round++) {
        await thread.say(15);
        thread.wait(3_600_000);
        compacted(await compactor.compact({ cause: "manual" }));
      }
      const stored = (await thread.conversation.summaryState()) as unknown as { summary: SummaryState };
      const texts = SECTIONS.flatMap((section) => stored.summary.sections[section].map(({ text }) => text));
      for (const { text } of Object.values(first).flat()) assert.ok(texts.includes(text), text);
    });
  });
}

async function redacted(writer: Writer, seq: number): Promise<void> {
  assert.equal((await redact(writer, "t", seq, { owner: writer.lease.owner })).kind, "redacted");
}

type Thread = Awaited<ReturnType<typeof makeThread>>;

async function inThread(work: (thread: Thread) => Promise<void>): Promise<void> {
  const store = openSqlite({ path: ":memory:" });
  const kit = threadDeps(store);
  await createThread(kit, { id: "t" });
  const done = await withWriter(kit, "t", async (writer) => work(await makeThread(writer)));
  await store.close();
  assert.equal(done.kind, "done");
}

async function makeThread(writer: Writer) {
  const { store } = writer;
  const events: CompactionEvent[] = [];
  const conversation = await openUnder(writer, openaiShape);
  let now = Date.parse("2026-01-01T00:00:00Z");
  let said = 0;
  const clock = () => new Date(now);
  const table: DraftTable = draftTable(store.drafts, "t", clock);
  const types = (start: string) => events.map(({ type }) => type).filter((type) => type.startsWith(start));
  const covers = (type: CompactionEvent["type"]): Range => {
    const event = events.find((each) => each.type === type);
    return event !== undefined && "covers" in event ? event.covers : [0, 0];
  };
  const say = async (turns = 1): Promise<void> => {
    for (let turn = 0; turn < turns; turn++) await conversation.commit(drafts(said++));
  };
  const compactor = (
    summarize: Summarize,
    background: { readonly label?: string } | null = {},
    settings: Partial<Parameters<typeof createModelWriter>[0]> = {},
    policy: Policy = POLICY,
  ): Compactor<OpenAiMessage> => {
    const options: CompactorOptions<OpenAiMessage> = {
      thread: conversation,
      prompt: livePrompt(conversation, reported),
      window: () => ({ size: 8000, reserve: 1000 }),
      policy,
      prune: null,
      writer: createModelWriter({
        summarize,
        window: 16_000,
        reservedOutputTokens: 1000,
        trimTokensToSummarize: null,
        maxSummarizerCalls: 8,
        summaryPrompt: null,
        sleep: async () => undefined,
        ...settings,
      }),
      quotes: async () => [],
      archive: null,
      clock,
      on: (event) => events.push(event),
      background: background === null ? null : drafting({ table, ...background }),
    };
    return createCompactor(options);
  };
  const sayUntil = async (compactor: Compactor<OpenAiMessage>, done: () => boolean): Promise<void> => {
    for (let turn = 0; turn < 100 && !done(); turn++) {
      await say();
      if (thread.tokens() < 5000) await compactor.compact({ cause: "automatic" });
      await new Promise((resolve) => setImmediate(resolve));
    }
    assert.ok(done());
  };
  const thread = {
    writer,
    events,
    table,
    conversation,
    types,
    covers,
    say,
    compactor,
    sayUntil,
    wait: (ms: number) => {
      now += ms;
    },
    tokens: () => meter.messages(conversation.view().map(({ message }) => message)),
    async untilDrafted(compactor: Compactor<OpenAiMessage>) {
      await sayUntil(compactor, () => types("draft-start").length > 0);
      await compactor.settled();
      assert.equal(types("draft-ready").length, 1);
    },
    async untilCompacted(compactor: Compactor<OpenAiMessage>, calls: () => number) {
      for (let turn = 0; turn < 100; turn++) {
        await say();
        const callsBefore = calls();
        const outcome = await compactor.compact({ cause: "automatic" });
        if (outcome.kind === "compacted") return { outcome, callsBefore };
        await compactor.settled();
      }
      throw new Error("100 turns and no compaction");
    },
  };
  return thread;
}

function drafts(turn: number) {
  const messages: OpenAiMessage[] = [
    { role: "user", content: `Question ${turn}: ${"what about the parser in src/parse.ts ".repeat(8)}` },
    { role: "assistant", content: `Answer ${turn}: ${"it reads tokens one by one and keeps a stack ".repeat(8)}` },
  ];
  return messages.map((message, index) => ({
    kind: "message" as const,
    id: `m-${turn}-${index}`,
    dialect: "openai" as const,
    origin: "import" as const,
    body: JSON.stringify(message),
  }));
}

function opened(): { readonly open: Promise<void>; readonly release: () => void } {
  let release = (): void => undefined;
  const open = new Promise<void>((resolve) => {
    release = resolve;
  });
  return { open, release };
}

function compacted(outcome: CompactionOutcome<OpenAiMessage>) {
  assert.equal(outcome.kind, "compacted", JSON.stringify(outcome));
  return outcome as Extract<typeof outcome, { kind: "compacted" }>;
}
