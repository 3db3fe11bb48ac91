/** Which charts are published, each from the committed result that its table is made of. */
import { type Axis, lineChart, type Series } from "./charts.ts";
import type { Result } from "./page.ts";

interface PublishedChart {
  /** Name of its file in `docs/charts`. */
  readonly file: string;
  /** The result it is made of. */
  readonly id: string;
  draw(figures: never): string;
}

interface TurnFigures {
  readonly rows: readonly { readonly who: string; readonly messages: number; readonly cpuMs: number }[];
}

/** Rows of the result, by the names they have in the chart. */
const TURN_SERIES = [
  { who: "compacted", name: "Palimpsest, compacted", isOurs: true },
  { who: "all in view", name: "Palimpsest, all in view", isOurs: true },
  { who: "LangChain createAgent, summarizing, durability exit", name: "LangChain, summarizing", isOurs: false },
  { who: "LangChain createAgent, durability exit", name: "LangChain, all in view", isOurs: false },
  { who: "DeepAgents createDeepAgent, durability exit", name: "DeepAgents", isOurs: false },
];

const MS: Axis = {
  label: "CPU ms",
  scale: "log",
  ticks: [1, 10, 100, 1000],
  show: (value) => (value < 10 ? value.toFixed(1).replace(/\.0$/, "") : Math.round(value).toLocaleString("en-US")),
};
const MESSAGES: Axis = {
  label: "messages in the thread",
  scale: "log",
  ticks: [100, 1000, 10_000],
  show: (value) => value.toLocaleString("en-US"),
};

const PUBLISHED_CHARTS: readonly PublishedChart[] = [
  {
    file: "turn.svg",
    id: "turn",
    draw: ({ rows }: TurnFigures) =>
      lineChart(turnSeries(rows), {
        title: "What one turn costs as a thread grows",
        subtitle: "CPU time of a turn with a stored thread, SQLite; lower is better; peers at their fastest mode",
        x: MESSAGES,
        y: MS,
      }),
  },
];

function turnSeries(rows: TurnFigures["rows"]): readonly Series[] {
  return TURN_SERIES.map(({ who, name, isOurs }) => ({
    name,
    isOurs,
    points: rows.filter((row) => row.who === who).map(({ messages, cpuMs }) => [messages, cpuMs] as const),
  })).filter(({ points }) => points.length > 0);
}

/** The SVG text of each chart whose result was measured, by its file. */
export function renderCharts(results: readonly Result[]): ReadonlyMap<string, string> {
  const charts = PUBLISHED_CHARTS.flatMap(({ file, id, draw }) => {
    const outcome = results.find((result) => result.id === id)?.outcome;
    return outcome?.kind === "measured" ? [[file, draw(outcome.figures as never)] as const] : [];
  });
  return new Map(charts);
}
