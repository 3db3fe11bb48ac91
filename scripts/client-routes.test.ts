// The client's types are made from the gateway's routes; what they say must be what those say.
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { clientRoutes } from "./client-routes/client-routes.ts";
import { type Schema, typeText } from "./client-routes/type-text.ts";

const folder = join(dirname(fileURLToPath(import.meta.url)), "..", "packages", "harness", "src", "client", "routes");

test("the types of palimpsest/client are those of the gateway's routes (run `npm run client-routes`)", () => {
  const committed = new Map(readdirSync(folder).map((name) => [name, plain(readFileSync(join(folder, name), "utf8"))]));
  const made = new Map([...clientRoutes()].map(([name, text]) => [name, plain(text)]));
  assert.deepEqual(Object.fromEntries(committed), Object.fromEntries(made));
});

test("a schema is written as the type it checks", () => {
  const rows: readonly (readonly [Schema, string])[] = [
    [{ type: "string" }, "string"],
    [{ type: "integer" }, "number"],
    [{}, "unknown"],
    [{ const: true }, "true"],
    [{ enum: ["a", "b"] }, '"a" | "b"'],
    [{ anyOf: [{ type: "string" }, { type: "null" }] }, "string | null"],
    [{ type: ["number", "null"] }, "number | null"],
    [{ type: "array", items: { enum: ["a", "b"] } }, 'readonly ("a" | "b")[]'],
    [{ type: "object", additionalProperties: false }, "Record<string, never>"],
    [
      {
        type: "object",
        properties: { a: { type: "string" }, "b.c": {} },
        required: ["a"],
        additionalProperties: false,
      },
      '{\nreadonly a: string;\nreadonly "b.c"?: unknown;\n}',
    ],
    [{ type: "object", additionalProperties: { type: "number" } }, "{\nreadonly [name: string]: number;\n}"],
  ];
  for (const [schema, expected] of rows) assert.equal(typeText(schema), expected, JSON.stringify(schema));
});

/** Without what the formatter decides. */
function plain(text: string): string {
  return text.replaceAll(/[\s;,()|]/g, "");
}
