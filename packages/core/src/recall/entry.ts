/**
 * Makes the index entry of one message: terms of its text, of its speaker's name and of its date, and of the extra keys it
 * may be found under. Also says where the entry stands: its ordinal, and which session it belongs to.
 */
import type { Origin } from "../log/record.ts";
import { speakerName, typedText } from "../message/dialects.ts";
import type { ToolFacts } from "../message/rules.ts";
import type { Part, Role, Shape } from "../message/shape.ts";
import { analyze, eachTerm, fold, QUESTION_WORDS } from "../text/analyze.ts";
import { membersOf, mentionsFailure } from "../text/names.ts";
import { stem } from "../text/words.ts";
import type { IndexEntry, Placement } from "./port.ts";
import { asksTime, dateWords, namesTime, relativeDates, type StatedDate, statedDates } from "./precedence.ts";
import { STANDING_TERM, standingSentences, TYPED_TERM } from "./standing.ts";
import { splitUnits } from "./units.ts";

export interface EntrySource {
  readonly text: string;
  /** A person's name, or the role. */
  readonly speaker: string;
  /** Where the speaker is a name. */
  readonly role?: string | undefined;
  /** ISO 8601. */
  readonly at: string;
  /** What a person typed in this thread (standing.ts); all of the text, where the speaker is the user, unless told. */
  readonly typed?: string | undefined;
  /** Text that stands beside the message and describes it, such as the caption of an image. */
  readonly aside?: string;
  /** Facts or notes that were drawn from this message: it is found under their words too. */
  readonly keys?: readonly string[];
}

export function indexEntry(source: EntrySource): IndexEntry {
  const terms = new Map<string, number>();
  let length = 0;
  const add = (text: string, weight: number, counts: "counts" | "free"): void =>
    eachTerm(text, (term, own) => {
      terms.set(term, (terms.get(term) ?? 0) + own * weight);
      if (counts === "counts") length += own * weight;
    });
  const passages = addText(source.text, add);
  add(source.aside ?? "", ASIDE_WEIGHT, "counts");
  if (!ROLES.has(source.speaker)) add(source.speaker, 1, "counts");
  add(dateWords(source.at), 1, "counts");
  add(relativeDates(source.text, source.at), 1, "free");
  if (namesTime(source.text)) terms.set(TIME_TERM, 1);
  for (const term of standingTerms(source)) terms.set(term, 1);
  for (const key of source.keys ?? []) add(key, KEY_WEIGHT, "free");
  for (const [term, weight] of terms) {
    const hundredths = Math.min(MOST_HUNDREDTHS, Math.round(weight * 100));
    // Not `weight * 100`: 0.8999999999999999 times 100 is 90, and a store gives 0.9 back.
    if (hundredths / 100 !== weight) terms.set(term, hundredths / 100);
  }
  const { speaker, at } = source;
  const own = { speaker, at, length: Math.round(length), asks: ASKS.test(source.text), terms };
  return passages.size === 0 || length <= SHORT_LENGTH ? own : { ...own, passages };
}

function standingTerms({
  text,
  speaker,
  role = speaker,
  typed = speaker === "user" ? text : "",
}: EntrySource): string[] {
  if (role !== "user" || standingSentences(text).length === 0) return [];
  return typed === text || standingSentences(typed).length > 0 ? [STANDING_TERM, TYPED_TERM] : [STANDING_TERM];
}

/** Terms of the text, and in which of its passages each of them stands. */
function addText(text: string, add: (text: string, weight: number, counts: "counts") => void): Map<string, number> {
  const passages = new Map<string, number>();
  const starts = passageStarts(text);
  if (starts.length === 1) {
    add(text, 1, "counts");
    return passages;
  }
  for (const [passage, start] of starts.entries()) {
    const part = text.slice(start, starts[passage + 1]);
    add(part, 1, "counts");
    eachTerm(part, (term) => passages.set(term, (passages.get(term) ?? 0) | (1 << passage)));
  }
  // What stands nearly everywhere tells no passage from another.
  for (const [term, bits] of passages) if (3 * countOf(bits) > 2 * starts.length) passages.delete(term);
  return passages;
}

/** In indexed words: up to here a message is one passage, and shares terms with its neighbors (rank.ts). */
export const SHORT_LENGTH = 60;

/** A pause longer than this begins a new session. */
const SESSION_GAP_MS = 4 * 60 * 60 * 1000;

/** The place after `previous`, the thread's newest entry; null for the first. */
export function place(previous: Placement | null, at: string): Placement {
  if (previous === null) return { ordinal: 0, session: 0, at };
  const pause = Date.parse(at) - Date.parse(previous.at);
  const session = Math.abs(pause) > SESSION_GAP_MS ? previous.session + 1 : previous.session;
  return { ordinal: previous.ordinal + 1, session, at };
}

const [ASIDE_WEIGHT, KEY_WEIGHT] = [0.6, 0.5] as const;
/** Role names are words of many texts (`the user table`), so they are matched as speakers only, not as terms. */
const ROLES: ReadonlySet<string> = new Set(["system", "user", "assistant", "tool"]);
const ASKS = /[?\uff1f\u061f]/;

// Reads a question: which terms it asks for and how much each counts, which identifiers it quotes, which dates it
// states, whether it asks for a time. Nothing in it is ever an operator; quotes, stars and brackets are separators
// like any other. Total on every string.

export interface RecallQuery {
  readonly terms: readonly QueryTerm[];
  readonly dates: readonly StatedDate[];
  /** Folded words as written, for the names of speakers. */
  readonly words: ReadonlySet<string>;
  /** Whose words are asked for, where the question says so: "what did you recommend", "have I mentioned". */
  readonly asks: "assistant" | "user" | null;
}

export interface QueryTerm {
  readonly term: string;
  /** 0: it finds nothing by itself. */
  readonly weight: number;
  /** An identifier quoted whole: an entry that holds it comes first. */
  readonly exact: boolean;
  /** It counts where it stands: neighbors get no share of it. Such terms come last. */
  readonly alone: boolean;
}

/** Of a longer question the first terms count; the cost of a search stays bounded whatever is pasted. */
const MAX_TERMS = 64;
const MAX_READ_QUESTION = 10_000;
const PART_WEIGHT = 0.3;
const QUESTION_WORD_WEIGHT = 0.4;
/** What is of a kind that the question names, against the word itself. */
const MEMBER_WEIGHT = 0.3;
/** Held by every entry that names a time. No word begins with such a sign, so no text can hold it by chance. */
export const TIME_TERM = "@time";

export function analyzeQuery(question: string): RecallQuery {
  const text = question.slice(0, MAX_READ_QUESTION);
  const terms = new Map<string, QueryTerm>();
  for (const { term, kind, weight: own } of analyze(text)) {
    const questionWeight = QUESTION_STEMS.has(term) ? QUESTION_WORD_WEIGHT : 1;
    const weight = kind === "part" ? PART_WEIGHT * questionWeight : own * questionWeight;
    const before = terms.get(term);
    if (before === undefined && terms.size >= MAX_TERMS) continue;
    const exact = kind === "identifier" && isStrict(term);
    terms.set(term, {
      term,
      weight: Math.max(weight, before?.weight ?? 0),
      exact: exact || before?.exact === true,
      alone: false,
    });
  }
  for (const { term, weight } of [...terms.values()]) {
    for (const member of membersOf(term)) {
      if (!terms.has(member) && terms.size < MAX_TERMS)
        terms.set(member, { term: member, weight: weight * MEMBER_WEIGHT, exact: false, alone: true });
    }
  }
  const always = [STANDING_TERM, TYPED_TERM];
  const marks = terms.size === 0 ? [] : asksTime(text) ? [TIME_TERM, ...always] : always;
  for (const term of marks) terms.set(term, { term, weight: 0, exact: false, alone: true });
  const words = new Set(
    fold(text)
      .split(/[^\p{L}\p{M}\p{N}]+/u)
      .filter((word) => word !== ""),
  );
  const asks = ASKS_ASSISTANT.test(text) ? "assistant" : ASKS_USER.test(text) ? "user" : null;
  return { terms: [...terms.values()], dates: statedDates(text), words, asks };
}

const ASKS_ASSISTANT =
  /\b(?:did|have|had) you\b|\byou(?:'ve| have| had)? (?:recommended|suggested|advised|proposed|explained|said|told|gave|provided|offered|described|listed|showed|walked)\b|\byour (?:advice|recommendations?|suggestions?|answers?|explanation|response)\b/i;
const ASKS_USER =
  /\b(?:did|have|had) I\b|\bI(?:'ve| have| had)? (?:brought up|mentioned|said|told|asked|described|listed|discussed|raised|wrote|shared|explained|talked)\b|\bmy (?:messages?|questions?|requests?|conversations?)\b/i;

const QUESTION_STEMS: ReadonlySet<string> = new Set([...QUESTION_WORDS].map(stem));

/** A separator or a digit among letters: that is not written by chance. A brand's inner capital is not enough. */
function isStrict(term: string): boolean {
  return /[_./:\\@#]/.test(term) || (/\d/.test(term) && /\p{L}/u.test(term)) || /^\d{4}-\d{2}-\d{2}/.test(term);
}

// Which text of a message is indexed: its words, the names and inputs of its calls, its results. Of a huge text the
// head, the tail, and between them the lines that report errors and the identifiers. Echoes give nothing: what search
// itself put into the conversation must not be found again as if somebody had said it.

/** Longest text of one message that is indexed whole, in characters. */
export const INDEXED_CHARACTERS = 16_000;
/** Of a longer part only so many characters are looked at, half of them at its end. */
const READ_CHARACTERS = 1_000_000;

export interface Indexable {
  readonly text: string;
  /** Who speaks: the message's own `name` where it has one, else its role. */
  readonly speaker: string;
  readonly role: Role;
  /** What a person typed in this thread; else empty. */
  readonly typed: string;
}

export interface IndexableOptions {
  readonly origin: Origin;
  /** By id, from the calls before: a result that doesn't name its tool is known by its call. */
  readonly call?: (id: string) => ReadCall | undefined;
}

/** Null when nothing in the message is to be indexed: an echo, a system prompt, no text at all. */
export function indexableText<M>(message: M, shape: Shape<M>, options: IndexableOptions): Indexable | null {
  const role = shape.role(message);
  if (options.origin === "injected" || role === "system") return null;
  const texts: string[] = [];
  for (const part of shape.parts(message)) {
    const text = partText(shortened(part), options);
    if (text.trim() !== "") texts.push(text);
  }
  if (texts.length === 0) return null;
  const share = Math.max(1_000, Math.floor(INDEXED_CHARACTERS / texts.length));
  return {
    text: texts.map((text) => condense(text, share)).join("\n"),
    speaker: speakerName(message) ?? role,
    role,
    typed: typedText(message, shape, options.origin),
  };
}

function shortened(part: Part): Part {
  if (part.kind === "call") return { ...part, input: bothEnds(part.input) };
  return part.kind === "text" || part.kind === "result" ? { ...part, text: bothEnds(part.text) } : part;
}

function bothEnds(text: string): string {
  const side = READ_CHARACTERS / 2;
  return text.length <= READ_CHARACTERS ? text : `${text.slice(0, side)}\n${text.slice(-side)}`;
}

interface ReadCall {
  readonly input: string;
  readonly facts?: ToolFacts | undefined;
}

/** A call that reads the past, whose result is therefore an echo. */
export function isEcho({ facts, input }: ReadCall): boolean {
  return facts?.answers === "history" || HISTORY_PATH.test(input);
}

const HISTORY_PATH = /(?:^|["'\s/=:])history\/(?:part-|["'\s*]|$)|\/mnt\/user-data\/history\b/;

function partText(part: Part, options: IndexableOptions): string {
  switch (part.kind) {
    case "text":
      return part.text;
    case "call":
      return isEcho(part) ? "" : `${part.name} ${readable(part.input)}`;
    case "result": {
      const { facts = part.facts, input = "" } = options.call?.(part.id) ?? {};
      return isEcho({ facts, input }) ? "" : part.text;
    }
    case "file":
      return part.name ?? "";
    case "reasoning":
    case "image":
    case "other":
      return "";
  }
}

/** JSON inputs as their values and keys; escaped line ends would glue words together. */
function readable(input: string): string {
  return input.replace(/\\[nrt]/g, " ").replace(/\\(["\\/])/g, "$1");
}

function condense(text: string, limit: number): string {
  if (text.length <= limit) return text;
  const side = Math.floor(limit * 0.35);
  const middle = text.slice(side, text.length - side);
  let room = limit - 2 * side;
  const samples = new Set<string>();
  const keep = (text: string): void => {
    if (text.length > room) return;
    room -= text.length + 1;
    samples.add(text);
  };
  const lines = middle.split("\n");
  for (const line of lines) if (mentionsFailure(line.slice(0, 300))) keep(line.slice(0, 300));
  for (const [word] of middle.matchAll(RUN)) if (room > 0 && !samples.has(word) && PROGRAM_WORD.test(word)) keep(word);
  return [text.slice(0, side), ...samples, text.slice(text.length - side)].join("\n");
}

const RUN = /[\w./\\-]{3,200}/g;
/** Words that only a program writes: paths, snake and camel case, error codes. */
const PROGRAM_WORD = /\w[/\\_]\w|[a-z][A-Z]|^[A-Z]{1,6}\d{2,8}$|\w\.[a-z]{1,4}$/;

// Cuts a long message into passages of some sentences, so that it is found by what one place of it says, not by words
// that stand far apart. A term's passages are a set of bits. Pure, linear.

/** So many fit into what a store keeps beside a weight; of a longer message they are longer. */
export const MOST_PASSAGES = 12;
const PASSAGE_CHARACTERS = 500;
/** The largest weight that a store keeps beside passages, in hundredths. */
const MOST_HUNDREDTHS = 2 ** 18 - 1;

/** Where each passage begins, in order; a single one where the text is not much longer than that. */
export function passageStarts(text: string): number[] {
  const size = Math.max(PASSAGE_CHARACTERS, Math.ceil((1.2 * text.length) / MOST_PASSAGES));
  const starts = [0];
  if (text.length <= size) return starts;
  for (const { at, end } of splitUnits(text, size))
    if (end - starts.at(-1)! > size && at > starts.at(-1)! && starts.length < MOST_PASSAGES) starts.push(at);
  return starts;
}

/** How many passages are in the set. */
export function countOf(bits: number): number {
  let count = 0;
  for (let rest = bits; rest !== 0; rest &= rest - 1) count += 1;
  return count;
}
