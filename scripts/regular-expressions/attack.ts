/**
 * Texts that make an expression work hard: for everything it may repeat, what leads there, then what is repeated many
 * times, then something that doesn't fit. Made from the expression itself, the same at every run.
 */
import { takes } from "./count.ts";
import type { Tree } from "./syntax.ts";

/** Each is a text as a function of how often its middle is repeated. */
export type Attack = (times: number) => string;

export function attacksOn(tree: Tree, flags: string): Attack[] {
  const samples = [...new Set(atomsOf(tree).flatMap((source) => charactersOf(source, flags, 2)))];
  const repeats = repeatsOf(tree, "", flags);
  // Without repetition the work is bounded by the expression's own length.
  if (repeats.length === 0) return [];
  const anywhere = new Set([...samples, ...pairsOf(samples.slice(0, 6)), ...repeats.flatMap(({ bodies }) => bodies)]);
  // Begun again and again: each beginning may read to the end.
  for (const { prefix, bodies } of repeats) for (const body of ["", ...bodies]) anywhere.add(prefix + body);
  const middles = [
    ...[...anywhere].map((pump) => ({ prefix: "", pump })),
    ...repeats.flatMap(({ prefix, bodies }) =>
      prefix === "" ? [] : [...new Set([...bodies, ...samples.slice(0, 6)])].map((pump) => ({ prefix, pump })),
    ),
  ].filter(({ pump }) => pump !== "");
  return middles.flatMap(({ prefix, pump }) => SUFFIXES.map((end) => (times) => prefix + pump.repeat(times) + end));
}

function pairsOf(characters: readonly string[]): string[] {
  return characters.flatMap((a) => characters.filter((b) => b !== a).map((b) => a + b));
}

/** Nothing in our expressions asks for the first character; many end at the second. */
const SUFFIXES = ["\u0001", "\n\u0001"];

function atomsOf(tree: Tree): string[] {
  switch (tree.kind) {
    case "atom":
      return [tree.source];
    case "sequence":
    case "choice":
      return tree.items.flatMap(atomsOf);
    case "group":
    case "repeat":
    case "look":
      return atomsOf(tree.inner);
    case "edge":
    case "back":
      return [];
  }
}

interface Repeated {
  readonly prefix: string;
  readonly bodies: readonly string[];
}

/** Everything that may be repeated often, with a text that leads there. */
function repeatsOf(tree: Tree, before: string, flags: string): Repeated[] {
  switch (tree.kind) {
    case "sequence": {
      let prefix = before;
      return tree.items.flatMap((item) => {
        const found = repeatsOf(item, prefix, flags);
        prefix += sampleOf(item, flags);
        return found;
      });
    }
    case "choice":
      return tree.items.flatMap((item) => repeatsOf(item, before, flags));
    case "group":
    case "look":
      return repeatsOf(tree.inner, before, flags);
    case "repeat": {
      const bodies = variantsOf(tree.inner, flags);
      return [...(tree.max > OFTEN ? [{ prefix: before, bodies }] : []), ...repeatsOf(tree.inner, before, flags)];
    }
    case "atom":
    case "edge":
    case "back":
      return [];
  }
}

const OFTEN = 8;

/** One text that it takes, by its first choices. */
function sampleOf(tree: Tree, flags: string): string {
  switch (tree.kind) {
    case "atom":
      return charactersOf(tree.source, flags, 1)[0] ?? "";
    case "sequence":
      return tree.items.map((item) => sampleOf(item, flags)).join("");
    case "choice":
      return sampleOf(tree.items[0]!, flags);
    case "group":
      return sampleOf(tree.inner, flags);
    case "repeat":
      return sampleOf(tree.inner, flags).repeat(Math.min(tree.min, 40));
    case "look":
    case "edge":
    case "back":
      return "";
  }
}

function variantsOf(tree: Tree, flags: string): string[] {
  if (tree.kind === "atom") return charactersOf(tree.source, flags, 3);
  if (tree.kind === "choice") return tree.items.map((item) => sampleOf(item, flags));
  return [sampleOf(tree, flags)];
}

const ALPHABET = [..." \n\tax_-.,:;/\\0149AZ\"'`<>()[]{}#*+=@$%&!?|~^é的。\u3000\u200d\u0300\ud83d\ude00"];

/** Characters that an atom takes: those it names first, then common ones. */
function charactersOf(source: string, flags: string, most: number): string[] {
  const taken = takes(source, flags);
  const named = source.length === 1 && source !== "." ? [source] : [...source.replace(/^\[\^?|\]$/g, "")];
  return [...new Set([...named, ...ALPHABET])].filter(taken).slice(0, most);
}
