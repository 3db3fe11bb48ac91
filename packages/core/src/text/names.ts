/**
 * The names a conversation turns on: paths, identifiers, hashes, numbers. Purely lexical and the same for every language: it
 * must not learn from one tool's output. Linear, and by hand, because it reads all of every text.
 */
import { stem } from "./words.ts";

/** A name that is rare by its form alone. Prose words are never names. */
export interface Name {
  readonly kind: "path" | "id" | "number";
  readonly text: string;
  /** As it was written: `../a.js` is the name `a.js`. */
  readonly written: string;
}

const MAX_NAME = 200;

/** In order, repeats included. */
export function namesIn(text: string): Name[] {
  const names: Name[] = [];
  for (const token of tokensIn(text)) {
    const name = trimmed(token);
    const kind = kindOf(name);
    if (kind !== null) names.push({ kind, text: name, written: withoutEnd(token) });
  }
  return names;
}

/**
 * Each name once, in order of first appearance, with how often it occurs. A reader of a path has also seen its file's
 * name; a number of two digits tells nothing by itself.
 */
export function countNames(text: string): Map<string, number> {
  const counts = new Map<string, number>();
  const add = (name: string): void => {
    counts.set(name, (counts.get(name) ?? 0) + 1);
  };
  for (const { kind, text: name } of namesIn(text)) {
    if (kind === "number" && name.replace(/\D/g, "").length < 3) continue;
    add(name);
    const file = kind === "path" ? lastStep(name) : name;
    if (file !== name && kindOf(file) !== null) add(file);
  }
  return counts;
}

/** What a sentence of prose names: addresses, numbers but for years, and words with a capital inside the sentence. */
export function properNames(text: string): string[] {
  const addresses =
    text.match(
      /[\w.+-]{1,64}@[\w-]+\.[\w.]+|https?:\/\/\S+|(?<![\p{L}\p{N}_])[\p{L}\p{N}_-]{1,100}\.[a-z]{2,12}\b(?:\/\S*)?/giu,
    ) ?? [];
  const numbers = (text.match(/(?<![\w.])\d+(?:[.,]\d+)*/g) ?? []).filter((one) => !/^(?:19|20)\d\d$/.test(one));
  const names = [...text.matchAll(/(?<=[\p{L}\p{N},;:)"'] )\p{Lu}[\p{L}\p{N}]{2,}/gu)].map(([name]) => name);
  return [...addresses, ...numbers, ...names.filter((name) => !NO_NAMES.has(name))];
}

const NO_NAMES: ReadonlySet<string> = new Set(
  "User January February March April May June July August September October November December Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split(
    " ",
  ),
);

export function lastStep(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}

const LOWER = 1;
const UPPER = 2;
const TELLING = 3;
/** Belongs to a token only between two other characters of it. */
const JOINT = 4;
const CHARACTERS = Uint8Array.from({ length: 128 }, (_, code) => {
  const char = String.fromCharCode(code);
  if (/[a-z]/.test(char)) return LOWER;
  if (/[A-Z]/.test(char)) return UPPER;
  return /[0-9_$@~#./-]/.test(char) ? TELLING : /[:%+]/.test(char) ? JOINT : 0;
});

/** Runs of characters that could be a name: no plain words, which are most of any text. By hand: it reads all of it. */
function tokensIn(text: string): string[] {
  const names: string[] = [];
  for (let at = 0; at < text.length; at++) {
    const start = at;
    let telling = false;
    for (let kind = kindAt(text, at); kind !== 0; kind = kindAt(text, ++at)) {
      if (kind === JOINT && (at === start || kindAt(text, at + 1) % JOINT === 0)) break;
      telling ||= kind >= TELLING || (kind === UPPER && at > start);
    }
    const number = groupedNumber(text, start, at);
    if (number === null) {
      if (telling && at - start <= MAX_NAME) names.push(text.slice(start, at));
    } else {
      names.push(text.slice(...number));
      // What stands behind it may begin the next name.
      at = number[1] - 1;
    }
  }
  return names;
}

/** Bounded, so that a text of nothing but groups is read once. */
const GROUPED =
  /(?:\d{1,3}(?:[,'\u2019]\d{3}){1,6}(?:\.\d+)?|\d{1,3}(?:\.\d{3}){1,6},\d{1,9}|\d{1,3}(?: \d{3}){1,6},\d{1,9}|\d{1,3}(?:[\u00a0\u202f]\d{3}){1,6}(?:,\d{1,9})?)(?![.,'\u2019]?\d)[A-Za-z%]{0,8}/y;

/**
 * A number whose thousands are grouped, such as 1,803.20, where its first group is the token from `start` to `at`. Null for
 * everything else; so for a list or a call's arguments without blanks: `[101,102]`, `f(1,200)`.
 */
function groupedNumber(text: string, start: number, at: number): readonly [from: number, end: number] | null {
  if (at === start || !SEPARATORS.includes(text[at] ?? "x") || !isDigit(text, at + 1)) return null;
  const first = isDigit(text, start) ? start : start + 1;
  const before = text[start - 1] ?? "";
  const isCall = before === "(" && /[\w.]/.test(text[start - 2] ?? "");
  if (!isDigit(text, first) || before === "[" || before === "," || isCall) return null;
  GROUPED.lastIndex = first;
  const end = first + (GROUPED.exec(text)?.[0].length ?? 0);
  if (end <= at || text[end] === "]") return null;
  const isNegative = first > start && text[start] === "-" && !isDigit(text, start - 1);
  return [isNegative ? start : first, end];
}

const SEPARATORS = ",. '\u2019\u00a0\u202f";

function isDigit(text: string, at: number): boolean {
  const code = text.charCodeAt(at);
  return code >= 48 && code <= 57;
}

function kindAt(text: string, at: number): number {
  const code = at < text.length ? text.charCodeAt(at) : 0;
  return code < 128 ? CHARACTERS[code]! : 0;
}

/** `./a.js`, `../a.js` and `a.js` are the same name in a search; punctuation at the end of a sentence is dropped. */
function trimmed(token: string): string {
  const start = /^[./-]/.test(token) ? token.replace(/^(?:\.{0,2}\/(?=\.)|\.{1,2}\/|[.-](?![\w/]))+/, "") : token;
  return withoutEnd(start);
}

function withoutEnd(token: string): string {
  let end = token.length;
  while (end > 0 && "./#-".includes(token[end - 1]!)) end--;
  return token.slice(0, end);
}

function kindOf(token: string): Name["kind"] | null {
  if (token.length < 2) return null;
  if (/^v\d+\.\d|^#\d{2,}$/.test(token)) return "id";
  if (/^[\d.,:%+' \u2019\u00a0\u202f-]+$/.test(token)) return /\d.*\d/.test(token) ? "number" : null;
  if (token.includes("/") && token.length >= 4 && /[A-Za-z]/.test(token) && !token.includes("//")) return "path";
  if (/^[\w@$-]+(?:\.[\w-]+)*\.[A-Za-z][A-Za-z0-9]{0,4}$/.test(token) && /[A-Za-z]/.test(token[0]!)) return "path";
  if (
    /^[a-z]+[A-Z]|^[A-Z][a-z0-9]+[A-Z]|[A-Za-z]_[A-Za-z0-9]|^[A-Z]{2,}\d|[A-Za-z]\d{2}|\d[A-Za-z-]*[a-zA-Z]{2}|#\d/.test(
      token,
    )
  )
    return token.length >= 4 ? "id" : null;
  return null;
}

/*
 * Kinds of things and what belongs to them: who asks for pets looks for a dog as well. Everyday English and nothing else;
 * one way only, as who asks for a dog doesn't mean a cat.
 */

/** The stems of what is of the kind that a term names; nothing for most terms. */
export function membersOf(term: string): readonly string[] {
  return MEMBERS.get(term) ?? [];
}

/** Names of a kind, and words of that kind. */
const KINDS = `
pet: dog puppy cat kitten hamster rabbit parrot goldfish turtle lizard
animal wildlife: dog cat horse cow pig sheep goat chicken bird rabbit bear deer fox wolf elephant lion tiger monkey whale dolphin snake
instrument: guitar piano violin drum flute clarinet cello saxophone trumpet ukulele keyboard harp bass
sport athletic: basketball soccer football tennis baseball hockey volleyball golf swimming running cycling skiing surfing boxing climbing rugby cricket skating marathon
exercise workout fitness: gym running yoga jogging swimming weights cycling hiking pilates cardio stretching training
martial: karate judo taekwondo kickboxing boxing aikido wrestling
activity hobby pastime leisure: painting drawing pottery camping hiking swimming reading gardening cooking baking dancing photography knitting singing fishing chess biking yoga running writing gaming climbing
outdoor nature: hiking camping fishing climbing kayaking surfing biking skiing mountain forest trail lake beach park picnic
art artwork craft creative: painting drawing sculpture pottery photography sketch mural watercolor ceramics poem
music musical band: song concert album singer guitar piano jazz rock pop festival
dance: ballet salsa tango waltz choreography
food dish meal recipe cuisine: pizza pasta soup salad chicken beef fish rice sandwich burger curry bread cheese vegetable fruit cake sushi taco dinner lunch breakfast
dessert: cake pie cookie chocolate pudding brownie muffin pastry tart candy
snack: chips candy cookie popcorn nuts fruit chocolate soda crackers
drink beverage: coffee tea beer wine juice water soda smoothie cocktail milk lemonade
fruit: apple banana orange peach strawberry mango grape berry pear
vegetable: carrot potato tomato broccoli onion spinach pepper cucumber salad
game: chess poker cards console puzzle video multiplayer tournament
movie film: cinema theater trilogy sequel documentary actor
book: novel author series chapter memoir biography library
country nation abroad: america canada mexico brazil england britain ireland scotland france germany italy spain portugal greece sweden norway turkey india china japan korea thailand australia egypt europe
city town: york london paris tokyo rome berlin barcelona boston chicago seattle toronto sydney amsterdam francisco
state: california florida texas oregon washington colorado arizona nevada utah michigan ohio georgia virginia tennessee carolina hawaii alaska
place location destination: city town country beach mountain park museum lake island restaurant cafe
family: mother mom father dad sister brother son daughter husband wife parent kid child cousin aunt uncle grandma grandmother grandpa grandfather nephew niece
parent: mother mom father dad
sibling: sister brother
child kid: son daughter baby toddler
grandparent: grandma grandmother grandpa grandfather
spouse partner: husband wife boyfriend girlfriend fiance
relationship romantic: dating boyfriend girlfriend husband wife single married partner breakup divorce
marriage: married wedding husband wife engaged engagement honeymoon
job career profession occupation employment: work teacher engineer nurse doctor lawyer manager office company hired promotion boss colleague business
vehicle transport: car truck bike bicycle motorcycle bus train boat van plane
illness disease ailment condition: cold flu fever cancer diabetes asthma allergy migraine infection arthritis
health medical: doctor hospital diet weight medication surgery therapy checkup diagnosis sick
injury: broken sprained hurt ankle knee wrist cast accident
emotion feeling mood: happy sad angry excited nervous proud anxious scared grateful lonely upset relieved overwhelmed
furniture: sofa couch table chair desk bed shelf lamp
clothes clothing outfit: shirt dress shoes jacket hat jeans sweater coat scarf
jewelry: necklace ring bracelet earring pendant
flower plant: rose tulip sunflower lily daisy orchid succulent garden
weather: rain snow storm sunny wind cloudy hurricane flood
season: spring summer autumn fall winter
color: red blue green yellow purple orange pink black white brown
school education degree: university college class course student teacher graduate exam major
event celebration: party festival wedding parade concert conference fair fundraiser ceremony birthday tournament
holiday vacation trip travel: christmas thanksgiving beach camping flight hotel cruise tour visit
charity volunteer: donate fundraiser shelter homeless community nonprofit
religion religious faith: church prayer bible god temple mosque spiritual
device equipment gadget: phone laptop computer tablet camera headphones monitor console
gift present: necklace book flowers card watch toy ring
finance financial money: loan debt salary savings budget rent bill invest bank
home residence: house apartment moved condo neighborhood
`;

const MEMBERS: ReadonlyMap<string, readonly string[]> = new Map(
  KINDS.trim()
    .split("\n")
    .flatMap((line) => {
      const [names, members] = line.split(": ").map((half) => half.split(" ").map(stem)) as [string[], string[]];
      return names.map((name) => [name, members.filter((member) => member !== name)] as const);
    }),
);

// Finds the lines of a tool's output that say what went wrong, and the exit code it reports. Used by the ledger, the
// digests and the extract, so that the failing line of a log survives every reduction.

/** Words that mark a line as a failure. Case matters where the lower-case word is ordinary prose. */
const FAILING =
  /(?:^|[^A-Za-z])(?:[A-Za-z]*(?:Error|Exception)\b|error(?:\[\w+\])?:|error TS\d+|ERR!|FAIL(?:ED|URE)?\b|fatal:|panic:|panicked at|Traceback|AssertionError|assertion failed|E[A-Z]{4,}:|command not found|No such file or directory|Permission denied|Cannot find|cannot find|not ok \d|Segmentation fault|Killed|timed out|unresolved|undefined reference)|^\s*(?:[✗✖×❌]|E {2,})|\b[1-9]\d* (?:failed|failing|errors?)\b/u;

/** Source code and reports of success that merely name an error. */
const HARMLESS =
  /\b(?:throw new|catch \(|import .{0,200}? from|export (?:class|const|function|interface|type)|class \w+ extends|function \w*\(|(?:const|let|var) \w+ =|return new|instanceof|raise \w+\(|except \w+|def \w+\()|\b[Nn]o errors?\b|^\s*(?:\/\/|\*|#)/u;

const MAX_LINE = 300;

/** At most `max` distinct failing lines, the first ones and the last one. Linear in the text. */
export function failingLines(text: string, max: number): string[] {
  const failing: string[] = [];
  const seen = new Set<string>();
  for (const line of linesOf(text)) {
    const head = line.length > MAX_LINE * 2 ? line.slice(0, MAX_LINE * 2) : line;
    if (!isFailingLine(head)) continue;
    const excerpt = clip(head.trim(), MAX_LINE);
    if (excerpt === "" || seen.has(excerpt)) continue;
    seen.add(excerpt);
    if (failing.length < max) failing.push(excerpt);
    else failing[max - 1] = excerpt;
  }
  return failing;
}

export function isFailingLine(line: string): boolean {
  return FAILING.test(line) && !HARMLESS.test(line);
}

const FAILURE_WORD = /\b(?:error|exception|failed|failure|fatal|panic|traceback|cannot|denied|not found)\b/i;

/** Whether a line speaks of a failure at all, in prose and source code too: what a search should find. */
export function mentionsFailure(line: string): boolean {
  return FAILURE_WORD.test(line);
}

const EXIT_IN_JSON = /"(?:exit_?code|return_?code|status_?code)"\s*:\s*(-?\d{1,3})\b/gi;
const EXIT_LINE =
  /^[[({<]*(?:(?:the )?(?:command|process|shell|program|script) )?(?:(?:failed|finished|completed) )?(?:with )?(?:exited with(?: code| status)?|exit[ _-]?(?:code|status)|return ?code)\s*(?:[:=>]\s*)?(-?\d{1,3})\b|^[[(<]exit(?:ed)?\s*(?:[:=>]\s*)?(-?\d{1,3})[\])>]/gim;

/** The exit code a tool reports at the start or end of its output, on a line of its own; null when it reports none. */
export function exitCode(text: string): number | null {
  const edges = text.length > 1200 ? `${text.slice(0, 600)}\n${text.slice(-600)}` : text;
  // Printed source code speaks of exit codes too, so a mention inside a line counts only where the whole is JSON.
  const pattern = /^\s*\{/.test(text) ? EXIT_IN_JSON : EXIT_LINE;
  const match = [...edges.matchAll(pattern)].at(-1);
  return match === undefined ? null : Number(match[1] ?? match[2]);
}

/** Lines without copying the text first. */
export function* linesOf(text: string): Generator<string> {
  let start = 0;
  while (start <= text.length) {
    const end = text.indexOf("\n", start);
    if (end === -1) {
      yield text.slice(start);
      return;
    }
    yield text.slice(start, text.charCodeAt(end - 1) === 13 ? end - 1 : end);
    start = end + 1;
  }
}

/*
 * Cuts a text into sentences and lines worth quoting, in any language. Fenced code is passed over; list items and
 * headings stand alone. Linear, and each sentence is capped, so one 5 MB line costs no more than its scan.
 */

const MAX_SENTENCE = 320;

export function sentences(text: string): string[] {
  const parts: string[] = [];
  let inFence = false;
  for (const raw of linesOf(text)) {
    if (/^\s*(?:```|~~~)/.test(raw)) {
      inFence = !inFence;
      continue;
    }
    if (inFence) continue;
    for (const piece of split(raw)) {
      const sentence = piece.replace(/^\s*(?:[-*+•]|\d{1,2}[.)]|#{1,6}|>)\s+/, "").trim();
      if (sentence.length > 1) parts.push(clip(sentence, MAX_SENTENCE));
    }
  }
  return parts;
}

/** Ends at . ! ? followed by a space and at the full-width marks; a dot inside a number or a path is no end. */
function split(line: string): string[] {
  if (line.length <= 40) return [line];
  const pieces: string[] = [];
  let start = 0;
  for (const match of line.matchAll(/[.!?]["'”’)\]]*(?=\s)|[。！？；]["」』”]*/gu)) {
    const end = match.index + match[0].length;
    // "e.g. this" and "1. that" are not ends.
    if (end - start < 12 || /(?:^|\s)(?:e\.g|i\.e|etc|vs|cf|\d+)\.$/.test(line.slice(Math.max(0, end - 6), end)))
      continue;
    pieces.push(line.slice(start, end));
    start = end;
  }
  if (start < line.length) pieces.push(line.slice(start));
  return pieces;
}

/** At most `maxChars` UTF-16 units, marked when cut, never through a surrogate pair. */
export function clip(text: string, maxChars: number): string {
  if (text.length <= maxChars) return text;
  let end = Math.max(0, maxChars - 1);
  const unit = text.charCodeAt(end - 1);
  if (unit >= 0xd800 && unit <= 0xdbff) end--;
  return `${text.slice(0, end)}…`;
}

/** Text is never cut before one: it would part a pair. */
export function isLowSurrogate(code: number): boolean {
  return code >= 0xdc00 && code <= 0xdfff;
}

/** One line, no control characters, capped without splitting a character. */
export function oneLine(text: string, maxChars: number): string {
  // A long text is cut first, so that a 5 MB item costs no more than a short one.
  const head = text.length > maxChars * 4 ? text.slice(0, maxChars * 4) : text;
  return clip(flatten(head).trim(), maxChars);
}

/** All white space, line breaks of every kind, control characters and direction marks as single blanks. */
export function flatten(text: string): string {
  return text.replaceAll(/[\s\p{Cc}\u200b\u200e\u200f\u202a-\u202e\u2060\u2066-\u2069]+/gu, " ");
}

/** Whether a value that came from outside has fields: an object that is no list. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** What was thrown, in words; anything can be. */
export function errorText(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** The code of what was thrown, such as Node's ENOENT; null if it has none. */
export function errorCode(error: unknown): string | null {
  return isRecord(error) && typeof error["code"] === "string" ? error["code"] : null;
}

const HOUR = 3_600_000;
const LONG_HOURS = 6;

/** One line where more than six hours lie between two times (ISO 8601); null otherwise, and where one is no time. */
export function timePassed(before: { readonly at: string }, { at }: { readonly at: string }): string | null {
  // Nearly always both are of the same hour.
  if (at.length >= 13 && before.at.startsWith(at.slice(0, 13))) return null;
  const hours = Math.floor((Date.parse(at) - Date.parse(before.at)) / HOUR);
  if (!(hours >= LONG_HOURS) || Date.parse(at) - Date.parse(before.at) === LONG_HOURS * HOUR) return null;
  const passed = hours < 48 ? `${hours} hours` : `${Math.floor(hours / 24)} days`;
  return `[${passed} after the message before: ${new Date(at).toISOString().slice(0, 16).replace("T", " ")} UTC]`;
}
