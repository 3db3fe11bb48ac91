import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { type LearnedLimits, learnLimit } from "@palimpsest/core/internal/tokens";
import { forgetWindows, type LimitsStore, limitsOfHome, sharedWindows } from "../models/tokenizers.ts";
import type { SharedLimits, StatedWindow } from "../stores/shared.ts";
import { createModelWindow } from "../thread/window.ts";

const endpoint = { provider: "p", baseUrl: null, model: "m" };

/** A table that two processes have in common. */
function table(): SharedLimits {
  const rows = new Map<string, StatedWindow>();
  return {
    beat: async () => 1,
    settle: async () => [],
    windows: async () => [...rows.values()],
    putWindow: async (window) => void rows.set(window.endpoint, window),
    dropWindow: async (endpoint) => void rows.delete(endpoint),
  };
}

function inMemory(): LimitsStore {
  let kept: LearnedLimits = {};
  return {
    read: () => kept,
    keep(limits) {
      kept = limits;
    },
  };
}

test("a window that one process was told holds in another that runs already, unless that one has been given more", async () => {
  const shared = table();
  let now = 0;
  const clock = () => new Date(now);
  const start = () => {
    const limitsStore = sharedWindows(inMemory(), shared, clock);
    return createModelWindow({ endpoint, window: () => 100_000, reserve: () => 0, clock, limitsStore });
  };
  const [one, two, three] = [start(), start(), start()];
  three.accept({ reported: 50_000, counted: 50_000 });
  one.learn({ limit: 8_000, from: "stated", counted: 8_000 });
  assert.equal(one.window().size, 8_000);
  now = 61_000;
  for (const each of [two, three]) each.window();
  await new Promise(setImmediate);
  assert.deepEqual([two.window().size, three.window().size], [8_000, 100_000]);
  assert.equal((await shared.windows())[0]?.tokens, 8_000);
  assert.deepEqual(Object.keys(learnLimit({}, endpoint, { tokens: 8_000, learnedAt: 0 })), [
    (await shared.windows())[0]?.endpoint,
  ]);
});

test("a window below what another thread of the process was given is learned by its own thread alone", () => {
  const limitsStore = inMemory();
  const clock = () => new Date(0);
  const open = (model: string) =>
    createModelWindow({
      endpoint: { ...endpoint, model },
      window: () => 100_000,
      reserve: () => 0,
      clock,
      limitsStore,
    });
  open("m").accept({ reported: 50_000, counted: 50_000 });
  const refused = open("m");
  refused.learn({ limit: 8_000, from: "stated", counted: 8_000 });
  assert.deepEqual([refused.window().size, open("m").window().size], [8_000, 100_000]);
  // Of another model nothing is known, and what fits what was given is for all.
  open("n").learn({ limit: 8_000, from: "stated", counted: 8_000 });
  refused.learn({ limit: 60_000, from: "stated", counted: 60_000 });
  assert.deepEqual([open("n").window().size, open("m").window().size], [8_000, 60_000]);
});

test("a forgotten limit is gone from the home's file and from where other processes look, those of other models stay", async (t) => {
  const home = mkdtempSync(join(tmpdir(), "palimpsest-limits-"));
  t.after(() => rmSync(home, { recursive: true }));
  const shared = table();
  const limits = learnLimit({}, endpoint, { tokens: 8_000, learnedAt: 1 });
  limitsOfHome(home).keep(learnLimit(limits, { ...endpoint, model: "n" }, { tokens: 9_000, learnedAt: 1 }));
  for (const tokens of [8_000, 9_000])
    await shared.putWindow({
      endpoint: JSON.stringify(["p", null, tokens === 8_000 ? "m" : "n"]),
      tokens,
      learnedAt: 1,
    });
  assert.deepEqual(await forgetWindows(home, shared, { model: "m" }), [8_000]);
  assert.deepEqual(
    Object.values(limitsOfHome(home).read()).map(({ tokens }) => tokens),
    [9_000],
  );
  assert.deepEqual(
    (await shared.windows()).map(({ tokens }) => tokens),
    [9_000],
  );
  assert.deepEqual(await forgetWindows(home, shared, { model: "m" }), []);
});
