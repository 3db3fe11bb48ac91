// What ARCHITECTURE.md draws and promises: where the folders stand, what each is for, and a path for half an hour.
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import arrows from "./architecture/folder-arrows.json" with { type: "json" };
import type { FolderArrows } from "./architecture/folders.ts";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const page = readFileSync(join(root, "ARCHITECTURE.md"), "utf8");
const MAX_LINES = 900;

test("every folder stands in the drawing, above each folder that it imports", () => {
  assert.deepEqual(wrongDrawing(page, arrows), []);
});

test("a folder that the drawing lacks and an arrow that points up in it are found", () => {
  const drawn = "```\ncore    high  (a note)\n        low\n```\n";
  assert.deepEqual(wrongDrawing(drawn, { core: { ".": [], low: [], high: ["low", "."] } }), []);
  assert.deepEqual(wrongDrawing(drawn, { core: { high: [], low: ["high"] } }), [
    "core/low imports core/high, which doesn't stand below it in the drawing",
  ]);
  assert.deepEqual(wrongDrawing(drawn, { core: { low: [], high: [], other: [] } }), [
    "core/other isn't in the drawing",
  ]);
});

test("the tables of core's and the harness's parts say what each folder is for", () => {
  for (const name of ["core", "harness"] as const) {
    const rows = [...section(`The parts of ${name === "core" ? "core" : "the harness"}`).matchAll(/^\| (`.*?) \|/gm)];
    const told = rows.flatMap(([, cell]) => [...cell!.matchAll(/`([\w/-]+)`/g)].map(([, folder]) => folder!));
    const folders = Object.keys(arrows[name]).filter((folder) => folder !== ".");
    assert.deepEqual(told.toSorted(), folders.toSorted());
  }
});

test(`the files under "Where to start reading" have at most ${MAX_LINES} lines, and each opens with what it owns`, () => {
  const paths = [...section("Where to start reading").matchAll(/^\d+\. .*?\]\((packages\/[^)]+)\)/gm)].map(
    ([, path]) => path!,
  );
  assert.ok(paths.length > 4, "the list is numbered and links each file");
  const files = paths.map((path) => ({ path, source: readFileSync(join(root, path), "utf8") }));
  assert.deepEqual(
    files.filter(({ source }) => !source.startsWith("/**")).map(({ path }) => path),
    [],
  );
  const sizes = files.map(({ path, source }) => ({ path, lines: source.trimEnd().split("\n").length }));
  const total = sizes.reduce((sum, { lines }) => sum + lines, 0);
  assert.ok(total <= MAX_LINES, `${total} lines: ${sizes.map(({ path, lines }) => `${path} ${lines}`).join(", ")}`);
});

function section(title: string): string {
  const [, ...rest] = page.split(`\n## ${title}\n`);
  assert.equal(rest.length, 1, `ARCHITECTURE.md has one section "${title}"`);
  return rest[0]!.split("\n## ")[0]!;
}

function wrongDrawing(text: string, table: FolderArrows): string[] {
  const rows = drawnRows(text);
  return Object.entries(table).flatMap(([name, folders]) =>
    Object.entries(folders)
      .filter(([folder]) => folder !== ".")
      .flatMap(([folder, targets]) => {
        const row = rows.get(`${name}/${folder}`);
        if (row === undefined) return [`${name}/${folder} isn't in the drawing`];
        return targets
          .filter((target) => target !== "." && (rows.get(`${name}/${target}`) ?? 0) <= row)
          .map((target) => `${name}/${folder} imports ${name}/${target}, which doesn't stand below it in the drawing`);
      }),
  );
}

/** Each folder's row. A line that isn't indented begins with its package; what stands in parentheses is a note. */
function drawnRows(text: string): Map<string, number> {
  const rows = new Map<string, number>();
  let name = "";
  for (const [row, line] of text.split("\n").entries()) {
    const words = line.replace(/\(.*?\)/g, "").match(/[\w/-]+/g) ?? [];
    if (/^(?:core|harness|testing|lab|gateway|inspector|cli) {2,}\w/.test(line)) name = words.shift()!;
    else if (!/^ {4,}\w/.test(line)) continue;
    for (const folder of words) rows.set(`${name}/${folder}`, row);
  }
  return rows;
}

test("the index of decisions has a line for each of them, with its title", () => {
  const folder = new URL("../docs/decisions/", import.meta.url);
  const read = (page: string) => readFileSync(new URL(page, folder), "utf8");
  const pages = readdirSync(folder).filter((page) => /^\d{4}-.*\.md$/.test(page));
  const lines = pages.sort().map((page) => {
    const [title = ""] = read(page).split("\n");
    return `- [${Number(page.slice(0, 4))}](${page}) ${title.replace(/^# (?:\d+\. )?/, "")}`;
  });
  const listed = read("README.md")
    .split("\n")
    .filter((line) => line.startsWith("- "));
  assert.deepEqual(listed, lines, "docs/decisions/README.md");
});
