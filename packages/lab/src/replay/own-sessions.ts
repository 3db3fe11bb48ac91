/**
 * The lab on a person's own sessions: for each what it cost, by the tokens its provider reported and the prices of its
 * model, what policies would have cost, and what of it was used again and lost. One session at a time is held.
 */
import { readFile } from "node:fs/promises";
import type { Prices } from "@palimpsest/core/internal/pricing";
import { type ImportedConversation, readConversations } from "palimpsest/import";
import { costOf, knownPrices } from "palimpsest/internal/models";
import type { TokenPrices } from "palimpsest/models";
import { asItWas } from "./as-it-was.ts";
import type { Policy } from "./policy.ts";
import type { CacheRules } from "./provider-cache.ts";
import { type Played, play } from "./simulate.ts";
import { transcriptOf } from "./transcript.ts";

export interface OwnSession {
  readonly name: string;
  readonly file: string;
  readonly program: string | null;
  readonly project: string | null;
  readonly messages: number;
  /** The model that answered most often; null: the file doesn't say. */
  readonly model: string | null;
  /** In US dollars, by the reports; null: nothing was reported, or no price is known. */
  readonly spent: number | null;
  readonly calls: number;
  /** Calls of models whose price isn't known. */
  readonly unpriced: number;
  /** Compactions of the program itself. */
  readonly compactions: number;
  readonly policies: readonly OwnRow[];
}

interface OwnRow {
  readonly name: string;
  /** In US dollars where the model's price is known, else in uncached input tokens. */
  readonly cost: number;
  /** Things from long before that were used again; of them those still in the prompt, found by recall, and lost. */
  readonly used: number;
  readonly known: number;
  readonly recalled: number;
  readonly lost: number;
  readonly compactions: number;
}

interface OwnSessionOptions {
  readonly policies: readonly Policy[];
  readonly hits: number;
  readonly signal?: AbortSignal;
  /** Before each file: from 0 to 1. */
  readonly onProgress?: (done: number, file: string) => void;
}

export interface OwnReport {
  readonly sessions: readonly OwnSession[];
  readonly problems: readonly string[];
}

/** `files`: paths with the names they are shown by. */
export async function playOwnSessions(
  files: readonly { readonly path: string; readonly name: string }[],
  options: OwnSessionOptions,
): Promise<OwnReport> {
  const sessions: OwnSession[] = [];
  const problems: string[] = [];
  for (const [index, { path, name }] of files.entries()) {
    options.onProgress?.(index / files.length, name);
    options.signal?.throwIfAborted();
    try {
      const { conversations, problems: bad } = await readConversations(await readFile(path));
      if (bad.length > 0) problems.push(`${name}: ${bad[0]!.place}: ${bad[0]!.message}; the rest of it is played`);
      for (const one of conversations) {
        // What a branch shares would be charged twice.
        if (one.shared === null && one.messages.length > 1) sessions.push(await playOne(one, name, options));
      }
    } catch (error) {
      options.signal?.throwIfAborted();
      problems.push(`${name} can't be played: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
  return { sessions, problems };
}

async function playOne(
  conversation: ImportedConversation,
  file: string,
  options: OwnSessionOptions,
): Promise<OwnSession> {
  const { messages, marks, source, title } = conversation;
  const transcript = transcriptOf(file, conversation);
  const reports = messages.filter(({ usage }) => usage !== null);
  const model = mostOften(reports.flatMap((message) => message.model ?? []));
  const prices = model === null ? null : knownPrices(model);
  // Its marks count messages, so they say nothing where a repair has added or joined some.
  const own = transcript.turns.length === messages.length && marks.length > 0 ? [asItWas(marks)] : [];
  const policies: OwnRow[] = [];
  for (const policy of [...own, ...options.policies]) {
    options.signal?.throwIfAborted();
    policies.push(
      rowOf(policy.name, await play(transcript, policy, { provider: rulesFor(model, prices), hits: options.hits })),
    );
    await new Promise((resolve) => setImmediate(resolve));
  }
  return {
    name: title ?? source?.session ?? file,
    file,
    program: source?.program ?? null,
    project: source?.project ?? null,
    messages: messages.length,
    model,
    ...spentOn(reports),
    compactions: marks.length,
    policies,
  };
}

function spentOn(reports: ImportedConversation["messages"]) {
  let [spent, unpriced] = [0, 0];
  for (const { usage, model } of reports) {
    const prices = model === null ? null : knownPrices(model);
    if (prices === null || usage === null) unpriced += 1;
    else spent += costOf(usage, prices).spent;
  }
  const calls = reports.length;
  return { spent: calls === unpriced ? null : spent, calls, unpriced };
}

function rulesFor(model: string | null, prices: TokenPrices | null): CacheRules {
  return { prices: pricesFor(prices), reads: model === null || model.includes("claude") ? "marks" : "prefix" };
}

/** Per token; the cache lives as long as in the lab's own table. */
function pricesFor(prices: TokenPrices | null): Prices {
  const ttlMs = 5 * 60_000;
  if (prices === null) return { input: 1, cacheRead: 0.1, cacheWrite: 1.25, output: 5, ttlMs };
  const { input, cacheRead, cacheWrite, output } = prices;
  const each = { input: input / MILLION, cacheRead: cacheRead / MILLION, cacheWrite: cacheWrite / MILLION };
  return { ...each, output: output / MILLION, ttlMs };
}

const MILLION = 1_000_000;

function rowOf(name: string, { cost, asked, known, recalled, compactions }: Played): OwnRow {
  return {
    name,
    cost,
    used: asked,
    known,
    recalled,
    lost: asked - known - recalled,
    compactions,
  };
}

function mostOften(names: readonly string[]): string | null {
  const counted = [...Map.groupBy(names, (name) => name)].sort(([, a], [, b]) => b.length - a.length);
  return counted[0]?.[0] ?? null;
}

/** Over all sessions whose price is known: what was paid, and what each policy that played them all would have cost. */
export function ownTotals(sessions: readonly OwnSession[]) {
  const priced = sessions.filter(({ spent }) => spent !== null);
  const rows = Map.groupBy(
    priced.flatMap(({ policies }) => policies),
    ({ name }) => name,
  );
  const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);
  return {
    sessions: priced.length,
    spent: sum(priced.map(({ spent }) => spent ?? 0)),
    policies: [...rows].map(([name, all]) => ({
      name,
      sessions: all.length,
      cost: sum(all.map(({ cost }) => cost)),
      used: sum(all.map(({ used }) => used)),
      lost: sum(all.map(({ lost }) => lost)),
    })),
  };
}
