// Every regular expression is linear: twice the text is at most about twice the work. One that isn't lets a model's blanks
// or a stranger's file stop the process, and with it every lease's heartbeat.
import assert from "node:assert/strict";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { fileURLToPath, pathToFileURL } from "node:url";
import { lineOf, parse, walk } from "./architecture/syntax.ts";
import { isTest, loadWorkspace } from "./architecture/workspace.ts";
import { type Attack, attacksOn } from "./regular-expressions/attack.ts";
import { search } from "./regular-expressions/count.ts";
import { parseExpression } from "./regular-expressions/syntax.ts";

/** A text that makes it work more than in proportion, or null. */
function worst(pattern: string, flags: string): string | null {
  const tree = parseExpression(pattern, flags);
  const outgrows = (attack: Attack, times: number): boolean => {
    const once = search({ tree, flags }, attack(times), MOST);
    return once === null || search({ tree, flags }, attack(2 * times), 3 * once.steps + 200) === null;
  };
  // Few at first, since nearly all are fine. What is repeated up to a bound grows faster only below it.
  const found = attacksOn(tree, flags).find((attack) => outgrows(attack, 30) && outgrows(attack, 400));
  return found === undefined ? null : found(3);
}

/** Far more than any of them needs. */
const MOST = 5_000_000;

interface Found {
  readonly place: string;
  readonly pattern: string;
  readonly flags: string;
}

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const files = loadWorkspace(root).files.filter(
  ({ path, package: owner }) =>
    owner !== null && !isTest(path) && !/\.property\.ts$|^packages\/testing\/|-suite\//.test(path),
);

function expressionsIn(path: string, text: string): Found[] {
  const found: Found[] = [];
  walk(parse(text).program, null, (node) => {
    const { regex } = node as { regex?: { pattern: string; flags: string } };
    if (regex !== undefined && regex !== null)
      found.push({ place: `${path}:${lineOf(text, node.start)}`, pattern: regex.pattern, flags: regex.flags });
    return null;
  });
  return found;
}

test("every regular expression of the packages does at most twice the work for twice the text", () => {
  const all = files.flatMap(({ path, text }) => expressionsIn(path, text));
  assert.ok(all.length > 400, "the sources were read");
  assert.deepEqual(slowOf(all), []);
});

test("so do those that are put together from strings", async () => {
  const makers = files.filter(({ text }) => text.includes("new RegExp("));
  assert.ok(makers.length > 3, "the sources were read");
  assert.deepEqual(slowOf(await madeBy(makers.map(({ path }) => path))), []);
});

function slowOf(expressions: readonly Found[]): string[] {
  return [...Map.groupBy(expressions, ({ pattern, flags }) => `/${pattern}/${flags}`)].flatMap(([shown, same]) => {
    const text = worst(same[0]!.pattern, same[0]!.flags);
    const places = same.map(({ place }) => place).join(", ");
    return text === null ? [] : [`${places} ${shown} on ${JSON.stringify(text)} and so on`];
  });
}

/** What the modules make while they are loaded. */
async function madeBy(paths: readonly string[]): Promise<readonly Found[]> {
  const made: Found[] = [];
  const Original = RegExp;
  let place = "";
  globalThis.RegExp = class extends Original {
    constructor(pattern: string | RegExp, flags?: string) {
      super(pattern, flags);
      if (typeof pattern === "string") made.push({ place, pattern, flags: flags ?? "" });
    }
  } as RegExpConstructor;
  try {
    for (place of paths) await import(pathToFileURL(join(root, place)).href);
  } finally {
    globalThis.RegExp = Original;
  }
  return made;
}

test("what is counted is what the engine does: both find the same", () => {
  for (const { pattern, flags } of files.flatMap(({ path, text }) => expressionsIn(path, text))) {
    const tree = parseExpression(pattern, flags);
    const native = new RegExp(pattern, `${flags.replace(/[gy]/g, "")}g`);
    for (const attack of attacksOn(tree, flags)) {
      const text = attack(3);
      assert.deepEqual(search({ tree, flags }, text, MOST)?.hits, text.match(native) ?? [], `${native} on ${text}`);
    }
  }
});

test("an expression that isn't linear is found, and one that is isn't", () => {
  for (const slow of [
    "\\s+$",
    "(?:a+)+b",
    "a.*b.*c",
    "(?<=k\\s*=\\s*)\\S+",
    "x*y",
    "\\w+@",
    "(a|a)*c",
    "<a>[^]*?</a>",
    "#.*$",
  ])
    assert.notEqual(worst(slow, ""), null, slow);
  for (const fast of [
    "^\\s+",
    "\\s+",
    "^a*b",
    "(?<!\\s)\\s+$",
    "[^x]{0,60}x",
    "^(?:\\w+,)*$",
    "\\b\\w+@",
    "ab|cd",
    "^(\\d)\\1+$",
  ])
    assert.equal(worst(fast, ""), null, fast);
});
