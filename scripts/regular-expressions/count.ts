/**
 * How many characters a backtracking engine looks at before it has searched a text: the same work that V8 would do, counted
 * instead of timed. Tries every start, as a search does, and stops when the budget is used up.
 */
import type { Tree } from "./syntax.ts";

export interface Expression {
  readonly tree: Tree;
  readonly flags: string;
}

export interface Searched {
  readonly steps: number;
  /** What was found, in order. */
  readonly hits: readonly string[];
}

/** Null when it took more than the budget. */
export function search({ tree, flags }: Expression, text: string, budget: number): Searched | null {
  const characters = flags.includes("u") || flags.includes("v") ? [...text] : text.split("");
  const search: Search = { characters, flags, steps: 0, budget, groups: new Map() };
  const match = compile(tree, search, 1);
  const hits: string[] = [];
  try {
    for (let start = 0; start <= characters.length; ) {
      let end = start;
      const found = match(start, (at) => {
        end = at;
        return true;
      });
      if (found) hits.push(characters.slice(start, end).join(""));
      // An empty hit is stepped over, as a global search does.
      start = Math.max(end, start + 1);
    }
    return { steps: search.steps, hits };
  } catch (error) {
    if (error === OVER) return null;
    throw error;
  }
}

interface Search {
  readonly characters: readonly string[];
  readonly flags: string;
  steps: number;
  readonly budget: number;
  readonly groups: Map<number, readonly [number, number]>;
}

/** Calls `next` where it may go on from; false when every way failed. */
type Match = (at: number, next: (at: number) => boolean) => boolean;

const OVER = new Error("over the budget");

function step(search: Search): void {
  search.steps += 1;
  if (search.steps > search.budget) throw OVER;
}

/** `direction` is -1 inside of a look behind. */
function compile(tree: Tree, search: Search, direction: 1 | -1): Match {
  switch (tree.kind) {
    case "atom": {
      const one = single(tree, search, direction);
      return (at, next) => one(at) && next(at + direction);
    }
    case "sequence": {
      const items = tree.items.map((item) => compile(item, search, direction));
      const order = direction === 1 ? items : items.toReversed();
      return (at, next) => follow(order, 0, at, next);
    }
    case "choice": {
      const items = tree.items.map((item) => compile(item, search, direction));
      return (at, next) => items.some((item) => item(at, next));
    }
    case "group": {
      const inner = compile(tree.inner, search, direction);
      return (at, next) =>
        inner(at, (end) => {
          search.groups.set(tree.index, [Math.min(at, end), Math.max(at, end)]);
          return next(end);
        });
    }
    case "repeat":
      return tree.inner.kind === "atom" ? run(tree, search, direction) : loop(tree, search, direction);
    case "look": {
      const inner = compile(tree.inner, search, tree.ahead ? 1 : -1);
      return (at, next) => inner(at, () => true) !== tree.negated && next(at);
    }
    case "edge":
      return (at, next) => isEdge(tree.source, at, search) && next(at);
    case "back":
      return (at, next) => {
        const [from, to] = search.groups.get(tree.index) ?? [0, 0];
        for (let index = from; index < to; index += 1) {
          step(search);
          if (search.characters[at + index - from] !== search.characters[index]) return false;
        }
        return next(at + to - from);
      };
  }
}

function follow(items: readonly Match[], index: number, at: number, next: (at: number) => boolean): boolean {
  if (index === items.length) return next(at);
  return items[index]!(at, (end) => follow(items, index + 1, end, next));
}

/** Whether the one character beside a place is taken. */
function single({ source }: { readonly source: string }, search: Search, direction: 1 | -1): (at: number) => boolean {
  const taken = takes(source, search.flags);
  return (at) => {
    step(search);
    const character = search.characters[direction === 1 ? at : at - 1];
    return character !== undefined && taken(character);
  };
}

type Repeat = Extract<Tree, { kind: "repeat" }>;

/** Of one character: as far as it goes, then back one by one; without recursion, since texts are long. */
function run({ inner, min, max, lazy }: Repeat, search: Search, direction: 1 | -1): Match {
  const one = single(inner as { source: string }, search, direction);
  return (at, next) => {
    let count = 0;
    while (count < min) {
      if (!one(at + count * direction)) return false;
      count += 1;
    }
    if (lazy) {
      while (!next(at + count * direction)) {
        if (count === max || !one(at + count * direction)) return false;
        count += 1;
      }
      return true;
    }
    while (count < max && one(at + count * direction)) count += 1;
    for (; count >= min; count -= 1) {
      step(search);
      if (next(at + count * direction)) return true;
    }
    return false;
  };
}

function loop({ inner, min, max, lazy }: Repeat, search: Search, direction: 1 | -1): Match {
  const once = compile(inner, search, direction);
  const turn = (at: number, count: number, next: (at: number) => boolean): boolean => {
    const again = (): boolean =>
      count < max && once(at, (end) => (end !== at || count < min) && turn(end, count + 1, next));
    if (count < min) return again();
    return lazy ? next(at) || again() : again() || next(at);
  };
  return (at, next) => turn(at, 0, next);
}

function isEdge(source: string, at: number, { characters, flags }: Search): boolean {
  const isLine = (character: string | undefined): boolean =>
    character !== undefined && /[\n\r\u2028\u2029]/.test(character);
  const isWord = (character: string | undefined): boolean => character !== undefined && /\w/.test(character);
  if (source === "^") return at === 0 || (flags.includes("m") && isLine(characters[at - 1]));
  if (source === "$") return at === characters.length || (flags.includes("m") && isLine(characters[at]));
  return (isWord(characters[at - 1]) !== isWord(characters[at])) === (source === "\\b");
}

const known = new Map<string, Map<string, boolean>>();

/** Asked of the engine itself, once for each character. */
export function takes(source: string, flags: string): (character: string) => boolean {
  const key = `${flags} ${source}`;
  const answers = known.get(key) ?? new Map<string, boolean>();
  known.set(key, answers);
  const expression = new RegExp(`^(?:${source})$`, flags.replace(/[gym]/g, ""));
  return (character) => {
    const answer = answers.get(character) ?? expression.test(character);
    answers.set(character, answer);
    return answer;
  };
}
