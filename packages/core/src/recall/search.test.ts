import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { analyzeQuery, indexEntry } from "./entry.ts";
import { MemoryIndex } from "./memory-index.ts";
import { RANKING } from "./rank.ts";
import { type SearchOptions, search } from "./search.ts";

const THREAD = { kind: "thread", threadId: "t" } as const;

test("the turn that holds the words of the question comes first", async () => {
  const index = talk(["Ann: I bought a red bicycle", "Ben: The weather was awful", "Ann: My sister plays chess"]);
  assert.equal((await seqs(index, "who plays chess"))[0], 3);
});

test("an answer is found by the words of the question before it", async () => {
  const index = talk([
    "Ann: Nice to see you",
    "Ben: Which instrument do you practise in the evening?",
    "Ann: The cello, mostly",
    ...filler(20),
  ]);
  assert.ok((await seqs(index, "instrument practised in the evening")).slice(0, 2).includes(3));
});

test("behind the first hits a request goes before another if its answer speaks of what is asked", async () => {
  const long = (words: string): string => `${words} ${"and more of it goes on like that for long here ".repeat(40)}`;
  const index = talk([
    "user: What about the harbor wall?",
    `assistant: ${long("Crane and pulley.")}`,
    "user: Shall I paint the harbor gate and the mast?",
    `assistant: ${long("Yes.")}`,
    ...filler(20),
  ]);
  const order = async (firstHits: number): Promise<number[]> => {
    const hits = await seqs(index, "harbor crane pulley mast", { ranking: { ...RANKING, firstHits } });
    return hits.filter((seq) => seq === 1 || seq === 3);
  };
  assert.deepEqual(
    [await order(40), await order(0)],
    [
      [3, 1],
      [1, 3],
    ],
  );
});

test("a hit gives its neighbors nothing across a pause of many hours", async () => {
  const index = new MemoryIndex();
  const say = (seq: number, text: string, at: string): void =>
    index.put({ threadId: "t", seq }, indexEntry({ text, speaker: "Ann", at }));
  say(1, "the harpsichord concert", "2024-01-01T10:00:00Z");
  say(2, "see you", "2024-01-01T22:00:00Z");
  assert.deepEqual(await seqs(index, "harpsichord"), [1]);
});

test("the one speaker a question names is preferred, and nobody is left out", async () => {
  const index = talk(["Ben: I love pottery classes", "Ann: I love pottery classes", ...filler(12)]);
  const ofBoth = async (question: string) => (await seqs(index, question)).filter((seq) => seq <= 2);
  assert.deepEqual(await ofBoth("Does Ann love pottery?"), [2, 1]);
  assert.deepEqual(await ofBoth("Does Ben love pottery?"), [1, 2]);
});

test("who asks when is answered by who names a time, and another question isn't", async () => {
  const index = talk([
    "Ann: I repaired the bicycle and cleaned",
    "Ann: I repaired the bicycle on Friday",
    ...filler(12),
  ]);
  const [first, ...rest] = await seqs(index, "When was the bicycle repaired?");
  assert.deepEqual([first, rest.includes(1)], [2, true]);
  assert.deepEqual(await search(index, THREAD, "when"), { kind: "nothing", reason: "no-terms" });
});

test("a thing is found by the name of its kind, after what holds the name itself", async () => {
  const index = talk(["Ann: We have a puppy", ...filler(12), "Ben: No pets for me", ...filler(12)]);
  assert.ok((await seqs(index, "Which pets?")).includes(1));
  assert.equal((await seqs(index, "Which pets?"))[0], 14);
  assert.ok(!(await seqs(index, "Which puppy?")).includes(14));
});

test("an exact identifier beats any number of its parts", async () => {
  const index = talk([
    "user: get the user name and the user get name name user get",
    "assistant: getUserName_v2 throws",
    "user: name of the user, user name, get get",
    ...filler(10),
  ]);
  assert.equal((await seqs(index, "getUserName_v2"))[0], 2);
});

test("a question with nothing to look for says so", async () => {
  const index = talk(["Ann: hello there"]);
  for (const empty of ["", "   ", "the of and", "?!*\"'()", "\ud800"]) {
    assert.deepEqual(await search(index, THREAD, empty), { kind: "nothing", reason: "no-terms" });
  }
  assert.deepEqual(await search(index, THREAD, "zeppelin"), { kind: "nothing", reason: "no-match" });
});

test("a follow-up without a word of the question is found by the long answer beside it, and after that", async () => {
  const padding = Array.from({ length: 120 }, (_, at) => `word${at}`).join(" ");
  const index = talk([
    `assistant: ${padding} the harbor crane is repaired in May.`,
    "user: And how much is that going to be?",
    ...filler(6),
  ]);
  assert.deepEqual(await seqs(index, "harbor crane"), [1, 2]);
  assert.deepEqual(await seqs(index, "harbor crane", { only: "holders" }), [1]);
});

test("operators of query languages are only words", async () => {
  const index = talk(["Ann: the cat sat", "Ben: a dog ran", ...filler(5)]);
  for (const question of ['"cat" NOT dog*', "cat:* & !dog", "col:cat NEAR(dog, 2)", "cat' OR 1=1 --", "^cat -dog"]) {
    assert.ok((await seqs(index, question)).includes(1), question);
  }
});

test("any question on any texts has an answer", async () => {
  const text = fc.string({ unit: "binary", maxLength: 80 });
  await fc.assert(
    fc.asyncProperty(fc.array(text, { maxLength: 12 }), text, async (texts, question) => {
      const result = await search(talk(texts.map((line) => `Ann: ${line}`)), THREAD, question);
      if (result.kind === "found") for (const { score } of result.hits) assert.ok(Number.isFinite(score) && score > 0);
    }),
  );
  await search(talk(filler(5)), THREAD, "long winded question ".repeat(5_000));
});

test("unrelated turns, however many, never push an exact identifier from the top", async () => {
  const unrelated = fc.array(fc.constantFrom(...filler(30)), { minLength: 0, maxLength: 60 });
  await fc.assert(
    fc.asyncProperty(unrelated, unrelated, async (before, after) => {
      const index = talk([...before, "assistant: it failed with E4711 in src/pay-in.ts", ...after]);
      assert.equal((await seqs(index, "E4711"))[0], before.length + 1);
      assert.equal((await seqs(index, "what was in src/pay-in.ts"))[0], before.length + 1);
    }),
    { numRuns: 50 },
  );
});

test("hits do not depend on the order in which threads were added, nor on other users' threads", async () => {
  const lines = filler(12);
  await fc.assert(
    fc.asyncProperty(fc.shuffledSubarray(["a", "b", "c", "d"], { minLength: 4 }), async (order) => {
      const index = new MemoryIndex();
      for (const threadId of order) for (const [at, line] of lines.entries()) add(index, threadId, at + 1, line, "me");
      add(index, "stranger", 1, lines[3] ?? "", "you");
      const result = await search(index, { kind: "user", userId: "me" }, "garden music 3");
      assert.ok(result.kind === "found");
      const found = result.hits.map(({ doc, score }) => `${doc.threadId} ${doc.seq} ${score}`);
      assert.ok(found.every((line) => !line.startsWith("stranger")));
      expected ??= found;
      assert.deepEqual(found, expected);
    }),
  );
});
let expected: string[] | undefined;

test("a removed entry is no longer found and a replaced one is found by its new words", async () => {
  const index = talk(["Ann: the secret is platypus", "Ben: indeed", "Ann: walrus"]);
  index.remove("t", 1);
  assert.deepEqual(await seqs(index, "platypus"), []);
  add(index, "t", 3, "Ann: ocelot");
  assert.deepEqual(await seqs(index, "walrus"), []);
  assert.equal((await seqs(index, "ocelot"))[0], 3);
});

test("a very common word still finds the newest turns, and the work stays bounded", async () => {
  const index = talk(Array.from({ length: 4_000 }, (_, turn) => `Ann: common topic ${turn % 7}`));
  const found = await seqs(index, "common topic", { limit: 20 });
  assert.equal(found.length, 20);
  const { holding } = await index.statistics(THREAD, ["common"]);
  assert.equal(holding.get("common"), 4_000);
});

function talk(lines: readonly string[]): MemoryIndex {
  const index = new MemoryIndex();
  for (const [at, line] of lines.entries()) add(index, "t", at + 1, line);
  return index;
}

function add(index: MemoryIndex, threadId: string, seq: number, line: string, userId = "me"): void {
  const colon = line.indexOf(":");
  const entry = indexEntry({ speaker: line.slice(0, colon), text: line.slice(colon + 1), at: "2024-03-01T10:00:00Z" });
  index.put({ threadId, seq, userId }, entry);
}

async function seqs(index: MemoryIndex, question: string, options?: SearchOptions): Promise<number[]> {
  const result = await search(index, THREAD, question, options);
  return result.kind === "found" ? result.hits.map(({ doc }) => doc.seq) : [];
}

function filler(count: number): string[] {
  const subjects = ["garden", "music", "train", "soup", "winter"];
  return Array.from({ length: count }, (_, turn) => `${turn % 2 ? "Ann" : "Ben"}: about ${subjects[turn % 5]} ${turn}`);
}

test("of a question that is pasted by the megabyte no more is read than its beginning", () => {
  for (const unit of ["word ", "\u4e2d\u6587", "a_b.c/d ", "last Friday "]) {
    const question = unit.repeat(1_000_000);
    assert.deepEqual(analyzeQuery(question), analyzeQuery(question.slice(0, 10_000)));
  }
});

test("a question for what the user said prefers the user's messages", async () => {
  const rest = Array.from({ length: 70 }, (_, at) => `leaf${at}`).join(" ");
  const talked = filler(6).map((line) => line.replace(/^\w+/, "user"));
  const index = talk([
    "user: We got a fence",
    ...talked,
    `assistant: Take a hedge, an arbor and a bush ${rest}`,
    ...talked,
  ]);
  const first = async (question: string) => (await seqs(index, question))[0];
  assert.equal(await first("fence, hedge, arbor or bush"), 8);
  assert.equal(await first("Did I mention a fence, a hedge, an arbor or a bush?"), 1);
  assert.equal(await first("Which have I described so far: fence, hedge, arbor or bush?"), 1);
  assert.equal(await first("Did you recommend a fence, a hedge, an arbor or a bush?"), 8);
});
