/**
 * How much of the evidence for a question a search brings back.
 * `npm run bench -- recall FILE [--held-out FILE] [--leave-one-out] [--facts] [--only ours] [--json]`.
 *   at         share of a question's evidence turns among the first 5, 10, 20 hits; mean over the questions
 *   atTokens   the same for the text `renderHits` makes of the hits within so many tokens (o200k)
 *   byCategory as the dataset numbers them; 5 are questions whose premise is wrong, counted in the whole and left out of `without5`
 *   msP95      one search in memory, over the dialogs of the file; `msP95At10000` over 10,000 turns in one thread
 * Questions without evidence turns that exist are skipped and counted. `--facts` also indexes turns under the dataset's own facts.
 * `--only ours` leaves out the peers and the 10,000 turns. `--leave-one-out` measures each dialog with the constants that are best
 * on the others.
 */
import { indexEntry, MemoryIndex, renderHits, search } from "@palimpsest/core/internal/recall";
import { RANKING, type RankOptions } from "../packages/core/src/recall/rank.ts";
import { exactCounter } from "../packages/harness/src/models/tokenizers.ts";
import { type Bench, type BenchOptions, onHeldOut, quantile, remembering } from "./bench.ts";
import { type Dialog, FIELDS, type Question, readDialogs, type Turn } from "./locomo.ts";
import { loadPeers, type Searcher } from "./recall-peers.ts";

const RANKS = [5, 10, 20] as const;
const BUDGETS = [500, 1_000, 2_000, 4_000] as const;
const MOST = 400;

const bench: Bench = async ([path], options) => {
  const own = await figures(path, options);
  const { "leave-one-out": _, ...others } = options;
  return { ...own, heldOut: await onHeldOut(options, ([file]) => figures(file, others)) };
};
export default bench;

async function figures(path: string | undefined, options: BenchOptions) {
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
    ...(options["leave-one-out"] === true ? { leaveOneOut: await leaveOneOut(dialogs, count, facts) } : {}),
    msP95: quantile(times, 0.95),
    ...(alone ? {} : { msP95At10000: await timeLarge(dialogs, facts) }),
    questions: ours.length,
    skipped: dialogs.reduce((sum, { skipped }) => sum + skipped, 0),
    fields: { ...FIELDS, indexedWithFacts: facts === "with" ? FIELDS.indexedWithFacts : [] },
    peers: rows,
    ...(missing.length > 0 ? { missing } : {}),
  };
}

/** Each constant as it is and on either side of it, the others as they are. */
const SETTINGS: readonly Partial<RankOptions>[] = [
  {},
  ...[0.9, 1.5].map((k1) => ({ k1 })),
  ...[0.4, 0.75].map((b) => ({ b })),
  ...[0.3, 1].map((answerWeight) => ({ answerWeight })),
  ...[0.8, 0.95].map((asking) => ({ asking })),
  ...[1.1, 1.35].map((namedSpeaker) => ({ namedSpeaker })),
  ...[1.15, 1.5].map((namedTime) => ({ namedTime })),
  ...[0, 0.5].map((statedDate) => ({ statedDate })),
];

/** Constants are chosen by this budget, together with the first 10 hits. */
const TOKENS = 2_000;

async function leaveOneOut(dialogs: readonly Dialog[], count: Count, facts: Facts) {
  const trials: { readonly setting: Partial<RankOptions>; readonly scores: readonly Score[] }[] = [];
  const indexes = new Map(dialogs.map((dialog) => [dialog, indexOf(dialog.turns, facts)]));
  for (const setting of SETTINGS) {
    const build = async (dialog: Dialog) => searcherOf(indexes.get(dialog)!, { ...RANKING, ...setting });
    trials.push({ setting, scores: await measure(dialogs, count, build, [TOKENS]) });
  }
  const folds = dialogs.map(({ id }) => {
    const merit = (scores: readonly Score[]): number => {
      const { at, atTokens } = summary(
        scores.filter(({ dialog }) => dialog !== id),
        [TOKENS],
      );
      return at["10"]! + atTokens[TOKENS]!;
    };
    const best = trials.reduce((a, b) => (merit(b.scores) > merit(a.scores) ? b : a));
    const scores = best.scores.filter(({ dialog }) => dialog === id);
    return { id, setting: best.setting, scores };
  });
  return {
    ...summary(
      folds.flatMap(({ scores }) => scores),
      [TOKENS],
    ),
    byDialog: Object.fromEntries(
      folds.map(({ id, setting, scores }) => [id, { setting, ...summary(scores, [TOKENS]) }]),
    ),
  };
}

type Facts = "with" | "without";
type Count = (text: string) => number;

interface Score {
  readonly dialog: string;
  readonly category: number;
  readonly at: readonly number[];
  readonly atTokens: readonly number[];
}

async function measure(
  dialogs: readonly Dialog[],
  count: Count,
  build: (dialog: Dialog) => Promise<Searcher>,
  budgets: readonly number[] = BUDGETS,
): Promise<Score[]> {
  const scores: Score[] = [];
  for (const dialog of dialogs) {
    const find = await build(dialog);
    for (const question of dialog.questions) {
      const ranked = await find(question.text);
      const at = RANKS.map((rank) => share(question, ranked.slice(0, rank)));
      const hits = ranked.map((seq) => shown(dialog.turns[seq - 1]!));
      const atTokens = budgets.map((tokens) => {
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
  return searcherOf(indexOf(turns, facts), RANKING);
}

function indexOf(turns: readonly Turn[], facts: Facts): MemoryIndex {
  const index = new MemoryIndex();
  for (const turn of turns) {
    const { seq, at, speaker, text } = turn;
    const aside = `${turn.caption} ${turn.imageQuery}`;
    const keys = facts === "with" ? turn.facts : [];
    index.put({ threadId: "dialog", seq }, indexEntry({ text, speaker, at, aside, keys }));
  }
  return index;
}

function searcherOf(index: MemoryIndex, ranking: RankOptions): Searcher {
  return async (question) => {
    const result = await search(index, { kind: "thread", threadId: "dialog" }, question, { limit: MOST, ranking });
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

function summary(scores: readonly Score[], budgets: readonly number[] = BUDGETS) {
  const mean = (pick: (score: Score) => number): number =>
    scores.reduce((sum, score) => sum + pick(score), 0) / Math.max(1, scores.length);
  return {
    at: Object.fromEntries(RANKS.map((rank, i) => [rank, mean(({ at }) => at[i]!)])),
    atTokens: Object.fromEntries(budgets.map((tokens, i) => [tokens, mean(({ atTokens }) => atTokens[i]!)])),
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
