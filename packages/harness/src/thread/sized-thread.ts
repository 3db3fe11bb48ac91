/**
 * One stored thread and its sizer: its dialect, the best counter for the model that was asked last, and the account that
 * the newest reports anchor. Everything that shows, plans or compacts a stored thread counts with it, so there is one count.
 */

import {
  type LiveRecords,
  type LogRecord,
  liveRecords,
  type MessageRecord,
  type UsageRecord,
} from "@palimpsest/core/internal/log";
import { type Dialect, definitionOf, rulesOf, type Shape, shapeOf } from "@palimpsest/core/internal/message";
import type { FixedSize, Prompt, Sizer } from "@palimpsest/core/internal/prompt";
import { createSizer, fixedSize, sizeOf } from "@palimpsest/core/internal/prompt";
import { createMeter, type Meter, resumeAccount } from "@palimpsest/core/internal/tokens";
import { stateChainOf } from "../compaction/state-chain.ts";
import { inTurns } from "../long-work.ts";
import { exactCounterFor, type ModelCounter } from "../models/tokenizers.ts";
import type { Store, ThreadLoad } from "../stores/store.ts";
import { sentBefore } from "./fixed-request.ts";
import type { Thread, ThreadLog } from "./thread.ts";
import { livePrompt, REPORTS, readBody, threadInMemory } from "./thread-view.ts";

export interface SizedThread {
  /** The thread as it stands; what is committed to it is written nowhere. */
  readonly thread: ThreadLog<object>;
  readonly dialect: Dialect;
  readonly counter: ModelCounter;
  readonly sizer: Sizer<object>;
  /** What was sent beside the messages, where the thread knows it. */
  readonly request: { readonly system: unknown; readonly tools: readonly unknown[] };
  /** What would be sent now. */
  prompt(): Prompt<object>;
}

type FixedParts = FixedSize["parts"];

/** Who would ask next in a thread. */
export interface Asker {
  readonly model: string;
  readonly counter: ModelCounter;
  /** What it would send beside the messages of a thread in which it has sent nothing yet. */
  readonly beside: (load: ThreadLoad) => Promise<SizedThread["request"] & { readonly parts: FixedParts }>;
}

export async function sizedThread(store: Store, load: ThreadLoad, asker?: Asker): Promise<SizedThread> {
  const records = load.records.map(({ record }) => record);
  const dialect = dialectOf(records);
  // One table of functions per dialect; which one it is no longer matters from here on.
  const shape = shapeOf<object>(dialect);
  const model = asker?.model ?? modelOf(records, dialect);
  const counter = asker?.counter ?? (await exactCounterFor({ model }));
  const meter = createMeter(shape, { ...counter, counter: counter.count });
  const parts = knownParts(load);
  const beside = parts === null ? await asker?.beside(load) : undefined;
  const request = beside === undefined ? requestOf(load) : { system: beside.system, tools: beside.tools };
  const thread = copyInMemory(store, load, shape);
  await sizeInTurns(thread, meter, request.tools);
  const fixed = fixedSize(parts ?? beside?.parts ?? fixedParts(request, meter));
  const sizer = createSizer({ shape, rules: rulesOf(dialect), meter, fixed });
  const prompt = livePrompt(thread, sizer);
  const { prior } = counter;
  const { factors } = load.head;
  const reports = recentReports(records, model);
  const countOnReports = () => {
    const resumed = { prompt: sizeOf(prompt()), factors, priorOf: () => prior, window: null };
    sizer.countOn({ account: resumeAccount(reports, resumed), model, prior });
  };
  countOnReports();
  const isNone = fixed.tokens > 0 || load.head.usage === null || isSummaryErased(load);
  const unseen = isNone ? 0 : unseenIn(prompt(), thread.live());
  if (unseen > 0) {
    sizer.fix(fixedSize({ unseen }));
    countOnReports();
  }
  return { thread, dialect, counter, sizer, request, prompt };
}

/**
 * A thread that was imported without its system prompt and tools was still charged for them: what was counted beyond the
 * messages is theirs, in the meter's tokens. Before a report on the view, the act that made the view says what was counted.
 */
function unseenIn({ count, entries, factor }: Prompt<object>, { compaction, prunes }: LiveRecords): number {
  const act = [compaction, ...prunes]
    .filter((one) => one !== null && one.tokensAfter > 0)
    .toSorted((a, b) => (a?.seq ?? 0) - (b?.seq ?? 0))
    .at(-1);
  const isReported = count.source !== "estimated";
  if (!isReported && act === undefined) return 0;
  const counted = isReported ? count.tokens : (act?.tokensAfter ?? 0) / factor;
  const until = isReported ? Number.POSITIVE_INFINITY : (act?.seq ?? 0);
  const shown = entries.filter(({ seq }) => (seq ?? 0) <= until).reduce((sum, { tokens }) => sum + tokens, 0);
  return counted - shown < counted * UNSEEN_SHARE ? 0 : Math.round(counted - shown);
}

/** Its compaction's figures counted the summary, which is gone. */
function isSummaryErased({ head, records }: ThreadLoad): boolean {
  return records.some(
    ({ record, redacted }) =>
      redacted && record.seq === head.compaction && record.kind === "compaction" && record.summary.state === null,
  );
}

/** Counters differ by less. */
const UNSEEN_SHARE = 0.25;

/** Ahead of a prompt, which then finds all of it counted. */
export function sizeInTurns<M>(
  thread: Pick<ThreadLog<M>, "view">,
  meter: Meter<M>,
  tools: readonly unknown[] = [],
): Promise<void> {
  const messages = thread.view().map(({ message }) => message);
  return inTurns(meter.steps(messages, tools));
}

function recentReports(records: readonly LogRecord[], model: string): readonly UsageRecord[] {
  return records
    .filter((record) => record.kind === "usage")
    .filter((usage) => usage.flaw == null && usage.model === model)
    .slice(-REPORTS);
}

/** The model that was asked last; before that, one of the dialect's own family. */
function modelOf(records: readonly LogRecord[], dialect: Dialect): string {
  const reported = records.findLast((record) => record.kind === "usage" && record.flaw == null);
  const named = reported?.kind === "usage" ? reported.model : "unknown";
  if (named !== "unknown") return named;
  return definitionOf(dialect).model;
}

/** A run leaves only the sizes of its system prompt and tools in the state: the head is written with every append. */
function knownParts({ head }: ThreadLoad): FixedParts | null {
  return sentBefore(head)?.parts ?? null;
}

function fixedParts({ system, tools }: SizedThread["request"], meter: Meter<object>): FixedParts {
  const text = system == null ? "" : typeof system === "string" ? system : JSON.stringify(system);
  return { base: meter.system(text), definitions: meter.tools(tools) };
}

/** System prompt and tool schemas, where an import or a run has put them into the thread's state. */
function requestOf({ head }: ThreadLoad): SizedThread["request"] {
  const { system = null, tools } = sentBefore(head) ?? {};
  return { system, tools: Array.isArray(tools) ? tools : [] };
}

function dialectOf(records: readonly LogRecord[]): Dialect {
  const newest = records.findLast((record) => record.kind === "message");
  return newest?.kind === "message" ? newest.dialect : "openai";
}

/** A thread that starts as a stored one stands and goes on in memory only. */
export function copyInMemory<M extends object>(
  store: Store,
  { header, head, records }: ThreadLoad,
  shape: Shape<M>,
): ThreadLog<M> & Pick<Thread<M>, "write"> {
  const messages = new Map<number, M>();
  const original = (record: MessageRecord): M => {
    const message = messages.get(record.seq) ?? readBody(record, shape);
    messages.set(record.seq, message);
    return message;
  };
  const live = liveRecords(
    head,
    records.map(({ record }) => record),
  );
  const state = async () => (await stateChainOf(store, header.id, live.compaction))?.state ?? null;
  return threadInMemory({ header, shape, head, live, original, state });
}
