import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { type AnthropicMessage, shapeOf } from "@palimpsest/core/internal/message";
import { RELATIVE_PRICES } from "@palimpsest/core/internal/pricing";
import { charsPerToken } from "@palimpsest/core/internal/tokens";
import { openSqlite } from "../stores/sqlite.ts";
import { type OpenThreadOptions, openThread, type ThreadPrompt } from "./open-thread.ts";
import { cacheTerms } from "./window.ts";

test("what a pruning writes again begins anywhere, behind the last prunings, or at the first message", () => {
  const reach = [4, 9, 15];
  assert.equal(cacheTerms("prefix", RELATIVE_PRICES).marks(reach), null);
  assert.deepEqual(cacheTerms("marks", RELATIVE_PRICES).marks(reach), [9, 15]);
  assert.deepEqual(cacheTerms("end", RELATIVE_PRICES).marks(reach), []);
  const { isKept, prices } = cacheTerms("none", RELATIVE_PRICES);
  assert.deepEqual([isKept, prices.cacheRead, prices.cacheWrite], [false, prices.input, prices.input]);
});

const PAGE = "one more line of it\n".repeat(400);

/** So many pages are read, one for each request, and nobody lets the cache grow cold. */
async function readPages(
  t: TestContext,
  pages: number,
  given: Partial<OpenThreadOptions<AnthropicMessage>>,
): Promise<readonly ThreadPrompt<AnthropicMessage>[]> {
  const store = openSqlite({ path: ":memory:" });
  t.after(() => store.close());
  const opened = await openThread({
    store,
    id: "t",
    shape: shapeOf<AnthropicMessage>("anthropic"),
    window: 500_000,
    counter: charsPerToken(4),
    summarization: {
      keep: { type: "messages", value: 2 },
      prune: { from: 1, protectTokens: 100, minGainTokens: 1 },
    },
    deps: { clock: () => new Date("2026-01-01T00:00:00Z") },
    ...given,
  });
  assert.ok(opened.kind === "open");
  const { thread } = opened;
  await thread.append([{ role: "user", content: "Read it all." }]);
  const prompts: ThreadPrompt<AnthropicMessage>[] = [];
  for (let page = 0; page < pages; page += 1) {
    const id = `c${page}`;
    const prompt = await thread.prompt();
    prompts.push(prompt);
    await thread.append([
      { role: "assistant", content: [{ type: "tool_use", id, name: "list", input: { page } }] },
      { role: "user", content: [{ type: "tool_result", tool_use_id: id, content: PAGE }] },
    ]);
    await thread.report({ input: prompt.count.tokens, output: 10 });
  }
  return prompts;
}

const pruned = ({ messages }: ThreadPrompt<AnthropicMessage>): number[] =>
  messages.flatMap((message, index) => (JSON.stringify(message).includes("[pruned") ? [index] : []));

/** The requests before which something was pruned. */
function passes(prompts: readonly ThreadPrompt<AnthropicMessage>[]): number[] {
  const counts = prompts.map((prompt) => pruned(prompt).length);
  return counts.flatMap((count, index) => (count > (counts[index - 1] ?? 0) ? [index] : []));
}

test("a thread's loop prunes by the prices it gives: at once where its cache saves nothing, later where reading it is cheap", async (t) => {
  const same = { input: 3, output: 15, cacheRead: 3, cacheWrite: 3 };
  const dear = { input: 3, output: 15, cacheRead: 0.3, cacheWrite: 300 };
  const [listed, atOnce, never] = await Promise.all([
    readPages(t, 40, { model: "claude-sonnet-4-5" }),
    readPages(t, 40, { model: "claude-sonnet-4-5", prices: same }),
    readPages(t, 40, { model: "claude-sonnet-4-5", prices: dear }),
  ]);
  assert.ok(passes(atOnce)[0]! < passes(listed)[0]!, `${passes(atOnce)} and ${passes(listed)}`);
  assert.deepEqual(passes(never), []);
});

test("a request without marks is read anew each time, so what is old goes at once; one with a mark at its end waits longest", async (t) => {
  const [none, prefix, end] = await Promise.all(
    (["none", "prefix", "end"] as const).map((promptCache) => readPages(t, 60, { promptCache })),
  );
  const counts = [none!, prefix!, end!].map((prompts) => passes(prompts).length);
  assert.ok(counts[0]! > counts[1]! && counts[1]! > counts[2]! && counts[2]! > 0, `${counts}`);
});

test("a loop that sets marks is told where: behind the last two prunings and at the end", async (t) => {
  const prompts = await readPages(t, 60, { promptCache: "marks" });
  const first = passes(prompts)[0]!;
  assert.deepEqual(prompts[first - 1]!.marks, [prompts[first - 1]!.messages.length - 1]);
  assert.ok(passes(prompts).length > 1);
  const { messages, marks } = prompts.at(-1)!;
  assert.equal(marks.length, 3);
  assert.deepEqual(marks.slice(1), [pruned(prompts.at(-1)!).at(-1), messages.length - 1]);
  assert.deepEqual((await readPages(t, 3, {}))[2]!.marks, []);
});
