import assert from "node:assert/strict";
import { test } from "node:test";
import { type ClientRequest, matching, size, totalsOf } from "./request-list.ts";

const request = (id: string, more: Partial<ClientRequest>): ClientRequest => ({
  ...({ id, at: "", ms: 1, path: "/v1/messages", model: "big", upstreamModel: "big-1" } as const),
  ...({ provider: "anthropic", stream: true, mode: "on", match: "extended", fork: null } as const),
  ...({ client: { messages: 3, bytes: 100, hash: null }, thread: "work", seq: 4, view: "verbatim" } as const),
  ...({
    upstream: null,
    compaction: null,
    shortened: null,
    evidence: null,
    status: 200,
    end: "answered",
    usage: null,
  } as const),
  ...({ cacheShare: null, cost: null, saved: { tokens: 0, cost: null }, currency: null } as const),
  ...more,
});

const upstream = { messages: 2, bytes: null, tokens: 20, source: "estimated", whole: 100 };
const usage = { input: 20, output: 5, cacheRead: 15, cacheWrite: 0 };
const ALL = [
  request("a", { match: "forked", upstream, usage, saved: { tokens: 80, cost: 0.5 }, cost: 0.1, view: "compacted" }),
  request("b", { path: "/v1/chat/completions", status: 502, end: "failed", thread: null }),
];

for (const [words, ids] of [
  ["", ["a", "b"]],
  ["FORKED big", ["a"]],
  ["502", ["b"]],
  ["chat", ["b"]],
  ["work", ["a"]],
  ["lighthouse", ["a"]],
  ["nothing", []],
] as const)
  test(`requests are found by "${words}"`, () =>
    assert.deepEqual(
      matching(ALL, words, (id) => `Lighthouse ${id}`).map(({ id }) => id),
      ids,
    ));

test("requests are added up; an unknown figure is no zero", () => {
  assert.deepEqual(totalsOf(ALL), {
    count: 2,
    failed: 1,
    savedTokens: 80,
    savedShare: 0.8,
    cost: 0.1,
    savedCost: 0.5,
    cacheShare: 0.75,
  });
  const { cost, savedCost, cacheShare } = totalsOf([]);
  assert.deepEqual([cost, savedCost, cacheShare], [null, null, null]);
});

test("sizes read as people write them", () => {
  assert.deepEqual([0, 999, 1500, 2_340_000].map(size), ["0 B", "999 B", "1.5 kB", "2.3 MB"]);
});
