/**
 * Every model call that a thread was charged for: those in its log, those of its sub-agents, and those beside any log that
 * wrote its summaries, learned from it or compared it by meaning. The latter are lines of numbers in the thread's folder: a call in the background
 * must not wait for the thread's lease, and a line that is lost makes a figure smaller and nothing else.
 */
import { appendFileSync, createReadStream } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { ThreadName } from "@palimpsest/core/log";
import { threadFolder } from "../home-folders.ts";
import { addUsage, NO_USAGE, type Usage } from "../models/usage.ts";
import { makeFolder, PRIVATE_FILE } from "../private-files.ts";
import type { Store } from "../stores/store.ts";
import { childrenOf } from "../subagents/usage.ts";

const USES = ["answers", "subagents", "summaries", "memory", "embeddings"] as const;
export type Use = (typeof USES)[number];

export interface Charge extends Usage {
  readonly use: Use;
  /** The provider's id for it. */
  readonly model: string;
  readonly calls: number;
}

/** Calls that stand in no log. */
type BesideCharge = Charge & { readonly use: "summaries" | "memory" | "embeddings" };

/** Never fails: that a figure is too small is no reason to. */
export function noteCharge(home: string, thread: ThreadName, charge: BesideCharge): void {
  const folder = threadFolder(home, thread);
  try {
    makeFolder(folder);
    appendFileSync(join(folder, FILE), `${JSON.stringify(charge)}\n`, { mode: PRIVATE_FILE });
  } catch {}
}

/** What the calls took that wrote a summary. */
export function noteSummary(home: string, thread: ThreadName, { model, calls, ...event }: Omit<Charge, "use">): void {
  noteCharge(home, thread, { use: "summaries", model, calls, ...usageOf(event) });
}

const FILE = "charges.jsonl";

export async function* chargesOf(home: string, store: Store, threadId: string): AsyncGenerator<Charge> {
  for (const id of [threadId, ...(await childrenOf(store, threadId))]) {
    const use = id === threadId ? "answers" : "subagents";
    for await (const { record } of store.records(id, { kinds: ["usage"] })) {
      if (record.kind !== "usage") continue;
      yield { use, model: record.model, calls: 1, ...usageOf(record) };
    }
    yield* notedIn(home, { user: store.userId, id });
  }
}

/** Nothing spent yet. */
export function noSpending(): Record<Use, number> {
  return Object.fromEntries(USES.map((use) => [use, 0])) as Record<Use, number>;
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
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
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
export async function totalsByUse(charges: AsyncIterable<Charge>): Promise<Readonly<Record<Use, UseTotal>>> {
  const none: UseTotal = { calls: 0, usage: NO_USAGE };
  const totals = Object.fromEntries(USES.map((use) => [use, none])) as Record<Use, UseTotal>;
  for await (const charge of charges) {
    const { calls, usage } = totals[charge.use];
    totals[charge.use] = { calls: calls + charge.calls, usage: addUsage(usage, charge) };
  }
  return totals;
}
