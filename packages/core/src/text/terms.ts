/**
 * The words by which a passage can be found again: paths, identifiers, numbers, rare words, CJK bigrams. Everything that
 * scores, cites or checks a summary speaks of these. Linear in the text, any language.
 */

/** A name that is rare by its form alone. Prose words are never probes. */
export interface Probe {
  readonly kind: "path" | "id" | "number";
  readonly text: string;
}

const MAX_TOKEN = 200;

/** Paths, identifiers and numbers in order, repeats included. */
export function probes(text: string): Probe[] {
  const found: Probe[] = [];
  for (const given of tokensIn(text)) {
    const token = trimmed(given);
    const kind = kindOf(token);
    if (kind !== null) found.push({ kind, text: token });
  }
  return found;
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

/** Runs of characters that could be a probe: no plain words, which are most of any text. By hand: it reads all of it. */
function tokensIn(text: string): string[] {
  const found: string[] = [];
  for (let at = 0; at < text.length; at++) {
    const start = at;
    let telling = false;
    for (let kind = kindAt(text, at); kind !== 0; kind = kindAt(text, ++at)) {
      if (kind === JOINT && (at === start || kindAt(text, at + 1) % JOINT === 0)) break;
      telling ||= kind >= TELLING || (kind === UPPER && at > start);
    }
    if (telling && at - start <= MAX_TOKEN) found.push(text.slice(start, at));
  }
  return found;
}

function kindAt(text: string, at: number): number {
  const code = at < text.length ? text.charCodeAt(at) : 0;
  return code < 128 ? CHARACTERS[code]! : 0;
}

/** `./a.js`, `../a.js` and `a.js` are the same name to whoever looks for it; ends of sentences belong to nobody. */
function trimmed(token: string): string {
  const start = /^[./-]/.test(token) ? token.replace(/^(?:\.{0,2}\/(?=\.)|\.{1,2}\/|[.-](?![\w/]))+/, "") : token;
  let end = start.length;
  while (end > 0 && "./#-".includes(start[end - 1]!)) end--;
  return start.slice(0, end);
}

/** Every term of a text, lower case, each once: probes (and the last step of paths), words, CJK bigrams. */
export function terms(text: string): Set<string> {
  const found = new Set<string>();
  for (const probe of probes(text)) {
    found.add(probe.text.toLowerCase());
    if (probe.kind === "path") found.add(lastStep(probe.text).toLowerCase());
  }
  for (const match of text.matchAll(/[\p{L}\p{M}\p{N}_]+/gu)) {
    const word = match[0];
    if (word.length > MAX_TOKEN) {
      addBigrams(word.slice(0, 20_000), found);
    } else if (CJK.test(word)) addBigrams(word, found);
    else if (word.length >= 3) found.add(word.toLowerCase());
  }
  return found;
}

export const CJK = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}]/u;

export function lastStep(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}

function kindOf(token: string): Probe["kind"] | null {
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

function addBigrams(word: string, into: Set<string>): void {
  const letters = [...word];
  for (let at = 0; at + 1 < letters.length; at++) into.add(`${letters[at]}${letters[at + 1]}`);
  if (letters.length === 1) into.add(word);
}
