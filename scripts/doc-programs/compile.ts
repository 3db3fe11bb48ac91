/**
 * What guides show in TypeScript compiles against the sources, with what a reader has beside it: `names.d.ts`. Takes the
 * compiler as long as `npm run types` does, so it is a part of `npm run check` and not of `npm test`.
 */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { cpSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { docPrograms, programsIn } from "./programs.ts";

const root = join(dirname(fileURLToPath(import.meta.url)), "..", "..");

test("the programs of a page are its ts blocks, each named by its line", () => {
  const page = ["# Page", "```console", "$ ls", "```", "```ts", "one();", "", "two();", "```", "```ts", "```"].join(
    "\n",
  );
  assert.deepEqual(programsIn("p.md", page), [
    { place: "p.md:5", text: "one();\n\ntwo();\n" },
    { place: "p.md:10", text: "\n" },
  ]);
});

test("every TypeScript program in the guides and READMEs compiles", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "palimpsest-doc-programs-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  symlinkSync(join(root, "node_modules"), join(folder, "node_modules"), "dir");
  cpSync(fileURLToPath(new URL("names.d.ts", import.meta.url)), join(folder, "names.d.ts"));
  writeFileSync(join(folder, "package.json"), '{ "type": "module" }\n');
  const programs = docPrograms(root);
  assert.ok(programs.length > 30, `${programs.length} programs`);
  const files = new Map(programs.map(({ place, text }) => [`${place.replaceAll(/[^\w]+/g, "-")}.ts`, { place, text }]));
  // Each a module of its own, so that none sees another's names.
  for (const [file, { text }] of files) writeFileSync(join(folder, file), `${text}export {};\n`);
  const options = { ...SETTINGS, customConditions: ["palimpsest-source"] };
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions: options, include: ["*.ts"] }));
  const told = await compilerWords(folder);
  // Our own sources are checked elsewhere, without a browser's types.
  const lines = told.split("\n").filter((line) => files.has(line.slice(0, line.indexOf("("))));
  assert.deepEqual(
    lines.map((line) => placed(line, files)),
    [],
  );
});

/** As strict as an application may be, but for names that a program shows without using them. */
const SETTINGS = {
  strict: true,
  noEmit: true,
  skipLibCheck: true,
  allowImportingTsExtensions: true,
  module: "nodenext",
  target: "es2023",
  lib: ["es2024", "esnext.disposable", "dom", "dom.iterable"],
  exactOptionalPropertyTypes: true,
  types: ["node"],
};

function compilerWords(folder: string): Promise<string> {
  const compiler = join(root, "node_modules", ".bin", "tsc");
  return new Promise((resolve) => execFile(compiler, ["-p", "."], { cwd: folder }, (_, stdout) => resolve(stdout)));
}

/** `docs-agent-md-3.ts(2,5): error ...` at its line of the page. */
function placed(line: string, files: ReadonlyMap<string, { place: string }>): string {
  const [, file = "", row = "", rest = ""] = /^([^(]+)\((\d+),\d+\): (.*)$/.exec(line) ?? [];
  const [page, start] = files.get(file)!.place.split(":");
  return `${page}:${Number(start) + Number(row)} ${rest}`;
}
