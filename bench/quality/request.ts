/**
 * Whether what a question asks for stands in the request that is really sent: `npm run bench -- quality request FILE... [--window N]
 * [--quick] [--held-out FILE[,FILE]] [--json]`. Files of exact values: long histories, and questions with one exact string as their answer. No
 * model is asked; a question counts when the whole string is in the body.
 *   inRequest    in the request that asks the question
 *   afterRecall  in the request after one call of `recall` with the question's words
 * An agent is asked twice: in a thread that was compacted before (`asked later`), and as the first turn of a history that is longer than
 * the window, which is compacted in that very turn (`asked at once`). `/v1` is sent the whole history with each question.
 * pi's default and OpenAI's native compaction are the figures that the data's authors published: a model's answers, right or wrong. That
 * is another measure, since a model can miss what it is shown; the rows stand here for the size of the task only.
 */

import { askHistory, overAgent, type RequestScore } from "../../packages/lab/src/eval/request.ts";
import { type Bench, BenchInputError, type BenchOptions, onHeldOut } from "../bench.ts";
import { overGateway } from "./request-places.ts";
import { readExactHistories } from "./search-data.ts";

const USAGE = "quality request FILE... [--window N] [--quick] [--held-out FILE[,FILE]] [--json]";

const bench: Bench = async (paths, options) => {
  const own = await figures(paths, options);
  return { ...own, answeredByAModel: PUBLISHED, heldOut: await onHeldOut(options, (files) => figures(files, options)) };
};
export default bench;

const PUBLISHED = [
  { who: "pi, its default compaction", answered: "48 %" },
  { who: "OpenAI's native compaction", answered: "78 %" },
];

async function figures(paths: readonly string[], options: BenchOptions) {
  if (paths.length === 0) throw new BenchInputError(`This bench needs a data file: npm run bench -- ${USAGE}`);
  const window = Number(options["window"] ?? 33_000);
  if (!Number.isInteger(window) || window < 1_000)
    throw new BenchInputError("--window: a number of tokens from 1,000 on.");
  const all = paths.flatMap((path) => readExactHistories(path, USAGE));
  // Every fifth question, for a look.
  const histories =
    options["quick"] !== true
      ? all
      : all.map((one) => ({ ...one, questions: one.questions.filter((_, at) => at % 5 === 2) }));
  const places = [overAgent("later"), overAgent("at once"), overGateway()];
  const scores: RequestScore[] = [];
  for (const place of places)
    for (const history of histories) scores.push(...(await askHistory(place, history, window)));
  return {
    window,
    rows: rowsBy(scores, ({ place }) => place),
    byKind: rowsBy(scores, (one) => `${one.place}, ${one.kind}`),
  };
}

function rowsBy(scores: readonly RequestScore[], nameOf: (score: RequestScore) => string) {
  return [...Map.groupBy(scores, nameOf)].map(([who, own]) => ({
    who,
    questions: own.length,
    inRequest: own.filter(({ inRequest }) => inRequest).length,
    afterRecall: own.filter(({ afterRecall }) => afterRecall).length,
    meanTokens: Math.round(own.reduce((sum, { tokens }) => sum + tokens, 0) / Math.max(1, own.length)),
  }));
}
