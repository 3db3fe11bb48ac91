// docs/extending.md says which files to touch: they are there, and what it promises to name is named.
import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { exportsOf } from "./architecture/imports.ts";
import { isTest, loadWorkspace, type Workspace } from "./architecture/workspace.ts";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const SOURCE = "packages/harness/src/";

test("every file that docs/extending.md points to is there", () => {
  const docs = join(root, "docs");
  const links = [...readFileSync(join(docs, "extending.md"), "utf8").matchAll(/\]\(([^)#]+)\)/g)].map(
    ([, path]) => path!,
  );
  assert.ok(links.length > 10);
  assert.deepEqual(
    links.filter((path) => !existsSync(join(docs, path))),
    [],
  );
});

test("every middleware of a feature is offered by palimpsest/middleware, or says why not", () => {
  assert.deepEqual(unofferedMiddleware(loadWorkspace(root)), []);
});

test("a middleware that isn't offered is named", () => {
  const index = { path: `${SOURCE}middleware/index.ts`, text: `export { known } from "../a/middleware.ts";\n` };
  const file = (path: string, text: string) => ({ path: `${SOURCE}${path}`, text });
  const files = [
    index,
    file("a/middleware.ts", "export function known(): Middleware {\n}\n"),
    file("b/middleware.ts", "export function forgotten(options: Options = {}): Middleware {\n}\n"),
    file("c/own.ts", "/** Internal: only c makes one. */\nexport function inner(): Middleware {\n}\n"),
  ];
  assert.deepEqual(unofferedMiddleware({ packages: [], files } as unknown as Workspace), [
    `${SOURCE}b/middleware.ts: forgotten isn't in ${SOURCE}middleware/index.ts`,
  ]);
});

/** Functions that make a middleware; one that is a feature's own affair has a comment that begins with "Internal:", one that needs an optional package with "Own subpath". */
function unofferedMiddleware({ files }: Workspace): string[] {
  const index = `${SOURCE}middleware/index.ts`;
  const offered = new Set(exportsOf(files.find(({ path }) => path === index)?.text ?? "").values);
  const makers = files.filter(({ path }) => path.startsWith(SOURCE) && !isTest(path));
  return makers.flatMap(({ path, text }) =>
    [...text.matchAll(/(\/\*\* (?:Internal:|Own subpath)[^\n]*\n)?^export function (\w+)\(.*\): Middleware \{$/gm)]
      .filter(([, internal, name]) => internal === undefined && !offered.has(name!))
      .map(([, , name]) => `${path}: ${name} isn't in ${index}`),
  );
}
