/**
 * How compactions store the state that the next one folds: whole now and then (a checkpoint), else as what changed since
 * the compaction they fold. So a record costs what it adds, and reading a state costs its checkpoint and the few records
 * after it. Works on any JSON; what is in a state is core/summary's business.
 */
import { applyDelta, type Delta, deltaOf, type Json } from "./delta.ts";
import type { CompactionRecord } from "./record.ts";

/** The whole state of one compaction, and what has to be read to know it. */
export interface StateChain {
  /** The compaction whose state it is. */
  readonly seq: number;
  /** The compaction that stored it whole, itself or one that it folds. */
  readonly checkpoint: number;
  /** Characters of the records after the checkpoint. */
  readonly length: number;
  /** Null: it was erased. */
  readonly state: Json;
}

interface Changes {
  readonly changes: Delta;
}

/** `before` is the chain of the compaction that this one folds; it is looked at only if the record says what changed. */
export function chainAfter(before: StateChain | null, record: CompactionRecord): StateChain {
  const { seq, checkpoint = null } = record;
  const state = (record.summary.state ?? null) as Json;
  if (checkpoint === null) return { seq, checkpoint: seq, length: 0, state };
  const length = (before?.length ?? 0) + record.summary.text.length + JSON.stringify(state).length;
  const base = before !== null && before.seq === record.folds ? before.state : null;
  return { seq, checkpoint, length, state: isChanges(state) ? changed(base, state, record.summary.text) : state };
}

/** A reader never has to go further back than this many times the size of the state itself, in characters. */
const LONGEST_CHAIN = 8;
const MOST_CHARACTERS = 1_000_000;

/** How the next compaction stores its state: as what changed where that is shorter, whole where a chain must begin. */
export function storedState(
  chain: StateChain | null,
  { text, state }: CompactionRecord["summary"],
): { readonly checkpoint: number | null; readonly state: unknown } {
  if (chain === null || chain.state === null || state == null) return { checkpoint: null, state };
  const whole = JSON.stringify(state);
  const delta = deltaOf(chain.state, JSON.parse(whole) as Json);
  const changes: Changes = { changes: quoting(delta as unknown as Json, text) as unknown as Delta };
  const size = JSON.stringify(changes).length;
  const limit = Math.min(LONGEST_CHAIN * whole.length, MOST_CHARACTERS);
  if (size >= whole.length / 2 || chain.length + text.length + size > limit) return { checkpoint: null, state };
  return { checkpoint: chain.checkpoint, state: changes };
}

/** From what was erased nothing follows. */
function changed(before: Json, { changes }: Changes, text: string): Json {
  return before === null ? null : applyDelta(before, unquoted(changes as unknown as Json, text) as unknown as Delta);
}

export function isChanges(state: unknown): state is Changes {
  return typeof state === "object" && state !== null && Object.keys(state).join() === "changes";
}

// Strings of a JSON value that stand word for word in a text kept beside it, replaced by where they stand there: a summary's
// text and its state say much the same. `unquoted(quoting(value, text), text)` is the value, whatever both are. A
// reference is spelled `@start+length`; a string that itself begins with `@` gets one more. The spelling belongs to the
// log's format.

/** Shorter ones cost less than a reference saves. */
const SHORTEST = 16;

export function quoting(value: Json, text: string): Json {
  return mapStrings(value, (string) => {
    const start = string.length < SHORTEST ? -1 : text.indexOf(string);
    if (start !== -1) return `@${start}+${string.length}`;
    return string.startsWith("@") ? `@${string}` : string;
  });
}

export function unquoted(value: Json, text: string): Json {
  return mapStrings(value, (string) => {
    if (!string.startsWith("@")) return string;
    if (string.startsWith("@@")) return string.slice(1);
    const [start, length] = string.slice(1).split("+").map(Number) as [number, number];
    return text.slice(start, start + length);
  });
}

function mapStrings(value: Json, map: (string: string) => string): Json {
  if (typeof value === "string") return map(value);
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return (value as readonly Json[]).map((one) => mapStrings(one, map));
  return Object.fromEntries(Object.entries(value).map(([field, one]) => [field, mapStrings(one, map)]));
}
