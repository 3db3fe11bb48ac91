// The description held to reality: every operation of it, called by a client that is made of the description alone.
import assert from "node:assert/strict";
import { test } from "node:test";
import { type ApiDocument, clientOf, operationsOf } from "../test/api-client.ts";
import { ENDLESS, EXAMPLES, world } from "../test/examples.ts";

test("a client made of /openapi.json reads the answers of every operation, and they are what it says", async (t) => {
  const at = await world(t);
  const document = (await (await fetch(`${at.url}/openapi.json`)).json()) as ApiDocument;
  const called: string[] = [];
  const operations = operationsOf(document);
  const last = operations.filter(({ operationId }) => operationId === "deleteUser");
  for (const operation of [...operations.filter((one) => !last.includes(one)), ...last]) {
    const name = `${operation.method} ${operation.path}`;
    const example = EXAMPLES[name];
    assert.ok(example !== undefined, `no example for ${name}`);
    // What makes an undo possible is said in the examples, and tested with them.
    if (example.before !== undefined || name === ENDLESS) continue;
    const isImport = operation.path.endsWith("/threads/{id}/import");
    const filled = await at.filled(operation.path);
    const isAdmin = /^\/(?:api\/keys|metrics)/.test(operation.path) || name.startsWith("PUT /api/skills");
    const client = clientOf(document, { url: at.url, key: isAdmin ? at.keys.ops : at.keys.ada });
    const body = name === "DELETE /api/user" ? { user: "ada" } : (example.text ?? example.file ?? example.body);
    const answer = await client[operation.operationId]!({
      params: isImport ? { id: "imported" } : paramsOf(operation.path, filled),
      query: Object.fromEntries(new URLSearchParams(example.query ?? "")),
      body: JSON.stringify(body)?.includes(":-1") ? { seq: at.message } : body,
    });
    const expected = example.status ?? Number(Object.keys(operation.responses)[0]);
    assert.equal(answer.status, expected, `${name}: ${JSON.stringify(answer.value).slice(0, 300)}`);
    assert.equal(answer.problem, null, name);
    called.push(name);
  }
  assert.ok(called.length > 60, `${called.length} operations`);
});

test("errors are as described, too", async (t) => {
  const at = await world(t);
  const document = (await (await fetch(`${at.url}/openapi.json`)).json()) as ApiDocument;
  const client = clientOf(document, { url: at.url, key: at.keys.bob });
  for (const { operationId, parameters } of operationsOf(document)) {
    const places = parameters.filter((one) => one.in === "path").map(({ name }) => [name, "none"]);
    if (places.length === 0) continue;
    const needed = [["q", "x"] as const, ["at", "1"] as const].filter(([wanted]) =>
      parameters.some(({ name }) => name === wanted),
    );
    const query = Object.fromEntries(needed);
    const answer = await client[operationId]!({ params: Object.fromEntries(places), query, body: {} });
    assert.equal(answer.problem, null, `${operationId}: ${JSON.stringify(answer.value).slice(0, 200)}`);
  }
});

/** What stands in a filled path where the template has names. */
function paramsOf(template: string, filled: string): Record<string, string> {
  const names = [...template.matchAll(/\{(\w+)\}/g)].map(([, name]) => name!);
  const pattern = template.replaceAll(/\{(\w+)\}/g, (_, name: string) => (name === "path" ? "(.+)" : "([^/]+)"));
  const values = new RegExp(`^${pattern}$`).exec(filled)!.slice(1);
  return Object.fromEntries(names.map((name, index) => [name, decodeURIComponent(values[index]!)]));
}
