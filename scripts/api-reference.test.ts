// The reference is built from the sources: every public name has a declaration, and every value is shown in a guide or an example.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { declarationOf } from "./api-reference/declarations.ts";
import { referencePages } from "./api-reference/page.ts";
import { codeIn, namesNotShown, shownCode } from "./api-reference/shown-names.ts";
import { loadWorkspace, type Workspace } from "./architecture/workspace.ts";

const scripts = dirname(fileURLToPath(import.meta.url));
const root = join(scripts, "..");
const workspace = loadWorkspace(root);

test("the reference declares every public name on a page that its index links to", () => {
  const { "README.md": index = "", ...pages } = Object.fromEntries(referencePages(workspace));
  const linked = [...index.matchAll(/\]\(([^)]+)\)/g)].map(([, page]) => page!);
  assert.deepEqual(linked.toSorted(), Object.keys(pages).toSorted());
  assert.match(pages["palimpsest.md"] ?? "", /^### createDeepAgent$/m);
});

test("every public value is used in an example or a guide, but for those that are still to be", () => {
  const excepted: unknown = JSON.parse(readFileSync(join(scripts, "names-not-shown.json"), "utf8"));
  const advice = "show a new value in an example or a guide; `npm run public-names` takes off what is shown by now";
  assert.deepEqual(namesNotShown(workspace, shownCode(root)), excepted, advice);
});

const sources = (files: Record<string, string>): Workspace => ({
  packages: [],
  files: Object.entries(files).map(([path, text]) => ({ path, package: null, text })),
});
const found = (files: Record<string, string>, name: string) => declarationOf(sources(files), "index.ts", name);

test("a name is followed through re-exports to its comment and signature", () => {
  const files = {
    "index.ts": 'export { inner as outer } from "./a.ts";',
    "a.ts": 'import { inner } from "./b.ts";\nexport { inner };',
    "b.ts":
      "/** The file. */\nconst one = 1;\n/** Adds\n * one. */\nexport async function inner(n: number): Promise<number> { return n + 1; }",
  };
  assert.deepEqual(found(files, "outer"), {
    comment: "Adds\none.",
    code: "function inner(n: number): Promise<number>",
  });
});

test("bodies, private members and long values are left out", () => {
  const files = {
    "index.ts": `
      export class Room { #used = 0; private key = 1; /** What is left. */ left(): number { return this.#used; } }
      export const long = "${"x".repeat(200)}";
      export const short = 3;
      export const typed: Map<string, number> = new Map();
      export function over(a: string): string;
      export function over(a: number): number;
      export function over(a: unknown): unknown { return a; }
    `,
  };
  assert.equal(found(files, "Room")?.code, "class Room {\n  /** What is left. */\n  left(): number;\n}");
  assert.equal(found(files, "long")?.code, "const long");
  assert.equal(found(files, "short")?.code, "const short = 3");
  assert.equal(found(files, "typed")?.code, "const typed: Map<string, number>");
  assert.equal(found(files, "over")?.code, "function over(a: string): string\nfunction over(a: number): number");
  assert.equal(found(files, "absent"), undefined);
});

test("only code of a guide shows a name", () => {
  assert.equal(codeIn("a word, `a span`\n```ts\nblock\n```\nand words"), "`a span`\n```ts\nblock\n```");
});
