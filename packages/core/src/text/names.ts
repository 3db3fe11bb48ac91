/**
 * The names a conversation turns on: paths, identifiers, hashes, numbers. The summary quotes them, the pruner leaves the
 * rare ones behind. Purely lexical and the same for every language: it must not learn
 * from one tool's output. Linear, and by hand, because it reads all of every text.
 */

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
    text.match(/[\w.+-]{1,64}@[\w-]+\.[\w.]+|https?:\/\/\S+|\b[\w-]{1,100}\.[a-z]{2,12}\b(?:\/\S*)?/gi) ?? [];
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
    if (telling && at - start <= MAX_NAME) names.push(text.slice(start, at));
  }
  return names;
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
  if (/^[\d.,:%+-]+$/.test(token)) return /\d.*\d/.test(token) ? "number" : null;
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
