/**
 * What may be pruned from a view and why: results and images outside the protected tail that the agent can get back. Never
 * the current request, what the model hasn't seen, anybody's words, what the model wrote itself, or an output that was
 * pruned before. Says nothing about whether pruning pays.
 */
import type { Chosen, PruneReason } from "../log/record.ts";
import type { CallPart, ImagePart, Part, ResultPart, Shape } from "../message/shape.ts";
import type { Prices } from "../pricing/prices.ts";
import { costOfFetching, type PruneBalance, pruneGain, worthPruning } from "../pricing/prices.ts";
import type { Prompt, SizedEntry } from "../prompt/prompt.ts";
import { readCall } from "../summary/tool-calls.ts";
import { oneLine } from "../text/names.ts";

interface CandidateOptions {
  /** The newest part of the view, in tokens, that stays as it is. */
  readonly protectTokens: number;
  /** Smaller parts aren't worth a pointer. */
  readonly minPartTokens: number;
}

/** Not `clamped`, which shortens what the model hasn't seen yet, nor what people choose; `long-input` is the gateway's. */
type Reason = Exclude<PruneReason, "clamped" | "long-input" | Chosen>;

/** The words of a replacement by reason, and whether the model may want the part again. */
export const REASONS: { readonly [R in Reason]: { readonly words: string; readonly wantedAgain: boolean } } = {
  // The same content stands further down, or will be asked for anew anyway.
  superseded: { words: "read or changed again later", wantedAgain: false },
  repeated: { words: "same call made again later", wantedAgain: false },
  "stale-output": { words: "old output", wantedAgain: true },
  "old-image": { words: "old image", wantedAgain: true },
};

export interface PruneCandidate {
  /** Position of the message in the view. */
  readonly index: number;
  readonly target: number;
  readonly part: number;
  readonly reason: Reason;
  readonly original: PrunablePart;
  readonly tokens: number;
  /** The call behind it. */
  readonly tool: string | null;
  readonly use: PrunableUse;
  /** Model requests that have carried it since it left the protected tail. */
  readonly carried: number;
  /** Model requests since it came, or since a call last touched the same path: what is worked on is young. */
  readonly idle: number;
}

export function pruneCandidates<M>(
  prompt: Prompt<M>,
  sizes: readonly number[],
  options: CandidateOptions,
): readonly PruneCandidate[] {
  const large = largeParts(prompt, sizes, options);
  if (large.length === 0) return [];
  const { entries, sizer } = prompt;
  const calls = callsById(entries, sizer.shape);
  const later = laterUses(entries, sizer.shape);
  const requests = requestsBefore(entries);
  const carried = carriedRequests(sizes, requests, options.protectTokens);
  return large.map(({ index, target, position, part, tokens }): PruneCandidate => {
    const called = part.kind === "image" ? undefined : calls.get(part.id);
    const use: PrunableUse = called?.use ?? { kind: "other" };
    return {
      index,
      target,
      part: position,
      reason: reasonFor(part, { known: called, index, later }),
      original: part,
      tokens,
      tool: called?.call.name ?? (part.kind === "result" ? part.name : null),
      use,
      carried: carried(index),
      idle: requests.at(-1)! - requests[Math.max(index, touched(use, later)) + 1]!,
    };
  });
}

type PrunablePart = ResultPart | ImagePart;

interface LargePart {
  readonly index: number;
  readonly target: number;
  readonly position: number;
  readonly part: PrunablePart;
  readonly tokens: number;
}

/** The parts that could go: large enough, not in the protected tail, and not what is being worked on. */
function largeParts<M>(prompt: Prompt<M>, sizes: readonly number[], options: CandidateOptions): readonly LargePart[] {
  const { entries, sizer, factor } = prompt;
  const answered = entries.findLastIndex(({ role }) => role === "assistant");
  // The model hasn't seen what came after its last message.
  const tail = Math.min(tailStart(sizes, options.protectTokens), answered + 1);
  const request = entries.findLastIndex(({ role }) => role === "user");
  const large: LargePart[] = [];
  for (let index = 0; index < tail; index++) {
    const { seq, message } = entries[index]!;
    if (seq === null || index === request || sizes[index]! < options.minPartTokens) continue;
    const parts = sizer.shape.parts(message);
    if (!parts.some(isPrunable)) continue;
    const own = sizer.parts(message);
    for (const [position, part] of parts.entries()) {
      const tokens = Math.ceil(own[position]!.whole * factor);
      if (!isPrunable(part) || tokens < options.minPartTokens || isPruned(part)) continue;
      large.push({ index, target: seq, position, part, tokens });
    }
  }
  return large;
}

function isPrunable(part: Part): part is PrunablePart {
  return part.kind === "result" || part.kind === "image";
}

/** First index that is protected: everything from it on is at most the protected tokens, and at least the last message. */
function tailStart(sizes: readonly number[], protectTokens: number): number {
  let tokens = 0;
  for (let index = sizes.length - 1; index >= 0; index--) {
    tokens += sizes[index]!;
    if (tokens > protectTokens) return Math.min(index + 1, sizes.length - 1);
  }
  return 0;
}

interface KnownCall {
  readonly call: CallPart;
  readonly use: PrunableUse;
  readonly signature: string;
}

const readCalls = new WeakMap<object, readonly KnownCall[]>();

/** The calls of a message, parsed once per message object. */
function callsOf<M>(message: M, shape: Shape<M>): readonly KnownCall[] {
  const cached = readCalls.get(message as object);
  if (cached !== undefined) return cached;
  const calls = shape.parts(message).flatMap((part): KnownCall[] => {
    if (part.kind !== "call") return [];
    return [{ call: part, use: toolUse(part), signature: `${part.name}\n${part.input}` }];
  });
  readCalls.set(message as object, calls);
  return calls;
}

function callsById<M>(entries: readonly SizedEntry<M>[], shape: Shape<M>): ReadonlyMap<string, KnownCall> {
  const calls = new Map<string, KnownCall>();
  for (const { message } of entries)
    for (const numbered of callsOf(message, shape)) calls.set(numbered.call.id, numbered);
  return calls;
}

interface LaterUses {
  /** Last index of a call with this name and input; of one that showed all of a path; of any that touched it. */
  readonly same: ReadonlyMap<string, number>;
  readonly whole: ReadonlyMap<string, number>;
  readonly touched: ReadonlyMap<string, number>;
}

function laterUses<M>(entries: readonly SizedEntry<M>[], shape: Shape<M>): LaterUses {
  const same = new Map<string, number>();
  const whole = new Map<string, number>();
  const touched = new Map<string, number>();
  for (const [index, { message }] of entries.entries())
    for (const { use, signature } of callsOf(message, shape)) {
      same.set(signature, index);
      if (use.kind !== "read" && use.kind !== "change") continue;
      touched.set(use.path, index);
      if (use.whole) whole.set(use.path, index);
    }
  return { same, whole, touched };
}

function reasonFor(
  part: PrunablePart,
  about: { known: KnownCall | undefined; index: number; later: LaterUses },
): Reason {
  if (part.kind === "image") return "old-image";
  const { known, index, later } = about;
  const { use } = known ?? {};
  if (known === undefined) return "stale-output";
  if ((later.same.get(known.signature) ?? -1) > index) return "repeated";
  if (use?.kind === "read" && (later.whole.get(use.path) ?? -1) > index) return "superseded";
  return "stale-output";
}

function touched(use: PrunableUse, later: LaterUses): number {
  return use.kind === "read" || use.kind === "change" ? (later.touched.get(use.path) ?? -1) : -1;
}

/** For each index: how many model requests were made since so much followed it that it left the protected tail. */
function carriedRequests(
  sizes: readonly number[],
  requests: readonly number[],
  protectTokens: number,
): (index: number) => number {
  const after: number[] = [0];
  for (const tokens of sizes) after.push(after.at(-1)! + tokens);
  return (index) => {
    let low = index + 1;
    let high = sizes.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (after[middle]! - after[index + 1]! >= protectTokens) high = middle;
      else low = middle + 1;
    }
    return requests[sizes.length]! - requests[low]!;
  };
}

/** At each index: how many model answers stand before it; one more than there are entries. */
function requestsBefore<M>(entries: readonly SizedEntry<M>[]): readonly number[] {
  const requests: number[] = [0];
  for (const { role } of entries) requests.push(requests.at(-1)! + (role === "assistant" ? 1 : 0));
  return requests;
}

/*
 * Which of the prunable parts make a batch worth breaking the cache for. The further back a pass begins, the more it saves
 * and the more is written again; what is likely to be fetched again is left for later. Knows prices, not messages.
 */

export interface BatchPolicy {
  /** How likely a fresh part is used again, and after how many idle requests that has halved. */
  readonly useAgain: number;
  readonly halfLife: number;
  /** Requests a part would be carried on at least, if it were left to the next pass. */
  readonly horizon: number;
  /**
   * A thread's first pass must earn its rewrite back within this share of the requests made so far: a thread that has
   * just begun may just as well end, and has saved nothing yet to pay for it.
   */
  readonly payback: number;
}

export interface PricedPart {
  readonly candidate: PruneCandidate;
  /** Tokens freed. */
  readonly saved: number;
}

interface BatchTerms {
  readonly policy: BatchPolicy;
  readonly prices: Prices;
  readonly cache: "warm" | "cold";
  /** Tokens of each message in the view. */
  readonly sizes: readonly number[];
  /** The first message that is written again when the one at this index changes. */
  readonly rewrittenFrom: (index: number) => number;
  /** Requests before the thread's first pass; null when there was a pass before. */
  readonly firstAfter: number | null;
}

/** Parts in the order of the view; the batch that gains most, empty when none pays. */
export function bestBatch<T extends PricedPart>(parts: readonly T[], terms: BatchTerms): readonly T[] {
  const { prices, cache, sizes, rewrittenFrom } = terms;
  const behind = tokensFrom(sizes);
  const context = behind[0]!;
  const batch: T[] = [];
  let best = { length: 0, gain: 0 };
  let all: PruneBalance = { savedReads: 0, savedTokens: 0, rewriteTokens: 0, expectedFetches: 0, cache };
  for (const part of parts.toReversed()) {
    const { candidate, saved } = part;
    const expectedFetches = expectedFetch(candidate, context, terms);
    if (!paysForItself(part, expectedFetches, terms)) continue;
    batch.push(part);
    all = {
      savedReads: all.savedReads + saved * candidate.carried,
      savedTokens: all.savedTokens + saved,
      rewriteTokens: behind[rewrittenFrom(candidate.index)]! - all.savedTokens - saved,
      expectedFetches: all.expectedFetches + expectedFetches,
      cache,
    };
    const gain = pruneGain(all, prices);
    if (gain >= best.gain && paysBackSoon(all, terms)) best = { length: batch.length, gain };
  }
  return batch.slice(0, best.length).reverse();
}

/** At each index: tokens from there to the end; one more than there are messages. */
function tokensFrom(sizes: readonly number[]): readonly number[] {
  const behind = [0];
  for (const tokens of sizes.toReversed()) behind.push(behind.at(-1)! + tokens);
  return behind.reverse();
}

/** Once a pass is made, a part joins it when what it would still cost outweighs the risk of fetching it again. */
function paysForItself({ candidate, saved }: PricedPart, expectedFetches: number, terms: BatchTerms): boolean {
  const { policy, prices, cache } = terms;
  const savedReads = saved * Math.max(candidate.carried, policy.horizon);
  return worthPruning({ savedReads, savedTokens: saved, rewriteTokens: 0, expectedFetches, cache }, prices);
}

/** The first pass must pay back soon, unless so much has been wasted by waiting that it should have come long ago. */
function paysBackSoon(balance: PruneBalance, { policy, prices, firstAfter }: BatchTerms): boolean {
  if (firstAfter === null) return true;
  const ahead = Math.max(balance.savedTokens * policy.payback * firstAfter, balance.savedReads / PATIENCE);
  return pruneGain({ ...balance, savedReads: ahead, expectedFetches: 0 }, prices) >= 0;
}

const PATIENCE = 3;
const ASKING_TOKENS = 60;

function expectedFetch(candidate: PruneCandidate, context: number, { policy, prices }: BatchTerms): number {
  if (!REASONS[candidate.reason].wantedAgain) return 0;
  const likelihood = policy.useAgain * 2 ** (-candidate.idle / Math.max(1, policy.halfLife));
  return likelihood * costOfFetching({ context, result: candidate.tokens, asking: ASKING_TOKENS }, prices);
}

/*
 * What a tool call was for, to the pruner: which path it touched, which command it ran, whether it read or changed
 * something. Unknown tools are guessed; the original stays in the log.
 */

type PrunableUse =
  | { readonly kind: "read"; readonly path: string; readonly whole: boolean }
  | { readonly kind: "change"; readonly path: string; readonly whole: boolean }
  | { readonly kind: "command"; readonly command: string }
  | { readonly kind: "other" };

function toolUse(call: CallPart): PrunableUse {
  const meaning = readCall(call, "guess");
  if (meaning.kind === "shell") return { kind: "command", command: meaning.command };
  const [only, another] = meaning.kind === "files" ? meaning.acts : [];
  if (meaning.kind !== "files" || only === undefined || another !== undefined || only.act === "move")
    return { kind: "other" };
  if (only.act === "read") return { kind: "read", path: only.path, whole: meaning.range === "whole" };
  return { kind: "change", path: only.path, whole: only.act === "write" };
}

/** A line that names the call in a replacement. */
export function describeUse(name: string | null, use: PrunableUse): string {
  const tool = name ?? "tool";
  switch (use.kind) {
    case "read":
    case "change":
      return `${tool} ${use.path}`;
    case "command":
      return `${tool} \`${oneLine(use.command, 160)}\``;
    case "other":
      return tool;
  }
}

/**
 * How a pruned part is recognized: by the mark every replacement begins with. It makes pruning idempotent without any
 * state beside the view. A tool whose real output begins with the mark is left alone, which is harmless.
 */
export const PRUNED = "[pruned";

export function isPruned(part: CallPart | ResultPart | ImagePart): boolean {
  switch (part.kind) {
    case "result":
      return part.text.startsWith(PRUNED);
    case "call":
      return part.input.includes(`"${PRUNED}`);
    case "image":
      return false;
  }
}
