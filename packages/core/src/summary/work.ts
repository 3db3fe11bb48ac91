/**
 * What the model has written itself and still stands: files, edits, commands, or else its longer answers, each as a place in
 * the log. Words of the model are what it quotes later on, so a summary quotes them from there. Incremental: a later block extends an earlier one.
 */
import type { CallPart, Part, Shape } from "../message/shape.ts";
import { isRecord, namesIn } from "../text/names.ts";
import { redactSecrets } from "../text/secrets.ts";
import { isTelling } from "./gather.ts";
import type { NumberedMessage } from "./ledger.ts";
import { fenced } from "./render-lines.ts";
import { commandEffects, readCall, writtenText } from "./tool-calls.ts";

interface WorkPart {
  /** The message, and which of its parts. */
  readonly seq: number;
  readonly part: number;
  readonly kind: WorkKind;
  /** The file; null for a command and for what was said. */
  readonly path: string | null;
  /** Number of the message, from 1, in which it or its file was last touched. */
  readonly touched: number;
}

const KINDS = ["write", "edit", "command", "said"] as const;
type WorkKind = (typeof KINDS)[number];

export interface Work {
  /** Messages read so far. */
  readonly messages: number;
  /** What nothing has replaced since, in the order of the log. */
  readonly parts: readonly WorkPart[];
}

export const NO_WORK: Work = { messages: 0, parts: [] };

/** What a state remembers: so many parts, and only while they or their files were touched so many messages ago at most. */
const MOST_PARTS = 80;
const OLDEST = 160;
/** In characters. What is shorter is seldom worth the line that names it. */
const LEAST_SAID = 200;

export function extendWork<M>(prior: Work, entries: readonly NumberedMessage<M>[], shape: Shape<M>): Work {
  const parts = new Map(prior.parts.map((part) => [keyOf(part), part]));
  const open = new Map<string, string>();
  let messages = prior.messages;
  for (const { seq, message } of entries) {
    messages += 1;
    const isOwn = shape.role(message) === "assistant";
    for (const [index, part] of shape.parts(message).entries()) {
      if (isOwn && part.kind === "text" && part.text.length >= LEAST_SAID) {
        const said = { seq, part: index, kind: "said", path: null, touched: messages } as const;
        parts.set(keyOf(said), said);
      } else if (part.kind === "call") {
        const added = take(parts, part, { seq, part: index, touched: messages });
        if (added !== null) open.set(part.id, added);
      } else if (part.kind === "result") {
        const key = open.get(part.id);
        // What failed has written nothing.
        if (key !== undefined && part.isError) parts.delete(key);
        open.delete(part.id);
      }
    }
  }
  const recent = [...parts.values()].filter(({ touched }) => messages - touched <= OLDEST);
  // In a thread without files and commands, what the model said is all that it has made.
  const made = recent.filter(({ kind }) => kind !== "said");
  return { messages, parts: (made.length > 0 ? made : recent).slice(-MOST_PARTS) };
}

/** What a compaction has stored; nothing where it can't be read. */
export function readWork(stored: unknown): Work {
  if (!isRecord(stored) || !Array.isArray(stored["parts"])) return NO_WORK;
  const { messages } = stored;
  const parts = stored["parts"].filter(isPart);
  return { messages: typeof messages === "number" ? messages : 0, parts };
}

interface WorkPosition {
  readonly seq: number;
  readonly part: number;
  readonly touched: number;
}

/** The key of the part it adds; null when the call wrote nothing. */
function take(parts: Map<string, WorkPart>, call: CallPart, place: WorkPosition): string | null {
  const { seq, part, touched } = place;
  const meaning = readCall(call);
  if (meaning.kind === "other") return null;
  const acts = meaning.kind === "shell" ? commandEffects(meaning.command).files : meaning.acts;
  for (const act of acts) {
    // What was removed is often written anew: it is what the model works from until then.
    if (act.act === "write") drop(parts, act.path);
    else if (act.act === "move") rename(parts, act.path, act.to, touched);
    else if (act.act !== "delete") touch(parts, act.path, touched);
  }
  if (writtenText(call) === null) return null;
  const [first] = acts;
  const kind = meaning.kind === "shell" ? "command" : first?.act === "write" ? "write" : "edit";
  const added = { seq, part, kind, path: kind === "command" ? null : (first?.path ?? null), touched } as const;
  parts.set(keyOf(added), added);
  return keyOf(added);
}

function drop(parts: Map<string, WorkPart>, path: string): void {
  for (const [key, part] of parts) if (part.path === path) parts.delete(key);
}

function touch(parts: Map<string, WorkPart>, path: string, touched: number): void {
  for (const [key, part] of parts) if (part.path === path) parts.set(key, { ...part, touched });
}

function rename(parts: Map<string, WorkPart>, from: string, to: string, touched: number): void {
  for (const [key, part] of parts) if (part.path === from) parts.set(key, { ...part, path: to, touched });
}

function keyOf({ seq, part }: Pick<WorkPart, "seq" | "part">): string {
  return `${seq}:${part}`;
}

function isPart(value: unknown): value is WorkPart {
  if (!isRecord(value)) return false;
  const { seq, part, kind, path, touched } = value;
  const numbers = [seq, part, touched].every((number) => Number.isSafeInteger(number));
  return numbers && KINDS.includes(kind as WorkKind) && (path === null || typeof path === "string");
}

/*
 * Quotes what the model has written, word for word, within a token limit: what was touched lately first, files and edits
 * before commands. A part stands whole, or its first lines stand and say so.
 */

/** The heading by which the quotes are found again in a summary's text. */
export const WORK_HEADING = "## Written by you and still standing, word for word";

export interface QuotedWork {
  /** "" when there is nothing to quote. */
  readonly text: string;
  readonly tokens: number;
}

export const NO_QUOTES: QuotedWork = { text: "", tokens: 0 };

interface QuoteOptions {
  readonly maxTokens: number;
  readonly count: (text: string) => number;
  /** What a part says; null when it can't be read any more. */
  readonly text: (part: WorkPart) => string | null;
}

/** How much likelier than one another they are used again, and after how many messages that has halved. */
const WORTH: Readonly<Record<WorkKind, number>> = { write: 3, edit: 3, command: 2, said: 1.5 };
const HALF_LIFE = 60;
/** What has been left alone for so long is no longer quoted, so that an idle thread gets shorter. */
const LEAST_WORTH = 0.75;

/** The parts that may be quoted, the likeliest first. */
export function quotable({ messages, parts }: Work): readonly WorkPart[] {
  const worth = ({ kind, touched }: WorkPart): number => WORTH[kind] * 2 ** ((touched - messages) / HALF_LIFE);
  return parts
    .map((part) => ({ part, worth: worth(part) }))
    .filter((each) => each.worth >= LEAST_WORTH)
    .sort((a, b) => b.worth - a.worth || b.part.seq - a.part.seq)
    .map(({ part }) => part);
}

/** A summary's own words and the quotes behind them; "" when there are none. */
export function splitQuotes(text: string): readonly [words: string, quotes: string] {
  const at = text.indexOf(`\n\n${WORK_HEADING}\n`);
  return at === -1 ? [text, ""] : [text.slice(0, at), text.slice(at + 2)];
}

export function quoteWork(work: Work, options: QuoteOptions): QuotedWork {
  return atOnce(quoteSteps(work, options));
}

/** Work in steps, for who has nothing else to do meanwhile. */
export function atOnce<T>(work: Generator<void, T>): T {
  for (;;) {
    const step = work.next();
    if (step.done === true) return step.value;
  }
}

/** The model's own words in a part of a message; null when it has none. */
export function ownText(part: Part | undefined): string | null {
  if (part?.kind === "text") return part.text.trim() === "" ? null : part.text;
  return part?.kind === "call" ? writtenText(part) : null;
}

/** Yields after each text that was looked at. */
export function* quoteSteps(work: Work, { maxTokens, count, text }: QuoteOptions): Generator<void, QuotedWork> {
  let left = maxTokens - count(`${WORK_HEADING}\n\n`);
  const quotes = new Map<WorkPart, string>();
  const texts = new Set<string>();
  for (const part of quotable(work)) {
    const said = text(part);
    if (said === null || texts.has(said)) continue;
    texts.add(said);
    const quote = quoteWithin(part, said, { room: left, count });
    yield;
    if (quote === null) continue;
    left -= count(`${quote}\n`);
    quotes.set(part, quote);
  }
  if (quotes.size === 0) return NO_QUOTES;
  const ordered = [...quotes].sort(([a], [b]) => a.seq - b.seq || a.part - b.part).map(([, quote]) => quote);
  const whole = [WORK_HEADING, ...ordered].join("\n");
  return { text: whole, tokens: count(`\n\n${whole}`) };
}

/** Less of a part than this tells nothing. */
const LEAST_CUT = 200;

/** Whole, or else as many of its first lines as there is room for; null when that is too little. */
function quoteWithin(
  part: WorkPart,
  text: string,
  { room, count }: { room: number; count: (text: string) => number },
): string | null {
  // Counting megabytes to find them too long would take a while.
  if (text.length / 20 <= room) {
    const whole = quoted(part, text, "");
    if (count(`${whole}\n`) <= room) return whole;
  }
  if (room < LEAST_CUT) return null;
  for (let characters = room * 5; characters >= LEAST_CUT; characters *= 0.8) {
    const head = text.slice(0, characters);
    const end = head.lastIndexOf("\n");
    if (end < 0) return null;
    const lines = head.slice(0, end);
    const quote = quoted(part, lines, `, its first ${lines.split("\n").length} of ${text.split("\n").length} lines`);
    if (count(`${quote}\n`) <= room) return quote;
  }
  return null;
}

function quoted({ seq, kind, path }: WorkPart, text: string, extent: string): string {
  return `[${seq}] ${path === null ? kind : `${kind} ${path}`}${extent}\n${fenced(text)}`;
}

/*
 * The names, numbers and paths of a conversation, by how many messages of the assistant use them: what it has used often it
 * uses again. Counted on from one compaction to the next; bounded.
 */

/** With the number of messages of the assistant that hold it, and of messages in all. */
export type UsedName = readonly [name: string, used: number, seen: number];

/** What a state remembers, in characters. */
const MOST_CHARACTERS = 6000;
/** Names per message that take part; a listing of megabytes has more than a summary could ever name. */
const MOST_PER_MESSAGE = 2000;
const LONGEST_NAME = 120;
/** Of one text, in characters; and of one block, the newest messages. */
const MOST_READ = 100_000;
const MOST_MESSAGES = 2000;

/** In the order in which they first came, so that little of a stored list changes. Yields after each text. */
export function* extendNames<M>(
  prior: readonly UsedName[],
  entries: readonly NumberedMessage<M>[],
  shape: Shape<M>,
): Generator<void, readonly UsedName[]> {
  const names = new Map(prior.map((each) => [each[0], each]));
  for (const { message } of entries.slice(-MOST_MESSAGES)) {
    const role = shape.role(message);
    if (role === "system") continue;
    for (const name of yield* namesOf(message, shape)) {
      const [, used, seen] = names.get(name) ?? [name, 0, 0];
      names.set(name, [name, used + (role === "assistant" ? 1 : 0), seen + 1]);
    }
  }
  return bounded([...names.values()]);
}

/** The likeliest to be used again first. What was seen once goes last; of equals the newer one is likelier. */
export function byUse(names: readonly UsedName[]): readonly UsedName[] {
  return names
    .map((each, index) => ({ each, index, score: scoreOf(each) }))
    .sort((a, b) => b.score - a.score || b.index - a.index)
    .map(({ each }) => each);
}

/** What a compaction has stored; nothing where it can't be read. */
export function readNames(stored: unknown): readonly UsedName[] {
  return Array.isArray(stored) ? stored.filter(isUsedName) : [];
}

/** The names of messages. Yields after each text. */
export function* namesOfAll<M>(messages: readonly NumberedMessage<M>[], shape: Shape<M>): Generator<void, Set<string>> {
  const names = new Set<string>();
  for (const { message } of messages) for (const name of yield* namesOf(message, shape)) names.add(name);
  return names;
}

/** The names of a message, each once. The keys of JSON come back in every result, and name nothing. */
function* namesOf<M>(message: M, shape: Shape<M>): Generator<void, ReadonlySet<string>> {
  const names = new Set<string>();
  for (const part of shape.parts(message)) {
    // A listing of megabytes would keep the process busy for names that are never used.
    const text = part.kind === "call" ? part.input : "text" in part ? part.text : "";
    const read = redactSecrets(text.slice(0, MOST_READ)).text;
    const beginning = part.kind === "call" ? read.replaceAll(/\\[nrt"]/g, " ") : read;
    const values = part.kind === "text" ? beginning : beginning.replaceAll(KEYS, " ");
    for (const name of namesIn(values)) {
      if (!isTelling(name) || name.written.length > LONGEST_NAME) continue;
      names.add(name.written);
      if (names.size >= MOST_PER_MESSAGE) return names;
    }
    yield;
  }
  return names;
}

const KEYS = /"[\w.$-]{1,100}" ?:/g;

function scoreOf([, used, seen]: UsedName): number {
  return used + seen / 10;
}

function bounded(names: readonly UsedName[]): readonly UsedName[] {
  if (charactersIn(names) <= MOST_CHARACTERS) return names;
  let left = MOST_CHARACTERS;
  const kept = new Set<UsedName>();
  for (const each of byUse(names)) {
    left -= each[0].length + 2;
    if (left < 0) break;
    kept.add(each);
  }
  return names.filter((each) => kept.has(each));
}

function charactersIn(names: readonly UsedName[]): number {
  return names.reduce((sum, [name]) => sum + name.length + 2, 0);
}

function isUsedName(value: unknown): value is UsedName {
  if (!Array.isArray(value)) return false;
  const [name, ...counts] = value as unknown[];
  return typeof name === "string" && counts.length === 2 && counts.every(Number.isFinite);
}
