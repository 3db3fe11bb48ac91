/**
 * The scale of one stored thread: its dialect, the best counter for the model that was asked last, and the account that
 * the newest reports anchor. Whoever shows, plans or compacts a stored thread weighs on this, so there is one count.
 */
import { entrySize } from "@palimpsest/core/internal/compaction";
import { sent } from "@palimpsest/core/internal/log";
import { definitionOf } from "@palimpsest/core/internal/message";
import { viewKey } from "@palimpsest/core/internal/tokens";
import type { Head, LogRecord, ViewEntry } from "@palimpsest/core/log";
import { type Dialect, type RuleSet, repair, rulesOf, type Shape, shapeOf } from "@palimpsest/core/message";
import {
  type Count,
  createAccount,
  createMeter,
  type EntrySize,
  type Meter,
  type PartName,
} from "@palimpsest/core/tokens";
import { exactCounterFor, type ModelCounter } from "../models/tokenizers.ts";
import type { Store, ThreadLoad } from "../stores/store.ts";
import type { Conversation } from "./conversation.ts";
import { imagineConversation } from "./imagined.ts";

export interface ThreadScale {
  /** The thread as it stands; what is committed to it is written nowhere. */
  readonly conversation: Conversation<object>;
  readonly dialect: Dialect;
  readonly shape: Shape<object>;
  readonly rules: RuleSet;
  readonly meter: Meter<object>;
  readonly model: string;
  /** What was sent beside the messages, where the thread knows it. */
  readonly request: { readonly system: unknown; readonly tools: readonly unknown[] };
  /** System prompt and tool schemas, part by part and in all. */
  readonly fixedParts: FixedParts;
  readonly fixed: number;
  /** The whole request with this view; `live` says which compaction and prunes made it. */
  count(entries: readonly ViewEntry<object>[], live: Pick<Head, "compaction" | "prunes">): Count;
}

type FixedParts = Readonly<Partial<Record<PartName, number>>>;

/** Who would ask next in a thread. */
export interface Asker {
  readonly model: string;
  readonly counter: ModelCounter;
  /** What it would send beside the messages of a thread in which it has sent nothing yet. */
  readonly beside: (load: ThreadLoad) => Promise<ThreadScale["request"] & { readonly parts: FixedParts }>;
}

export async function threadScale(store: Store, load: ThreadLoad, asker?: Asker): Promise<ThreadScale> {
  const records = load.records.map(({ record }) => record);
  const dialect = dialectOf(records);
  // One table of functions per dialect; which one it is no longer matters from here on.
  const shape = shapeOf(dialect) as unknown as Shape<object>;
  const rules = rulesOf(dialect);
  const model = asker?.model ?? modelOf(records, dialect);
  const counter = asker?.counter ?? (await exactCounterFor({ model }));
  const meter = createMeter(shape, { ...counter, counter: counter.count });
  const known = knownParts(load);
  const beside = known === null ? await asker?.beside(load) : undefined;
  const request = beside === undefined ? requestOf(load) : { system: beside.system, tools: beside.tools };
  const parts = known ?? beside?.parts ?? fixedParts(request, meter);
  const fixed = Object.values(parts).reduce((sum, tokens) => sum + tokens, 0);
  const account = createAccount({ factors: load.head.factors });
  const conversation = imagineConversation(store, load, shape);
  const weigh = (entries: readonly ViewEntry<object>[]) =>
    entries.map((entry): EntrySize => ({ seq: entry.seq, tokens: entrySize(entry, meter) }));
  const prompt = { view: keyOf(load.head), fixed };
  const reports = recentReports(load.head, records, model);
  const now = reports.length === 0 ? [] : weigh(conversation.view());
  for (const usage of reports) {
    const then = now.filter(({ seq }) => seq === null || seq < usage.of);
    const measured = { ...prompt, view: viewKey(usage.measured), entries: then };
    account.settle(usage, { model, prior: counter.prior, prompt: measured, window: null });
  }
  return {
    conversation,
    dialect,
    shape,
    rules,
    meter,
    model,
    request,
    fixed,
    fixedParts: parts,
    count(entries, live) {
      const added = repairTokens(entries, { shape, rules, meter });
      const counted = weigh(entries);
      const all = added > 0 ? [...counted, { seq: null, tokens: added }] : counted;
      return account.count({ ...prompt, view: keyOf(live), entries: all }, { model, prior: counter.prior });
    },
  };
}

/** What making a view acceptable to its provider adds to it. */
export function repairTokens(
  entries: readonly ViewEntry<object>[],
  { shape, rules, meter }: Pick<ThreadScale, "shape" | "rules" | "meter">,
): number {
  const whole = entries.map((entry) => sent(entry, shape));
  const shown = entries.reduce((sum, entry) => sum + entrySize(entry, meter), 0);
  return Math.max(0, meter.messages(repair(whole, shape, rules).messages) - shown);
}

/** Enough to learn a model's factor from; more would only cost time on an old thread. */
const REPORTS = 64;

function recentReports(head: Head, records: readonly LogRecord[], model: string) {
  return records
    .filter((record) => record.kind === "usage")
    .filter((usage) => usage.flaw == null && usage.model === model && viewKey(usage.measured) === keyOf(head))
    .slice(-REPORTS);
}

function keyOf({ compaction, prunes }: Pick<Head, "compaction" | "prunes">): string {
  return viewKey({ compaction, prune: prunes.at(-1) ?? null });
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
  const { parts } = (head.state["request"] ?? {}) as { parts?: FixedParts };
  return parts ?? null;
}

function fixedParts({ system, tools }: ThreadScale["request"], meter: Meter<object>): FixedParts {
  const text = system == null ? "" : typeof system === "string" ? system : JSON.stringify(system);
  return { base: meter.system(text), definitions: meter.tools(tools) };
}

/** System prompt and tool schemas, where an import or a run has put them into the thread's state. */
function requestOf({ head }: ThreadLoad): ThreadScale["request"] {
  const request = head.state["request"];
  if (typeof request !== "object" || request === null) return { system: null, tools: [] };
  const { system = null, tools } = request as { system?: unknown; tools?: unknown };
  return { system, tools: Array.isArray(tools) ? tools : [] };
}

function dialectOf(records: readonly LogRecord[]): Dialect {
  const newest = records.findLast((record) => record.kind === "message");
  return newest?.kind === "message" ? newest.dialect : "openai";
}
