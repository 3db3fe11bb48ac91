// Every key of the configuration's schema is read by some code: a setting without a reader does nothing.
import assert from "node:assert/strict";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { configSchema } from "palimpsest/internal/config";
import { withoutComments } from "./architecture/syntax.ts";
import { isTest, loadWorkspace } from "./architecture/workspace.ts";

/** Not read yet, each with its reason. */
const UNREAD: Readonly<Record<string, string>> = {};

const sources = loadWorkspace(join(dirname(fileURLToPath(import.meta.url)), "..")).files.filter(
  ({ path, package: owner }) =>
    owner !== null && !isTest(path) && !/home\/(?:schema|fixtures)|^packages\/testing\//.test(path),
);
const texts = sources.map(({ text }) => withoutComments(text));

test("every key of the configuration has a reader, or is listed with the reason why not", () => {
  const keys = leavesOf(configSchema);
  assert.ok(keys.length > 60, "the schema was walked");
  const unread = keys.filter((key) => !texts.some((text) => reads(text, key)));
  assert.deepEqual(unread, Object.keys(UNREAD));
});

test("a key counts as read where it is named with its section, destructured from it, or read through another name for it", () => {
  for (const text of [
    "if (config.title.enabled) go();",
    "const { enabled } = config.title;",
    "const { title } = config; go(title.enabled);",
    "const settings = config.title;\nif (!settings.enabled) return;",
    "function go(file: Title) { return file.enabled; }",
    "for (const one of config.title.filter((entry) => entry.enabled)) go(one);",
  ])
    assert.ok(reads(text, "title.enabled"), text);
  for (const text of [
    "if (config.memory.enabled) go(config.title);",
    "const settings = config.memory; settings.enabled;",
  ])
    assert.ok(!reads(text, "title.enabled"), text);
});

/** `memory.max_facts`, `models.name`: the path of every value a person may set. */
function leavesOf(schema: unknown, path = ""): string[] {
  const { shape, def } = schema as { shape?: Record<string, unknown>; def?: Record<string, unknown> };
  if (shape !== undefined)
    return Object.entries(shape).flatMap(([key, inner]) => leavesOf(inner, path === "" ? key : `${path}.${key}`));
  const inner = def?.["innerType"] ?? def?.["element"] ?? def?.["valueType"];
  const leaves = inner === undefined ? [path] : leavesOf(inner, path);
  return leaves.length === 0 ? [path] : leaves;
}

/** Looks at words, not at types: a reader names the key near a name of its section. */
function reads(text: string, path: string): boolean {
  const [key, section] = path.split(".").reverse() as [string, string | undefined];
  if (section === undefined) return new RegExp(`\\.${key}\\b|\\{[^{}]*\\b${key}\\b[^{}]*\\} =`).test(text);
  return namesOf(section, text).some((name) =>
    [`\\b${name}[?!]*\\.${key}\\b`, `\\{[^{}]*\\b${key}\\b[^{}]*\\}[^;\\n]*\\b${name}\\b`].some((pattern) =>
      new RegExp(pattern).test(text),
    ),
  );
}

/** What a file calls a section: its own name, a variable it is put in, a parameter of its type, one of its entries. */
function namesOf(section: string, text: string): string[] {
  const single = section.replace(/s$/, "");
  const type = `${single[0]!.toUpperCase()}${single.slice(1)}\\w*`;
  const variables = text.matchAll(new RegExp(`(\\w+)(?:: [^\\n=]+)?(?: \\})? = [\\w.]*\\b${section}\\b`, "g"));
  const parameters = text.matchAll(new RegExp(`\\b(\\w+): (?:readonly )?${type}\\b`, "g"));
  const entries = text.matchAll(new RegExp(`\\b${section}\\b[^;\\n]*\\(\\(?(\\w+)\\)? =>`, "g"));
  const names = [...variables, ...parameters, ...entries].map(([, name]) => name!);
  return [section, single, ...names];
}
