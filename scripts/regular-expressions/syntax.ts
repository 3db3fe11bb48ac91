/**
 * A regular expression as a tree, read from its source. Knows the syntax that this repository uses; what it doesn't know
 * throws. Which characters an atom takes is left to the engine itself, one character at a time.
 */

export type Tree =
  /** One character. */
  | { readonly kind: "atom"; readonly source: string }
  | { readonly kind: "sequence"; readonly items: readonly Tree[] }
  | { readonly kind: "choice"; readonly items: readonly Tree[] }
  | { readonly kind: "group"; readonly index: number; readonly inner: Tree }
  | {
      readonly kind: "repeat";
      readonly inner: Tree;
      readonly min: number;
      readonly max: number;
      readonly lazy: boolean;
    }
  | { readonly kind: "look"; readonly ahead: boolean; readonly negated: boolean; readonly inner: Tree }
  | { readonly kind: "edge"; readonly source: string }
  | { readonly kind: "back"; readonly index: number };

export function parseExpression(source: string, flags: string): Tree {
  const scan: Scan = { source, flags, at: 0, groups: 0 };
  const tree = choice(scan);
  if (scan.at < source.length) throw new Error(`/${source}/ can't be read at ${scan.at}`);
  return tree;
}

interface Scan {
  readonly source: string;
  readonly flags: string;
  at: number;
  groups: number;
}

function choice(scan: Scan): Tree {
  const items = [sequence(scan)];
  while (scan.source[scan.at] === "|") {
    scan.at += 1;
    items.push(sequence(scan));
  }
  return items.length === 1 ? items[0]! : { kind: "choice", items };
}

function sequence(scan: Scan): Tree {
  const items: Tree[] = [];
  while (scan.at < scan.source.length && !"|)".includes(scan.source[scan.at]!)) items.push(repeated(scan, item(scan)));
  return items.length === 1 ? items[0]! : { kind: "sequence", items };
}

function repeated(scan: Scan, inner: Tree): Tree {
  const [whole, sign, least, comma, most, lazy] =
    /^(?:([*+?])|\{(\d+)(,)?(\d+)?\})(\?)?/.exec(scan.source.slice(scan.at)) ?? [];
  if (whole === undefined) return inner;
  scan.at += whole.length;
  const [min, max] = sign === undefined ? counted(least!, comma, most) : SIGNS[sign]!;
  return { kind: "repeat", inner, min, max, lazy: lazy !== undefined };
}

const SIGNS: Readonly<Record<string, readonly [number, number]>> = {
  "*": [0, Number.POSITIVE_INFINITY],
  "+": [1, Number.POSITIVE_INFINITY],
  "?": [0, 1],
};

function counted(least: string, comma: string | undefined, most: string | undefined): readonly [number, number] {
  if (comma === undefined) return [Number(least), Number(least)];
  return [Number(least), most === undefined ? Number.POSITIVE_INFINITY : Number(most)];
}

function item(scan: Scan): Tree {
  const rest = scan.source.slice(scan.at);
  if (rest[0] === "(") return group(scan, rest);
  const edge = /^(?:\^|\$|\\[bB])/.exec(rest)?.[0];
  const back = /^\\([1-9])/.exec(rest);
  const atom =
    classAt(rest, scan.flags) ??
    /^(?:\\u\{[0-9a-f]+\}|\\u[0-9a-f]{4}|\\x[0-9a-f]{2}|\\[pP]\{[^}]+\}|\\.|[^()[\]|])/isu.exec(rest)?.[0];
  const taken = edge ?? back?.[0] ?? atom;
  if (taken === undefined) throw new Error(`/${scan.source}/ can't be read at ${scan.at}`);
  scan.at += taken.length;
  if (edge !== undefined) return { kind: "edge", source: edge };
  return back === null ? { kind: "atom", source: taken } : { kind: "back", index: Number(back[1]) };
}

/** `[...]`; with the flag `v` it may hold others. */
function classAt(rest: string, flags: string): string | undefined {
  if (rest[0] !== "[") return undefined;
  let depth = 0;
  for (let at = 0; at < rest.length; at += 1) {
    if (rest[at] === "\\") at += 1;
    else if (rest[at] === "[" && (depth === 0 || flags.includes("v"))) depth += 1;
    else if (rest[at] === "]") depth -= 1;
    if (depth === 0) return rest.slice(0, at + 1);
  }
  return undefined;
}

function group(scan: Scan, rest: string): Tree {
  const opening = /^\((?:\?(?:[:=!]|<[=!]|<\w+>))?/.exec(rest)![0];
  scan.at += opening.length;
  const captures = opening === "(" || /\w/.test(opening);
  if (captures) scan.groups += 1;
  const index = captures ? scan.groups : 0;
  const inner = choice(scan);
  if (scan.source[scan.at] !== ")") throw new Error(`/${scan.source}/ has an open group`);
  scan.at += 1;
  if (index > 0) return { kind: "group", index, inner };
  if (opening === "(?:") return inner;
  return { kind: "look", ahead: !opening.includes("<"), negated: opening.endsWith("!"), inner };
}
