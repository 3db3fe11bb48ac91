// The page of benchmarks: measured rows have their command, and what was not measured says so.
import assert from "node:assert/strict";
import { test } from "node:test";
import { type Result, renderPage } from "../bench/report/page.ts";
import { commandOf, STEPS } from "../bench/report/plan.ts";

const MACHINE = { cores: 2, memory: "8 GiB", node: "v24.0.0", system: "linux" };

function results(outcomeOf: (id: string) => Result["outcome"]): Result[] {
  return STEPS.map((step) => {
    const about = { id: step.id, command: commandOf(step), machine: MACHINE, versions: { palimpsest: "0.1.0" } };
    return { ...about, outcome: outcomeOf(step.id) };
  });
}

test("a bench without its data, or that failed, is one row that says why and keeps its command", () => {
  const page = renderPage(
    results((id) => (id === "turn" ? { kind: "failed", why: "too slow" } : { kind: "no-data", file: "x.jsonl" })),
  );
  assert.match(page, /not measured: too slow \| \| \| \| `npm run bench -- turn /);
  assert.equal(page.match(/not measured: x\.jsonl was not there/g)?.length, STEPS.length - 1);
  for (const step of STEPS) assert.ok(page.includes(`\`${commandOf(step)}\``), step.id);
});

test("a measured peer stands beside ours with the ratio, also where the peer is better", () => {
  const rows = [
    { who: "palimpsest", store: "sqlite", messages: 100, ms: 20, bytes: 10_000 },
    { who: "Peer", store: "memory", messages: 100, ms: 10, bytes: 1_000_000 },
  ];
  const page = renderPage(
    results((id) => (id === "turn" ? { kind: "measured", figures: { rows } } : { kind: "no-data", file: "x.jsonl" })),
  );
  assert.match(
    page,
    /\| 100 messages, Peer, memory \| 20 ms, 10\.0 kB \| 10 ms, 1\.0 MB \| 0\.50x time, 100x bytes \|/,
  );
});
