/**
 * What may be pruned from a view and why: results and images outside the protected tail that the agent can get back. Never
 * the current request, never anybody's words, never what the model wrote itself, never an output that was pruned before.
 * Says nothing about whether pruning pays.
 */
import type { PruneReason } from "../../log/record.ts";
import type { CallPart, ImagePart, Part, ResultPart, Shape } from "../../message/shape.ts";
import type { Prompt, SizedEntry } from "../../prompt/prompt.ts";
import { isPruned } from "./mark.ts";
import { type ToolUse, toolUse } from "./tool-use.ts";

export interface CandidateOptions {
  /** The newest part of the view, in tokens, that stays as it is. */
  readonly protectTokens: number;
  /** Smaller parts aren't worth a pointer. */
  readonly minPartTokens: number;
}

/** Not `clamped`, which shortens what the model hasn't seen yet; nor `long-input`, which older versions did. */
type Reason = Exclude<PruneReason, "clamped" | "long-input">;

/** What is said of a part that was pruned for this reason, and whether the model may ask for it again. */
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
  readonly use: ToolUse;
  /** Model requests that have carried it since it left the protected tail. */
  readonly carried: number;
  /** Model requests since it came, or since a call last touched the same path: what is worked on is young. */
  readonly idle: number;
}

/** Tokens of each entry's own message. */
export function messageTokens<M>({ entries, factor }: Prompt<M>): readonly number[] {
  return entries.map(({ size }) => Math.ceil((size.text + size.images) * factor));
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
    const use: ToolUse = called?.use ?? { kind: "other" };
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
  const tail = tailStart(sizes, options.protectTokens);
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
  readonly use: ToolUse;
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

function touched(use: ToolUse, later: LaterUses): number {
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
