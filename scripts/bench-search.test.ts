import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { BenchInputError } from "../bench/bench.ts";
import { gainsOver, leaveOneSetOut } from "../bench/quality/search-constants.ts";
import { asMeetings, readThreads } from "../bench/quality/search-data.ts";
import { loadRivals } from "../bench/quality/search-rivals.ts";
import { measure, type Score, summaries } from "../packages/lab/src/eval/search-figures.ts";
import { ours } from "../packages/lab/src/eval/search-subjects.ts";

const folder = mkdtempSync(join(tmpdir(), "bench-search-"));
after(() => rmSync(folder, { recursive: true }));

function file(text: string): string {
  const path = join(folder, `${Math.random()}.json`);
  writeFileSync(path, text);
  return path;
}

const filler = (at: number) => `Message ${at} talks about gardens, weather and the long walk to the river.`;
const chat = {
  id: "100K-1",
  messages: Array.from({ length: 30 }, (_, at) => ({
    id: at,
    role: at % 2 === 0 ? "user" : "assistant",
    session: 1,
    date: "March-01-2024",
    text: at === 12 ? "My sister moved to Trondheim to study oceanography." : filler(at),
  })),
  questions: [
    { kind: "information_extraction", question: "Where did my sister move?", evidence: [12], answer: "Trondheim" },
    { kind: "summarization", question: "Summarize my garden.", evidence: [77], answer: "none" },
  ],
};

describe("the search bench", () => {
  const broken = [
    ["text that is no JSON", "[{", /is not JSON; this bench reads files of LoCoMo, BEAM/],
    ["a form it doesn't know", `[{"some":"thing"}]`, /has none of the known forms/],
    ["no question with evidence", JSON.stringify([{ ...chat, questions: [] }]), /holds no question with evidence/],
    ["a damaged chat", JSON.stringify([{ ...chat, messages: [{ id: 1 }] }]), /is damaged at 0\.messages\.0\.role: /],
    ["a session line that is no object", "null\n", /:1 is no JSON object; a session file has one per line/],
    ["a session message without a role", `{"message":{}}\n`, /is damaged: a message without a role/],
  ] as const;
  for (const [what, text, sentence] of broken)
    it(`says in one sentence that a file holds ${what}`, () => {
      assert.throws(
        () => readThreads(file(text), "quality search FILE"),
        (error) => error instanceof BenchInputError && sentence.test(error.message) && !error.message.includes("\n"),
      );
    });

  it("counts a question whose evidence isn't there as skipped", () => {
    const [thread] = readThreads(file(JSON.stringify([chat])), "quality search FILE");
    assert.equal(thread?.set, "BEAM 100K");
    assert.equal(thread.questions.length, 1);
    assert.equal(thread.skipped, 1);
  });

  it("finds the evidence with our search and with every rival, and gives shown and strict shares", async () => {
    const threads = readThreads(file(JSON.stringify([chat])), "quality search FILE");
    const count = (text: string) => Math.ceil(text.length / 4);
    const { rivals } = await loadRivals();
    for (const build of [ours(), ...rivals.map((rival) => rival.build)]) {
      const [all] = summaries(await measure(threads, build, { count }));
      assert.equal(all?.figures["first5"]?.mean, 1);
      assert.equal(all.figures["in1000"]?.mean, 1);
      assert.equal(all.figures["strict1000"]?.mean, 1);
    }
  });

  it("reads dialogs as meetings: a speaker's turns of a sitting become long ones, and evidence follows them", () => {
    const turn = (seq: number, speaker: string, session: number) => ({
      seq,
      speaker,
      session,
      at: "2024-01-01T00:00:00.000Z",
      text: `turn ${seq} ${"word ".repeat(60)}`,
      caption: "",
      imageQuery: "",
    });
    const turns = [turn(1, "Ann", 1), turn(2, "Ben", 1), turn(3, "Ann", 1), turn(4, "Ann", 1), turn(5, "Ann", 2)];
    const question = { kind: "one", text: "what?", evidence: [3, 1, 5], answer: null };
    const dialog = { set: "LoCoMo", id: "d", turns, questions: [question], skipped: 0 };
    const [meeting] = asMeetings([dialog, { ...dialog, set: "BEAM" }]);
    assert.deepEqual(
      meeting?.turns.map(({ seq, speaker, text }) => [seq, speaker, text.match(/turn \d/g)]),
      [
        [1, "Ann", ["turn 1", "turn 3"]],
        [2, "Ben", ["turn 2"]],
        [3, "Ann", ["turn 4"]],
        [4, "Ann", ["turn 5"]],
      ],
    );
    assert.deepEqual(meeting?.questions[0]?.evidence, [1, 4]);
    assert.equal(asMeetings([dialog, { ...dialog, set: "BEAM" }]).length, 2);
  });

  it("chooses constants on the other sets, and leaves sets of one source out together", () => {
    const score = (set: string, value: number): Score => ({
      set,
      kind: "",
      figures: { first10: value, first50: value, first100: value },
    });
    const trials = [
      { setting: {}, scores: [score("BEAM 100K", 0.5), score("BEAM 500K", 0.5), score("LoCoMo", 0.5)] },
      { setting: { k1: 2 }, scores: [score("BEAM 100K", 0.9), score("BEAM 500K", 0.9), score("LoCoMo", 0.4)] },
    ];
    const folds = leaveOneSetOut(trials);
    const chosen = Object.fromEntries(folds.map(({ left, setting }) => [left.join(), setting]));
    assert.deepEqual(chosen, {
      "BEAM 100K": { k1: 2 },
      "BEAM 500K": { k1: 2 },
      LoCoMo: { k1: 2 },
      "BEAM 100K,BEAM 500K": {},
    });
    assert.equal(folds.find(({ left }) => left.join() === "LoCoMo")?.figures["first10"], 0.4);
    const gains = gainsOver(trials[0]!.scores, [trials[1]!]);
    assert.equal(gains.find(({ set }) => set === "LoCoMo")?.gains["first10"]?.mean.toFixed(2), "0.10");
  });
});
