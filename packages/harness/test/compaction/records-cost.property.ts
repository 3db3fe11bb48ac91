/**
 * A long conversation in a small window, with tools that fail now and then: what its compactions weigh beside its
 * messages, and that each of them can be taken back, one by one, to exactly the view that was before. Shared by the test
 * and its long variant.
 */
import assert from "node:assert/strict";
import { type LogRecord, liveRecords, sent, type ViewEntry, view } from "@palimpsest/core/internal/log";
import { type OpenAiMessage, openaiRules, openaiShape } from "@palimpsest/core/internal/message";
import { createSizer, fixedSize } from "@palimpsest/core/internal/prompt";
import { charsPerToken, createMeter } from "@palimpsest/core/internal/tokens";
import { output, path, prose, type Random, random } from "@palimpsest/testing/internal/shapes";
import { openUnder, writeThread } from "@palimpsest/testing/internal/thread-writer";
import { createCompactor } from "../../src/compaction/compactor.ts";
import { createModelWriter } from "../../src/compaction/model-writer.ts";
import { summarizationFromOptions } from "../../src/compaction/summarization.ts";
import { readQuotes } from "../../src/compaction/summary.ts";
import type { RecordQuery } from "../../src/stores/store.ts";
import { fork, undo } from "../../src/thread/acts.ts";
import { replay } from "../../src/thread/audit.ts";
import { livePrompt, readBody } from "../../src/thread/thread-view.ts";
import { sha256, type Writer } from "../../src/thread/writer.ts";
import { SUMMARIZERS } from "../playback/summarizers.ts";

export interface LongThread {
  readonly turns: number;
  readonly summaries: "model" | "extract";
  readonly seed?: number;
}

export interface RecordsCost {
  readonly messages: number;
  readonly compactions: number;
  /** Bytes of bodies and headers. */
  readonly messageBytes: number;
  readonly recordBytes: number;
  readonly largestRecord: number;
}

const WINDOW = 8000;
/** The lease must outlast the test: nobody renews it there. */
export const LONG_LEASE_MS = 24 * 3_600_000;

/** What the prompt showed before a compaction or prune was written. */
interface Before {
  readonly version: number;
  readonly view: readonly string[];
}

/** Plays the thread; `befores` are the views to come back, oldest first. */
export async function playLongThread(writer: Writer, { turns, summaries, seed = 1 }: LongThread) {
  const conversation = await openUnder(writer, openaiShape);
  const { policy, prune } = summarizationFromOptions();
  const meter = createMeter(openaiShape, { counter: charsPerToken(4) });
  const sizer = createSizer({ shape: openaiShape, rules: openaiRules, meter, fixed: fixedSize({ base: 1500 }) });
  const { protectTokens, minGainTokens } = prune;
  const compactor = createCompactor({
    thread: conversation,
    prompt: livePrompt(conversation, sizer),
    window: () => ({ size: WINDOW, reserve: 1000 }),
    policy,
    prune: () => ({ policy: { protectTokens, minGainTokens }, cache: "warm" }),
    writer: summaries === "extract" ? null : scriptedWriter(),
    quotes: readQuotes(writer.store, writer.lease.threadId),
    archive: null,
    clock: writer.clock,
    on: () => undefined,
  });
  const befores: Before[] = [];
  for (const messages of conversationSteps(random(seed), turns)) {
    const said = messages.map((message) => {
      const origin = message.role === "user" ? "user" : message.role === "tool" ? "tool" : "model";
      return { kind: "message", id: "m", dialect: "openai", origin, body: JSON.stringify(message) } as const;
    });
    assert.equal((await conversation.commit(said)).kind, "committed");
    if (messages.at(-1)!.role === "assistant") continue;
    const before = { version: conversation.head().version, view: spelled(conversation.view()) };
    await compactor.compact({ cause: "automatic" });
    if (conversation.head().version > before.version) befores.push(before);
  }
  return { conversation, befores };
}

/** What the messages and what the compactions take in the log. */
export async function weighRecords({ store, lease }: Writer): Promise<RecordsCost> {
  let [messages, compactions, messageBytes, recordBytes, largestRecord] = [0, 0, 0, 0, 0];
  for await (const { chained } of store.records(lease.threadId, { kinds: ["message", "compaction"] })) {
    const bytes = Buffer.byteLength(chained.header) + Buffer.byteLength(chained.body ?? "");
    if (chained.kind === "message") {
      messages += 1;
      messageBytes += bytes;
    } else {
      compactions += 1;
      recordBytes += bytes;
      largestRecord = Math.max(largestRecord, bytes);
    }
  }
  return { messages, compactions, messageBytes, recordBytes, largestRecord };
}

/**
 * Takes everything back, newest first. Each time the view up to where it stood then is read and compared; what was said
 * since is read with it now and then, since it only gets longer.
 */
export async function takeAllBack(writer: Writer, befores: readonly Before[], wholeEvery = 100): Promise<void> {
  const said: number[] = [];
  for await (const { seq } of replay(writer, writer.lease.threadId)) said.push(seq);
  for (const [left, { version, view: expected }] of [...befores.entries()].reverse()) {
    assert.equal((await undo(writer)).kind, "undone");
    assert.deepEqual(spelled(await viewThrough(writer, version)), expected);
    if (left % wholeEvery !== 0) continue;
    const whole = (await openUnder(writer, openaiShape)).view();
    assert.deepEqual(spelled(whole.slice(0, expected.length)), expected);
    assert.deepEqual(
      whole.slice(expected.length).map(({ seq }) => seq),
      said.filter((seq) => seq > version),
    );
  }
}

/** Milliseconds of work that each undo takes in a fork of the thread, newest first; nothing else is done in between. */
export async function timeUndos(writer: Writer): Promise<number[]> {
  const as = `${writer.lease.threadId}-timed`;
  assert.equal((await fork(writer, writer.lease.threadId, { as })).kind, "forked");
  const timed = await writeThread(writer.store, as, {}, LONG_LEASE_MS);
  const times: number[] = [];
  for (;;) {
    const started = process.threadCpuUsage();
    const { kind } = await undo(timed);
    const { user, system } = process.threadCpuUsage(started);
    if (kind === "refused") return times;
    assert.equal(kind, "undone");
    times.push((user + system) / 1000);
  }
}

/** The view as it stands now, of the log up to a record. */
async function viewThrough({ store, lease }: Writer, version: number): Promise<readonly ViewEntry<OpenAiMessage>[]> {
  const head = (await store.head(lease.threadId))!;
  const records: LogRecord[] = [];
  const read = async (query: RecordQuery) => {
    for await (const { record } of store.records(lease.threadId, query)) records.push(record);
  };
  await read({ range: [head.hiddenThrough + 1, version] });
  const live = records.find(({ seq }) => seq === head.compaction);
  const stands = live?.kind === "compaction" ? [...live.systems, ...(live.request === null ? [] : [live.request])] : [];
  await read({ seqs: [...stands, ...head.prunes, ...head.evidence].filter((seq) => seq <= head.hiddenThrough) });
  records.sort((a, b) => a.seq - b.seq);
  return view(liveRecords(head, records), { shape: openaiShape, read: (record) => readBody(record, openaiShape) });
}

/** A hash for each entry: thousands of views are kept. */
function spelled(view: readonly ViewEntry<OpenAiMessage>[]): string[] {
  return view.map((entry) => sha256(JSON.stringify([entry.source, sent(entry, openaiShape)])).slice(0, 16));
}

function scriptedWriter() {
  return createModelWriter({
    summarize: SUMMARIZERS.extractive,
    window: WINDOW,
    reservedOutputTokens: 1000,
    trimTokensToSummarize: null,
    maxSummarizerCalls: 8,
    summaryPrompt: null,
  });
}

/** The messages of each step together: a question, an answer, or calls with their results. */
function* conversationSteps(draw: Random, turns: number): Generator<readonly OpenAiMessage[]> {
  let call = 0;
  for (let turn = 1; turn <= turns; turn++) {
    yield [{ role: "user", content: `Ticket ${turn * 17}: ${prose(draw, spread(draw, 3000))}` }];
    for (let steps = draw.int(0, 2); steps > 0; steps--) {
      const calls = Array.from({ length: draw.int(1, 3) }, () => toolCall(draw, ++call));
      yield [
        { role: "assistant", content: null, tool_calls: calls.map(({ asked }) => asked) },
        ...calls.map(({ asked, answer }) => ({ role: "tool", tool_call_id: asked.id, content: answer }) as const),
      ];
    }
    const [file, number] = [path(draw), draw.int(1000, 99_999)];
    const end = `We decided to keep ${file} at revision ${number}, because job ${turn * 31} needs it.`;
    yield [{ role: "assistant", content: `${prose(draw, spread(draw, 1500))}. ${end}` }];
  }
}

function toolCall(draw: Random, number: number) {
  const failed = draw.chance(0.1);
  const command = draw.pick([
    `node scripts/job-${number}.mjs --batch ${draw.int(1, 99_999)} --in ${path(draw)}`,
    `grep -rn "order-${number}" ${path(draw)} | head -${draw.int(5, 50)}`,
    `cat > out/report-${number % 700}.json && npm test -- ${path(draw)}`,
  ]);
  const [name, given] = draw.chance(0.5)
    ? ["bash", { command }]
    : ["lookup", { order: number, page: draw.int(1, 50), text: prose(draw, 60) }];
  const text = output(draw, spread(draw, 6000));
  return {
    asked: {
      id: `call_${number}`,
      type: "function" as const,
      function: { name, arguments: JSON.stringify(given) },
    },
    answer: failed
      ? `Error: order ${number} is gone (code ${draw.int(400, 599)})\n${text.slice(0, 800)}\nexit code 1`
      : text,
  };
}

/** From short to long, evenly over the orders of magnitude. */
function spread(draw: Random, longest: number): number {
  return Math.round(40 * (longest / 40) ** draw.next());
}
