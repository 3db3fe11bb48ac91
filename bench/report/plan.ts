/**
 * What a whole run measures, in order: the bench, its data file where it needs one, and options that keep the run to
 * minutes. Longer variants are one command away.
 */
export interface Step {
  /** Name of the result file. */
  readonly id: string;
  readonly bench: string;
  /** Which of its measures, where it has several. */
  readonly measure?: string;
  /** Files of the data folder. */
  readonly data?: readonly string[];
  readonly options?: readonly string[];
}

export const STEPS: readonly Step[] = [
  {
    id: "quality-prompts",
    bench: "quality",
    measure: "prompts",
    data: ["coding-session.jsonl", "airline-tool-dialogs.jsonl"],
  },
  {
    id: "quality-cost",
    bench: "quality",
    measure: "prompts",
    data: ["coding-session.jsonl"],
    options: ["--windows", "200000", "--parts", "--cost", "--quick"],
  },
  { id: "quality-request", bench: "quality", measure: "request", data: ["exact-values-dev.json"] },
  {
    id: "quality-search",
    bench: "quality",
    measure: "search",
    data: ["beam-dev.json"],
    options: ["--by-chat", "--embedder", "0.5,0.9,0.95"],
  },
  {
    id: "turn",
    bench: "turn",
    options: ["--sizes", "100,1000,10000", "--warm-up", "150", "--turns", "25,15,7"],
  },
  {
    id: "turn-postgres",
    bench: "turn",
    options: ["--store", "postgres", "--sizes", "100,1000,10000", "--warm-up", "150", "--turns", "25,15,7"],
  },
  { id: "append", bench: "append", options: ["--messages", "10000", "--rounds", "60"] },
  { id: "bytes", bench: "bytes", options: ["--turns", "20000", "--window", "8000"] },
  {
    id: "peer-playback",
    bench: "peer-playback",
    data: ["airline-tool-dialogs.jsonl"],
    options: ["--window", "8000"],
  },
  { id: "tokens", bench: "tokens", data: ["coding-session.jsonl"] },
  { id: "recall", bench: "recall", data: ["locomo-dev.json"], options: ["--leave-one-out"] },
  { id: "recall-facts", bench: "recall", data: ["locomo-dev.json"], options: ["--facts", "--only", "ours"] },
  { id: "memory", bench: "memory", data: ["locomo-dev.json"], options: ["--large"] },
  { id: "cost", bench: "cost", data: ["coding-session.jsonl"] },
  { id: "lab", bench: "lab", data: ["coding-session.jsonl", "airline-tool-dialogs.jsonl"] },
  { id: "lab-questions", bench: "lab", data: ["locomo-dev.json"], options: ["--window", "8000"] },
  { id: "search", bench: "search", options: ["--sizes", "10000,100000,1000000", "--rounds", "200"] },
  { id: "partitions", bench: "partitions", options: ["--messages", "20000", "--threads", "10"] },
  { id: "count", bench: "count" },
  { id: "gateway-proxy", bench: "gateway-proxy", options: ["--rounds", "25"] },
  { id: "summarize", bench: "summarize", options: ["--tokens", "5000000", "--window", "8000"] },
  { id: "startup", bench: "startup" },
];

/** As a reader would type it; `DATA` stands for the folder of the data files. */
export function commandOf({ bench, measure, data = [], options = [] }: Step): string {
  return [
    "npm run bench --",
    bench,
    ...(measure === undefined ? [] : [measure]),
    ...data.map((file) => `DATA/${file}`),
    ...options,
  ].join(" ");
}
