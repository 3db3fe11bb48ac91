import assert from "node:assert/strict";
import { test } from "node:test";
import { learnLimit } from "@palimpsest/core/internal/tokens";
import type { LearnedLimits } from "@palimpsest/core/tokens";
import { createModelWindow } from "../session/model-window.ts";
import type { SharedLimits, StatedWindow } from "../stores/shared.ts";
import { sharedWindows } from "./shared-windows.ts";

const endpoint = { provider: "p", baseUrl: null, model: "m" };

/** A table that two processes have in common. */
function table(): SharedLimits {
  const rows = new Map<string, StatedWindow>();
  return {
    beat: async () => 1,
    settle: async () => [],
    windows: async () => [...rows.values()],
    putWindow: async (window) => void rows.set(window.endpoint, window),
  };
}

test("a window that one process was told holds in another that runs already, unless that one has been given more", async () => {
  const shared = table();
  let now = 0;
  const clock = () => new Date(now);
  const start = () => {
    let kept: LearnedLimits = {};
    const file = {
      read: () => kept,
      keep: (limits: LearnedLimits) => {
        kept = limits;
      },
    };
    const limitsStore = sharedWindows(file, shared, clock);
    return createModelWindow({ endpoint, window: () => 100_000, reserve: () => 0, clock, limitsStore });
  };
  const [one, two, three] = [start(), start(), start()];
  three.accept(50_000);
  one.learn(8_000, "stated");
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
