/**
 * What every index must show: the same answers as the index in memory. A store's test puts `corpus()` into itself and into a
 * `MemoryIndex`, removes and replaces the same entries in both, and expects `differences` to be an empty list.
 * Pure, and the same corpus each time.
 */
import { QUESTIONS, SCOPES } from "./conformance-questions.ts";
import { indexEntry } from "./entry.ts";
import type { IndexEntry, RecallIndex, Scope } from "./port.ts";
import { search } from "./search.ts";

export interface CorpusEntry {
  readonly threadId: string;
  readonly userId: string;
  readonly seq: number;
  readonly entry: IndexEntry;
}

/** Threads of two users, in the order they are to be put: chat, code, several scripts, pauses, gaps in seq. */
export function corpus(entries = 600): CorpusEntry[] {
  const random = generator(20_260_101);
  const clocks = new Map<string, number>();
  const seqs = new Map<string, number>();
  return Array.from({ length: entries }, () => {
    const threadId = THREADS[Math.floor(random() * THREADS.length)]!;
    const seq = (seqs.get(threadId) ?? 0) + 1 + Math.floor(random() * 3);
    const pause = random() < 0.05 ? 30 * 3_600_000 : random() * 600_000;
    const clock = (clocks.get(threadId) ?? Date.UTC(2024, 0, 1)) + Math.floor(pause);
    seqs.set(threadId, seq);
    clocks.set(threadId, clock);
    const speaker = SPEAKERS[Math.floor(random() * SPEAKERS.length)]!;
    const entry = indexEntry({ text: sentence(random), speaker, at: new Date(clock).toISOString() });
    return { threadId, userId: threadId.startsWith("ann") ? "ann" : "ben", seq, entry };
  });
}

/** One line for each question and scope where the two disagree; also about scores, which must be equal to the last bit. */
export async function differences(
  index: RecallIndex,
  reference: RecallIndex,
  options: { readonly scopes?: readonly Scope[]; readonly questions?: readonly string[]; readonly limit?: number } = {},
): Promise<string[]> {
  const hits: string[] = [];
  for (const scope of options.scopes ?? SCOPES) {
    for (const question of options.questions ?? QUESTIONS) {
      const [ours, theirs] = await Promise.all(
        [index, reference].map((one) => answer(one, scope, question, options.limit)),
      );
      if (ours !== theirs) {
        const where = JSON.stringify({ scope, question: question.slice(0, 80) });
        hits.push(`${where}: ${ours} instead of ${theirs}`);
      }
    }
  }
  return hits;
}

async function answer(index: RecallIndex, scope: Scope, question: string, limit = 20): Promise<string> {
  const result = await search(index, scope, question, { limit });
  if (result.kind === "nothing") return result.reason;
  return result.hits.map(({ doc, score }) => `${doc.threadId}:${doc.seq}=${score}`).join(" ");
}

const THREADS = ["ann-1", "ann-1", "ann-1", "ann-2", "ben-1"];
const SPEAKERS = ["Caroline", "Mel", "user", "assistant", "tool"];
const WORDS =
  `garden music train winter soup bridge painting children bicycle concert river doctor letter kitchen getUserName
  src/pay-in/total_2.ts total_2.ts E1234 ENOENT C:\\temp\\x.log café 日本語のテスト 猫が好き สวัสดีครับ 안녕하세요 שלום مرحبا 🎉 2024-01-02 self-care`
    .trim()
    .split(/\s+/);

function sentence(random: () => number): string {
  const words = Array.from(
    { length: 2 + Math.floor(random() * 12) },
    () => WORDS[Math.floor(random() ** 2 * WORDS.length)]!,
  );
  if (random() < 0.7) words.push("common topic");
  if (random() < 0.03) words.push("long ".repeat(80));
  if (random() < 0.05)
    words.push(...Array.from({ length: 12 }, () => `${sentence(random)} ${"plain words ".repeat(8)}`));
  return `${words.join(" ")}${random() < 0.3 ? "?" : "."}`;
}

/** A small linear congruential generator: the corpus must be the same on every machine. */
function generator(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}
