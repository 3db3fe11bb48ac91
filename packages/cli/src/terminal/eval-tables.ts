/** What an evaluation found, as tables for people; `--json` has every figure. */
import type { EvalReport, Figure } from "@palimpsest/lab/internal/eval";
import { counted } from "./counted.ts";
import { grouped } from "./grouped.ts";
import { table } from "./table.ts";

export function evalTables({ window, search, prompts, request }: EvalReport): string[] {
  return [
    titled("search: share of the evidence that comes back, with 95 % intervals", SEARCH_HEAD, searchCells(search)),
    titled(`requests in a window of ${grouped(window)} tokens`, PROMPT_HEAD, promptCells(prompts)),
    titled(`requests that hold the answer, window ${grouped(window)}`, REQUEST_HEAD, requestCells(request)),
  ].filter((text) => text !== null);
}

function titled(title: string, head: readonly string[], rows: readonly (readonly string[])[]): string | null {
  return rows.length === 0 ? null : `${title}\n${table(head, rows)}`;
}

const SEARCH_HEAD = ["set", "questions", "first 5", "first 10", "in 2,000 tokens", "with the answer"];

function searchCells(rows: EvalReport["search"]): string[][] {
  return rows
    .filter(({ kind }) => kind === null)
    .map(({ set, questions, figures }) => {
      const shares = ["first5", "first10", "in2000", "strict2000"].map((name) => withInterval(figures[name]));
      return [set, grouped(questions), ...shares];
    });
}

const PROMPT_HEAD = [
  "of",
  "requests",
  "tokens",
  "seen",
  "truncated",
  "word for word",
  "or found",
  "asked for",
  "cost",
  "compactions",
];

function promptCells(rows: EvalReport["prompts"]): string[][] {
  return rows.map((row) => [
    row.sessions === 1 ? row.of : `${row.of} (${counted(row.sessions, "session")})`,
    grouped(row.requests),
    grouped(row.tokens),
    ...[row.seen, row.trunc, row.strict, row.search, row.asked, row.cost].map(percent),
    grouped(Math.round((row.per100 * row.requests) / 100)),
  ]);
}

const REQUEST_HEAD = ["set", "questions", "in the request", "after one recall"];

function requestCells(rows: EvalReport["request"]): string[][] {
  return rows.map(({ set, questions, inRequest, afterRecall }) => [
    set,
    grouped(questions),
    withInterval(inRequest),
    withInterval(afterRecall),
  ]);
}

function withInterval(figure: Figure | undefined): string {
  if (figure === undefined) return "-";
  const [mean, low, high] = [figure.mean, figure.low, figure.high].map((share) => 100 * share) as [
    number,
    number,
    number,
  ];
  return `${mean.toFixed(1)} [${Math.round(low)}, ${Math.round(high)}]`;
}

function percent(value: number | null): string {
  return value === null ? "-" : `${value.toFixed(1)} %`;
}
