/**
 * How much of the evidence for a question a search brings back. `npm run bench -- recall FILE [--facts] [--only ours] [--json]`.
 *   at         share of a question's evidence turns among the first 5, 10, 20 hits; mean over the questions
 *   atTokens   the same for the text `renderHits` makes of the hits within so many tokens (o200k)
 *   byCategory as the dataset numbers them; 5 are questions whose premise is wrong, counted in the whole and left out of `without5`
 *   msP95      one search in memory, over the dialogs of the file; `msP95At10000` over 10,000 turns in one thread
 * Questions without evidence turns that exist are skipped and counted. `--facts` also indexes turns under the dataset's own facts.
 * `--only ours` leaves out the peers and the 10,000 turns.
 */
import { indexEntry, MemoryIndex, renderHits, search } from "@palimpsest/core/recall";
import { exactCounter } from "../packages/harness/src/models/tokenizers.ts";
import type { Bench } from "./bench.ts";
import { quantile, remembering } from "./bench.ts";
import { type Dialog, FIELDS, type Question, readDialogs, type Turn } from "./locomo.ts";
import { loadPeers, type Searcher } from "./recall-peers.ts";

const RANKS = [5, 10, 20] as const;
const BUDGETS = [500, 1_000, 2_000, 4_000] as const;
const MOST = 400;

const bench: Bench = async ([path], options) => {
  const facts = options["facts"] === true ? "with" : "without";
  const dialogs = readDialogs(path, "recall FILE [--facts]");
  const count = remembering(await exactCounter("o200k_base"));
  const times: number[] = [];
  const ours = await measure(dialogs, count, async (dialog) => timed(ourSearcher(dialog.turns, facts), times));
  const alone = options["only"] === "ours";
  const { peers, missing } = alone ? { peers: [], missing: [] } : await loadPeers();
  const rows = [];
  for (const peer of peers) {
    const own: number[] = [];
    const build = async (dialog: Dialog) => timed(await peer.build(dialog, (turn) => plainText(turn, facts)), own);
    rows.push({ who: peer.name, ...summary(await measure(dialogs, count, build)), msP95: quantile(own, 0.95) });
  }
  return {
    ...summary(ours),
    without5: summary(ours.filter(({ category }) => category !== 5)),
    byCategory: groups(ours, ({ category }) => String(category)),
    byDialog: groups(ours, ({ dialog }) => dialog),
    msP95: quantile(times, 0.95),
    ...(alone ? {} : { msP95At10000: await timeLarge(dialogs, facts) }),
    questions: ours.length,
    skipped: dialogs.reduce((sum, { skipped }) => sum + skipped, 0),
    fields: { ...FIELDS, indexedWithFacts: facts === "with" ? FIELDS.indexedWithFacts : [] },
    peers: rows,
    ...(missing.length > 0 ? { missing } : {}),
  };
};
export default bench;

type Facts = "with" | "without";

interface Score {
  readonly dialog: string;
  readonly category: number;
  readonly at: readonly number[];
  readonly atTokens: readonly number[];
}

async function measure(
  dialogs: readonly Dialog[],
  count: (text: string) => number,
  build: (dialog: Dialog) => Promise<Searcher>,
): Promise<Score[]> {
  const scores: Score[] = [];
  for (const dialog of dialogs) {
    const find = await build(dialog);
    for (const question of dialog.questions) {
      const ranked = await find(question.text);
      const at = RANKS.map((rank) => share(question, ranked.slice(0, rank)));
      const hits = ranked.map((seq) => shown(dialog.turns[seq - 1]!));
      const atTokens = BUDGETS.map((tokens) => {
        const rendered = renderHits(hits, { tokens, count, question: question.text });
        return share(
          question,
          rendered.shown.map(({ seq }) => seq),
        );
      });
      scores.push({ dialog: dialog.id, category: question.category, at, atTokens });
    }
  }
  return scores;
}

function ourSearcher(turns: readonly Turn[], facts: Facts): Searcher {
  const index = new MemoryIndex();
  for (const turn of turns) {
    const { seq, at, speaker, text } = turn;
    const aside = `${turn.caption} ${turn.imageQuery}`;
    const keys = facts === "with" ? turn.facts : [];
    index.put({ threadId: "dialog", seq }, indexEntry({ text, speaker, at, aside, keys }));
  }
  return async (question) => {
    const result = await search(index, { kind: "thread", threadId: "dialog" }, question, { limit: MOST });
    return result.kind === "found" ? result.hits.map(({ doc }) => doc.seq) : [];
  };
}

function timed(find: Searcher, times: number[]): Searcher {
  return async (question) => {
    const start = performance.now();
    const hits = await find(question);
    times.push(performance.now() - start);
    return hits;
  };
}

/** The file's dialogs one after the other, again and again, as one thread. */
async function timeLarge(dialogs: readonly Dialog[], facts: Facts): Promise<number> {
  const all = dialogs.flatMap(({ turns }) => turns);
  const turns = Array.from({ length: 10_000 }, (_, i) => ({ ...all[i % all.length]!, seq: i + 1 }));
  const times: number[] = [];
  const find = timed(ourSearcher(turns, facts), times);
  for (const { text } of dialogs.flatMap(({ questions }) => questions).slice(0, 300)) await find(text);
  return quantile(times.slice(50), 0.95);
}

function plainText(turn: Turn, facts: Facts): string {
  const { at, speaker, text, caption, imageQuery } = turn;
  const date = new Date(at).toLocaleDateString("en-GB", { dateStyle: "long", timeZone: "UTC" });
  return [date, speaker, text, caption, imageQuery, ...(facts === "with" ? turn.facts : [])].join(" ");
}

function shown({ session, seq, at, speaker, text, caption }: Turn) {
  const words = caption === "" ? text : `${text} [image: ${caption}]`;
  return { threadId: "dialog", session, seq, at, speaker, text: words };
}

function share(question: Question, hits: readonly number[]): number {
  const set = new Set(hits);
  return question.evidence.filter((seq) => set.has(seq)).length / question.evidence.length;
}

function summary(scores: readonly Score[]) {
  const mean = (pick: (score: Score) => number): number =>
    scores.reduce((sum, score) => sum + pick(score), 0) / Math.max(1, scores.length);
  return {
    at: Object.fromEntries(RANKS.map((rank, i) => [rank, mean(({ at }) => at[i]!)])),
    atTokens: Object.fromEntries(BUDGETS.map((tokens, i) => [tokens, mean(({ atTokens }) => atTokens[i]!)])),
  };
}

function groups(scores: readonly Score[], keyOf: (score: Score) => string) {
  const keys = [...new Set(scores.map(keyOf))].sort();
  return Object.fromEntries(
    keys.map((key) => {
      const own = scores.filter((score) => keyOf(score) === key);
      return [key, { questions: own.length, ...summary(own) }];
    }),
  );
}
