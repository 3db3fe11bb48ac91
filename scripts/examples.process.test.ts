// Examples are promises: each one runs here as it stands, fits a screen, and README shows one of them word for word.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { storeConformance } from "@palimpsest/testing/conformance";
import { mapStore } from "../examples/09-own-store.ts";
import { EXPECTED_ADAPTERS, EXPECTED_EXAMPLES } from "./expected-examples.ts";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const folder = join(root, "examples");
const EXPECTED = { ...EXPECTED_EXAMPLES, ...EXPECTED_ADAPTERS };

for (const [name, expected] of Object.entries(EXPECTED)) {
  test(`example ${name} runs and shows what it says`, async () => {
    const args = ["--conditions=palimpsest-source", join(folder, name)];
    const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: root });
    assert.match(stdout, expected);
  });
}

/** A whole store doesn't fit a screen. */
const LINES: Readonly<Record<string, number>> = { "09-own-store.ts": 150 };

test("every example is run here and is under 40 lines, a store under 150", () => {
  const programs = readdirSync(folder, { recursive: true }).map(String);
  assert.deepEqual(programs.filter((name) => name.endsWith(".ts")).sort(), Object.keys(EXPECTED).sort());
  for (const name of Object.keys(EXPECTED)) {
    const lines = readFileSync(join(folder, name), "utf8").trimEnd().split("\n").length;
    assert.ok(lines < (LINES[name] ?? 40), `${name} has ${lines} lines`);
  }
});

test("the example in README is examples/02-deep-agent.ts, word for word", () => {
  const readme = readFileSync(join(root, "README.md"), "utf8");
  const shown = /```ts\n([\s\S]*?)```/.exec(readme)?.[1];
  assert.equal(shown, readFileSync(join(folder, "02-deep-agent.ts"), "utf8"));
});

test("docs/adapters.md shows each adapter's example, word for word", () => {
  const page = readFileSync(join(root, "docs", "adapters.md"), "utf8");
  const shown = [...page.matchAll(/```ts\n([\s\S]*?)```/g)].map(([, program]) => program);
  for (const name of Object.keys(EXPECTED_ADAPTERS))
    assert.ok(shown.includes(readFileSync(join(folder, name), "utf8")), name);
});

const users: Parameters<typeof mapStore>[0] = new Map();
storeConformance("the example's", async () => ({ connect: async () => mapStore(users), dispose: async () => {} }));
