/**
 * A thread over time, as JSON: the tokens of every request with the window and the cost of the model that answered it, and
 * each act on the log as a mark. Reads no message.
 */
import { type LogRecord, parseHeader } from "@palimpsest/core/log";
import type { ConfigFile } from "../home/schema.ts";
import { costOf, knownPrices, knownWindow, OFFLINE, pricesOf, windowNow } from "../models/facts.ts";
import type { Store } from "../stores/store.ts";

export async function timelineDocument(store: Store, threadId: string, settings: TimelineModelSettings) {
  const reports: TimelineUsage[] = [];
  const marks: TimelineMark[] = [];
  const header = await store.header(threadId);
  if (header?.forkedAt != null) marks.push({ seq: header.forkedAt, at: header.createdAt, kind: "fork" });
  for await (const { record } of store.records(threadId, { kinds: KINDS })) {
    if (record.kind === "usage") reports.push(record);
    else marks.push(markOf(record));
  }
  const times = await answeredAt(store, threadId, reports);
  const models = modelFacts(settings);
  const requests = reports.map((report) => requestOf(report, times, models(report.model)));
  return { thread: threadId, requests, marks: marks.toSorted((a, b) => a.seq - b.seq) };
}

const KINDS = ["usage", "compaction", "prune", "undo", "pin", "evidence", "event"] as const;

interface TimelineMark {
  readonly seq: number;
  readonly at: string;
  readonly kind: string;
  /** The record it is about. */
  readonly of?: number;
  readonly tokensBefore?: number;
  readonly tokensAfter?: number;
}

type TimelineUsage = Extract<LogRecord, { kind: "usage" }>;

export interface TimelineModelSettings {
  readonly config: Pick<ConfigFile, "models" | "summarization">;
  readonly learned: Parameters<typeof windowNow>[2];
}

function requestOf(report: TimelineUsage, times: ReadonlyMap<number, string>, model: TimelineModel) {
  const { of, input, output, cacheRead, cacheWrite } = report;
  return {
    seq: of,
    at: times.get(of) ?? report.at,
    model: report.model,
    input,
    output,
    cacheRead,
    cacheWrite,
    /** Null: not known. */
    window: model.window,
    cost: model.prices === null ? null : costOf(report, model.prices).spent,
  };
}

/** The messages' own: a report of an imported one may bear the time of the import. */
async function answeredAt(
  store: Store,
  threadId: string,
  reports: readonly TimelineUsage[],
): Promise<Map<number, string>> {
  const times = new Map<number, string>();
  if (reports.length === 0) return times;
  const seqs = reports.map(({ of }) => of);
  for await (const { chained } of store.records(threadId, { kinds: ["message"], seqs, bodies: "none" })) {
    const { seq, at } = parseHeader(chained);
    times.set(seq, at);
  }
  return times;
}

interface TimelineModel {
  readonly window: number | null;
  readonly prices: Parameters<typeof costOf>[1] | null;
}

/** By the name of its entry or by the provider's own; of a model that isn't configured what the tables know. */
function modelFacts({ config, learned }: TimelineModelSettings): (model: string) => TimelineModel {
  const { fallback_context_window: fallback } = config.summarization;
  return (model) => {
    const entry =
      config.models.find(({ name }) => name === model) ??
      config.models.find((one) => one.model === model) ??
      (model === OFFLINE.name ? OFFLINE : null);
    if (entry === null) return { window: knownWindow(model), prices: knownPrices(model) };
    return { window: windowNow(entry, fallback, learned).tokens, prices: pricesOf(entry) };
  };
}

function markOf(record: LogRecord): TimelineMark {
  const { seq, at, kind } = record;
  switch (record.kind) {
    case "compaction":
    case "prune":
      return { seq, at, kind, tokensBefore: record.tokensBefore, tokensAfter: record.tokensAfter };
    case "undo":
    case "evidence":
      return { seq, at, kind, of: record.of };
    case "pin":
      return { seq, at, kind: record.on ? "pin" : "unpin", of: record.target };
    case "event":
      return { seq, at, kind: record.event.type };
    default:
      return { seq, at, kind };
  }
}
