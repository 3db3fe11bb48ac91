// Holds the whole repository to its shape, and shows on small made-up workspaces that each rule can fail.
import assert from "node:assert/strict";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import arrows from "./architecture/folder-arrows.json" with { type: "json" };
import { type FolderArrows, wrongFolderArrows } from "./architecture/folders.ts";
import { unawaitedReturns } from "./architecture/returns.ts";
import {
  anyTypes,
  crowdedLines,
  deepFunctions,
  foldedLiterals,
  impureCore,
  longFiles,
  longFunctions,
  runtimeCycles,
  wrongArrows,
} from "./architecture/rules.ts";
import { loadWorkspace, type Package, type Workspace } from "./architecture/workspace.ts";

const repository = loadWorkspace(join(dirname(fileURLToPath(import.meta.url)), ".."));
const rules = {
  wrongArrows,
  impureCore,
  runtimeCycles,
  longFiles,
  longFunctions,
  anyTypes,
  unawaitedReturns,
  deepFunctions,
  foldedLiterals,
  crowdedLines,
};

for (const [name, rule] of Object.entries(rules)) {
  test(`the repository has no ${name.replace(/[A-Z]/g, (capital) => ` ${capital.toLowerCase()}`)}`, () => {
    assert.deepEqual(rule(repository), []);
  });
}

test("the folders of each package import each other as scripts/architecture/folder-arrows.json says, from the top down", () => {
  assert.deepEqual(wrongFolderArrows(repository, arrows), []);
});

test("an arrow between folders that is not listed, one that nothing needs and one that points up are found", () => {
  const files = {
    "packages/core/src/low/a.ts": `import { b } from "../high/b.ts";\n`,
    "packages/core/src/high/b.ts": `import type { a } from "../low/a.ts";\n`,
    "packages/core/src/index.ts": `export * from "./high/b.ts";\n`,
  };
  const found = (core: FolderArrows[string]) => wrongFolderArrows(made(files), { core });
  assert.match(
    found({ low: [], high: [] }).join(),
    /low\/a\.ts:1: core\/low imports core\/high, which .* doesn't list/,
  );
  assert.match(found({ high: [], low: ["high", "other"] }).join(), /low -> other, which nothing needs/);
  assert.match(found({ low: ["high"], high: [] }).join(), /low -> high points up/);
  assert.deepEqual(found({ high: [], low: ["high"] }), []);
});

test("every package of ours and a good many files are read", () => {
  const folders = repository.packages.map(({ folder }) => folder);
  for (const folder of [
    "core",
    "harness",
    "testing",
    "lab",
    "gateway",
    "adapters-langchain",
    "adapters-openai-agents",
    "cli",
  ])
    assert.ok(folders.includes(folder), `${folder} is missing`);
  assert.ok(repository.files.some(({ path }) => path === "packages/core/src/message/shape.ts"));
});

test("a lower package that imports a higher one is a wrong arrow, in either import spelling", () => {
  const found = wrongArrows(
    made({
      "packages/core/src/a.ts": `import { x } from "palimpsest/stores";\n`,
      "packages/harness/src/stores.ts": `export async function f() {\n  await import("@palimpsest/cli");\n}\n`,
      "packages/cli/src/main.ts": `import type { x } from "palimpsest/stores";\nimport "@palimpsest/core";\n`,
    }),
  );
  assert.equal(found.length, 2);
  assert.match(found[0]!, /core\/src\/a\.ts:1: core must not import palimpsest/);
  assert.match(found[1]!, /harness\/src\/stores\.ts:2: harness must not import @palimpsest\/cli/);
});

test("a relative import out of the package and an undeclared subpath are wrong arrows", () => {
  const found = wrongArrows(
    made({
      "packages/cli/src/main.ts": `import {\n  a,\n} from "../../core/src/a.ts";\nimport b from "palimpsest/secret";\n`,
    }),
  );
  assert.match(found.join("\n"), /reaches out of its package[\s\S]*does not export/);
});

test("core may import nothing outside itself, its unshipped tests may", () => {
  const found = impureCore(
    made({
      "packages/core/src/a.ts": `import { b } from "./b.ts";\nexport const a = b;\n`,
      "packages/core/src/b.ts": `import { readFileSync } from "node:fs";\nexport const b = readFileSync;\n`,
      "packages/core/src/a.test.ts": `import { test } from "node:test";\n`,
    }),
  );
  assert.deepEqual(found, ['packages/core/src/b.ts:1: core must stay pure, it imports "node:fs"']);
});

test("a cycle is found, unless one of its imports is types only", () => {
  const files = { "packages/core/src/a.ts": `import { b } from "./b.ts";\nexport const a = () => b;\n` };
  const back = "packages/core/src/b.ts";
  assert.equal(runtimeCycles(made({ ...files, [back]: `import { a } from "./a.ts";\n` })).length, 1);
  assert.equal(runtimeCycles(made({ ...files, [back]: `export { a } from "./a.ts";\n` })).length, 1);
  assert.equal(runtimeCycles(made({ ...files, [back]: `import type { a } from "./a.ts";\n` })).length, 0);
});

test("long files, and functions by their statements and their depth, are measured; a list of properties is not", () => {
  const at = "packages/core/src/a.ts";
  const body = "  go();\n".repeat(51);
  for (const opening of ["export function f() {", "export const f = async (): Promise<void> => {", "class A { m() {"]) {
    const text = `${opening}\n${body}}${opening.startsWith("class") ? "}" : ""}\n`;
    assert.equal(longFunctions(made({ [at]: text })).length, 1, opening);
    assert.equal(longFunctions(made({ [at]: text.replace("  go();\n", "") })).length, 0, opening);
  }
  const properties = Array.from({ length: 200 }, (_, index) => `  p${index}: 1,\n`).join("");
  assert.deepEqual(longFunctions(made({ [at]: `export const f = () => ({\n${properties}});\n` })), []);
  const nested = (depth: number) => `function f() {\n${"if (a) {".repeat(depth)}go();${"}".repeat(depth)}\n}\n`;
  assert.equal(deepFunctions(made({ [at]: nested(5) })).length, 1);
  assert.equal(deepFunctions(made({ [at]: nested(4) })).length, 0);
  const chained = `function f() {\n${"if (a) go(); else ".repeat(9)}go();\n}\n`;
  assert.equal(deepFunctions(made({ [at]: chained })).length, 0);
  assert.equal(longFiles(made({ [at]: "a();\n".repeat(401) })).length, 1);
  assert.equal(longFiles(made({ [at]: "a();\n".repeat(400) })).length, 0);
});

test("a literal that is spread into a literal and a line of seven properties are found", () => {
  const at = "packages/core/src/a.ts";
  assert.equal(foldedLiterals(made({ [at]: "f({ ...{ a, b }, c });\nf([...[a, b], c]);\n" })).length, 2);
  assert.equal(foldedLiterals(made({ [at]: "f({ ...a, ...(b && { c }) });\nf([...a]);\n" })).length, 0);
  assert.equal(crowdedLines(made({ [at]: "f({ a, b, c, d, e, f, g });\n" })).length, 1);
  assert.equal(crowdedLines(made({ [at]: "f({\n  a, b, c, d, e, f,\n  g });\n" })).length, 0);
});

test("`any` is found as a type, not as a word, a method or part of a text", () => {
  const at = "packages/core/src/a.ts";
  const bad = [
    "let a: any;",
    "const b = c as any;",
    "let d: Map<string, any[]>;",
    "let e: Promise<any>;",
    "type F = any;",
    "let g: string | any;",
    "function h<T extends any>() {}",
  ];
  const good = [
    "// any",
    "const a = 'any';",
    "AbortSignal.any([]);",
    "const b = `any $" + "{c} any`;",
    "const many = /any/;",
    "let any = false;",
    "any ||= true;",
    "const d = { any: 1, e: company };",
  ];
  for (const line of bad) assert.equal(anyTypes(made({ [at]: line })).length, 1, line);
  for (const line of good) assert.deepEqual(anyTypes(made({ [at]: line })), [], line);
});

test("a promise that is returned out of a try is found, in its own file, imported or as a method", () => {
  const at = "packages/core/src/a.ts";
  const other = {
    "packages/core/src/b.ts": "export async function far() {}\nexport const desk = { async take() {} };\n",
  };
  const inTry = (call: string) => `import { far } from "./b.ts";
    async function near() {}
    function now() {}
    export async function run(given) {
      try {
        return ${call};
      } finally {
        now();
      }
    }\n`;
  const found = (call: string) => unawaitedReturns(made({ ...other, [at]: inTry(call) }));
  for (const call of ["near()", "far()", "given.take()"]) assert.equal(found(call).length, 1, call);
  for (const call of ["await near()", "now()", "given()", "given.put()", "[near]", "(async () => near())"])
    assert.deepEqual(found(call), [], call);
  const after = "async function a() {}\nexport async function b() {\n  try {\n  } catch {\n    return a();\n  }\n}\n";
  assert.deepEqual(unawaitedReturns(made({ [at]: after })), [], "nothing of the try comes after");
});

function made(files: Record<string, string>): Workspace {
  const own = (folder: string, name: string, rank: number, exports: Record<string, string>): Package => ({
    folder,
    name,
    rank,
    exports: new Map(Object.entries(exports)),
  });
  const packages = [
    own("core", "@palimpsest/core", 0, { ".": "packages/core/src/a.ts" }),
    own("harness", "palimpsest", 1, { "./stores": "packages/harness/src/stores.ts" }),
    own("cli", "@palimpsest/cli", 3, { ".": "packages/cli/src/main.ts" }),
  ];
  return {
    packages,
    files: Object.entries(files).map(([path, text]) => ({
      path,
      text,
      package: packages.find(({ folder }) => path.startsWith(`packages/${folder}/`)) ?? null,
    })),
  };
}
