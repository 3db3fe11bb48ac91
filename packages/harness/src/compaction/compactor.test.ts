import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import type { CompactionOutcome, Policy } from "@palimpsest/core/internal/compaction";
import { sent } from "@palimpsest/core/internal/log";
import type { OpenAiMessage } from "@palimpsest/core/internal/message";
import { assertValid, forRequest, openaiRules, openaiShape } from "@palimpsest/core/internal/message";
import { createSizer, fixedSize } from "@palimpsest/core/internal/prompt";
import { charsPerToken, createMeter } from "@palimpsest/core/internal/tokens";
import { openUnder } from "@palimpsest/testing/internal/thread-writer";
import { openSqlite } from "../stores/sqlite.ts";
import type { Store } from "../stores/store.ts";
import { appendMessages, pin, redo, undo, withWriter } from "../thread/acts.ts";
import { replay, verify } from "../thread/audit.ts";
import { livePrompt } from "../thread/thread-view.ts";
import { createThread, threadDeps, type Writer } from "../thread/writer.ts";
import { type Compactor, type CompactorOptions, createCompactor } from "./compactor.ts";
import type { CompactionEvent } from "./events.ts";
import { createModelWriter } from "./model-writer.ts";
import { ensureParts, homeOriginals } from "./part-files.ts";
import { logLine } from "./summarization.ts";
import type { SummaryWriter } from "./summarize.ts";

const folders: string[] = [];
after(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

const meter = createMeter(openaiShape, { counter: charsPerToken(4) });
const POLICY: Policy = {
  trigger: [{ type: "tokens", value: 4000 }],
  keep: { type: "messages", value: 6 },
  lowWater: 0.6,
  minGain: 0.1,
  maxSummaryTokens: null,
  summaryFormat: "pair",
};

test("an automatic compaction hides the old messages behind a summary and keeps the tail word for word", async () => {
  await inThread(async (thread) => {
    await thread.say(...turns(0, 30));
    const outcome = compacted(await thread.compactor().compact({ cause: "automatic" }));
    assert.equal(outcome.rung, "extract");
    assert.ok(outcome.tokensAfter < outcome.tokensBefore * 0.6);
    const view = await thread.view();
    assert.deepEqual(view.slice(-6), turns(27, 30));
    assert.equal(openaiShape.role(view[0]!), "user");
    assert.equal(openaiShape.role(view[1]!), "assistant");
    assertValid([...view, { role: "user", content: "next" }], openaiShape, forRequest(openaiRules));
  });
});

test("a compaction that a person asks for and that saves next to nothing writes no record", async () => {
  await inThread(async (thread) => {
    const long = "The parser reads one token at a time, and nothing of it can be left out. ".repeat(650);
    await thread.say(...turns(0, 2));
    await thread.say({ role: "user", content: long }, { role: "assistant", content: long });
    const before = (await thread.open()).head().version;
    const keep = { type: "messages", value: 2 } as const;
    const outcome = await thread.compactor({ policy: { ...POLICY, keep } }).compact({ cause: "manual" });
    assert.equal(outcome.kind, "unchanged");
    assert.equal((await thread.open()).head().version, before);
  });
});

test("what was hidden can be read back: part files in name order plus the tail equal the replay, byte for byte", async () => {
  await inThread(async (thread) => {
    for (let round = 0; round < 20; round++) {
      await thread.say(...turns(round * 20, round * 20 + 20));
      compacted(await thread.compactor().compact({ cause: "manual" }));
      if (round % 7 === 3) assert.equal((await undo(thread.writer)).kind, "undone");
    }
    await thread.archive();
    const tail = (await thread.open()).live().tail.map(({ body }) => body);
    assert.equal([...thread.partLines(), ...tail].join("\n"), (await thread.bodies()).join("\n"));
    assert.equal((await verify(thread.deps, thread.id)).kind, "whole");
  });
});

test("what the summary had no room for is one read away: the ledger beside the parts names every changed file", async () => {
  await inThread(async (thread) => {
    for (let n = 0; n < 120; n++) await thread.say(...edit(n));
    await thread.say(...turns(0, 4));
    compacted(await thread.compactor({ policy: { ...POLICY, maxSummaryTokens: 600 } }).compact({ cause: "manual" }));
    const text = String((await thread.view())[0]!.content);
    const ledger = readFileSync(join(thread.history, "ledger.txt"), "utf8");
    assert.match(text, /and \d+ more: history\/ledger\.txt/);
    for (let n = 0; n < 120; n++) assert.ok(ledger.includes(`module-${n}.ts`), `module-${n}.ts`);
    await undo(thread.writer);
    await thread.archive();
    assert.deepEqual(readdirSync(thread.history), []);
  });
});

test("[F43] undo gives the exact earlier view plus what was said since, and redo the compacted one", async () => {
  await inThread(async (thread) => {
    await thread.say(...turns(0, 30));
    const before = await thread.view();
    compacted(await thread.compactor().compact({ cause: "manual" }));
    const hidden = await thread.view();
    const since = turns(30, 31);
    await thread.say(...since);
    await undo(thread.writer);
    assert.deepEqual(await thread.view(), [...before, ...since]);
    await redo(thread.writer);
    assert.deepEqual(await thread.view(), [...hidden, ...since]);
  });
});

test("after an undo automatic compaction waits until the view has grown by the minimum gain", async () => {
  await inThread(async (thread) => {
    await thread.say(...turns(0, 30));
    compacted(await thread.compactor().compact({ cause: "automatic" }));
    await undo(thread.writer);
    const waiting = await thread.compactor().compact({ cause: "automatic" });
    assert.equal(waiting.kind === "unchanged" && waiting.reason, "waiting");
    await thread.say(...turns(30, 50));
    compacted(await thread.compactor().compact({ cause: "automatic" }));
  });
});

for (const trigger of [
  { type: "tokens", value: 4000 },
  { type: "messages", value: 30 },
] as const) {
  test(`a trigger of ${trigger.value} ${trigger.type} holds every time, also in a window that is fifty times as large`, async () => {
    await inThread(async (thread) => {
      const conversation = await thread.open();
      const policy = { ...POLICY, trigger: [trigger] };
      const window = () => ({ size: 200_000, reserve: 4096 });
      const compactor = thread.compactorOn(conversation, { policy, window, fixed: 2500 });
      let compactions = 0;
      for (let turn = 0; turn < 100; turn++) {
        await conversation.commit(drafts(turns(turn, turn + 1)));
        const outcome = await compactor.compact({ cause: "automatic" });
        compactions += outcome.kind === "compacted" ? 1 : 0;
        const view = conversation.view().map((entry) => sent(entry, openaiShape));
        const size = trigger.type === "messages" ? view.length : meter.messages(view);
        assert.ok(size < trigger.value, `${size} ${trigger.type} in turn ${turn}`);
      }
      assert.ok(compactions >= 3 && compactions <= 12, `${compactions} compactions`);
    });
  });
}

test("a check that only waits does not begin the wait anew", async () => {
  await inThread(async (thread) => {
    const conversation = await thread.open();
    const compactor = thread.compactorOn(conversation, {});
    await conversation.commit(drafts(turns(0, 30)));
    compacted(await compactor.compact({ cause: "automatic" }));
    await conversation.act(undo);
    await conversation.catchUp();
    const reasons: string[] = [];
    for (let turn = 30; turn < 33; turn++) {
      await conversation.commit(drafts(turns(turn, turn + 1)));
      const outcome = await compactor.compact({ cause: "automatic" });
      reasons.push(outcome.kind === "unchanged" ? outcome.reason : outcome.kind);
    }
    assert.deepEqual(reasons, ["waiting", "waiting", "compacted"]);
  });
});

test("where the summary leaves no room for all that keep promises, less is kept without a second call, and the outcome says so", async () => {
  await inThread(async (thread) => {
    await thread.say(...turns(0, 30));
    let calls = 0;
    const long = Array.from({ length: 12 }, (_, n) => ({
      text: `${n}: ${"a decision about the parser ".repeat(8)}`,
      seqs: [1],
    }));
    const writer = createModelWriter({
      summarize: async () => {
        calls++;
        return { text: JSON.stringify({ add: { decisions: long } }), finish: "stop" };
      },
      window: 32_768,
      reservedOutputTokens: 4096,
      trimTokensToSummarize: null,
      maxSummarizerCalls: 8,
      summaryPrompt: null,
    });
    const policy: Policy = { ...POLICY, keep: { type: "tokens", value: 3820 } };
    const outcome = compacted(await thread.compactor({ policy, writer }).compact({ cause: "automatic" }));
    assert.deepEqual([outcome.rung, calls], ["summarize", 1]);
    assert.match(outcome.shortfall ?? "", /no room below the trigger for all that keep promises/);
    assert.ok(outcome.tokensAfter < 4000 && outcome.tokensAfter > 3000, `${outcome.tokensAfter}`);
    assert.match(String(outcome.messages[0]!.content), /a decision about the parser/);
  });
});

test("a keep that is met above the low-water mark is no shortfall", async () => {
  await inThread(async (thread) => {
    await thread.say(...turns(0, 30));
    const policy: Policy = { ...POLICY, keep: { type: "tokens", value: 3000 } };
    const outcome = compacted(await thread.compactor({ policy }).compact({ cause: "automatic" }));
    assert.ok(outcome.tokensAfter > 0.6 * 4000 && outcome.tokensAfter < 4000, `${outcome.tokensAfter}`);
    assert.equal(outcome.shortfall, null);
  });
});

test("a pinned message is quoted word for word in every later summary", async () => {
  await inThread(async (thread) => {
    await thread.say(
      { role: "user", content: "The launch code word is quicksilver-77." },
      { role: "assistant", content: "Noted." },
    );
    await pin(thread.writer, 1);
    for (let round = 0; round < 4; round++) {
      await thread.say(...turns(round * 30, round * 30 + 30));
      compacted(await thread.compactor().compact({ cause: "manual" }));
      assert.match(String((await thread.view())[0]!.content), /The launch code word is quicksilver-77\./);
    }
  });
});

const failures: Record<string, SummaryWriter> = {
  throws: async () => {
    throw new Error("429 too many requests");
  },
  "says nothing": async () => ({ kind: "failed", reason: "empty", detail: "no text", calls: 1 }),
  refuses: async () => ({ kind: "failed", reason: "refusal", detail: "I can't help", calls: 1 }),
};
for (const [how, writer] of Object.entries(failures)) {
  test(`[F1] a summarizer that ${how} loses nothing: the extract stands in and an event says so`, async () => {
    await inThread(async (thread) => {
      await thread.say(...turns(0, 30));
      const outcome = compacted(await thread.compactor({ writer }).compact({ cause: "automatic" }));
      assert.equal(outcome.rung, "extract");
      assert.ok(thread.events.some((event) => event.type === "summary-failed"));
      assert.equal((await thread.bodies()).length, 60);
    });
  });
}

test("[F9] a failing summarizer is left alone after two failures, and asked again later", async () => {
  await inThread(async (thread) => {
    let asked = 0;
    const writer: SummaryWriter = async () => {
      asked++;
      throw new Error("down");
    };
    const conversation = await thread.open();
    const compactor = thread.compactorOn(conversation, { writer });
    for (let round = 0; round < 6; round++) {
      await conversation.commit(drafts(turns(round * 30, round * 30 + 30)));
      compacted(await compactor.compact({ cause: "manual" }));
    }
    assert.equal(asked, 2);
    assert.ok(thread.events.some((event) => event.type === "breaker-open"));
    thread.wait(3_600_000);
    await conversation.commit(drafts(turns(200, 230)));
    await compactor.compact({ cause: "manual" });
    assert.equal(asked, 3);
  });
});

test("an aborted compaction leaves the thread exactly as it was", async () => {
  await inThread(async (thread) => {
    await thread.say(...turns(0, 30));
    const before = await thread.bytes();
    const stop = new AbortController();
    const writer: SummaryWriter = async () => {
      stop.abort();
      throw new Error("stopped");
    };
    const outcome = await thread.compactor({ writer }).compact({ cause: "automatic", signal: stop.signal });
    assert.equal(outcome.kind === "unchanged" && outcome.reason, "aborted");
    assert.equal(await thread.bytes(), before);
  });
});

test("a dry run says what would happen and writes nothing", async () => {
  await inThread(async (thread) => {
    await thread.say(...turns(0, 30));
    const before = await thread.bytes();
    const dry = compacted(await thread.compactor().compact({ cause: "manual", dryRun: true }));
    assert.equal(await thread.bytes(), before);
    const real = compacted(await thread.compactor().compact({ cause: "manual" }));
    assert.deepEqual([dry.tokensAfter, dry.hidden], [real.tokensAfter, real.hidden]);
  });
});

test("[F44] a thread that another run holds is busy, and nothing happens to it", async () => {
  await inThread(async (thread) => {
    const second = await withWriter(thread.deps, thread.id, async () => "in");
    assert.equal(second.kind, "busy");
  });
});

test("two compactors that planned on the same head: the second finds a conflict and changes nothing", async () => {
  await inThread(async (thread) => {
    await thread.say(...turns(0, 30));
    const [one, two] = [await thread.open(), await thread.open()];
    compacted(await thread.compactorOn(one).compact({ cause: "manual" }));
    const outcome = await thread.compactorOn(two).compact({ cause: "manual" });
    assert.equal(outcome.kind === "unchanged" && outcome.reason, "conflict");
    assert.equal((await verify(thread.deps, thread.id)).kind, "whole");
  });
});

test("a store that fails at the append leaves the thread as it was, and the next attempt succeeds", async () => {
  await inThread(async (thread) => {
    await thread.say(...turns(0, 30));
    const before = await thread.bytes();
    const conversation = await thread.open();
    const append = thread.store.append.bind(thread.store);
    thread.store.append = async () => {
      throw new Error("disk full");
    };
    await assert.rejects(thread.compactorOn(conversation).compact({ cause: "manual" }), /disk full/);
    assert.equal(await thread.bytes(), before);
    thread.store.append = append;
    compacted(await thread.compactorOn(conversation).compact({ cause: "manual" }));
  });
});

test("[F3] a summary that would not make the prompt smaller is refused, however few messages it leaves", async () => {
  await inThread(async (thread) => {
    for (let n = 0; n < 12; n++)
      await thread.say({ role: "user", content: "go" }, { role: "assistant", content: "ok" });
    const outcome = await thread.compactor().compact({ cause: "manual", keep: { type: "messages", value: 20 } });
    assert.equal(outcome.kind === "unchanged" && outcome.reason, "no-shrink");
    assert.equal((await thread.view()).length, 24);
  });
});

test("[F32] a floor above the window is a typed error before any provider is called", async () => {
  await inThread(async (thread) => {
    await thread.say(...turns(0, 3));
    const compactor = thread.compactor({ fixed: 31_000 });
    await assert.rejects(compactor.compact({ cause: "automatic" }), { code: "floor-exceeds-window" });
  });
});

test("the debug log tells a compaction in DeerFlow's words", async () => {
  await inThread(async (thread) => {
    await thread.say(...turns(0, 25));
    const compactor = thread.compactor({ policy: { ...POLICY, keep: { type: "messages", value: 20 } } });
    const outcome = compacted(await compactor.compact({ cause: "automatic" }));
    const lines = thread.events.map(logLine).join("\n");
    assert.match(lines, /\[SummarizationMiddleware\] Token count: \d+ \/ 32768 \(\d+%\)/);
    assert.match(lines, /Trigger: tokens threshold met \(4000\)/);
    assert.match(lines, /Summarizing 30 messages, keeping last 20/);
    assert.match(lines, /Summary generated: \d+ tokens/);
    assert.match(lines, new RegExp(`New message count: 22, token count: ${outcome.tokensAfter}`));
  });
});

function turns(from: number, to: number): OpenAiMessage[] {
  return Array.from({ length: to - from }, (_, index) => {
    const n = from + index;
    return [
      { role: "user" as const, content: `Question ${n}: ${"what about the parser in src/parse.ts ".repeat(8)}` },
      {
        role: "assistant" as const,
        content: `Answer ${n}: ${"it reads tokens one by one and keeps a stack ".repeat(8)}`,
      },
    ];
  }).flat();
}

function edit(n: number): OpenAiMessage[] {
  const input = JSON.stringify({ path: `src/folder-${n % 7}/module-${n}.ts`, content: `export const value = ${n};` });
  return [
    { role: "user", content: `Please write module ${n}.` },
    {
      role: "assistant",
      content: null,
      tool_calls: [{ id: `e${n}`, type: "function", function: { name: "write_file", arguments: input } }],
    },
    { role: "tool", tool_call_id: `e${n}`, content: "written" },
    { role: "assistant", content: "Done." },
  ];
}

function drafts(messages: readonly OpenAiMessage[]) {
  return messages.map((message, index) => ({
    kind: "message" as const,
    id: `id-${index}-${Math.random()}`,
    dialect: "openai" as const,
    origin: "user" as const,
    body: JSON.stringify(message),
  }));
}

function compacted(outcome: CompactionOutcome<OpenAiMessage>) {
  assert.equal(outcome.kind, "compacted", JSON.stringify(outcome));
  return outcome as Extract<typeof outcome, { kind: "compacted" }>;
}

interface Settings extends Partial<Pick<CompactorOptions<OpenAiMessage>, "writer" | "policy" | "window">> {
  readonly fixed?: number;
}

async function inThread(work: (thread: Awaited<ReturnType<typeof makeThread>>) => Promise<void>): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "palimpsest-"));
  folders.push(folder);
  const store = openSqlite({ path: join(folder, "log.db") });
  const kit = threadDeps(store);
  await createThread(kit, { id: "t" });
  const done = await withWriter(kit, "t", async (writer) => work(await makeThread(folder, store, writer)));
  await store.close();
  assert.equal(done.kind, "done");
}

async function makeThread(folder: string, store: Store, writer: Writer) {
  const history = join(folder, "history");
  const events: CompactionEvent[] = [];
  let now = Date.parse("2026-01-01T00:00:00Z");
  const open = async () => await openUnder(writer, openaiShape);
  const archive = async () => ensureParts(history, store, "t", (await store.head("t"))!.compaction);
  const compactorOn = (
    conversation: Awaited<ReturnType<typeof open>>,
    { fixed = 0, ...settings }: Settings = {},
  ): Compactor<OpenAiMessage> =>
    createCompactor({
      thread: conversation,
      prompt: livePrompt(
        conversation,
        createSizer({ shape: openaiShape, rules: openaiRules, meter, fixed: fixedSize({ base: fixed }) }),
      ),
      window: () => ({ size: 32_768, reserve: 4096 }),
      policy: POLICY,
      prune: null,
      writer: null,
      quotes: async (seqs) => {
        const found = [];
        for (const seq of seqs) {
          for await (const { record } of store.records("t", { range: [seq, seq] })) {
            if (record.kind === "message") found.push(record);
          }
        }
        return found;
      },
      archive,
      originals: () => homeOriginals,
      clock: () => new Date(now),
      on: (event) => events.push(event),
      ...settings,
    });
  return {
    id: "t",
    deps: threadDeps(store),
    store,
    writer,
    events,
    history,
    open,
    archive,
    compactorOn,
    compactor: (settings?: Settings) => lazily(async () => compactorOn(await open(), settings)),
    wait: (ms: number) => {
      now += ms;
    },
    say: (...messages: OpenAiMessage[]) =>
      appendMessages(
        writer,
        messages.map((body) => ({ dialect: "openai", origin: body.role === "user" ? "user" : "model", body })),
      ),
    view: async () => (await open()).view().map((entry) => sent(entry, openaiShape)),
    bodies: async () => {
      const bodies: string[] = [];
      for await (const record of replay(threadDeps(store), "t")) bodies.push(record.body);
      return bodies;
    },
    bytes: async () => {
      const all: string[] = [];
      for await (const { chained } of store.records("t")) all.push(chained.hash);
      return all.join();
    },
    partLines: () =>
      readdirSync(history)
        .filter((name) => name.startsWith("part-"))
        .sort()
        .flatMap((name) => readFileSync(join(history, name), "utf8").split("\n").slice(0, -1)),
  };
}

function lazily(make: () => Promise<Compactor<OpenAiMessage>>): Pick<Compactor<OpenAiMessage>, "compact"> {
  return { compact: async (request) => (await make()).compact(request) };
}
