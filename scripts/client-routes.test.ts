// The client's types are made from the gateway's routes.
import assert from "node:assert/strict";
import { test } from "node:test";
import { parseSync } from "oxc-parser";
import { clientRoutes } from "./client-routes/client-routes.ts";
import { type Schema, typeText } from "./client-routes/type-text.ts";

test("each of the gateway's routes has its types in the client", () => {
  const text = clientRoutes();
  assert.deepEqual(parseSync("routes.ts", text).errors, []);
  for (const name of [
    "GET /api/threads",
    "POST /api/threads/{id}/compact",
    "DELETE /api/memory/facts/{fact}",
    "GET /healthz",
  ])
    assert.ok(text.includes(`\n${JSON.stringify(name)}: {\n`), name);
  assert.match(
    text,
    /"PATCH \/api\/threads\/\{id\}": \{\nreadonly params: \{\nreadonly id: string;\n\};\nreadonly body: \{\nreadonly title: string;\n\};/,
  );
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
