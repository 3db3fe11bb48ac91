// What `npm run house` counts, on small made-up sources.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { SourceFile } from "./architecture/workspace.ts";
import { duplicatesOf, figuresOf } from "./house/figures.ts";
import { fileEdges, folderEdges, knots } from "./house/graph.ts";

test("casts, spreads, comments and functions are counted, a cast to const is none", () => {
  const text = `// A comment.
const a = b as never, c = d as string, e = f! as const;
const g = { ...{ h }, ...(i && { j }), ...k };
const known = new WeakMap();
function m(n, o, p, q) {
  return n;
}
`;
  const figures = figuresOf([source("a.ts", text)], [source("a.test.ts", "test();\n")]);
  assert.equal(figures["any / as / as never, unknown / !"], "0 / 2 / 1 / 1");
  assert.equal(figures["literal / conditional spreads"], "1 / 1");
  assert.equal(figures["comments, % of lines"], "14.3");
  assert.equal(figures["functions of 4, of 5 or more positionals"], "1, 0");
  assert.equal(figures["function median / p90 / max lines"], "3 / 3 / 3");
  assert.equal(figures["WeakMaps and WeakSets"], 1);
  assert.equal(figures["tests / code"], "0.14");
});

test("folders that need each other are one knot, also where no two files do", () => {
  const files = [
    source("low/a.ts", `import { b } from "../high/b.ts";\n`),
    source("low/c.ts", "export const c = 1;\n"),
    source("high/b.ts", `import { c } from "../low/c.ts";\nimport type { A } from "../low/a.ts";\n`),
    source("index.ts", `export * from "./low/a.ts";\n`),
  ];
  assert.deepEqual(knots(fileEdges(files, "runtime")), []);
  assert.equal(knots(fileEdges(files, "all")).length, 1);
  assert.deepEqual(knots(folderEdges(fileEdges(files, "runtime"))), [["high", "low"]]);
});

test("a function that stands in two files is found under another name too", () => {
  const body = "(a: string) {\n  const b = a;\n  return b;\n}\n";
  const figures = duplicatesOf([source("a.ts", `function one${body}`), source("b.ts", `export function two${body}`)]);
  assert.equal(figures["functions with the same text in two files"], 1);
});

function source(path: string, text: string): SourceFile {
  return { path: `packages/core/src/${path}`, package: null, text };
}
