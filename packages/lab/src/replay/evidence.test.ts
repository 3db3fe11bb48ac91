import assert from "node:assert/strict";
import { test } from "node:test";
import { runLab } from "./lab.ts";
import { keepLast, neverPrune } from "./policies.ts";
import { readTranscripts } from "./read-transcripts.ts";
import { renderReport } from "./report-page.ts";

const WINDOW = 20_000;
const policies = [neverPrune, keepLast(4)];

test("questions beside the messages say how much of their evidence each policy's last prompt holds", async () => {
  const { transcripts } = await read({ messages: chat(30), questions: QUESTIONS });
  const report = await runLab({ transcripts, policies, window: WINDOW, hits: 3 });
  assert.deepEqual(report.transcripts[0]?.questions, 3);
  const [none, last] = report.policies;
  assert.deepEqual([none?.evidence, none?.evidenceWithRecall], [1, 1]);
  // Of the early turn, the late turn, and one of each, only the late ones stand in the last four messages.
  assert.equal(last?.evidence, (0 + 1 + 0.5) / 3);
  assert.equal(last?.evidenceWithRecall, 1);
});

test("what recall finds counts only within the hits that are read", async () => {
  const messages = chat(30).map((message, index) =>
    index % 7 === 0 ? { ...message, content: `${message.content} walrus` } : message,
  );
  const { transcripts } = await read({ messages, questions: [{ question: "walrus?", evidence: [1, 8, 15] }] });
  const found = async (hits: number) => (await runLab({ transcripts, policies, window: WINDOW, hits })).policies[1];
  const one = (await found(1))?.evidenceWithRecall;
  assert.ok(one! <= 1 / 3, String(one));
  assert.equal((await found(5))?.evidenceWithRecall, 1);
});

test("a summary holds evidence when it quotes it word for word, a pruned message doesn't", async () => {
  const { transcripts } = await read({ messages: chat(30), questions: [{ question: "early?", evidence: [1] }] });
  const quoting = (text: string) => ({
    name: text,
    prepare: (view: Parameters<typeof neverPrune.prepare>[0]) => ({
      view: [
        { source: "summary" as const, seq: null, message: { role: "user" as const, content: text }, addition: null },
        ...view.slice(10),
      ],
      calls: [],
    }),
  });
  const shortened = {
    name: "shortened",
    prepare: (view: Parameters<typeof neverPrune.prepare>[0]) => ({
      view: view.map((entry) => ({ ...entry, message: { role: "user" as const, content: "[cleared]" } })),
      calls: [],
    }),
  };
  const own = [quoting(`Said: ${chat(1)[0]!.content}`), quoting("Something was said."), shortened];
  const report = await runLab({ transcripts, policies: own, window: WINDOW });
  assert.deepEqual(
    report.policies.map(({ evidence }) => evidence),
    [1, 0, 0],
  );
});

test("without questions there is no evidence to report, and the page has no column for it", async () => {
  const { transcripts } = await read({ messages: chat(6) });
  const report = await runLab({ transcripts, policies, window: WINDOW });
  assert.deepEqual([report.policies[0]?.evidence, report.transcripts[0]?.questions], [null, 0]);
  assert.doesNotMatch(renderReport(report), /<th>evidence/);
  const asked = await read({ messages: chat(6), questions: [{ question: "early?", evidence: [1] }] });
  assert.match(
    renderReport(await runLab({ transcripts: asked.transcripts, policies, window: WINDOW })),
    /<th>evidence/,
  );
});

test("questions that name no message are counted, not asked", async () => {
  const broken = [{ question: "x", evidence: [99] }, { question: "x", evidence: [] }, { evidence: [1] }, "x", null];
  const { transcripts } = await read({ messages: chat(6), questions: [...broken, { question: "y", evidence: [2] }] });
  assert.deepEqual([transcripts[0]?.questions.length, transcripts[0]?.unasked], [1, 5]);
});

test("evidence is found in its place when orphans before it were repaired away", async () => {
  const messages = [{ role: "tool", tool_call_id: "nobody", content: "late" }, ...chat(8)];
  const { transcripts } = await read({ messages, questions: [{ question: "early?", evidence: [2] }] });
  const [transcript] = transcripts;
  assert.ok(transcript!.repairs > 0);
  const evidence = transcript!.questions[0]!.evidence.map((turn) => transcript!.turns[turn]!.message.content);
  assert.deepEqual(evidence, [chat(1)[0]!.content]);
});

test("dialogs in LoCoMo's layout are played by session and speaker, with their questions", async () => {
  const dialog = {
    sample_id: "d1",
    conversation: {
      session_2: [{ speaker: "Bo", dia_id: "D2:1", text: "It is in Oslo." }],
      session_2_date_time: "1:56 pm on 8 May, 2023",
      session_1: [
        { speaker: "Ada", dia_id: "D1:1", text: "Where is the fjord?" },
        { speaker: "Bo", dia_id: "D1:2", text: "Look!", blip_caption: "a fjord" },
        null,
      ],
    },
    qa: [
      { question: "Where is it?", evidence: ["D2:1; D1:02"], category: 1, answer: "never read" },
      { question: "Nobody knows?", evidence: ["D9:9"], category: 1 },
      7,
    ],
  };
  const { transcripts, problems } = await readTranscripts("file", Buffer.from(JSON.stringify([dialog, dialog])));
  assert.deepEqual([problems, transcripts.map(({ name }) => name)], [[], ["file 1", "file 2"]]);
  const [first] = transcripts;
  assert.deepEqual(
    first!.turns.map(({ message }) => message),
    [
      { role: "user", name: "Ada", content: "Where is the fjord?" },
      { role: "assistant", name: "Bo", content: "Look! [image: a fjord]" },
      { role: "assistant", name: "Bo", content: "It is in Oslo." },
    ],
  );
  assert.equal(first!.turns[2]!.at, Date.parse("2023-05-08T13:56:00Z"));
  assert.deepEqual(first!.questions, [{ text: "Where is it?", evidence: [2, 1] }]);
  const marked = await readTranscripts("file", Buffer.from(`\ufeff${JSON.stringify([dialog])}`));
  assert.deepEqual([marked.problems, marked.transcripts.length], [[], 1], "after a byte order mark too");
});

test("a file with neither messages nor dialogs says so", async () => {
  for (const text of ["[]", '{"conversation": 3, "qa": []}', "[1, 2]"]) {
    const { transcripts, problems } = await readTranscripts("file", Buffer.from(text));
    assert.deepEqual([transcripts, problems], [[], ["no message in it"]], text);
  }
});

const QUESTIONS = [
  { question: "What is the color of house 0?", evidence: [1] },
  { question: "What is the color of house 27?", evidence: [28] },
  { question: "Compare house 0 and house 27", evidence: [1, 28] },
];

function chat(length: number) {
  const colors = ["red", "green", "blue"];
  return Array.from({ length }, (_, index) => ({
    role: index % 2 ? "assistant" : "user",
    content: `House ${index} stands by the river, its color is ${colors[index % 3]}.`,
  }));
}

function read(document: object) {
  return readTranscripts("file", Buffer.from(JSON.stringify(document)));
}
