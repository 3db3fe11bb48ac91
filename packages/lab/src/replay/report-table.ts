/** The lab's table and its wording, for all views of the report. Pure. */
import type { LabReport, LabRow } from "./lab.ts";
import { letterOf, percent, short } from "./report-plots.ts";

export interface ReportTable {
  /** Without the first, the policy. */
  readonly titles: readonly string[];
  readonly lines: readonly {
    readonly letter: string;
    readonly name: string;
    readonly cells: readonly { readonly title: string; readonly text: string; readonly isBest: boolean }[];
  }[];
}

/** Columns that say something. The best of a column is marked, unless most are. */
export function reportTable(rows: readonly ReportFigures[]): ReportTable {
  const columns = COLUMNS.filter(({ value }) => rows.some((row) => value(row) !== null));
  const best = columns.map(({ value, best: wanted }) => {
    const values = rows.flatMap((row) => value(row) ?? []);
    const extreme = wanted === "least" ? Math.min(...values) : Math.max(...values);
    const alike = values.filter((value) => value === extreme).length;
    return wanted === "none" || alike * 2 > values.length ? null : extreme;
  });
  const lines = rows.map((row, index) => {
    const cells = columns.map(({ title, value, shown }, column) => {
      const figure = value(row);
      const isBest = figure !== null && figure === best[column];
      return { title, text: figure === null ? "-" : shown(figure), isBest };
    });
    return { letter: letterOf(index), name: row.name, cells };
  });
  return { titles: columns.map(({ title }) => title), lines };
}

type ReportFigures = Omit<LabRow, "timelines">;

interface Column {
  readonly title: string;
  readonly value: (row: ReportFigures) => number | null;
  readonly shown: (value: number) => string;
  readonly best: "least" | "most" | "none";
}

const COLUMNS: readonly Column[] = [
  { title: "cost", value: ({ cost }) => cost, shown: percent, best: "least" },
  { title: "known", value: ({ known }) => known, shown: percent, best: "most" },
  { title: "with recall", value: ({ knownWithRecall }) => knownWithRecall, shown: percent, best: "most" },
  { title: "evidence", value: ({ evidence }) => evidence, shown: percent, best: "most" },
  { title: "evidence with recall", value: (row) => row.evidenceWithRecall, shown: percent, best: "most" },
  { title: "tokens sent", value: ({ tokens }) => tokens, shown: short, best: "least" },
  { title: "cache reuse", value: ({ reuse }) => reuse, shown: percent, best: "most" },
  { title: "compactions", value: ({ compactions }) => compactions, shown: number, best: "none" },
  { title: "waits", value: ({ waits }) => waits, shown: number, best: "least" },
  { title: "rereads", value: ({ rereads }) => rereads, shown: number, best: "least" },
  { title: "violations", value: ({ violations }) => violations, shown: number, best: "least" },
  { title: "over window", value: ({ overWindow }) => overWindow, shown: number, best: "least" },
];

/** What the words of the report mean. */
export function wordsOf({ transcripts, hits }: Pick<LabReport, "transcripts" | "hits">): (readonly [string, string])[] {
  const questions = transcripts.reduce((sum, one) => sum + one.questions, 0);
  const questionColumns = [
    "evidence",
    `the share of what ${count(questions, "question")} of the files ask for that the last prompt holds word for word; with recall, or that a search for the question finds among its first ${count(hits, "hit")}`,
  ] as const;
  return [
    ["cost", "what all requests cost, with the provider's prompt cache priced in, as a share of never pruning"],
    [
      "known",
      `the share of distant uses still in the prompt: a name from long before that the agent used again. With recall, or that a search finds among its first ${count(hits, "hit")}`,
    ],
    ...(questions === 0 ? [] : [questionColumns]),
    ["tokens sent", "the sizes of all requests, added up"],
    ["cache reuse", "the share of them that the provider's cache held"],
    ["compactions", "how often the prompt was made smaller"],
    ["waits", "calls of a summarizer that the agent had to wait for"],
    ["rereads", "files or outputs that had to be read again, since the prompt no longer held them"],
    ["violations", "requests that break a provider's rules, such as a result without its call"],
    ["over window", "requests larger than the window"],
    ["fixed", "system prompt and tool schemas; summary is what stands for hidden messages; the others are who spoke"],
  ];
}

export function number(value: number): string {
  return Math.round(value).toLocaleString("en-US");
}

export function count(n: number, noun: string): string {
  return `${number(n)} ${noun}${n === 1 ? "" : "s"}`;
}
