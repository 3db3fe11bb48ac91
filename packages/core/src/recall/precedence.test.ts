import assert from "node:assert/strict";
import { test } from "node:test";
import { analyzeQuery, indexEntry } from "./entry.ts";
import { MemoryIndex } from "./memory-index.ts";
import { goesBefore, inPrecedence, type TermSets } from "./precedence.ts";
import { search } from "./search.ts";

const THREAD = { kind: "thread", threadId: "t" } as const;

function indexOf(lines: readonly (readonly [speaker: string, text: string])[]): MemoryIndex {
  const index = new MemoryIndex();
  for (const [at, [speaker, text]] of lines.entries())
    index.put({ threadId: "t", seq: at + 1 }, indexEntry({ text, speaker, at: time(at) }));
  return index;
}

function time(minute: number): string {
  return new Date(Date.UTC(2024, 0, 1) + minute * 60_000).toISOString();
}

async function ranked(index: MemoryIndex, question: string): Promise<number[]> {
  const result = await search(index, THREAD, question, { limit: 1_000 });
  return result.kind === "found" ? result.hits.map(({ doc }) => doc.seq) : [];
}

test("messages with the word come before the answers that only inherit it", async () => {
  const lines = Array.from({ length: 12 }, (_, at) => [
    ["user", `How do I deploy service ${at}?`],
    ["assistant", "Use the pipeline."],
  ]).flat() as [string, string][];
  const seqs = await ranked(indexOf(lines), "deploy");
  assert.deepEqual(
    seqs.slice(0, 12).map((seq) => seq % 2),
    Array.from({ length: 12 }, () => 1),
  );
});

test("in random threads no message comes before one that itself holds every term it can score by", async () => {
  let state = 7;
  const random = (): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
  const words = "garden music train winter soup bridge river doctor letter kitchen".split(" ");
  const pick = (): string => words[Math.floor(random() ** 2 * words.length)]!;
  for (let round = 0; round < 60; round += 1) {
    const lines = Array.from({ length: 40 }, (): [string, string] => {
      const speaker = ["user", "assistant", "tool", "Ann", "Ben"][Math.floor(random() * (round % 2 === 0 ? 2 : 5))]!;
      const length = random() < 0.15 ? 80 : 1 + Math.floor(random() * 6);
      const text = Array.from({ length }, () => (random() < 0.5 ? pick() : `filler${Math.floor(random() * 50)}`));
      return [speaker, `${text.join(" ")}${random() < 0.3 ? "?" : "."}`];
    });
    const question = Array.from({ length: 1 + Math.floor(random() * 3) }, pick).join(" ");
    const terms = new Set(analyzeQuery(question).terms.map(({ term }) => term));
    const own = lines.map(([, text]) => new Set([...indexTerms(text)].filter((term) => terms.has(term))));
    const order = await ranked(indexOf(lines), question);
    for (const [place, b] of order.entries()) {
      // At most what stands within the reach of its neighbor.
      const reachable = new Set(own.slice(Math.max(0, b - 6), b + 5).flatMap((set) => [...set]));
      for (const a of order.slice(place + 1)) {
        const isShort = lines[a - 1]![1].split(" ").length < 50;
        const holdsMore = [...own[a - 1]!].some((term) => !own[b - 1]!.has(term));
        const isTheLetter = isShort || lines[a - 1]![0] === "user" || lines[b - 1]![0] !== "user";
        if (holdsMore && isTheLetter)
          assert.ok(![...reachable].every((term) => own[a - 1]!.has(term)), `${question}: ${b} before ${a}`);
      }
    }
  }
});

function indexTerms(text: string): Iterable<string> {
  return indexEntry({ text, speaker: "user", at: time(0) }).terms.keys();
}

test("a long answer goes before a user's message only if that one took terms from messages around it", () => {
  const none = { holdsHigh: 0, scoresByHigh: 0, gathers: false };
  const own: TermSets = { ...none, holds: 0b011, scoresBy: 0b011, isShort: true, isUsers: true };
  const gathering: TermSets = { ...own, holds: 0b001, gathers: true };
  const answer: TermSets = { ...own, isUsers: false };
  const long: TermSets = { ...answer, holds: 0b111, scoresBy: 0b111, isShort: false };
  assert.deepEqual(
    [gathering, own, answer].map((other) => goesBefore(long, other)),
    [true, false, true],
  );
  assert.equal(goesBefore({ ...long, isUsers: true }, own), true);
  assert.deepEqual(
    inPrecedence([gathering, own, long], (one) => one),
    [own, long, gathering],
  );
});
