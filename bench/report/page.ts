/**
 * The page of results as Markdown: one table per subject with its command, each row with ours, theirs and the ratio; before
 * them every row in which a peer is better, and the few rows that stand in the README. What was not measured says why;
 * nothing is filled in from elsewhere.
 */
import { chartLine } from "./published-charts.ts";
import { SUBJECTS } from "./subjects.ts";
import { ms, percent, percentUp, type Row } from "./write.ts";

export interface Result {
  readonly id: string;
  readonly command: string;
  readonly seconds: number;
  readonly machine: {
    readonly cores: number;
    readonly memory: string;
    readonly node: string;
    readonly system: string;
    /** Processes that ran or waited when the bench began. */
    readonly load: number;
  };
  readonly versions: Readonly<Record<string, string>>;
  readonly outcome:
    | { readonly kind: "measured"; readonly figures: unknown }
    | { readonly kind: "no-data"; readonly file: string }
    | { readonly kind: "failed"; readonly why: string };
}

export function renderPage(results: readonly Result[]): string {
  const { machine } = results[0]!;
  const versions: Result["versions"] = Object.assign({}, ...results.map((result) => result.versions));
  const subjects = SUBJECTS.map((subject) => {
    const result = results.find(({ id }) => id === subject.id)!;
    return { ...subject, result, measured: rowsOf(result, subject.rows) };
  });
  const tables = subjects.map(({ title, about, data, result, measured }) =>
    [
      `## ${title}\n${about}`,
      `Data: ${data}${loaded(result)}\nCommand: \`${result.command}\``,
      `${table(measured)}\n`,
    ].join("\n\n"),
  );
  const compared = subjects.map(({ title, measured }) => {
    const ratios = measured.filter(({ ratio }) => (ratio ?? "") !== "");
    return { title, ratios, lost: ratios.filter(({ ratio }) => isBehind(ratio!)) };
  });
  const charts = subjects.flatMap(({ result }) => chartOf(result));
  const peers = Object.entries(versions).map(([name, version]) => `${name} ${version}`);
  return `${INTRODUCTION}
## Where a peer is better
${behind(compared)}

## Three pictures
${charts.length === 0 ? "Nothing that is drawn was measured." : charts.join("\n\n")}

${tables.join("\n")}
## How it was measured
Each table was measured in one run, on ${machine.cores} cores, ${machine.memory} of memory, ${machine.system}, Node ${machine.node}${busy(results) ? ", while other work was\nrunning on the same machine" : ""}: compare the figures of one table with each other, not with another machine's.
${MEASURED}
Versions: ${peers.join(", ")}.

${NOT_MEASURED}`;
}

function chartOf({ id, outcome }: Result): readonly string[] {
  const line = outcome.kind === "measured" ? chartLine(id) : null;
  return line === null ? [] : [line];
}

interface Compared {
  readonly title: string;
  /** The rows with a ratio. */
  readonly ratios: readonly Row[];
  readonly lost: readonly Row[];
}

/** A line for each subject, and every row folded away below them. */
function behind(compared: readonly Compared[]): string {
  const some = compared.filter(({ lost }) => lost.length > 0);
  if (some.length === 0) return "In no row below.";
  const least = (rows: readonly Row[]) =>
    rows.reduce((a, b) => (Number.parseFloat(a.ratio!) <= Number.parseFloat(b.ratio!) ? a : b)).ratio!;
  const lines = some.map(
    ({ title, ratios, lost }) => `| ${title} | ${lost.length} | ${ratios.length} | ${least(lost)} |`,
  );
  const every = some.map(({ title, lost }) => `- ${title}:\n${lost.map(comparison).join("\n")}`);
  const head = "| what | peer better in | rows compared | least ratio |\n| --- | --- | --- | --- |";
  return `${head}\n${lines.join("\n")}\n\n${folded("Every such row", every.join("\n"))}`;
}

function folded(summary: string, text: string): string {
  return `<details>\n<summary>${summary}</summary>\n\n${text}\n\n</details>`;
}

function isBehind(ratio: string): boolean {
  return Number.parseFloat(ratio) < 1;
}

function comparison({ what, measure, ours, theirs, ratio }: Row): string {
  return `  - ${what}${measure === undefined ? "" : `, ${measure}`}: ${ours} against ${theirs} (${ratio})`;
}

function loaded({ outcome, machine }: Result): string {
  return outcome.kind === "measured" ? ` Load when the run began: ${machine.load.toFixed(1)}.` : "";
}

/** Each subject's own command leaves a load of about the number of cores behind for the next. */
function busy(results: readonly Result[]): boolean {
  return results.some(({ machine }) => !(machine.load <= machine.cores + 1));
}

/** `text` with the table between its marks written anew; as it is when a row of it was not measured. */
export function renderReadme(text: string, results: readonly Result[]): string {
  const rows = HEADLINES.flatMap(({ id, says, figures }) => {
    const { outcome } = results.find((result) => result.id === id)!;
    const figure = outcome.kind === "measured" ? figures(outcome.figures as never) : null;
    return figure === null ? [] : [`| ${says} | **${figure.ours}** | ${figure.theirs} |`];
  });
  if (rows.length < HEADLINES.length) return text;
  const headlines = ["| | Palimpsest | the other |", "| --- | --- | --- |", ...rows].join("\n");
  return text.replace(/(<!-- measured -->\n)[\s\S]*?(<!-- end -->)/, `$1${headlines}\n$2`);
}

interface Headline {
  /** The result it is of. */
  readonly id: string;
  readonly says: string;
  /** One number each; null if the result lacks one of them. */
  figures(figures: never): { readonly ours: string; readonly theirs: string } | null;
}

interface TurnFigures {
  readonly rows: readonly { readonly who: string; readonly messages: number; readonly cpuMs: number }[];
}
interface RecallFigures {
  readonly atTokens: Readonly<Record<string, number>>;
  readonly peers: readonly { readonly who: string; readonly atTokens: Readonly<Record<string, number>> }[];
}
interface PlaybackFigures {
  readonly rows: readonly {
    readonly who: string;
    readonly summarizer: string;
    readonly hidden: number;
    readonly lost: number;
  }[];
}

const HEADLINES: readonly Headline[] = [
  {
    id: "turn",
    says: "CPU of one turn on a stored thread of 10,000 messages, all in view; LangChain `createAgent` in its fastest mode",
    figures({ rows }: TurnFigures) {
      const cpu = (who: string) => rows.find((row) => row.who === who && row.messages === 10_000)?.cpuMs;
      return both(cpu("all in view"), cpu("LangChain createAgent, durability exit"), ms);
    },
  },
  {
    id: "recall",
    says: "evidence for LoCoMo questions found within 2,000 tokens, without a model; MiniSearch with our stems",
    figures({ atTokens, peers }: RecallFigures) {
      const peer = peers.find(({ who }) => who === "MiniSearch, our-terms");
      return both(atTokens["2000"], peer?.atTokens["2000"], (share) => percent(share, 0));
    },
  },
  {
    id: "peer-playback",
    says: "hidden messages of which the last prompt says nothing, when the summarizer fails; LangChain's middleware at its best settings",
    figures({ rows }: PlaybackFigures) {
      const lost = (name: string) => {
        const row = rows.find(({ who, summarizer }) => who === name && summarizer === "failing");
        return row && row.lost / row.hidden;
      };
      return both(lost("Palimpsest"), lost("LangChain, best settings"), (share) => percentUp(share, 0));
    },
  },
];

function both(ours: number | undefined, theirs: number | undefined, show: (value: number) => string) {
  return ours === undefined || theirs === undefined ? null : { ours: show(ours), theirs: show(theirs) };
}

function rowsOf({ outcome }: Result, rows: (figures: never) => readonly Row[]): readonly Row[] {
  if (outcome.kind === "measured") {
    const measured = rows(outcome.figures as never);
    if (measured.length > 0) return measured;
    return [{ what: "not compared: no peer is installed; `npm ci --prefix bench`", ours: "" }];
  }
  const why =
    outcome.kind === "no-data"
      ? `${outcome.file} was not there; name its folder: \`npm run bench -- all --data FOLDER\``
      : outcome.why;
  return [{ what: `not measured: ${why}`, ours: "" }];
}

/** A longer table is folded away, so that the page can be read. */
const MOST_IN_SIGHT = 12;

/** A column that no row fills is left out. */
function table(rows: readonly Row[]): string {
  const columns = (["what", "measure", "ours", "theirs", "ratio"] as const).filter((name) =>
    rows.some((row) => row[name]),
  );
  const line = (cells: readonly string[]): string => `| ${cells.join(" | ")} |`;
  const lines = rows.map((row) => line(columns.map((name) => row[name] ?? "")));
  const text = [line(columns), line(columns.map(() => "---")), ...lines].join("\n");
  return rows.length <= MOST_IN_SIGHT ? text : folded(`All ${rows.length} rows`, text);
}

const INTRODUCTION = `# Benchmarks
Palimpsest beside its peers, each run as published. A ratio says how many times better ours is; below 1 the peer is better.
Shares and ratios are rounded down, errors and costs up.
`;

const MEASURED = `Each table says whether its data is what we tuned on; rows marked "held out" are of data not used for tuning, which
\`--held-out FOLDER\` names. In the commands \`DATA\` is the folder of the data files, which are not part of this repository;
without it the rows that need one say so. Install the peers first: \`npm ci --prefix bench\`. \`npm run bench -- all --data DATA\`
writes this page; edit \`bench/report/\` instead of it.`;

const NOT_MEASURED = `## Not measured here
- mem0 with an embedding model: none can run here without a network. Its own retrieval runs with words hashed into a vector.
- The SQLite saver of LangGraph with its own native addon: it would have to be compiled. It runs on Node's own SQLite instead.
- Peers' turns on PostgreSQL, and on threads of 100,000 messages: they take too long; ours is \`npm run bench -- turn --only ours --sizes 100000\`.
`;
