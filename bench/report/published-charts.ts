/** Which charts are published, each from the committed result that its table is made of. */
import {
  type Axis,
  type Dot,
  type DotGroup,
  lineChart,
  type Panel,
  panelChart,
  type Series,
  scatterChart,
} from "./charts.ts";
import type { Result } from "./page.ts";

interface PublishedChart {
  /** Name of its file in `docs/charts`. */
  readonly file: string;
  /** The result it is made of. */
  readonly id: string;
  /** What a reader who can't see it is told. */
  readonly alt: string;
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
    alt: "CPU of one turn by thread length, ours beside LangChain and DeepAgents",
    draw: ({ rows }: TurnFigures) =>
      lineChart(turnSeries(rows), {
        title: "What one turn costs as a thread grows",
        subtitle: "CPU time of a turn with a stored thread, SQLite; lower is better; peers at their fastest mode",
        x: MESSAGES,
        y: MS,
      }),
  },
  {
    file: "evidence.svg",
    id: "quality-search",
    alt: "Share of the evidence shown by one search within 1,000, 2,000 and 4,000 tokens, by data set, ours beside three others",
    draw: ({ rows }: EvidenceFigures) =>
      panelChart(evidencePanels(rows), {
        title: "Evidence in what one search shows",
        subtitle: "Share of the messages that answer a question, by tokens shown; no model; higher is better",
        x: BUDGET,
        y: SHARE,
      }),
  },
  {
    file: "cost.svg",
    id: "cost",
    alt: "Cost of a coding session against what is still visible, each policy a dot",
    draw: (figures: CostFigures) =>
      scatterChart(costGroups(figures), {
        title: "What a coding session costs, and what is still visible",
        subtitle:
          "Up and left is better; hollow: data in view while tuning, filled: kept back; (1) has requests beyond the window",
        x: COST,
        y: { ...SHARE, label: "still visible" },
      }),
  },
];

interface EvidenceFigures {
  readonly rows: readonly {
    readonly who: string;
    readonly set: string;
    readonly kind: string | null;
    readonly figures: Readonly<Record<string, { readonly mean: number }>>;
  }[];
}

const EVIDENCE_SERIES = [
  { who: "ours", name: "Palimpsest", isOurs: true },
  { who: "BM25, passages", name: "BM25 of thirty lines", isOurs: false },
  { who: "MiniSearch", name: "MiniSearch, best", isOurs: false },
  { who: "Orama", name: "Orama, best", isOurs: false },
];
const BUDGETS = [1000, 2000, 4000];
const BUDGET: Axis = {
  label: "tokens shown",
  scale: "log",
  ticks: BUDGETS,
  show: (value) => value.toLocaleString("en-US"),
};
const SHARE: Axis = {
  label: "",
  scale: "linear",
  ticks: [0, 0.25, 0.5, 0.75, 1],
  show: (value) => `${Math.round(value * 100)} %`,
};
const COST: Axis = { ...SHARE, label: "cost, as a share of never compacting", ticks: [0.2, 0.4, 0.6, 0.8, 1] };

function evidencePanels(rows: EvidenceFigures["rows"]): readonly Panel[] {
  const whole = rows.filter(({ kind }) => kind === null);
  return [...new Set(whole.map(({ set }) => set))].map((title) => ({
    title,
    series: EVIDENCE_SERIES.flatMap(({ who, ...series }) => {
      const row = whole.find(
        (one) => one.set === title && (one.who === who || (who !== "ours" && one.who.startsWith(who))),
      );
      if (row === undefined) return [];
      return [{ ...series, points: BUDGETS.map((budget) => [budget, row.figures[`in${budget}`]!.mean] as const) }];
    }),
  }));
}

interface CostFigures {
  readonly policies: readonly CostPolicy[];
  readonly heldOut: { readonly policies: readonly CostPolicy[] } | null;
}

interface CostPolicy {
  readonly name: string;
  readonly cost: number;
  readonly known: number;
}

/** By the beginning of a policy's name. The first that fits takes it. */
const COST_GROUPS = [
  { start: /^ours$/, name: "Palimpsest, defaults", isOurs: true },
  { start: /^ours/, name: "Palimpsest, other settings", isOurs: false },
  { start: /^summarize/, name: "summarize at X %", isOurs: false },
  { start: /^(?:batch|mask)/, name: "prune or mask results (1)", isOurs: false },
  { start: /^never/, name: "never compact (1)", isOurs: false },
];

function costGroups({ policies, heldOut }: CostFigures): readonly DotGroup[] {
  const groupOf = (name: string) => COST_GROUPS.findIndex(({ start }) => start.test(name));
  const dotsOf = (list: readonly CostPolicy[], index: number, isHeldOut: boolean): Dot[] =>
    list
      .filter(({ name }) => groupOf(name) === index)
      .map(({ cost, known }) => ({ x: cost, y: known, label: null, isHeldOut }));
  return COST_GROUPS.map(({ name, isOurs }, index) => ({
    name,
    isOurs,
    dots: [...dotsOf(policies, index, false), ...dotsOf(heldOut?.policies ?? [], index, true)],
  })).filter(({ dots }) => dots.length > 0);
}

function turnSeries(rows: TurnFigures["rows"]): readonly Series[] {
  return TURN_SERIES.map(({ who, name, isOurs }) => ({
    name,
    isOurs,
    points: rows.filter((row) => row.who === who).map(({ messages, cpuMs }) => [messages, cpuMs] as const),
  })).filter(({ points }) => points.length > 0);
}

/** The chart of a result as a line of Markdown, for a page in `docs`; null if it has none. */
export function chartLine(id: string): string | null {
  const chart = PUBLISHED_CHARTS.find((one) => one.id === id);
  return chart === undefined ? null : `![${chart.alt}](charts/${chart.file})`;
}

/** The SVG text of each chart whose result was measured, by its file. */
export function renderCharts(results: readonly Result[]): ReadonlyMap<string, string> {
  const charts = PUBLISHED_CHARTS.flatMap(({ file, id, draw }) => {
    const outcome = results.find((result) => result.id === id)?.outcome;
    return outcome?.kind === "measured" ? [[file, draw(outcome.figures as never)] as const] : [];
  });
  return new Map(charts);
}
