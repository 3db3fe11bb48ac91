import assert from "node:assert/strict";
import { test } from "node:test";
import { rulesOf, type Shape, shapeOf, violations } from "@palimpsest/core/internal/message";
import { answerReserve } from "@palimpsest/core/internal/tokens";
import { randomConversation, render } from "@palimpsest/testing/internal/shapes";
import fc from "fast-check";
import { FloorError, summarizationFromOptions } from "../compaction/summarization.ts";
import { openSqlite } from "../stores/index.ts";
import { appendMessages, withWriter } from "./acts.ts";
import { threadPrompt } from "./sized-thread.ts";
import { createThread, threadDeps } from "./writer.ts";

const { policy } = summarizationFromOptions();

test("where the shortest result is over the window by a few tokens, the floor is named instead", async (t) => {
  const messages = render(randomConversation(2078010022, { messages: 12, longest: 6000 }), shapeOf("anthropic"));
  const store = openSqlite({ path: ":memory:" });
  t.after(() => store.close());
  const deps = threadDeps(store);
  await createThread(deps, { id: "a" });
  const inputs = messages.map((body) => ({ dialect: "anthropic" as const, origin: "import" as const, body }));
  await withWriter(deps, "a", (writer) => appendMessages(writer, inputs));
  for (let window = 190; window < 240; window++) {
    const prompt = await threadPrompt(store, "a", { window, simulate: policy }).catch((error: unknown) => error);
    if (prompt instanceof FloorError) assert.ok(prompt.floor.total > window);
    else assert.ok(tokensOf(prompt) <= window - answerReserve(window, null), `${tokensOf(prompt)} of ${window}`);
  }
});

function tokensOf(prompt: unknown): number {
  return (prompt as { readonly count: { readonly tokens: number } }).count.tokens;
}

test("a simulated prompt fits its window, is valid for its provider and leaves the log alone, or the floor is named", async () => {
  let [simulated, whole, floors] = [0, 0, 0];
  await fc.assert(
    fc.asyncProperty(
      fc.integer(),
      fc.constantFrom("openai", "anthropic", "ai-sdk"),
      fc.integer({ min: 100, max: 12_000 }),
      fc.boolean(),
      async (seed, dialect, window, wild) => {
        const shape = shapeOf(dialect) as unknown as Shape<object>;
        const messages = render(randomConversation(seed, { messages: 30, longest: 6000, wild }), shape);
        const store = openSqlite({ path: ":memory:" });
        const kit = threadDeps(store);
        await createThread(kit, { id: "a" });
        const drafts = messages.map((body) => ({ dialect, origin: "import" as const, body }));
        await withWriter(kit, "a", (writer) => appendMessages(writer, drafts));
        const before = (await store.head("a"))?.hash;
        try {
          const prompt = await threadPrompt(store, "a", { window, simulate: policy });
          assert.ok(prompt.kind === "prompt");
          assert.ok(prompt.count.tokens <= window - answerReserve(window, null), `${prompt.count.tokens} of ${window}`);
          assert.equal(prompt.breakdown.total, prompt.count.tokens);
          assert.deepEqual(violations(prompt.messages, shape, rulesOf(dialect)).slice(0, 1), []);
          if (prompt.simulated) simulated += 1;
          else whole += 1;
        } catch (error) {
          if (!(error instanceof FloorError)) throw error;
          assert.ok(error.floor.total > window);
          floors += 1;
        }
        assert.equal((await store.head("a"))?.hash, before);
        await store.close();
      },
    ),
    { numRuns: 60 },
  );
  assert.ok(simulated > 10 && whole > 0, `${simulated} simulated, ${whole} whole, ${floors} floors`);
});
