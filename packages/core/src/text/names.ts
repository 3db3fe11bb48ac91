/**
 * The names a conversation turns on: paths, identifiers, hashes, numbers. The pruner leaves the rare ones behind and the
 * probes ask for them later. Purely lexical and the same for every language; it must not learn from one tool's output.
 */

/**
 * A path or a dotted file name, an identifier that is no plain word, a long number, a hash. Every repetition is bounded:
 * a megabyte without a space must cost no more than any other.
 */
const NAME =
  /(?:[\w@~.-]{0,80}\/){1,24}[\w@.-]{0,80}\w|\b[\w-]{1,80}\.[a-z]{1,5}\b|\b[0-9a-f]{7,64}\b|[\p{L}_$][\p{L}\p{N}_$]{0,80}(?:-[\p{L}\p{N}]{1,40}){0,8}|\d[\d.,:-]{0,40}\d/gu;

const MAX_NAME = 160;

/** Names in order of first appearance, each with how often it occurs. */
export function namesIn(text: string): Map<string, number> {
  const found = new Map<string, number>();
  for (const name of text.match(NAME) ?? []) {
    if (!isTelling(name)) continue;
    found.set(name, (found.get(name) ?? 0) + 1);
    // Who has seen a path has seen the name of its file.
    const file = name.slice(name.lastIndexOf("/") + 1);
    if (file !== name && isTelling(file)) found.set(file, (found.get(file) ?? 0) + 1);
  }
  return found;
}

/** Plain words, short numbers and endless strings tell nothing. */
function isTelling(name: string): boolean {
  if (name.length < 3 || name.length > MAX_NAME) return false;
  if (/^\d/.test(name)) return name.replace(/\D/g, "").length >= 3;
  if (name.includes("/")) return name.length >= 5 && /\w\/\w|^[.~]?\/\w/.test(name);
  if (/\.[a-z]{1,5}$/.test(name)) return /^[\w-]{2,}\./.test(name);
  if (name.length < 4) return false;
  return /\p{Ll}\p{Lu}|\p{L}_\p{L}|\p{L}\d|\d\p{L}|[_$]\p{L}/u.test(name);
}
