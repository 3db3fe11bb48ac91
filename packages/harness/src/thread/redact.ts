/**
 * Erasing for good what was said: a message's body becomes a skeleton, what quotes it is rewritten in every thread of its
 * user, and each of their logs gets a receipt, so that its chain stays whole. Facts of a memory leave the logs the same
 * way. Everything here can be run again, and then does what is still to be done.
 */

import {
  type Erasure,
  erase,
  erasedState,
  flatSteps,
  type Head,
  type LogRecord,
  type MessageRecord,
  memoryText,
  quoteFinder,
  REDACTED,
  readRules,
  type StoredSummary,
  skeleton,
} from "@palimpsest/core/internal/log";
import { readStored } from "@palimpsest/core/internal/message";
import { inTurns } from "../long-work.ts";
import { everyThread, scrub } from "../stores/driver-rules.ts";
import { withLease } from "../stores/leases.ts";
import type { HeldLease, Lease, RedactRequest } from "../stores/store.ts";
import { type StatePatchInput, settleReceipts, stateAsLogged } from "./acts.ts";
import { erasePrompts } from "./copy.ts";
import { type RebuiltSummaries, rebuildSummaries } from "./rebuild-summaries.ts";
import { receipts, type SeqRewrite } from "./structure.ts";
import { prepare, type ThreadDeps } from "./writer.ts";

export interface RedactOptions {
  readonly owner?: string;
  /** What is erased where others repeat it, as `wordsOf` gives it; by default all that the message says. */
  readonly words?: readonly string[];
}

export type Redacted =
  | {
      /** `already-redacted`: the message itself was; what was left of it elsewhere is erased now. */
      readonly kind: "redacted" | "already-redacted";
      readonly seq: number;
      /** The message's own. */
      readonly id: string;
      readonly bodies: number;
      /** Every thread that shows the message. */
      readonly threads: readonly string[];
      /** Other threads of the user that showed it as evidence; that is erased too. */
      readonly evidenceIn: readonly string[];
      /** Summaries of its thread that stood for it: made anew from what is left, or erased where that can't be. */
      readonly summaries: { readonly rebuilt: number; readonly erased: number };
      /** Rules of its thread that stood in it: they ended, and their words are erased. */
      readonly rules: readonly string[];
      /** Later messages of these threads that still quote it, as `thread#seq`: what somebody said again is not erased. */
      readonly quotedIn: readonly string[];
    }
  | { readonly kind: "no-message"; readonly seq: number }
  | Refused;

type SummaryCounts = Extract<Redacted, { readonly threads: unknown }>["summaries"];

type Refused = (HeldLease & { readonly threadId: string }) | { readonly kind: "missing" | "lease-lost" | "conflict" };

/** The log's part of it: `eraseMessage` (memory) also erases what was learned from it, and files. */
export async function redact(
  deps: ThreadDeps,
  threadId: string,
  seq: number,
  options: RedactOptions = {},
): Promise<Redacted> {
  if (!(await deps.store.header(threadId))) return { kind: "missing" };
  const target = await findMessage(deps, threadId, seq);
  if (!target) return { kind: "no-message", seq };
  const threads = await deps.store.sharers(threadId, seq);
  const names = new Set([target.record.id, ...threads.map((sharer) => `${sharer}#${seq}`)]);
  const evidenceIn = (await borrowers(deps, names)).filter((one) => !threads.includes(one));
  const texts = target.redacted ? [] : (options.words ?? (await wordsOf(deps, threadId, seq)));
  const message = { seq, id: target.record.id };
  const erasure = { names, texts, blocks: "named" as const };
  const inThread = (one: string): Erasure =>
    threads.includes(one) ? { ...erasure, message } : { ...erasure, message: null };
  const own = target.redacted ? null : { seq, body: skeletonOf(target.record) };
  // First: afterwards the words are gone.
  await erasePrompts(deps.store, erasure.texts);
  const family = await familyOf(deps, [...threads, ...evidenceIn], inThread);
  const result = await holding(deps, [...family.threads], options.owner ?? deps.ids(), (leases) =>
    rewriteAll(deps, leases, inThread, (one) => (threads.includes(one) ? own : null)),
  );
  if (result.kind !== "rewritten") return result;
  const late = [...(await deps.store.sharers(threadId, seq)), ...(await borrowers(deps, names))];
  await settleLate(deps, family, late);
  await scrub(deps.store);
  const { bodies, summaries, rules } = result.counts.get(threadId) ?? NOTHING_REWRITTEN;
  return {
    kind: target.redacted ? "already-redacted" : "redacted",
    ...message,
    bodies,
    threads,
    evidenceIn,
    summaries,
    rules,
    quotedIn: await quotingMessages(deps, { threads, seq, texts: erasure.texts }),
  };
}

interface Sharers {
  readonly threads: ReadonlySet<string>;
  /** The first record in each that is rewritten. */
  readonly firsts: readonly { readonly threadId: string; readonly seq: number }[];
}

/** With every thread that shares a record in which something is erased: it needs a receipt of its own. */
async function familyOf(
  deps: ThreadDeps,
  given: readonly string[],
  erasureIn: (threadId: string) => Erasure,
): Promise<Sharers> {
  const threads = new Set(given);
  const firsts: { threadId: string; seq: number }[] = [];
  for (const threadId of threads) {
    const [first] = await quoting(deps, threadId, erasureIn(threadId));
    if (first === undefined) continue;
    firsts.push({ threadId, seq: first.seq });
    for (const sharer of await deps.store.sharers(threadId, first.seq)) threads.add(sharer);
  }
  return { threads, firsts };
}

/** A fork made meanwhile shares the erased records and was not among those that got a receipt. */
async function settleLate(deps: ThreadDeps, { threads, firsts }: Sharers, late: readonly string[]): Promise<void> {
  const now = new Set(late);
  for (const { threadId, seq } of firsts) for (const one of await deps.store.sharers(threadId, seq)) now.add(one);
  for (const one of now) if (!threads.has(one)) await settleReceipts(deps, one);
}

interface QuotedMessage extends Pick<Erasure, "texts"> {
  readonly threads: readonly string[];
  readonly seq: number;
}

async function quotingMessages({ store }: ThreadDeps, { threads, seq, texts }: QuotedMessage): Promise<string[]> {
  const finder = quoteFinder(texts);
  const places = new Map<string, string>();
  for (const [index, threadId] of (texts.length === 0 ? [] : threads).entries()) {
    // What stands before it is the same in all of them.
    const range = [index === 0 ? 1 : seq + 1, Number.MAX_SAFE_INTEGER] as const;
    for await (const { record, redacted } of store.records(threadId, { kinds: ["message"], range })) {
      if (record.kind !== "message" || redacted) continue;
      const said = messageTexts(record);
      if (record.seq < seq) said.forEach(finder.saidBefore);
      else if (!places.has(record.id) && said.some(finder.isQuote)) places.set(record.id, `${threadId}#${record.seq}`);
    }
  }
  return [...places.values()];
}

interface ErasedFacts {
  /** Threads that showed them and no longer do, and those in use, where that is still to be done. */
  readonly threads: readonly string[];
  readonly busy: readonly string[];
}

/** Takes facts out of the logs of their user's threads: evidence, memory blocks, recorded system prompts. */
export async function eraseFacts(deps: ThreadDeps, facts: Omit<Erasure, "message">): Promise<ErasedFacts> {
  const { names, blocks } = facts;
  const texts = await inTurns(eachFlat(facts.texts));
  if (names.size === 0 && texts.length === 0 && blocks === "named") return { threads: [], busy: [] };
  const threads: string[] = [];
  for await (const { header } of everyThread(deps.store)) threads.push(header.id);
  return eraseIn(deps, threads, { ...facts, texts, message: null });
}

/** Erases the evidence that other threads got from these turns. */
export async function eraseEvidence(deps: ThreadDeps, names: ReadonlySet<string>): Promise<ErasedFacts> {
  const erasure: Erasure = { message: null, names, texts: [], blocks: "named" };
  return eraseIn(deps, await borrowers(deps, names), erasure);
}

async function eraseIn(deps: ThreadDeps, threads: readonly string[], erasure: Erasure): Promise<ErasedFacts> {
  const done = new Set<string>();
  const busy = new Set<string>();
  await erasePrompts(deps.store, erasure.texts);
  for (const threadId of threads) {
    if (done.has(threadId)) continue;
    const family = await familyOf(deps, [threadId], () => erasure);
    if (family.firsts.length === 0 && !(await stateShows(deps, threadId, erasure))) continue;
    const all = [...family.threads];
    const result = await holding(deps, all, deps.ids(), (leases) => rewriteAll(deps, leases, () => erasure));
    if (result.kind === "busy") busy.add(result.threadId);
    else if (result.kind === "rewritten") for (const one of all) done.add(one);
    await settleLate(deps, family, []);
  }
  return { threads: [...done], busy: [...busy] };
}

async function stateShows({ store }: ThreadDeps, threadId: string, erasure: Erasure): Promise<boolean> {
  const head = await store.head(threadId);
  return head !== undefined && erasedState(head.state, erasure) !== null;
}

/** Threads of the user with evidence that names one of the addresses. */
async function borrowers({ store }: ThreadDeps, names: ReadonlySet<string>): Promise<string[]> {
  const threads: string[] = [];
  for await (const { header } of everyThread(store)) {
    for await (const { record } of store.records(header.id, { kinds: ["evidence"] })) {
      if (record.kind !== "evidence" || !record.ids.some((id) => names.has(id))) continue;
      threads.push(header.id);
      break;
    }
  }
  return threads;
}

type Rewritten = { readonly kind: "rewritten"; readonly counts: ReadonlyMap<string, Counts> } | Refused;

interface Counts {
  readonly bodies: number;
  readonly summaries: SummaryCounts;
  readonly rules: readonly string[];
}

const NOTHING_REWRITTEN: Counts = { bodies: 0, summaries: { rebuilt: 0, erased: 0 }, rules: [] };

/** In one transaction, with a receipt in each thread that had anything to rewrite. */
async function rewriteAll(
  deps: ThreadDeps,
  leases: readonly Lease[],
  erasureIn: (threadId: string) => Erasure,
  ownIn: (threadId: string) => { readonly seq: number; readonly body: string } | null = () => null,
): Promise<Rewritten> {
  const [bodies, headers]: [Bodies[number][], RedactedHeaders[number][]] = [[], []];
  const batches: RedactRequest["batches"][number][] = [];
  const counts = new Map<string, Counts>();
  const known: RebuiltSummaries = new Map();
  for (const lease of leases) {
    const { threadId } = lease;
    const head = await deps.store.head(threadId);
    if (!head) return { kind: "missing" };
    const own = ownIn(threadId);
    const summaries = await rebuildSummaries(deps.store, threadId, erasureIn(threadId), known);
    const quotes = await quoting(deps, threadId, { ...erasureIn(threadId), summaries });
    const rewrites = [...(own ? [own] : []), ...quotes];
    const isShown = erasedState(head.state, erasureIn(threadId)) !== null;
    const state = isShown ? await stateAsLogged(deps, threadId, quotes) : [];
    const inputs = [...receipts(deps, rewrites), ...state];
    if (inputs.length === 0) continue;
    counts.set(threadId, {
      bodies: rewrites.length,
      summaries: countSummaries(quotes, summaries),
      rules: erasedRules(head, state),
    });
    batches.push({ threadId, batch: await prepare({ ...deps, lease }, head, inputs) });
    for (const one of rewrites) {
      if ("body" in one) bodies.push({ threadId, ...one });
      else headers.push({ threadId, ...one });
    }
  }
  // What is being prepared may quote it.
  for (const { threadId } of leases) await deps.store.drafts?.drop(threadId);
  if (batches.length === 0) return { kind: "rewritten", counts };
  const result = await deps.store.redact({ bodies, headers, batches });
  return result.kind === "appended" ? { kind: "rewritten", counts } : { kind: result.kind };
}

type Bodies = RedactRequest["bodies"];
type RedactedHeaders = NonNullable<RedactRequest["headers"]>;
async function quoting({ store }: ThreadDeps, threadId: string, erasure: Erasure): Promise<SeqRewrite[]> {
  const rewrites: SeqRewrite[] = [];
  const look = async (kinds: readonly LogRecord["kind"][], within: Erasure): Promise<string[]> => {
    const blocks: string[] = [];
    for await (const { record, chained } of store.records(threadId, { kinds })) {
      const rewritten = erase(record, chained, within);
      if (rewritten === null) continue;
      rewrites.push({ seq: record.seq, ...rewritten });
      if (record.kind === "state") blocks.push(memoryText(record.patch) ?? "");
    }
    return blocks.filter((text) => text !== "");
  };
  const blocks = await look(["compaction", "prune", "evidence", "state"], erasure);
  // A system prompt that was recorded holds the blocks themselves, and doesn't say which facts they show.
  await look(["event"], { ...erasure, texts: [...erasure.texts, ...(await inTurns(eachFlat(blocks)))] });
  return rewrites.sort((a, b) => a.seq - b.seq);
}

/** A rewritten one that isn't the one that was made anew says only that it was erased. */
function countSummaries(rewrites: readonly SeqRewrite[], summaries: ReadonlyMap<number, StoredSummary>): SummaryCounts {
  const bodies = rewrites.flatMap((one) => ("body" in one && summaries.has(one.seq) ? [one] : []));
  const rebuilt = bodies.filter(({ seq, body }) => body === JSON.stringify(summaries.get(seq))).length;
  return { rebuilt, erased: bodies.length - rebuilt };
}

/** The ids of the rules that lose their words. */
function erasedRules(head: Head, erased: readonly StatePatchInput[]): readonly string[] {
  const kept = new Map(readRules(head.state).list.map(({ id, text }) => [id, text]));
  const now = erased.flatMap(({ patch }) => ("rules" in patch ? readRules(patch).list : []));
  return now.filter(({ id, text }) => text === REDACTED && kept.get(id) !== REDACTED).map(({ id }) => id);
}

function skeletonOf(record: MessageRecord): string {
  const { shape, message } = readStored(record);
  return JSON.stringify(skeleton(shape, message));
}

/** What a message says, to be erased where others repeat it; nothing where it was erased before. */
export async function wordsOf(deps: ThreadDeps, threadId: string, seq: number): Promise<readonly string[]> {
  const target = await findMessage(deps, threadId, seq);
  return target === undefined || target.redacted ? [] : inTurns(wordsSteps(target.record));
}

/** Everything a message says, part by part; what a call says also without the spelling of its input. */
export function messageTexts(record: MessageRecord): string[] {
  return [...textSteps(record)];
}

function* textSteps(record: MessageRecord): Generator<string, void> {
  const { shape, message } = readStored(record);
  for (const part of shape.parts(message)) {
    if (part.kind === "text" || part.kind === "reasoning" || part.kind === "result") yield part.text;
    if (part.kind !== "call") continue;
    yield part.input;
    yield* stringsIn(part.input);
  }
}

/** What goes with the message, each text once. */
function* wordsSteps(record: MessageRecord): Generator<unknown, string[]> {
  const words = new Set<string>();
  for (const text of textSteps(record)) yield words.add(yield* flatSteps(text));
  return [...words];
}

function* eachFlat(texts: readonly string[]): Generator<void, string[]> {
  const words: string[] = [];
  for (const text of texts) words.push(yield* flatSteps(text));
  return words;
}

/**
 * What a call says is spelled with escapes in its input; tools keep it as it was meant. Names of fields are left out. Read
 * from left to right: an input may be nested without end, or be no JSON.
 */
function* stringsIn(json: string): Generator<string, void> {
  for (let at = json.indexOf('"'); at !== -1; ) {
    const end = closingQuote(json, at);
    if (end === -1) return;
    if (!/^\s{0,9}:/.test(json.slice(end + 1, end + 11))) yield unescaped(json.slice(at, end + 1));
    at = json.indexOf('"', end + 1);
  }
}

function closingQuote(json: string, open: number): number {
  for (let end = json.indexOf('"', open + 1); end !== -1; end = json.indexOf('"', end + 1)) {
    let first = end;
    while (json[first - 1] === "\\") first -= 1;
    if ((end - first) % 2 === 0) return end;
  }
  return -1;
}

function unescaped(literal: string): string {
  try {
    return JSON.parse(literal);
  } catch {
    return literal.slice(1, -1);
  }
}

async function findMessage({ store }: ThreadDeps, threadId: string, seq: number) {
  for await (const { record, redacted } of store.records(threadId, { range: [seq, seq] })) {
    if (record.kind === "message") return { record, redacted };
  }
  return undefined;
}

/** Takes the leases one inside the other, so that all are given back whatever happens. */
async function holding<T>(
  deps: ThreadDeps,
  threads: readonly string[],
  owner: string,
  work: (leases: readonly Lease[]) => Promise<T>,
  leases: readonly Lease[] = [],
): Promise<T | Refused> {
  const [next, ...rest] = threads;
  if (next === undefined) return work(leases);
  const result = await withLease(deps.store, next, { owner }, (lease) =>
    holding(deps, rest, owner, work, [...leases, lease]),
  );
  if (result.kind === "done") return result.value;
  return result.kind === "busy" ? { ...result, threadId: next } : { kind: "missing" };
}
