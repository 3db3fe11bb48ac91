/**
 * What a thread would send now, and what it weighs: loads the tail, folds the view, repairs it for its provider, counts
 * it on the newest reports, breaks the count down. Reads only. A simulated window (compaction in memory) will stand
 * between fold and count; until then `simulated` is false.
 */
import { entrySize } from "@palimpsest/core/compaction";
import { type LogRecord, liveRecords, sent, type ViewEntry, view } from "@palimpsest/core/log";
import { type Dialect, type Repair, repair, rulesOf, type Shape, shapeOf } from "@palimpsest/core/message";
import {
  answerReserve,
  type Breakdown,
  breakdown,
  type Count,
  createAccount,
  createMeter,
  type Entry,
  type Meter,
  type PartName,
  viewKey,
} from "@palimpsest/core/tokens";
import { exactCounterFor } from "../models/tokenizers.ts";
import type { Store, ThreadLoad } from "../stores/store.ts";
import { readBody } from "../threads/conversation.ts";

export interface ThreadPrompt {
  readonly kind: "prompt";
  readonly dialect: Dialect;
  /** What was sent beside the messages, where the thread knows it. */
  readonly system: unknown;
  readonly tools: readonly unknown[];
  readonly messages: readonly object[];
  readonly repairs: readonly Repair[];
  readonly count: Count;
  readonly breakdown: Breakdown;
  readonly simulated: boolean;
}

export interface PromptOptions {
  /** The model's window in tokens; without it `FALLBACK_WINDOW`. */
  readonly window?: number | undefined;
}

/** Where a model's window isn't known. */
export const FALLBACK_WINDOW = 32_768;

export async function threadPrompt(
  store: Store,
  thread: string,
  { window = FALLBACK_WINDOW }: PromptOptions = {},
): Promise<ThreadPrompt | { readonly kind: "missing" }> {
  const load = await store.load(thread);
  if (load === undefined) return { kind: "missing" };
  const records = load.records.map(({ record }) => record);
  const dialect = dialectOf(records);
  // One table of functions per dialect; which one it is no longer matters from here on.
  const shape = shapeOf(dialect) as unknown as Shape<object>;
  const live = liveRecords(load.head, records);
  const entries = view(live, { shape, read: (record) => readBody(record, shape) });
  const prompt = repair(
    entries.map((entry) => sent(entry, shape)),
    shape,
    rulesOf(dialect),
  );
  const request = requestOf(load);
  const weighed = await weigh({ load, records, dialect, shape, entries, repaired: prompt.messages, request, window });
  return { kind: "prompt", dialect, ...request, ...prompt, ...weighed, simulated: false };
}

interface Weighing {
  readonly load: ThreadLoad;
  readonly records: readonly LogRecord[];
  readonly dialect: Dialect;
  readonly shape: Shape<object>;
  readonly entries: readonly ViewEntry<object>[];
  readonly repaired: readonly object[];
  readonly request: { readonly system: unknown; readonly tools: readonly unknown[] };
  readonly window: number;
}

async function weigh(given: Weighing): Promise<{ count: Count; breakdown: Breakdown }> {
  const { load, shape, entries, repaired, request, window } = given;
  const model = modelOf(given);
  const counter = await exactCounterFor({ model });
  const meter = createMeter(shape, { ...counter, counter: counter.count });
  const counted = entries.map((entry): Entry => ({ seq: entry.seq, tokens: entrySize(entry, meter) }));
  const added = meter.messages(repaired) - counted.reduce((sum, { tokens }) => sum + tokens, 0);
  const fixed = knownParts(load) ?? fixedParts(request, meter);
  const prompt = {
    view: viewKey({ compaction: load.head.compaction, prune: load.head.prunes.at(-1) ?? null }),
    fixed: Object.values(fixed).reduce((sum, tokens) => sum + tokens, 0),
    entries: added > 0 ? [...counted, { seq: null, tokens: added }] : counted,
  };
  const account = createAccount({ factors: load.head.factors });
  for (const usage of recentReports(given, model)) {
    const then = counted.filter(({ seq }) => seq === null || seq < usage.of);
    const measured = { ...prompt, view: viewKey(usage.measured), entries: then };
    account.settle(usage, { model, prior: counter.prior, prompt: measured, window: null });
  }
  const count = account.count(prompt, { model, prior: counter.prior });
  const parts = { ...historyParts(entries, shape, meter), repairs: Math.max(0, added) };
  const budget = { window, reserve: answerReserve(window, null) };
  return {
    count,
    breakdown: breakdown({ ...parts, ...fixed, base: (fixed.base ?? 0) + (parts.base ?? 0) }, { count, budget }),
  };
}

/** Enough to learn a model's factor from; more would only cost time on an old thread. */
const REPORTS = 64;

function recentReports({ load, records }: Weighing, model: string) {
  const key = viewKey({ compaction: load.head.compaction, prune: load.head.prunes.at(-1) ?? null });
  return records
    .filter((record) => record.kind === "usage")
    .filter((usage) => usage.flaw == null && usage.model === model && viewKey(usage.measured) === key)
    .slice(-REPORTS);
}

/** The model that was asked last; before that, one of the dialect's own family. */
function modelOf({ records, dialect }: Weighing): string {
  const reported = records.findLast((record) => record.kind === "usage" && record.flaw == null);
  const named = reported?.kind === "usage" ? reported.model : "unknown";
  if (named !== "unknown") return named;
  return dialect === "anthropic" ? "claude" : "gpt-4o";
}

function historyParts(
  entries: readonly ViewEntry<object>[],
  shape: Shape<object>,
  meter: Meter<object>,
): Partial<Record<PartName, number>> {
  const parts: Partial<Record<PartName, number>> = {};
  for (const { source, message, lent } of entries) {
    const role = shape.role(message);
    const name = source === "summary" || source === "acknowledgement" ? source : role === "system" ? "base" : role;
    const { text, images } = meter.measure(message);
    parts[name] = (parts[name] ?? 0) + text;
    parts.images = (parts.images ?? 0) + images;
    if (lent !== null) parts.evidence = (parts.evidence ?? 0) + meter.text(lent);
  }
  return parts;
}

/** A run leaves only the sizes of its system prompt and tools in the state: the head is written with every append. */
function knownParts({ head }: ThreadLoad): Partial<Record<PartName, number>> | null {
  const { parts } = (head.state["request"] ?? {}) as { parts?: Partial<Record<PartName, number>> };
  return parts ?? null;
}

function fixedParts({ system, tools }: Weighing["request"], meter: Meter<object>): Partial<Record<PartName, number>> {
  const text = system == null ? "" : typeof system === "string" ? system : JSON.stringify(system);
  return { base: meter.system(text), definitions: meter.tools(tools) };
}

/** System prompt and tool schemas, where an import or a run has put them into the thread's state. */
function requestOf({ head }: ThreadLoad): Weighing["request"] {
  const request = head.state["request"];
  if (typeof request !== "object" || request === null) return { system: null, tools: [] };
  const { system = null, tools } = request as { system?: unknown; tools?: unknown };
  return { system, tools: Array.isArray(tools) ? tools : [] };
}

function dialectOf(records: readonly LogRecord[]): Dialect {
  const newest = records.findLast((record) => record.kind === "message");
  return newest?.kind === "message" ? newest.dialect : "openai";
}
