/**
 * How much of the evidence for a question one search brings back, on every kind of data there is:
 * `npm run bench -- quality search FILE... [--held-out FILE[,FILE]] [--only ours] [--embedder Q,Q] [--by-chat] [--ablation] [--leave-one-set-out] [--meetings] [--json]`.
 * No model is asked.
 *   first1, ... 100     share of a question's evidence messages among the first hits; mean over the questions
 *   in1000, 2000, 4000  the same for what `recall` shows of the hits within so many tokens (o200k)
 *   strict1000, ...     the shown text also holds at least half of the content words that the file's answer shares with the
 *                       message, or the expected string; not given where the file has neither
 *   map                 for questions that ask for an order or a summary: evidence in the ranges that the map lists, and their cover
 *   embedder            rows with a fake embedder of known quality: the chance that evidence is nearer than another message
 *   by-chat             rows for each conversation, ours and the prototype of passages
 *   ablation            what each constant of the ranking gains on each set (first 10, 50, 100 hits), question by question
 *   leaveOneSetOut      each set with the constants that are best on the others
 *   meetings            LoCoMo's dialogs are also read as meetings: a speaker's turns of a sitting joined into long ones
 * With 95 % intervals (bootstrap over questions), by kind of question, and beside two libraries, each at its best in the set, and two
 * prototypes. All are shown in the same windows.
 */
import { RANKING, type RankOptions } from "../../packages/core/src/recall/rank.ts";
import { exactCounter } from "../../packages/harness/src/models/tokenizers.ts";
import type { SearchedThread } from "../../packages/lab/src/eval/question-data.ts";
import { type MeasureOptions, measure, type Summary, summaries } from "../../packages/lab/src/eval/search-figures.ts";
import { ours } from "../../packages/lab/src/eval/search-subjects.ts";
import { type Bench, BenchInputError, type BenchOptions, onHeldOut, remembering } from "../bench.ts";
import { embedderOf, qualitiesOf } from "./fake-embedder.ts";
import { measureMaps } from "./map-figures.ts";
import { AROUND, gainsOver, leaveOneSetOut, SWITCHED_OFF, type Trial } from "./search-constants.ts";
import { asMeetings, readThreads } from "./search-data.ts";
import { loadRivals, passagePrototype, type Rival } from "./search-rivals.ts";
import { foldRow, gainRows, mapRow, tableRow } from "./search-table.ts";

const USAGE =
  "quality search FILE... [--held-out FILE[,FILE]] [--only ours] [--embedder Q,Q] [--by-chat] [--ablation] [--leave-one-set-out] [--meetings] [--json]";

const OURS = "ours";

const bench: Bench = async (paths, options) => {
  const own = await figures(paths, options);
  const heldOut = await onHeldOut(options, (files) => figures(files, options));
  const isTable = heldOut !== null && options["json"] !== true;
  return isTable ? { ...own, ...prefixed(heldOut) } : { ...own, heldOut };
};
export default bench;

/** Tables of the held-out files under names of their own. */
function prefixed(figures: object): object {
  return Object.fromEntries(Object.entries(figures).map(([name, value]) => [`heldOut ${name}`, value]));
}

async function figures(paths: readonly string[], options: BenchOptions): Promise<object> {
  if (paths.length === 0) throw new BenchInputError(`This bench needs a data file: npm run bench -- ${USAGE}`);
  const read = paths.flatMap((path) => readThreads(path, USAGE));
  const threads = options["meetings"] === true ? [...read, ...asMeetings(read)] : read;
  const measured = { count: remembering(await exactCounter("o200k_base")) };
  const own = summaries(await measure(threads, ours(), measured));
  const { rivals, missing } = options["only"] === "ours" ? { rivals: [], missing: [] } : await loadRivals();
  const embedded: RowOf[] = [];
  for (const quality of qualitiesOf(options["embedder"]))
    for (const one of summaries(await measure(threads, ours({ meaning: embedderOf(quality) }), measured)))
      embedded.push({ who: `ours, embedder of quality ${quality}`, ...one });
  const beside = [...embedded, ...(await bestOfRivals(threads, rivals, measured))];
  const all = [...own.map((one) => ({ who: OURS, ...one })), ...beside];
  const isJson = options["json"] === true;
  const print = (one: RowOf) => (isJson ? one : tableRow(one.who, one));
  const totals = all.filter(({ kind }) => kind === null);
  // In a table for people the kinds of all rivals would bury ours.
  const kinds = all.filter(({ kind, who }) => kind !== null && (isJson || who === OURS));
  const maps = await measureMaps(threads, measured.count);
  const chats = options["by-chat"] === true ? await measureChats(threads, measured) : [];
  const constants = await measureConstants(threads, options, measured);
  return {
    rows: bySet(totals).map(print),
    byKind: bySet(kinds).map(print),
    ...(maps.length > 0 && { map: isJson ? maps : maps.map(mapRow) }),
    ...(chats.length > 0 && { byChat: isJson ? chats : chats.map((one) => tableRow(one.who, one)) }),
    ...constants,
    skipped: threads.reduce((sum, { skipped }) => sum + skipped, 0),
    ...(missing.length > 0 ? { missing } : {}),
  };
}

type RowOf = Summary & { readonly who: string };

function bySet(rows: readonly RowOf[]): RowOf[] {
  return [...Map.groupBy(rows, ({ set }) => set).values()].flat();
}

/** Each conversation for itself: where ours loses to the prototype is seen here, not in a mean. */
async function measureChats(threads: readonly SearchedThread[], options: MeasureOptions): Promise<RowOf[]> {
  const rows: RowOf[] = [];
  const subjects = [
    { who: OURS, build: ours() },
    { who: passagePrototype.name, build: passagePrototype.build },
  ];
  for (const [at, thread] of threads.entries())
    for (const { who, build } of subjects)
      for (const one of summaries(await measure([thread], build, options)))
        if (one.kind === null) rows.push({ ...one, who, set: `${one.set}, ${at + 1}` });
  return rows;
}

/** Of each rival's variants the one that is best in a set, by the first 10 hits and 2,000 tokens. */
async function bestOfRivals(
  threads: readonly SearchedThread[],
  rivals: readonly Rival[],
  options: MeasureOptions,
): Promise<RowOf[]> {
  const rows: (RowOf & { readonly name: string })[] = [];
  for (const { name, variant, build } of rivals)
    for (const one of summaries(await measure(threads, build, options)))
      rows.push({ ...one, name, who: `${name} (${variant})` });
  const merit = ({ figures }: Summary): number => figures["first10"]!.mean + figures["in2000"]!.mean;
  const totals = rows.filter(({ kind }) => kind === null);
  const best = [...Map.groupBy(totals, ({ set, name }) => `${set} ${name}`).values()].map((own) =>
    own.reduce((a, b) => (merit(b) > merit(a) ? b : a)),
  );
  return rows.filter((row) => best.some(({ set, who }) => set === row.set && who === row.who));
}

async function measureConstants(
  threads: readonly SearchedThread[],
  options: BenchOptions,
  { count }: MeasureOptions,
): Promise<object> {
  const tried = async (setting: Partial<RankOptions>): Promise<Trial> => ({
    setting,
    scores: await measure(threads, ours({ ranking: { ...RANKING, ...setting } }), { count, budgets: [] }),
  });
  const all = async (settings: readonly Partial<RankOptions>[]): Promise<Trial[]> => {
    const trials: Trial[] = [];
    for (const setting of settings) trials.push(await tried(setting));
    return trials;
  };
  const isJson = options["json"] === true;
  const result: Record<string, unknown> = {};
  if (options["ablation"] === true) {
    const gains = gainsOver((await tried({})).scores, await all(SWITCHED_OFF));
    result["ablation"] = isJson ? gains : gainRows(gains);
  }
  if (options["leave-one-set-out"] === true) {
    const folds = leaveOneSetOut(await all(AROUND));
    if (folds.length === 0)
      throw new BenchInputError(
        "--leave-one-set-out needs files of at least two kinds of data: constants are chosen on the others.",
      );
    result["leaveOneSetOut"] = isJson ? folds : folds.map(foldRow);
  }
  return result;
}
