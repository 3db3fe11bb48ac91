/**
 * Decides which thread a request belongs to, from what it is known by and what the store has. Every outcome says how many
 * of the request's messages the thread holds already: only the rest is written. Pure: whoever calls it has asked the store.
 */
import type { MatchRow } from "palimpsest/stores";
import type { Place } from "./chain.ts";

export interface Request {
  /** After each message of the conversation, leading system messages left out. */
  readonly places: readonly Place[];
  readonly group: string | null;
  /** Of system prompt and tools. */
  readonly fixed: string;
  readonly sideCall: "likely" | "no";
}

/** A conversation in the store that the request begins with. */
export interface Candidate extends Omit<MatchRow, "answer"> {
  /** What the thread holds after that answer, as it continues the request's chain: up to its next answer. */
  readonly tail: readonly Place[];
  /** Somebody writes to it at this moment. */
  readonly state: "free" | "busy";
}

export type Match =
  | { readonly kind: "new"; readonly parent: string | null }
  /** The thread goes on; it has `known` of the messages. Where somebody else gets there first, it is forked instead. */
  | { readonly kind: "extended"; readonly thread: string; readonly known: number; readonly instead: Instead | null }
  /** A thread of its own that shares the records up to `at`, which hold `known` of the messages. */
  | { readonly kind: "forked"; readonly thread: string; readonly at: number; readonly known: number }
  | { readonly kind: "passed"; readonly reason: "side-call" };

/** What was seen of the thread, and where it is forked if it has changed since or is held. */
interface Instead {
  /** Up to where a fork shares the records, and how many of the messages they hold. */
  readonly at: number;
  readonly known: number;
  /** Where its log ended. */
  readonly version: number;
}

export interface Findings {
  readonly candidates: readonly Candidate[];
  /** A thread in whose middle the request begins: its client has cut the head off. Only looked for by name or group. */
  readonly run: Run | null;
  /** The thread that the client named, if there is one of this name. */
  readonly named: string | null;
  /** The group's thread that changed last, if the group has one. */
  readonly groupThread: string | null;
}

/** `depth`: how many of the request's messages, from its first on, stand there in a row, the last of them an answer. */
type Run = Candidate & { readonly depth: number };

export function match(request: Request, { candidates, run, named, groupThread }: Findings): Match {
  const best =
    deepest(request, candidates) ??
    (run && { candidate: run, depth: run.depth, more: unanswered(request, run, run.depth) });
  if (best !== null) return joining(request, best);
  // Whoever names a thread may send only what is new.
  if (named !== null) return { kind: "extended", thread: named, known: 0, instead: null };
  if (groupThread !== null && request.sideCall === "likely") return { kind: "passed", reason: "side-call" };
  return { kind: "new", parent: groupThread };
}

/** From a place in a thread that the client has named: all of its messages come after it. */
export function goOn(request: Request, candidate: Candidate): Extract<Match, { readonly thread: string }> {
  return joining(request, { candidate, depth: 0, more: unanswered(request, candidate, 0) });
}

interface Hit {
  readonly candidate: Candidate;
  /** How many of the request's messages stand up to the answer. */
  readonly depth: number;
  /** How many more the thread has, unanswered; null: it goes on otherwise. */
  readonly more: number | null;
}

/** How to go on with a thread that has been found. */
function joining(request: Request, { candidate, depth, more }: Hit): Extract<Match, { readonly thread: string }> {
  const { threadId: thread, seq, state } = candidate;
  if (more === null || state === "busy") return { kind: "forked", thread, at: seq, known: depth };
  const known = Math.min(depth + more, request.places.length);
  return { kind: "extended", thread, known, instead: { at: seq, known: depth, version: candidate.version } };
}

function deepest(request: Request, candidates: readonly Candidate[]): Hit | null {
  const hits = candidates.flatMap((candidate): Hit[] => {
    const depth = depthOf(request, candidate.hash);
    return depth === null ? [] : [{ candidate, depth, more: unanswered(request, candidate, depth) }];
  });
  return hits.toSorted((a, b) => compare(request, a, b))[0] ?? null;
}

/** How many messages stand up to a place. Looked for from the end: that is where a conversation goes on. */
export function depthOf({ places }: Pick<Request, "places">, hash: string): number | null {
  for (let at = places.length - 1; at >= 0; at -= 1) if (places[at]!.hash === hash) return at + 1;
  return null;
}

/** The deepest; of several the same group, then one that ends there, then the same system and tools, then the newest. */
function compare({ group, fixed }: Request, a: Hit, b: Hit): number {
  const rank = ({ candidate, depth, more }: Hit): readonly number[] => [
    depth,
    Number(group !== null && candidate.group === group),
    Number(more !== null),
    Number(candidate.fixed === fixed),
    Date.parse(candidate.updatedAt) || 0,
  ];
  const [left, right] = [rank(a), rank(b)];
  const at = left.findIndex((value, index) => value !== right[index]);
  return at === -1 ? 0 : right[at]! - left[at]!;
}

/** How many unanswered messages follow. A thread ends where it was found if all it has after that is what this request asks again: its run failed. */
function unanswered({ places }: Request, { tail }: Candidate, depth: number): number | null {
  const repeats = tail.every(({ hash, answer }, index) => answer === null && places[depth + index]?.hash === hash);
  return repeats ? tail.length : null;
}
