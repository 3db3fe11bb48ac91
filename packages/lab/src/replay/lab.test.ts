import assert from "node:assert/strict";
import { test } from "node:test";
import type { OpenAiMessage } from "@palimpsest/core/internal/message";
import fc from "fast-check";
import { builtInPolicies } from "./field.ts";
import { runLab } from "./lab.ts";
import { renderReport } from "./report-page.ts";
import { letterOf, percent, short, ticks } from "./report-plots.ts";
import { type ReplayedConversation, transcriptOf } from "./transcript.ts";

const WINDOW = 20_000;

test("the lab plays every policy on the same requests, and never pruning costs what it costs", async () => {
  const report = await runLab({ transcripts: [session(80)], policies: builtInPolicies(WINDOW), window: WINDOW });
  const none = report.policies.find(({ name }) => name === "none")!;
  assert.deepEqual([none.cost, none.known, none.compactions, none.waits], [1, 1, 0, 0]);
  assert.ok(none.overWindow > 0);
  for (const row of report.policies) assert.equal(row.timelines[0]?.length, none.timelines[0]?.length, row.name);
});

test("where nothing from long before was used again, no share of it is claimed", async () => {
  const said = Array.from(
    { length: 6 },
    (_, index): OpenAiMessage => ({
      role: index % 2 === 0 ? "user" : "assistant",
      content: ["yes", "no"][index % 2]!,
    }),
  );
  const transcripts = [transcriptOf("short", conversation(said))];
  const report = await runLab({ transcripts, policies: builtInPolicies(WINDOW), window: WINDOW });
  for (const { known, knownWithRecall } of report.policies) assert.deepEqual([known, knownWithRecall], [null, null]);
  assert.doesNotMatch(renderReport(report), /Knowledge against tokens|NaN|null/);
});

test("ours is first in the table, breaks no rule, stays in the window and costs less than never pruning", async () => {
  const report = await runLab({ transcripts: [session(80)], policies: builtInPolicies(WINDOW), window: WINDOW });
  const [ours] = report.policies;
  assert.equal(ours?.name, "ours");
  assert.deepEqual([ours?.violations, ours?.overWindow], [0, 0]);
  assert.ok(ours!.cost < 1);
});

test("a transcript with dangling calls and orphans is repaired as the agent would, and the report says how often", async () => {
  const broken = transcriptOf(
    "broken",
    conversation([
      { role: "user", content: "go" },
      { role: "assistant", content: null, tool_calls: [call("a")] },
      { role: "user", content: "never mind" },
      { role: "tool", tool_call_id: "nobody", content: "late" },
      { role: "assistant", content: "done" },
    ]),
  );
  const report = await runLab({ transcripts: [broken], policies: builtInPolicies(WINDOW), window: WINDOW });
  assert.ok(report.transcripts[0]!.repairs >= 2);
  for (const row of report.policies) assert.equal(row.violations, 0, row.name);
});

test("the page is one file without scripts or links, and holds every policy's name escaped", async () => {
  const policies = [...builtInPolicies(WINDOW), { ...builtInPolicies(WINDOW)[0]!, name: '<b onload="x">' }];
  const page = renderReport(await runLab({ transcripts: [session(20)], policies, window: WINDOW }));
  assert.doesNotMatch(page, /<script|https?:|<b onload/);
  for (const { name } of builtInPolicies(WINDOW)) assert.ok(page.includes(name), name);
  assert.match(page, /prefers-color-scheme: dark/);
});

test("the page names what it is of: a letter for each policy, words, date, command, and a line at the window", async () => {
  const policies = builtInPolicies(WINDOW);
  const report = await runLab({ transcripts: [session(80)], policies, window: WINDOW });
  const about = {
    date: new Date("2026-01-02T03:04:05Z"),
    command: "palimpsest lab a.jsonl",
    versions: "palimpsest 1.2.3",
  };
  const page = renderReport(report, about);
  for (const text of ["2026-01-02 03:04", about.command, about.versions, "<dt>rereads</dt>", 'class="window"'])
    assert.ok(page.includes(text), text);
  for (const [index] of policies.entries()) assert.ok(page.includes(`<b>${letterOf(index)}</b> `));
  const letters = [...page.slice(0, page.indexOf("</svg>")).matchAll(/class="letter" x="([\d.]+)" y="([\d.]+)"/g)];
  const places = letters.map(([, x, y]) => ({ x: Number(x), y: Number(y) }));
  assert.equal(places.length, policies.length);
  for (const [index, one] of places.entries())
    for (const other of places.slice(index + 1))
      assert.ok(Math.abs(one.x - other.x) >= 10 || Math.abs(one.y - other.y) >= 10, "two letters cover each other");
});

test("the numbers at an axis are round and hold what is drawn", () => {
  assert.deepEqual(ticks(0, 122_476_463, 4), [0, 50_000_000, 100_000_000, 150_000_000]);
  assert.deepEqual(ticks(0.443, 1, 4), [0.4, 0.6, 0.8, 1]);
  assert.deepEqual(
    [short(122_476_463), short(950), short(150_000_000), percent(0.4)],
    ["122 M", "950", "150 M", "40 %"],
  );
  fc.assert(
    fc.property(
      fc.double({ min: 0, max: 1e9, noNaN: true }),
      fc.double({ min: 1e-3, max: 1e9, noNaN: true }),
      (least, span) => {
        const marks = ticks(least, least + span, 4);
        assert.ok(marks.length >= 2 && marks.length <= 7, String(marks));
        assert.ok(marks[0]! <= least * (1 + 1e-6) + 1e-9 && marks.at(-1)! >= (least + span) * (1 - 1e-6));
      },
    ),
  );
});

function session(steps: number) {
  const messages: OpenAiMessage[] = [{ role: "user", content: "Refactor the modules one by one." }];
  for (let step = 0; step < steps; step++) {
    messages.push({ role: "assistant", content: `Reading module ${step}.`, tool_calls: [call(`c${step}`, step)] });
    messages.push({
      role: "tool",
      tool_call_id: `c${step}`,
      content: `export const value${step} = ${step};\n`.repeat(60),
    });
  }
  messages.push({ role: "assistant", content: "All of src/module-3.ts and value7 is done." });
  return transcriptOf("session", conversation(messages));
}

function call(id: string, step = 0) {
  const input = JSON.stringify({ path: `src/module-${step}.ts` });
  return { id, type: "function" as const, function: { name: "read_file", arguments: input } };
}

function conversation(messages: readonly OpenAiMessage[], questions: readonly unknown[] = []): ReplayedConversation {
  return {
    questions,
    messages: messages.map((message, index) => ({
      place: `line ${index + 1}`,
      body: JSON.stringify(message),
      value: message as unknown as Readonly<Record<string, unknown>>,
      at: null,
      model: null,
      usage: null,
    })),
  };
}
