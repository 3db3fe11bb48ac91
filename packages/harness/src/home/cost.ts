/**
 * What a thread has cost so far: its calls, those of its sub-agents, its summaries, embeddings and memory. A fork also counts
 * the log it shares with its parent. Calls whose model has no known price are named, not guessed. Below: the charges that no
 * log holds, the configured embedder that makes some of them, and tokens by thread and model.
 */

import { appendFileSync, createReadStream } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { ThreadName, UsageRecord } from "@palimpsest/core/internal/log";
import { errorCode } from "@palimpsest/core/internal/text";
import { makeFolder, PRIVATE_FILE, threadFolder } from "../home-folders.ts";
import { configuredEmbedder } from "../models/configured-embedder.ts";
import {
  addUsage,
  costOf,
  type EmbedderEntry,
  type ModelPrices,
  type ModelsConfig,
  NO_USAGE,
  pricesOf,
  savingOf,
  type Usage,
} from "../models/facts.ts";
import type { EmbeddingEvent, OnEmbedding } from "../recall/embedder.ts";
import type { Store } from "../stores/store.ts";
import type { ThreadDeps } from "../thread/writer.ts";

export interface ThreadCost {
  readonly spent: number;
  /** The same by what it was spent for. */
  readonly spentOn: Readonly<Record<ChargedUse, number>>;
  readonly savedByCache: number;
  /** What prunes kept out of later prompts. */
  readonly savedByPruning: number;
  /** Null: the configuration's own. */
  readonly currency: "USD";
  readonly usage: Usage;
  /** Models without a price: their calls are in `usage` and not in the figures. */
  readonly unpriced: readonly string[];
}

export interface CostOptions {
  readonly config: ModelsConfig;
  /** Where calls beside the log are noted. */
  readonly home: string;
}

/** Null where no call has a price. */
export async function threadCost(
  store: Store,
  threadId: string,
  { config, home }: CostOptions,
): Promise<ThreadCost | null> {
  const spentOn = noSpending();
  let isPriced = false;
  const unpriced = new Set<string>();
  let usage = NO_USAGE;
  let saved = 0;
  for await (const charge of chargesOf(home, store, threadId)) {
    usage = addUsage(usage, charge);
    const prices = pricesOfModel(config, charge.model);
    if (prices === null) {
      unpriced.add(charge.model);
      continue;
    }
    isPriced = true;
    const { spent, savedByCache } = costOf(charge, prices);
    spentOn[charge.use] += spent;
    saved += savedByCache;
  }
  if (!isPriced) return null;
  return {
    spent: Object.values(spentOn).reduce((sum, part) => sum + part, 0),
    spentOn,
    savedByCache: saved,
    savedByPruning: await savedByPruning(store, threadId, config),
    currency: "USD",
    usage,
    unpriced: [...unpriced],
  };
}

/** By the calls of the thread's own log: each says which prunes the prompt stood on. */
async function savedByPruning(store: Store, threadId: string, config: ModelsConfig): Promise<number> {
  const prunes = new Map<number, number>();
  const undone = new Set<number>();
  const undos = new Map<number, number>();
  let saved = 0;
  for await (const { record } of store.records(threadId, { kinds: ["usage", "prune", "undo"] })) {
    if (record.kind === "prune") prunes.set(record.seq, record.tokensBefore - record.tokensAfter);
    if (record.kind === "undo") {
      const act = undos.get(record.of) ?? record.of;
      undos.set(record.seq, act);
      // An undo of an undo brings back what that one took away.
      if (!undone.delete(act)) undone.add(act);
    }
    const prices = record.kind === "usage" ? pricesOfModel(config, record.model) : null;
    if (record.kind === "usage" && prices !== null) saved += savingOf(leftOut(record, prunes, undone), record, prices);
  }
  return saved;
}

/** By the provider's id for it, as the log names it. */
function pricesOfModel({ models, recall }: ModelsConfig, model: string): ModelPrices | null {
  const entry = [...models, ...(recall?.embedder ? [recall.embedder] : [])].find((one) => one.model === model);
  return entry === undefined ? null : pricesOf(entry);
}

/** Tokens that the prunes of the view that was measured kept out of it; a compaction has made its own count. */
function leftOut({ measured }: UsageRecord, prunes: ReadonlyMap<number, number>, undone: ReadonlySet<number>): number {
  const { compaction, prune } = measured;
  if (prune === null) return 0;
  let tokens = 0;
  for (const [seq, freed] of prunes)
    if (seq > (compaction ?? 0) && seq <= prune && !undone.has(seq)) tokens += Math.max(0, freed);
  return tokens;
}

/*
 * Calls outside the log (summaries, memory, embeddings) are lines in the thread's folder: a background call must not wait
 * for the thread's lease. A lost line only makes the figure smaller.
 */

const USES = ["answers", "subagents", "summaries", "memory", "embeddings"] as const;
export type ChargedUse = (typeof USES)[number];

export interface ModelCharge extends Usage {
  readonly use: ChargedUse;
  /** The provider's id for it. */
  readonly model: string;
  readonly calls: number;
}

/** Calls that stand in no log. */
type BesideCharge = ModelCharge & { readonly use: "summaries" | "memory" | "embeddings" };

/** Never fails: that a figure is too small is no reason to. */
export function noteCharge(home: string, thread: ThreadName, charge: BesideCharge): void {
  const folder = threadFolder(home, thread);
  try {
    makeFolder(folder);
    appendFileSync(join(folder, FILE), `${JSON.stringify(charge)}\n`, { mode: PRIVATE_FILE });
  } catch {}
}

/** What the calls took that wrote a summary. */
export function noteSummary(
  home: string,
  thread: ThreadName,
  { model, calls, ...event }: Omit<ModelCharge, "use">,
): void {
  noteCharge(home, thread, { use: "summaries", model, calls, ...usageOf(event) });
}

const FILE = "charges.jsonl";

export async function* chargesOf(home: string, store: Store, threadId: string): AsyncGenerator<ModelCharge> {
  for (const id of await withChildren(store, threadId)) {
    const use = id === threadId ? "answers" : "subagents";
    for await (const record of usageIn(store, id)) yield { use, model: record.model, calls: 1, ...usageOf(record) };
    yield* notedIn(home, { user: store.userId, id });
  }
}

function noSpending(): Record<ChargedUse, number> {
  return Object.fromEntries(USES.map((use) => [use, 0])) as Record<ChargedUse, number>;
}

function usageOf({ input, output, cacheRead, cacheWrite }: Usage): Usage {
  return { input, output, cacheRead, cacheWrite };
}

async function* notedIn(home: string, thread: ThreadName): AsyncGenerator<BesideCharge> {
  const input = createReadStream(join(threadFolder(home, thread), FILE), "utf8");
  try {
    for await (const line of createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY })) {
      const charge = read(line);
      if (charge !== null) yield charge;
    }
  } catch (error) {
    if (errorCode(error) !== "ENOENT") throw error;
  }
}

/** Null: a line that was cut off. */
function read(line: string): BesideCharge | null {
  try {
    const charge = JSON.parse(line) as BesideCharge;
    return USES.includes(charge.use) && typeof charge.input === "number" ? charge : null;
  } catch {
    return null;
  }
}

export interface UseTotal {
  readonly calls: number;
  readonly usage: Usage;
}

/** How many calls there were for what, and what they took. */
export async function totalsByUse(
  charges: AsyncIterable<ModelCharge>,
): Promise<Readonly<Record<ChargedUse, UseTotal>>> {
  const none: UseTotal = { calls: 0, usage: NO_USAGE };
  const totals = Object.fromEntries(USES.map((use) => [use, none])) as Record<ChargedUse, UseTotal>;
  for await (const charge of charges) {
    const { calls, usage } = totals[charge.use];
    totals[charge.use] = { calls: calls + charge.calls, usage: addUsage(usage, charge) };
  }
  return totals;
}

/* The embedder that a configuration asks for, with its account: what it takes is noted with the thread it was asked for. */

export type HomeEmbedding = Pick<ThreadDeps, "embedder" | "onEmbedding">;

export function configuredEmbedding(
  home: string,
  embedder: EmbedderEntry,
  onError: (text: string) => void = () => {},
): HomeEmbedding {
  return {
    embedder: configuredEmbedder(embedder),
    onEmbedding(event, ...asked) {
      noteEmbedding(home, event, ...asked);
      if (event.type === "embedding-failed") onError(embeddingLogLine(event));
    },
  };
}

export function noteEmbedding(home: string, event: EmbeddingEvent, ...[id, user]: Tail<Parameters<OnEmbedding>>): void {
  if (event.type !== "embedding-usage" || id === null) return;
  const { model, calls, tokens } = event;
  noteCharge(home, { user, id }, { use: "embeddings", model, calls, ...NO_USAGE, input: tokens });
}

type Tail<T extends readonly unknown[]> = T extends readonly [unknown, ...infer R] ? R : never;

export function embeddingLogLine(event: EmbeddingEvent): string {
  return event.type === "embedding-failed"
    ? `recall: the embedder ${event.model} failed, hits are ordered by words alone until it works again: ${event.reason}`
    : `recall: the embedder ${event.model} took ${event.tokens} tokens in ${event.calls} calls`;
}

// What a thread and its sub-agents have used, from their logs. Each model call has one usage record in the log of the
// thread that made it, so every token is counted once, and each is known by thread and by model.

export interface TotalUsage {
  readonly total: Usage;
  /** The thread itself first, then its children in the order they were started. */
  readonly byThread: readonly { readonly threadId: string; readonly usage: Usage }[];
  readonly byModel: Readonly<Record<string, Usage>>;
}

export async function totalUsage(store: Store, threadId: string): Promise<TotalUsage> {
  const byModel = new Map<string, Usage>();
  const byThread: { threadId: string; usage: Usage }[] = [];
  for (const id of await withChildren(store, threadId)) {
    let usage = NO_USAGE;
    for await (const record of usageIn(store, id)) {
      usage = addUsage(usage, record);
      byModel.set(record.model, addUsage(byModel.get(record.model) ?? NO_USAGE, record));
    }
    byThread.push({ threadId: id, usage });
  }
  const total = byThread.reduce((all, { usage }) => addUsage(all, usage), NO_USAGE);
  return { total, byThread, byModel: Object.fromEntries(byModel) };
}

async function* usageIn(store: Store, threadId: string): AsyncGenerator<UsageRecord> {
  for await (const { record } of store.records(threadId, { kinds: ["usage"] }))
    if (record.kind === "usage") yield record;
}

/** The thread's id, then those of the threads that sub-agents of it worked in, in the order they were started. */
async function withChildren(store: Store, threadId: string): Promise<readonly string[]> {
  const ids = new Set([threadId]);
  for await (const { record } of store.records(threadId, { kinds: ["event"] })) {
    if (record.kind !== "event" || record.event.type !== "subagent-start") continue;
    if (typeof record.event["threadId"] === "string") ids.add(record.event["threadId"]);
  }
  return [...ids];
}
