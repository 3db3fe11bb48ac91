// Values at the edge of a limit, and results for which no room is enough.
import assert from "node:assert/strict";
import { test } from "node:test";
import { plainPrompt } from "@palimpsest/testing/internal/shapes";
import { emptyHead } from "../log/head.ts";
import { type OpenAiMessage, openaiShape } from "../message/openai.ts";
import { buildPrompt } from "../prompt/prompt.ts";
import { createSizer, fixedSize, sizesOf } from "../prompt/sizer.ts";
import { extractSummary, messageText } from "../summary/internal.ts";
import { NOWHERE } from "../summary/render-lines.ts";
import { atOnce, NO_QUOTES, WORK_HEADING } from "../summary/work.ts";
import { charsPerToken, createMeter } from "../tokens/counter.ts";
import { type Applied, applyUntilFits, coveredIn, NO_OWN_WORDS, renderState } from "./apply.ts";
import { clampEntry } from "./clamp.ts";
import { openGroupDigest } from "./collapse.ts";
import { cutSizes } from "./cut.ts";
import type { CompactPlan } from "./plan.ts";
import { lastAct } from "./policy.ts";

const message = (content: string): OpenAiMessage => ({ role: "user", content });

test("in a thread in which nothing was compacted, undone or shortened the last act is 0", () => {
  assert.equal(lastAct(emptyHead("2026-01-01T00:00:00.000Z"), []), 0);
});

test("the text of a call has every key and value of its input, however deep", () => {
  const input = JSON.stringify({ path: "a.ts", edits: [{ line: 7, text: "new" }] });
  const call: OpenAiMessage = {
    role: "assistant",
    content: null,
    tool_calls: [{ id: "1", type: "function", function: { name: "edit", arguments: input } }],
  };
  assert.equal(messageText(call, openaiShape), "path\na.ts\nedits\nline\n7\ntext\nnew");
});

test("a text of exactly the limit is left as it is, one of a token more is shortened", () => {
  const { entry, sizes } = single("four".repeat(100), 4);
  const most = sizes.parts(entry.message)[0]!.text;
  const context = { shape: openaiShape, sizes, originals: NOWHERE };
  assert.deepEqual(clampEntry(entry, most, context).entries, []);
  assert.equal(clampEntry(entry, most - 1, context).entries.length, 1);
});

test("where the limit has room for the pointer alone, nothing of the text stays", () => {
  const { entry, sizes } = single("many characters to a token ".repeat(200), 40);
  const pointer = "[... cut here ...]";
  const most = sizes.text(pointer) + 4;
  const { entries } = clampEntry(entry, most, { shape: openaiShape, sizes, originals: NOWHERE });
  assert.equal(entries[0]?.replacement, pointer);
});

test("a result that never fits is made six times, each time of a plan for less, and the last one is taken", async () => {
  const prompt = plainPrompt([{ seq: 1, message: message("far too long ".repeat(1000)) }], openaiShape);
  const { tokens } = prompt.count;
  const planned: CompactPlan = {
    kind: "compact",
    rung: "clamp",
    cut: null,
    entries: [],
    reason: "window",
    tokensBefore: tokens,
    tokensAfter: tokens,
    maxTokens: tokens - 1,
    goal: "window",
  };
  const results: Applied<OpenAiMessage>[] = [];
  const overshoots: number[] = [];
  const { applied, floor } = await applyUntilFits<OpenAiMessage, Applied<OpenAiMessage>>(planned, {
    window: { size: tokens - 1, reserve: 0 },
    replan: ({ overshoot }) => {
      overshoots.push(overshoot);
      return planned;
    },
    apply: async () => {
      results.push({ prompt, summaryTokens: 0, records: [] });
      return results.at(-1)!;
    },
  });
  assert.equal(results.length, 6);
  assert.deepEqual(overshoots, [1, 2, 3, 4, 5]);
  assert.equal(applied, results[5]);
  assert.equal(floor, null);
});

test("a compaction remembers the last 60 user turns of those before it and those it hides", () => {
  const entries = Array.from({ length: 10 }, (_, index) => ({
    seq: 101 + index,
    message: index % 2 === 0 ? message("why") : ({ role: "assistant", content: "so" } as const),
  }));
  const turns = (before: readonly number[]): readonly number[] =>
    atOnce(coveredIn({ userTurns: before }, { last: 110, entries, tail: [] }, openaiShape)).userTurns;
  const hidden = [101, 103, 105, 107, 109];
  const before = Array.from({ length: 58 }, (_, index) => index + 1);
  assert.deepEqual(turns([]), hidden);
  assert.deepEqual(turns(before), [...before.slice(3), ...hidden]);
});

test("a summary with notes is within its budget: the notes are taken off what the rest may use", () => {
  const count = charsPerToken(4);
  const entries = Array.from({ length: 60 }, (_, index) => ({
    seq: index + 1,
    message: message(`Please keep in mind point ${index}: the ${index}th folder holds the plan for week ${index}.`),
  }));
  const maxTokens = 400;
  const state = extractSummary(null, entries, openaiShape, { maxTokens: 4000, count });
  const at = "2026-01-01T00:00:00.000Z";
  const text = "what the next step needs ".repeat(25);
  const notes = [{ name: "plan", text, revision: 1, by: "model" as const, at, cites: [] }];
  const lines = { todos: [], delegations: [], skills: [], notes };
  const input = {
    prior: null,
    entries,
    pins: [],
    userTurns: [],
    own: NO_OWN_WORDS,
    quotes: NO_QUOTES,
    lines,
    originals: NOWHERE,
  };
  const rendered = renderState(state, input, { maxTokens, count, format: "user" });
  assert.match(rendered.text, /what the next step needs/);
  const { tokens } = rendered;
  assert.ok(tokens <= maxTokens, `${tokens} of ${maxTokens}`);
  assert.ok(tokens > maxTokens / 2, "the rest of the budget is used");
});

test("a request that stands verbatim is a message of the view, also where the view begins with it", () => {
  const calls = ["1", "2"].flatMap((id): OpenAiMessage[] => [
    {
      role: "assistant",
      content: null,
      tool_calls: [{ id, type: "function", function: { name: "read", arguments: "{}" } }],
    },
    { role: "tool", tool_call_id: id, content: "ok" },
  ]);
  for (const before of [[], [{ role: "assistant", content: "hi" } as const]]) {
    const all = [...before, message("read both"), ...calls];
    const entries = all.map((one, index) => ({ seq: index + 1, message: one }));
    const sizes = cutSizes(plainPrompt(entries, openaiShape), { format: "user" });
    const [inside, end] = [all.length - 2, all.length];
    assert.equal(sizes.after({ index: inside, kind: "group" }, 1000, 0).messages, 2 + 1 + 1, "calls, summary, request");
    assert.equal(sizes.after({ index: end, kind: "end" }, 1000, 0).messages, 1);
  }
});

test("quotes in an earlier summary are still there to be quoted; a message that looks like them has none", () => {
  const text = `Before.\n\n${WORK_HEADING}\n${"const tide = 6;\n".repeat(20)}`;
  const said = [message("hi"), message(text), message("go on")];
  const quotes = (source: "summary" | "message"): number => {
    const entries = said.map((one, index) => ({
      seq: index + 1,
      message: one,
      ...(index === 0 && { source, message: message(text) }),
    }));
    return cutSizes(plainPrompt(entries, openaiShape), { format: "user" }).quotes({ index: 3, kind: "end" });
  };
  assert.equal(quotes("summary"), charsPerToken(4)(text.slice(text.indexOf(WORK_HEADING))));
  assert.equal(quotes("message"), 0);
});

const callsOf = (results: readonly string[]): OpenAiMessage[] => [
  {
    role: "assistant",
    content: null,
    tool_calls: results.map((_, index) => ({
      id: `${index}`,
      type: "function",
      function: { name: "read", arguments: `{"path":"${index}.ts"}` },
    })),
  },
  ...results.map((content, index): OpenAiMessage => ({ role: "tool", tool_call_id: `${index}`, content })),
];

for (const shown of [0, 1, 2, 3]) {
  test(`a digest with room for ${shown} of 3 calls names ${shown}, and counts the others if it names any`, () => {
    const count = charsPerToken(1);
    const all = callsOf(["first", "second", "third"]).map((message, index) => ({ seq: index + 1, message }));
    const digest = (maxTokens: number): string =>
      openGroupDigest(all, openaiShape, { maxTokens, count, originals: NOWHERE });
    const [heading = "", ...lines] = digest(10_000).split("\n");
    assert.equal(lines.length, 3);
    const room = heading.length + 16 + lines.slice(0, shown).join("").length + shown;
    const more = shown === 0 || shown === 3 ? [] : [`- and ${3 - shown} more`];
    assert.deepEqual(digest(room).split("\n"), [heading, ...lines.slice(0, shown), ...more]);
  });
}

function single(text: string, characters: number) {
  const meter = createMeter(openaiShape, { counter: charsPerToken(characters) });
  const sizer = createSizer({ shape: openaiShape, rules: { name: "none", rules: [] }, meter, fixed: fixedSize({}) });
  const view = [{ source: "message" as const, addition: null, seq: 1, message: message(text) }];
  const prompt = buildPrompt(view, { sizer, key: "-/-" });
  return { entry: prompt.entries[0]!, sizes: sizesOf(prompt) };
}
