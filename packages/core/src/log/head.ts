/**
 * The head of a thread: the small derived row that makes a load cost its tail and not its age. It is a pure fold over
 * the log (`advance`), is written in the append's transaction, and can be recomputed at any time (`doctor --rebuild`).
 * It refers to records by seq and repeats none of their content.
 */
import { type ChainedRecord, parseRecord } from "./chain.ts";
import type { CompactionRecord, LogRecord, UsageRecord } from "./record.ts";
import { liveStructure, pruneReach, type Structural, structural } from "./structure.ts";

export interface Head {
  /** The last record's seq, 0 for an empty thread. */
  readonly version: number;
  /** Hash of the chain up to there. */
  readonly hash: string;
  readonly messages: number;
  readonly updatedAt: string;
  /** The live compaction, if any, and the last seq it hides; the tail is every message after it. */
  readonly compaction: number | null;
  readonly hiddenThrough: number;
  /** Live prunes that touch a visible message, in order; `reach` is the last message each of them touches. */
  readonly prunes: readonly number[];
  readonly reach: readonly number[];
  /** Seqs of the pinned messages, ascending. */
  readonly pins: readonly number[];
  /** The newest usage report that can be believed. */
  readonly usage: number | null;
  /** Evidence added since the newest live prune or compaction. */
  readonly evidence: readonly number[];
  /** The newest standing undo, while nothing was compacted or pruned since: automatic compaction waits behind it. */
  readonly undone: { readonly seq: number } | null;
  /** Per model: reported against estimated growth. */
  readonly factors: Readonly<Record<string, number>>;
  readonly state: Readonly<Record<string, unknown>>;
}

/** The head of an empty thread. */
export function emptyHead(createdAt: string): Head {
  return {
    version: 0,
    hash: "",
    messages: 0,
    updatedAt: createdAt,
    compaction: null,
    hiddenThrough: 0,
    prunes: [],
    reach: [],
    pins: [],
    usage: null,
    evidence: [],
    undone: null,
    factors: {},
    state: {},
  };
}

/**
 * The head after one more record. `structure` is every structural record before this one; it is read for an undo only,
 * so any other append may pass none.
 */
export function advance(
  head: Head,
  chained: Pick<ChainedRecord, "hash">,
  record: LogRecord,
  structure: readonly Structural[] = [],
): Head {
  const next = { ...head, version: record.seq, hash: chained.hash, updatedAt: record.at };
  switch (record.kind) {
    case "message":
      return { ...next, messages: head.messages + 1 };
    case "prune":
      return afterPrune(next, record.seq, pruneReach(record.entries));
    case "compaction":
      return afterCompaction(next, record.seq, record.covers[1]);
    case "pin":
      return { ...next, pins: withPin(head.pins, record.target, record.on) };
    case "undo":
      return { ...next, ...liveStructure([...structure, structural(record)!]) };
    case "usage":
      return afterUsage(next, record);
    case "evidence":
      return { ...next, evidence: [...head.evidence, record.seq] };
    case "state":
      return { ...next, state: withPatch(head.state, record.patch) };
    case "event":
      return next;
  }
}

export interface HeadFold {
  add(record: ChainedRecord): void;
  head(): Head;
}

/** The head from the whole log, a record at a time: memory grows with the structure, not with the messages. */
export function headFold(createdAt: string): HeadFold {
  let head = emptyHead(createdAt);
  const structure: Structural[] = [];
  return {
    add(chained) {
      const record = parseRecord(chained);
      head = advance(head, chained, record, structure);
      const act = structural(record);
      if (act) structure.push(act);
    },
    head: () => head,
  };
}

function afterPrune(head: Head, seq: number, reach: number): Head {
  return { ...head, evidence: [], undone: null, prunes: [...head.prunes, seq], reach: [...head.reach, reach] };
}

function afterCompaction(head: Head, seq: number, hiddenThrough: number): Head {
  const shows = head.reach.map((reach) => reach > hiddenThrough);
  return {
    ...head,
    compaction: seq,
    hiddenThrough,
    prunes: head.prunes.filter((_, index) => shows[index]),
    reach: head.reach.filter((_, index) => shows[index]),
    evidence: [],
    undone: null,
  };
}

function afterUsage(head: Head, usage: UsageRecord): Head {
  if (usage.flaw || !(usage.input > 0)) return head;
  const factors = usage.factor === null ? head.factors : { ...head.factors, [usage.model]: usage.factor };
  return { ...head, usage: usage.seq, factors };
}

function withPin(pins: readonly number[], target: number, on: boolean): readonly number[] {
  const others = pins.filter((pin) => pin !== target);
  return on ? [...others, target].sort((a, b) => a - b) : others;
}

/** Keys replace, `null` removes; artifacts only ever accumulate, each once. */
function withPatch(state: Head["state"], patch: Readonly<Record<string, unknown>>): Head["state"] {
  const next = new Map(Object.entries(state));
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) next.delete(key);
    else if (key === "artifacts") next.set(key, union(next.get(key), value));
    else next.set(key, value);
  }
  return Object.fromEntries(next);
}

function union(old: unknown, added: unknown): unknown[] {
  const all = [old, added].flatMap((list) => (Array.isArray(list) ? list : list === undefined ? [] : [list]));
  const seen = new Map(all.map((item) => [JSON.stringify(item), item]));
  return [...seen.values()];
}

/*
 * How compactions store the state that the next one folds: whole now and then (a checkpoint), else as what changed since
 * the compaction they fold. So a record costs what it adds, and reading a state costs its checkpoint and the few records
 * after it. Works on any JSON; what is in a state is core/summary's business.
 */

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
  const delta = deltaOf(chain.state, JSON.parse(whole));
  const changes: Changes = { changes: quoting(delta, text) };
  const size = JSON.stringify(changes).length;
  const limit = Math.min(LONGEST_CHAIN * whole.length, MOST_CHARACTERS);
  if (size >= whole.length / 2 || chain.length + text.length + size > limit) return { checkpoint: null, state };
  return { checkpoint: chain.checkpoint, state: changes };
}

/** From what was erased nothing follows. */
function changed(before: Json, { changes }: Changes, text: string): Json {
  return before === null ? null : applyDelta(before, unquoted(changes, text));
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

export function quoting<V>(value: V, text: string): V {
  return mapStrings(value, (string) => {
    const start = string.length < SHORTEST ? -1 : text.indexOf(string);
    if (start !== -1) return `@${start}+${string.length}`;
    return string.startsWith("@") ? `@${string}` : string;
  });
}

export function unquoted<V>(value: V, text: string): V {
  return mapStrings(value, (string) => {
    if (!string.startsWith("@")) return string;
    if (string.startsWith("@@")) return string.slice(1);
    const [start = Number.NaN, length = Number.NaN] = string.slice(1).split("+").map(Number);
    return text.slice(start, start + length);
  });
}

/** A JSON value of the same form: only its strings change. */
function mapStrings<V>(value: V, map: (string: string) => string): V {
  const mapped = (one: unknown): unknown => {
    if (typeof one === "string") return map(one);
    if (typeof one !== "object" || one === null) return one;
    if (Array.isArray(one)) return one.map(mapped);
    return Object.fromEntries(Object.entries(one).map(([field, inner]) => [field, mapped(inner)]));
  };
  return mapped(value) as V;
}

// What changed between two JSON values, as JSON, so that a record can hold what is new instead of everything again.
// `applyDelta(a, deltaOf(a, b))` is b, whatever both are; how short the delta is depends on how alike they are. Its
// spelling belongs to the log's format and stays readable. Applying never throws: a delta that doesn't fit the
// value it meets (somebody damaged one of them) gives what can be made of it.

export type Json = null | boolean | number | string | readonly Json[] | JsonObject;

interface JsonObject {
  readonly [field: string]: Json;
}

export type Delta =
  | { readonly to: Json }
  /** The object before, with these fields new or changed and those gone. */
  | { readonly fields: Readonly<Record<string, Delta>>; readonly gone?: readonly string[] }
  /** A list, put together from pieces in order. */
  | { readonly list: readonly DeltaPiece[] };

type DeltaPiece =
  /** So many elements of the list before, from that index on. */
  | readonly [first: number, count: number]
  | { readonly add: readonly Json[] }
  /** One element of the list before, changed. */
  | { readonly of: number; readonly now: Delta };

export function deltaOf(before: Json, after: Json): Delta {
  if (Array.isArray(before) && Array.isArray(after)) return { list: pieces(before, after) };
  if (isObject(before) && isObject(after)) return changedFields(before, after);
  return { to: after };
}

export function applyDelta(before: Json, delta: Delta): Json {
  if ("to" in delta) return delta.to;
  if ("list" in delta) {
    const list: readonly Json[] = Array.isArray(before) ? before : [];
    return delta.list.flatMap((piece) => elements(list, piece));
  }
  const gone = new Set(delta.gone);
  const fields = new Map(Object.entries(isObject(before) ? before : {}).filter(([name]) => !gone.has(name)));
  for (const [name, change] of Object.entries(delta.fields))
    fields.set(name, applyDelta(fields.get(name) ?? null, change));
  return Object.fromEntries(fields);
}

function elements(list: readonly Json[], piece: DeltaPiece): readonly Json[] {
  if ("add" in piece) return piece.add;
  if ("of" in piece) return piece.of < list.length ? [applyDelta(list[piece.of]!, piece.now)] : [];
  return list.slice(piece[0], piece[0] + piece[1]);
}

function changedFields(before: JsonObject, after: JsonObject): Delta {
  const fields: [string, Delta][] = [];
  for (const [name, value] of Object.entries(after)) {
    const old = Object.hasOwn(before, name) ? before[name]! : undefined;
    if (old === undefined) fields.push([name, { to: value }]);
    else if (spell(old) !== spell(value)) fields.push([name, shorter(deltaOf(old, value), value)]);
  }
  const gone = Object.keys(before).filter((name) => !Object.hasOwn(after, name));
  return { fields: Object.fromEntries(fields), ...(gone.length > 0 && { gone }) };
}

/** Elements are found again by their spelling, wherever they stood; changed ones by what names them. */
function pieces(before: readonly Json[], after: readonly Json[]): DeltaPiece[] {
  const spelled = before.map(spell);
  const places = new Map(spelled.map((text, index) => [text, index] as const).reverse());
  const named = new Map(before.flatMap((element, index) => namesOf(element).map((name) => [name, index] as const)));
  const found: DeltaPiece[] = [];
  let next = -1;
  for (const element of after) {
    const text = spell(element);
    const last = found.at(-1);
    if (spelled[next] === text && Array.isArray(last)) {
      found[found.length - 1] = [last[0], last[1] + 1];
      next += 1;
      continue;
    }
    const place = places.get(text);
    next = place === undefined ? -1 : place + 1;
    if (place !== undefined) found.push([place, 1]);
    else {
      const change = changedElement(element, before, named);
      if (change !== null) found.push(change);
      else if (last !== undefined && "add" in last) (last.add as Json[]).push(element);
      else found.push({ add: [element] });
    }
  }
  return found;
}

function changedElement(element: Json, before: readonly Json[], named: ReadonlyMap<string, number>): DeltaPiece | null {
  const [name] = namesOf(element);
  const of = name === undefined ? undefined : named.get(name);
  if (of === undefined) return null;
  const piece = { of, now: deltaOf(before[of]!, element) };
  return JSON.stringify(piece).length < spell(element).length ? piece : null;
}

/** Fields by which the elements of a list are told apart; the first that an element has. */
const NAMING = ["id", "path", "what"];

function namesOf(element: Json): string[] {
  if (!isObject(element)) return [];
  const field = NAMING.find((name) => typeof element[name] === "string");
  return field === undefined ? [] : [`${field} ${element[field]}`];
}

function shorter(delta: Delta, value: Json): Delta {
  return JSON.stringify(delta).length < spell({ to: value }).length ? delta : { to: value };
}

function spell(value: Json): string {
  return JSON.stringify(value);
}

function isObject(value: Json): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
