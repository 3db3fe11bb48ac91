/**
 * The counter that needs no table: characters over a rate. Text that is denser than prose is charged more, because a
 * plain rate loses more than half of it: CJK, kana, hangul and emoji by the character, other scripts and symbols by
 * about two, hashes and base64 by two.
 */
export type CountText = (text: string) => number;

/** One token per `n` characters (UTF-16 units) of ordinary text, rounded up. */
export function charsPerToken(n: number): CountText {
  if (!(n > 0)) throw new RangeError(`charsPerToken needs a number above 0, not ${n}.`);
  const rate = { plain: 1 / n, script: Math.max(0.45, 1 / n), wide: Math.max(1, 1 / n), hash: Math.max(0.5, 1 / n) };
  return (text) => {
    const { script, wide, hash } = denser(text);
    const plain = text.length - script - wide - hash;
    // The tenth decimal is floating-point noise: 33 characters at 3.3 are 10 tokens.
    const tokens = plain * rate.plain + script * rate.script + wide * rate.wide + hash * rate.hash;
    return Math.max(0, Math.ceil(tokens - 1e-9));
  };
}

interface Denser {
  readonly script: number;
  readonly wide: number;
  readonly hash: number;
}

/** Shorter runs of letters and digits are words, versions or ids that a tokenizer knows. */
const SHORTEST_HASH = 16;

/** How many characters are of each dense kind. One pass: a thread of megabytes is counted in milliseconds. */
function denser(text: string): Denser {
  let script = 0;
  let wide = 0;
  let hash = 0;
  let start = 0;
  let switches = 0;
  let last = 0;
  for (let at = 0; at <= text.length; at += 1) {
    const code = at < text.length ? text.charCodeAt(at) : 0;
    const kind = code < 128 ? KINDS[code]! : 0;
    if (kind !== 0) {
      if (kind !== last) switches += 1;
      last = kind;
      continue;
    }
    // Letters and digits in turn, and no word in between: nothing a tokenizer has a long token for.
    const run = at - start;
    if (run >= SHORTEST_HASH && (switches - 1) * 8 >= run) hash += run;
    start = at + 1;
    switches = 0;
    last = 0;
    if (code >= 0x2e80) wide += 1;
    else if (code >= 0x370) script += 1;
  }
  return { script, wide, hash };
}

/** By character code: 1 for a letter, 2 for a digit, 0 for the rest. A table, because this runs for every character. */
const KINDS = Uint8Array.from({ length: 128 }, (_, code) => {
  const char = String.fromCharCode(code);
  return /[a-z]/i.test(char) ? 1 : /\d/.test(char) ? 2 : 0;
});
