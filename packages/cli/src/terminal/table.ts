import type { EvalReport, Figure } from "@palimpsest/lab/internal/eval";
import { clipColumns, columns, counted, grouped, padded, printable } from "./output.ts";

/** Rows in aligned columns; the last one is not padded. Control characters in the data can't reach the terminal. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const all = [head, ...rows].map((row) => row.map(printable));
  const widths = head.map((_, at) => Math.max(...all.map((row) => columns(row[at] ?? ""))));
  return all
    .map((row) =>
      row.map((cell, column) => (column === row.length - 1 ? cell : padded(cell, widths[column]!))).join("  "),
    )
    .map((line) => line.trimEnd())
    .join("\n");
}

/** A thread's title in a table: wide letters take two columns, so a title of sixty can take 120. */
export function titleCell(title: string): string {
  return clipColumns(title, MOST_COLUMNS);
}

const MOST_COLUMNS = 60;

/* Threads under the thread they come from: forks under their parent, sub-agents under who asked them. Pure. */

export interface TreeRow {
  readonly id: string;
  readonly parent: string | null;
}

/** Depth first, in the order given among siblings. One whose parent is not among them stands at the top. */
export function inTree<R extends TreeRow>(rows: readonly R[]): readonly (R & { readonly depth: number })[] {
  const ids = new Set(rows.map(({ id }) => id));
  const under = Map.groupBy(rows, ({ parent }) => (parent !== null && ids.has(parent) ? parent : null));
  const ordered: (R & { readonly depth: number })[] = [];
  const waiting = (under.get(null) ?? []).map((row) => ({ row, depth: 0 })).toReversed();
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const { row, depth } = next;
    ordered.push({ ...row, depth });
    for (const child of (under.get(row.id) ?? []).toReversed()) waiting.push({ row: child, depth: depth + 1 });
  }
  return ordered;
}

/* What an evaluation found, as tables for people; `--json` has every figure. */

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
