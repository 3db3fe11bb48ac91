/**
 * A counter that counts each text once: every run opens its thread anew, and most of what it holds was counted by the run
 * before. Bounded by the characters it remembers; what was asked for longest ago goes first.
 */
import type { CountText } from "@palimpsest/core/tokens";

const MOST_CHARACTERS = 8_000_000;

/** One memory for all who count with the same function: an agent made anew finds what the one before it has counted. */
export function sharedCounts(count: CountText): CountText {
  const known = shared.get(count) ?? rememberCounts(count);
  shared.set(count, known);
  return known;
}

const shared = new WeakMap<CountText, CountText>();

export function rememberCounts(count: CountText, mostCharacters = MOST_CHARACTERS): CountText {
  const known = new Map<string, number>();
  let characters = 0;
  return (text) => {
    let tokens = known.get(text);
    if (tokens === undefined) {
      tokens = count(text);
      if (text.length > mostCharacters / 4) return tokens;
      characters += text.length;
    } else known.delete(text);
    known.set(text, tokens);
    for (const oldest of known.keys()) {
      if (characters <= mostCharacters) break;
      known.delete(oldest);
      characters -= oldest.length;
    }
    return tokens;
  };
}
