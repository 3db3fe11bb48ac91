/**
 * The words by which a passage can be found again: paths, identifiers, numbers, rare words, CJK bigrams. Everything that
 * scores, cites or checks a summary speaks of these. Linear in the text, any language.
 */

/** A name that is rare by its form alone. Prose words are never probes. */
export interface Probe {
  readonly kind: "path" | "id" | "number";
  readonly text: string;
}

const TOKEN = /[A-Za-z0-9_$@~#./-]+(?:[:%+][A-Za-z0-9_$@~#./-]+)*/g;
const MAX_TOKEN = 200;

/** Paths, identifiers and numbers in order, repeats included. */
export function probes(text: string): Probe[] {
  const found: Probe[] = [];
  for (const match of text.matchAll(TOKEN)) {
    if (match[0].length > MAX_TOKEN) continue;
    // `./a.js`, `../a.js` and `a.js` are the same name to whoever looks for it; ends of sentences belong to nobody.
    const token = match[0].replace(/^(?:\.{0,2}\/(?=\.)|\.{1,2}\/|[.-](?![\w/]))+/, "").replace(/[./#-]+$/, "");
    const kind = kindOf(token);
    if (kind !== null) found.push({ kind, text: token });
  }
  return found;
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
    /^[a-z]+[A-Z]|^[A-Z][a-z0-9]+[A-Z]|[A-Za-z]_[A-Za-z0-9]|^[A-Z]{2,}\d|[A-Za-z]+\d{2,}|\d[A-Za-z-]*[a-zA-Z]{2}|#\d/.test(
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
