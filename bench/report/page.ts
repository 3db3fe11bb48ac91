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
      ...(result.outcome.kind === "measured" ? [chartLine(result.id)].filter((line) => line !== null) : []),
      `${table(measured)}\n`,
    ].join("\n\n"),
  );
  const behind = subjects.flatMap(({ title, measured }) => {
    const lost = measured.filter(({ ratio }) => ratio !== undefined && isBehind(ratio));
    return lost.length === 0 ? [] : [`- ${title}:\n${lost.map(comparison).join("\n")}`];
  });
  const peers = Object.entries(versions).map(([name, version]) => `${name} ${version}`);
  return `${INTRODUCTION}
Each table was measured in one run, on ${machine.cores} cores, ${machine.memory} of memory, ${machine.system}, Node ${machine.node}${busy(results) ? ", while other work was\nrunning on the same machine" : ""}: compare the figures of one table with each other, not with another machine's.
Versions: ${peers.join(", ")}.

## Where a peer is better
${behind.length === 0 ? "In no row below." : behind.join("\n")}

${tables.join("\n")}
${NOT_MEASURED}`;
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

/** A column that no row fills is left out. */
function table(rows: readonly Row[]): string {
  const columns = (["what", "measure", "ours", "theirs", "ratio"] as const).filter((name) =>
    rows.some((row) => row[name]),
  );
  const line = (cells: readonly string[]): string => `| ${cells.join(" | ")} |`;
  const lines = rows.map((row) => line(columns.map((name) => row[name] ?? "")));
  return [line(columns), line(columns.map(() => "---")), ...lines].join("\n");
}

const INTRODUCTION = `# Benchmarks
Written by \`npm run bench -- all --data DATA\`; edit \`bench/report/\`, not this page. Install the peers first: \`npm ci --prefix bench\`.
They run as published. In the commands \`DATA\` is the folder of the data files, which are not part of this repository; without
it the rows that need one say so. A ratio says how many times better ours is; below 1 the peer is better. Shares and ratios
are rounded down, errors and costs up. Each table says whether its data is what we tuned on; rows marked "held out" are of data that nobody
tuned on, which \`--held-out FOLDER\` names.
`;

const NOT_MEASURED = `## Not measured here
- mem0 with an embedding model: none can run here without a network. Its own retrieval runs with words hashed into a vector.
- The SQLite saver of LangGraph with its own native addon: it would have to be compiled. It runs on Node's own SQLite instead.
- Peers' turns on PostgreSQL, and on threads of 100,000 messages: they take too long; ours is \`npm run bench -- turn --only ours --sizes 100000\`.
`;
