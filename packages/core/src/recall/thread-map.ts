/**
 * The map of a thread: what was talked about, in order, a line for each stretch of the conversation. Made without a model from the
 * requests alone, and extended message by message, so that an append costs only what it adds. A stretch is a few exchanges
 * on one subject; of a long piece of work by tools it is some of its steps. Pure.
 */
import { analyze } from "../text/analyze.ts";
import { flatten, lastStep, namesIn } from "../text/names.ts";
import { place } from "./entry.ts";
import type { Placement } from "./port.ts";

export interface MapMessage {
  readonly seq: number;
  readonly role: string;
  /** ISO 8601. */
  readonly at: string;
  /** What was said, without inputs and results of tools. */
  readonly words: string;
  /** Inputs of tool calls: the files that a stretch worked on are read from them. */
  readonly inputs?: readonly string[];
}

export interface MapLine {
  readonly from: number;
  readonly to: number;
  /** ISO 8601, of its first message. */
  readonly at: string;
  /** What was asked for, in the words of the request. */
  readonly label: string;
  /** Files it worked on most, by their last step. */
  readonly files: readonly string[];
  /** What came of it, for work with tools; empty for talk. */
  readonly result: string;
}

export interface ThreadMap {
  add(message: MapMessage): void;
  /** In order of time. */
  lines(): readonly MapLine[];
}

const MAX_EXCHANGES = 4;
/** An exchange with more messages is work by tools: it continues in another stretch. */
const MAX_MESSAGES = 40;
/** From here on two requests are about one subject. */
const SAME_SUBJECT = 0.1;
/** A short request shares few words with anything: it need only touch the subject. One of a few words leans on what was before. */
const SHORT_REQUEST = 12;
const TOUCHES = 0.05;
const FEW_WORDS = 4;
const LABEL = 80;
const RESULT = 80;
const FILES = 2;

interface MapStretch {
  readonly from: number;
  to: number;
  readonly at: string;
  readonly label: string;
  readonly session: number;
  exchanges: number;
  messages: number;
  /** Terms of its last request that says what it is about. */
  subject: ReadonlyMap<string, number>;
  readonly files: Map<string, number>;
  result: string;
}

export function createThreadMap(): ThreadMap {
  const stretches: MapStretch[] = [];
  const held = new Map<string, number>();
  let requests = 0;
  let placed: Placement | null = null;

  const begin = (message: MapMessage, session: number, subject: ReadonlyMap<string, number>): void => {
    const { seq, at, words } = message;
    stretches.push({
      from: seq,
      to: seq,
      at,
      label: labelOf(words),
      session,
      exchanges: 1,
      messages: 0,
      subject,
      files: new Map(),
      result: "",
    });
  };

  const request = (message: MapMessage, session: number): void => {
    const terms = termsOf(message.words);
    const last = stretches.at(-1);
    const leans = terms.size <= FEW_WORDS || FOLLOW_UP.test(message.words.trim());
    const enough = terms.size <= SHORT_REQUEST ? TOUCHES : SAME_SUBJECT;
    const joins =
      last !== undefined &&
      last.session === session &&
      last.exchanges < MAX_EXCHANGES &&
      last.messages < MAX_MESSAGES &&
      (leans || closeness(terms, last.subject, { held, requests }) >= enough);
    requests += 1;
    for (const term of terms.keys()) held.set(term, (held.get(term) ?? 0) + 1);
    if (!joins) {
      begin(message, session, terms);
      return;
    }
    last.exchanges += 1;
    if (!leans) last.subject = terms;
  };

  return {
    add(message) {
      placed = place(placed, message.at);
      const { session } = placed;
      const last = stretches.at(-1);
      const says = message.words.trim() !== "";
      if (message.role === "user" && says) request(message, session);
      else if (last === undefined || (says && last.messages >= MAX_MESSAGES))
        begin(message, session, last?.subject ?? new Map());
      extend(stretches.at(-1)!, message);
    },
    lines: () => stretches.map(lineOf),
  };
}

function extend(stretch: MapStretch, { seq, role, words, inputs = [] }: MapMessage): void {
  stretch.to = seq;
  stretch.messages += 1;
  for (const input of inputs)
    for (const { kind, text } of namesIn(input))
      if (kind === "path") stretch.files.set(lastStep(text), (stretch.files.get(lastStep(text)) ?? 0) + 1);
  if (role === "assistant" && words.trim() !== "") stretch.result = words;
}

function lineOf({ from, to, at, label, files, result }: MapStretch): MapLine {
  const most = [...files].sort(([, a], [, b]) => b - a).slice(0, FILES);
  return {
    from,
    to,
    at,
    label,
    files: most.map(([file]) => flatten(file)),
    // Of talk the answer is as long as its request; only work has an outcome worth a line.
    result: files.size === 0 ? "" : cut(firstSentence(result), RESULT),
  };
}

/** Distinct words of the request with how often they stand in it; code says little about the subject. */
function termsOf(words: string): ReadonlyMap<string, number> {
  const terms = new Map<string, number>();
  for (const { term, kind } of analyze(withoutCode(words).slice(0, 4_000)))
    if (kind !== "part") terms.set(term, (terms.get(term) ?? 0) + 1);
  return terms;
}

/** Cosine of the two requests, rare words first. */
function closeness(
  a: ReadonlyMap<string, number>,
  b: ReadonlyMap<string, number>,
  { held, requests }: { readonly held: ReadonlyMap<string, number>; readonly requests: number },
): number {
  const weight = (terms: ReadonlyMap<string, number>, term: string): number => {
    const times = terms.get(term) ?? 0;
    return times === 0 ? 0 : (1 + Math.log(times)) * Math.log(1 + (requests + 1) / ((held.get(term) ?? 0) + 0.5));
  };
  const norm = (terms: ReadonlyMap<string, number>): number =>
    Math.sqrt([...terms.keys()].reduce((sum, term) => sum + weight(terms, term) ** 2, 0));
  const product = [...a.keys()].reduce((sum, term) => sum + weight(a, term) * weight(b, term), 0);
  return product === 0 ? 0 : product / (norm(a) * norm(b));
}

const FOLLOW_UP =
  /^(?:hmm|ok|okay|thanks|thank you|sure|so|and|but|also|great|good|got it|yes|yeah|no|what if|what about|how about|then|wait|oh|ah|perfect|nice|cool|continue|go on|why)\b/i;

const OPENER =
  /^(?:(?:so|hi|hello|hey|ok|okay|well|hmm|thanks|please|also|and|now|i'm|i am|im|i've been|i have been|i was|i want to|i'd like to|i would like to|i need to|i need|i'm trying to|trying to|working on|can you|could you|would you|help me|help|with|to|kinda|really|just)[ ,]+)+/i;

/** The request without its code and its opening words, cut at a word. */
function labelOf(words: string): string {
  const flat = flatten(withoutCode(words)).trim();
  const told = flat.replace(OPENER, "");
  return cut(told.length < 20 ? flat : told, LABEL);
}

function withoutCode(words: string): string {
  return words.replace(/```[\s\S]*?(?:```|$)/g, " ");
}

function firstSentence(words: string): string {
  const flat = flatten(withoutCode(words)).trim();
  return /^.{15,}?[.!?](?=\s|$)/.exec(flat.slice(0, 400))?.[0] ?? flat;
}

function cut(text: string, characters: number): string {
  if (text.length <= characters) return text;
  const at = text.lastIndexOf(" ", characters - 1);
  return `${text.slice(0, at > characters / 2 ? at : characters - 1).replace(/[,;:.-]$/, "")}…`;
}
