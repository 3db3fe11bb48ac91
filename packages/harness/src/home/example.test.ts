import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { parse } from "yaml";
import { parseConfig } from "./config.ts";
import { configJsonSchema } from "./config-file.ts";
import { configSchema } from "./schema.ts";

const text = readFileSync(new URL("../../../../config.example.yaml", import.meta.url), "utf8");

interface Node {
  readonly properties?: Readonly<Record<string, Node>>;
  readonly items?: Node;
  readonly additionalProperties?: Node | boolean;
  readonly anyOf?: readonly Node[];
}

/** Every key the schema knows, as a path: `models.0.name`; a map's own names are the example's. */
function keysOf(node: Node, example: unknown, path: string): string[] {
  const inner = Object.entries(node.properties ?? {}).flatMap(([key, child]) => {
    const at = `${path}${key}`;
    return [at, ...keysOf(child, (example as Record<string, unknown> | undefined)?.[key], `${at}.`)];
  });
  const first = Array.isArray(example) ? example[0] : undefined;
  const listed = node.items && Array.isArray(example) ? keysOf(node.items, first, `${path}0.`) : [];
  const mapped =
    typeof node.additionalProperties === "object" && typeof example === "object" && example !== null
      ? Object.entries(example).flatMap(([key, value]) =>
          keysOf(node.additionalProperties as Node, value, `${path}${key}.`),
        )
      : [];
  const branch = (node.anyOf ?? []).find((one) => Array.isArray(example) === (one.items !== undefined));
  return [...inner, ...listed, ...mapped, ...(branch ? keysOf(branch, example, path) : [])];
}

function valueAt(root: unknown, path: string): unknown {
  return path.split(".").reduce((value, key) => (value as Record<string, unknown> | undefined)?.[key], root);
}

test("config.example.yaml loads, and holds every key the schema knows", () => {
  const parsed = parseConfig(text, {
    env: { OPENAI_API_KEY: "a-key", ANTHROPIC_API_KEY: "b-key", GEMINI_API_KEY: "c-key" },
  });
  assert.deepEqual(parsed.kind === "config" ? parsed.warnings : parsed.problems, []);
  const example: unknown = parse(text);
  const keys = keysOf(configJsonSchema() as Node, example, "");
  assert.ok(keys.length > 80, `only ${keys.length} keys were found in the schema`);
  assert.ok(keys.includes("models.0.pricing.cache_read") && keys.includes("subagents.agents.reviewer.max_turns"));
  assert.deepEqual(
    keys.filter((key) => valueAt(example, key) === undefined),
    [],
  );
});

test("every line of config.example.yaml with a value is explained", () => {
  const bare = text.split("\n").filter((line) => /^\s*(- )?\w+: \S/.test(line) && !line.includes(" # "));
  assert.deepEqual(bare, []);
});

test("what config.example.yaml calls a default is one", () => {
  const example = parse(text) as Record<string, Record<string, unknown>>;
  const defaults = configSchema.parse({ summarization: {} }) as unknown as Record<string, Record<string, unknown>>;
  for (const section of ["memory", "summarization", "tool_output", "skills", "title", "workspace", "store"])
    for (const [key, value] of Object.entries(defaults[section]!)) assert.deepEqual(example[section]![key], value, key);
  for (const [key, value] of Object.entries(defaults["subagents"]!))
    if (key !== "agents") assert.deepEqual(example["subagents"]![key], value, key);
});
