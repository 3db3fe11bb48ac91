/**
 * What may be pruned from a view and why: parts outside the protected tail that the agent can get back. Never the current
 * request, never anybody's words, never a call in a message with signed reasoning (its provider would refuse the message),
 * never a part that was pruned before. Says nothing about whether pruning pays.
 */
import type { PruneReason } from "../../log/record.ts";
import type { CallPart, ImagePart, ResultPart, Shape } from "../../message/shape.ts";
import type { Measure } from "../clamp.ts";
import { isPruned } from "./mark.ts";
import { partTokens } from "./part-tokens.ts";
import { type ToolUse, toolUse } from "./tool-use.ts";

/** An entry of the view. What stands for no single record (the summary, its acknowledgement) has no seq and is never pruned. */
export interface PrunableEntry<M> {
  readonly seq: number | null;
  readonly message: M;
}

export interface CandidateOptions<M> {
  readonly shape: Shape<M>;
  readonly measure: Measure<M>;
  /** The newest part of the view, in tokens, that stays as it is. */
  readonly protectTokens: number;
  /** Smaller parts aren't worth a pointer. */
  readonly minPartTokens: number;
}

export interface PruneCandidate {
  /** Position of the message in the view. */
  readonly index: number;
  readonly target: number;
  readonly part: number;
  readonly reason: PruneReason;
  readonly original: CallPart | ResultPart | ImagePart;
  readonly tokens: number;
  /** The call behind it. */
  readonly tool: string | null;
  readonly use: ToolUse;
  /** Model requests that have carried it since it left the protected tail. */
  readonly carried: number;
  /** Model requests since it came, or since a call last touched the same path: what is worked on is young. */
  readonly idle: number;
}

export function pruneCandidates<M>(
  entries: readonly PrunableEntry<M>[],
  options: CandidateOptions<M>,
): readonly PruneCandidate[] {
  const { shape, measure, minPartTokens } = options;
  const tail = tailStart(entries, options);
  const request = entries.findLastIndex((entry) => shape.role(entry.message) === "user");
  const calls = callsById(entries, shape);
  const later = laterUses(entries, shape);
  const carried = carriedRequests(entries, options);
  const requests = requestsBefore(entries, shape);
  const found: PruneCandidate[] = [];
  for (let index = 0; index < tail; index++) {
    if (index === request) continue;
    const { seq, message } = entries[index]!;
    if (seq === null) continue;
    const tokens = partTokens(message, shape, measure);
    const parts = shape.parts(message);
    const signed = parts.some((part) => part.kind === "reasoning" && part.signature !== null);
    for (const [position, part] of parts.entries()) {
      if (part.kind !== "result" && part.kind !== "call" && part.kind !== "image") continue;
      if (tokens[position]! < minPartTokens || isPruned(part) || (part.kind === "call" && signed)) continue;
      const known = part.kind === "image" ? undefined : calls.get(part.id);
      const use: ToolUse = known?.use ?? { kind: "other" };
      found.push({
        index,
        target: seq,
        part: position,
        reason: reasonFor(part, { known, index, later }),
        original: part,
        tokens: tokens[position]!,
        tool: known?.call.name ?? (part.kind === "result" ? part.name : null),
        use,
        carried: carried(index),
        idle: requests.at(-1)! - requests[Math.max(index, touched(use, later)) + 1]!,
      });
    }
  }
  return found;
}

/** First index that is protected: everything from it on is at most the protected tokens, and at least the last message. */
function tailStart<M>(entries: readonly PrunableEntry<M>[], options: CandidateOptions<M>): number {
  let tokens = 0;
  for (let index = entries.length - 1; index >= 0; index--) {
    tokens += options.measure.message(entries[index]!.message);
    if (tokens > options.protectTokens) return Math.min(index + 1, entries.length - 1);
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
  const known = readCalls.get(message as object);
  if (known !== undefined) return known;
  const calls = shape.parts(message).flatMap((part): KnownCall[] => {
    if (part.kind !== "call") return [];
    return [{ call: part, use: toolUse(part), signature: `${part.name}\n${part.input}` }];
  });
  readCalls.set(message as object, calls);
  return calls;
}

function callsById<M>(entries: readonly PrunableEntry<M>[], shape: Shape<M>): ReadonlyMap<string, KnownCall> {
  const calls = new Map<string, KnownCall>();
  for (const { message } of entries) for (const known of callsOf(message, shape)) calls.set(known.call.id, known);
  return calls;
}

interface LaterUses {
  /** Last index of a call with this name and input; of one that showed all of a path; of any that touched it. */
  readonly same: ReadonlyMap<string, number>;
  readonly whole: ReadonlyMap<string, number>;
  readonly touched: ReadonlyMap<string, number>;
}

function laterUses<M>(entries: readonly PrunableEntry<M>[], shape: Shape<M>): LaterUses {
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
  part: CallPart | ResultPart | ImagePart,
  about: { known: KnownCall | undefined; index: number; later: LaterUses },
): PruneReason {
  if (part.kind === "image") return "old-image";
  if (part.kind === "call") return "long-input";
  const { known, index, later } = about;
  if (known === undefined) return "stale-output";
  if ((later.same.get(known.signature) ?? -1) > index) return "repeated";
  if (known.use.kind === "read" && (later.whole.get(known.use.path) ?? -1) > index) return "superseded";
  return "stale-output";
}

function touched(use: ToolUse, later: LaterUses): number {
  return use.kind === "read" || use.kind === "change" ? (later.touched.get(use.path) ?? -1) : -1;
}

/** For each index: how many model requests were made since so much followed it that it left the protected tail. */
function carriedRequests<M>(
  entries: readonly PrunableEntry<M>[],
  options: CandidateOptions<M>,
): (index: number) => number {
  const { shape, measure, protectTokens } = options;
  const requests = requestsBefore(entries, shape);
  const after: number[] = [0];
  for (const { message } of entries) after.push(after.at(-1)! + measure.message(message));
  return (index) => {
    let low = index + 1;
    let high = entries.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (after[middle]! - after[index + 1]! >= protectTokens) high = middle;
      else low = middle + 1;
    }
    return requests[entries.length]! - requests[low]!;
  };
}

/** At each index: how many model answers stand before it; one more than there are entries. */
function requestsBefore<M>(entries: readonly PrunableEntry<M>[], shape: Shape<M>): readonly number[] {
  const requests: number[] = [0];
  for (const { message } of entries) requests.push(requests.at(-1)! + (shape.role(message) === "assistant" ? 1 : 0));
  return requests;
}
