/**
 * Plays transcripts message by message through automatic compaction, in a real SQLite store, and judges every request:
 * `hidden` and `lost`: at each dialog's end, what the prompt doesn't hold word for word, and what it says nothing of.
 * `npm run bench -- playback FILE... [--window N] [--dialect D] [--summarizer S] [--reasoning bound] [--dump OUT] [--json]`.
 */
import { closeSync, mkdtempSync, openSync, rmSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Dialect, OpenAiMessage, Shape } from "@palimpsest/core/internal/message";
import { convert, rulesOf, shapeOf } from "@palimpsest/core/internal/message";
import { answerReserve, createMeter } from "@palimpsest/core/internal/tokens";
import { openUnder } from "@palimpsest/testing/internal/thread-writer";
import { createThread, replay, withWriter } from "palimpsest/internal/threads";
import { threadDeps } from "palimpsest/session";
import { openSqlite } from "palimpsest/stores";
import { DIALECTS } from "../packages/core/src/message/dialects.ts";
import { summarizationFromOptions } from "../packages/harness/src/compaction/summarization.ts";
import { exactCounterFor } from "../packages/harness/src/models/tokenizers.ts";
import { type PlaybackReport, type PlayedThread, playback } from "../packages/harness/test/playback/playback.ts";
import { misbehavingWriter, SUMMARIZERS, type SummarizerName } from "../packages/harness/test/playback/summarizers.ts";
import { type Bench, BenchInputError } from "./bench.ts";
import { toldIn } from "./playback/lost.ts";
import { transcripts } from "./playback/transcripts.ts";

const USAGE =
  "playback FILE... [--window N] [--dialect openai|anthropic|ai-sdk] [--summarizer NAME] [--reasoning bound|free] [--dump OUT]";

const bench: Bench = async (files, options) => {
  if (files.length === 0) throw new BenchInputError(`This bench needs transcripts: npm run bench -- ${USAGE}`);
  const window = Number(options["window"] ?? 32_768);
  if (!(window >= 1000))
    throw new BenchInputError(`--window ${options["window"]}: give a number of tokens, at least 1000.`);
  const dialect = (options["dialect"] ?? "openai") as Dialect;
  if (!DIALECTS.includes(dialect)) throw new BenchInputError(`--dialect ${dialect}: ${USAGE}`);
  const name = String(options["summarizer"] ?? "extractive");
  if (!(name in SUMMARIZERS))
    throw new BenchInputError(`--summarizer ${name}: one of ${Object.keys(SUMMARIZERS).join(", ")}.`);
  const summarizer = name as SummarizerName;
  const reasoning = options["reasoning"] ?? "free";
  if (reasoning !== "bound" && reasoning !== "free") throw new BenchInputError(`--reasoning ${reasoning}: ${USAGE}`);
  const dump = typeof options["dump"] === "string" ? openSync(options["dump"], "w") : null;
  const reports: PlaybackReport[] = [];
  const told = { hidden: 0, lost: 0 };
  for (const file of files) {
    for (const messages of await transcripts(file, dialect)) {
      let last: readonly object[] = [];
      const onRequest = (sent: readonly object[], tokens: number): void => {
        last = sent;
        if (dump !== null) writeSync(dump, `${JSON.stringify({ messages: sent, tokens })}\n`);
      };
      reports.push(await play(messages, { dialect, window, summarizer, reasoning, onRequest }));
      const { hidden, lost } = toldIn(asOpenAi(last, dialect), asOpenAi(messages, dialect));
      told.hidden += hidden;
      told.lost += lost;
    }
  }
  if (dump !== null) closeSync(dump);
  return { threads: reports.length, window, dialect, summarizer, ...sum(reports), ...told };
};

export default bench;

function asOpenAi(messages: readonly object[], dialect: Dialect): readonly OpenAiMessage[] {
  return convert(messages as never[], dialect, "openai") as unknown as readonly OpenAiMessage[];
}

interface Setting {
  readonly dialect: Dialect;
  readonly window: number;
  readonly summarizer: SummarizerName;
  readonly reasoning: "bound" | "free";
  readonly onRequest: (sent: readonly object[], tokens: number) => void;
}

async function play(
  messages: readonly object[],
  { dialect, window, summarizer, reasoning, onRequest }: Setting,
): Promise<PlaybackReport> {
  const shape = shapeOf(dialect) as Shape<object>;
  const counter = await exactCounterFor({ model: "gpt-4o" });
  const { policy, prune } = summarizationFromOptions();
  return inStore(shape, (thread) =>
    playback({
      thread,
      messages,
      shape,
      reasoning,
      rules: rulesOf(dialect),
      meter: createMeter(shape, { ...counter, counter: counter.count }),
      window: { size: window, reserve: answerReserve(window, null) },
      policy,
      writer: misbehavingWriter(summarizer, window),
      prune: prune.enabled ? { cache: "warm" } : null,
      onRequest,
    }),
  );
}

async function inStore<T>(shape: Shape<object>, work: (thread: PlayedThread<object>) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), "palimpsest-playback-"));
  const kit = threadDeps(openSqlite({ path: join(folder, "log.db") }));
  try {
    await createThread(kit, { id: "played" });
    const done = await withWriter(kit, "played", async (writer) => {
      const conversation = await openUnder(writer, shape);
      return work({
        ...conversation,
        async say(message) {
          const id = kit.ids();
          const body = JSON.stringify(message);
          await conversation.commit([
            { kind: "message", id, dialect: shape.dialect as Dialect, origin: "import", body },
          ]);
        },
        async said() {
          const bodies: string[] = [];
          for await (const { body } of replay(kit, "played")) bodies.push(body);
          return bodies;
        },
      });
    });
    if (done.kind !== "done") throw new Error(`the playback's own thread is ${done.kind}`);
    return done.value;
  } finally {
    await kit.store.close();
    rmSync(folder, { recursive: true });
  }
}

function sum(reports: readonly PlaybackReport[]) {
  const add = (pick: (report: PlaybackReport) => number): number =>
    reports.reduce((total, one) => total + pick(one), 0);
  const rungs: Record<string, number> = {};
  for (const report of reports) {
    for (const [rung, count] of Object.entries(report.rungs)) rungs[rung] = (rungs[rung] ?? 0) + count;
  }
  return {
    requests: add((report) => report.requests),
    violations: add((report) => report.violations),
    overWindow: add((report) => report.overWindow),
    impossible: add((report) => report.impossible),
    replayIdentical: reports.every((report) => report.replayIdentical),
    attempts: add((report) => report.attempts),
    hasty: add((report) => report.hasty),
    summarizerCalls: add((report) => report.summarizerCalls),
    rungs,
    thoughts: add((report) => report.thoughts),
    misplaced: add((report) => report.misplaced),
    faults: reports.flatMap((report) => report.firstFault ?? []).slice(0, 5),
  };
}
