/**
 * The page of results as Markdown: one table per subject with its command, each row with ours, theirs and the ratio; before
 * them every row in which a peer is better, and the few rows that stand in the README. What was not measured says why;
 * nothing is filled in from elsewhere.
 */
import { SUBJECTS } from "./subjects.ts";
import type { Row } from "./write.ts";

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

/** One of the parts of a ratio ("3.00x CPU, 0.50x time") is below 1. */
function isBehind(ratio: string): boolean {
  return ratio.split(/[,;] /).some((part) => Number.parseFloat(part) < 1);
}

function comparison({ what, ours, theirs, ratio }: Row): string {
  return `  - ${what}: ${ours} against ${theirs} (${ratio})`;
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
  const rows = HEADLINES.flatMap(({ id, what, says }) => {
    const { outcome } = results.find((result) => result.id === id)!;
    const subject = SUBJECTS.find((one) => one.id === id)!;
    if (outcome.kind !== "measured") return [];
    const match = subject.rows(outcome.figures as never).find((row) => row.what.startsWith(what));
    return match === undefined ? [] : [`| ${says} | ${match.ours} | ${match.theirs ?? ""} |`];
  });
  if (rows.length < HEADLINES.length) return text;
  const headlines = ["| what | ours | theirs |", "| --- | --- | --- |", ...rows].join("\n");
  return text.replace(/(<!-- measured -->\n)[\s\S]*?(<!-- end -->)/, `$1${headlines}\n$2`);
}

const HEADLINES = [
  {
    id: "turn",
    what: "10,000 messages, all in view on both sides: LangChain createAgent, durability exit",
    says: "one turn, 10,000 messages in view on both sides; LangChain `createAgent` with its SQLite saver at its fastest",
  },
  {
    id: "turn",
    what: "100 messages, all in view on both sides: LangChain createAgent, durability exit",
    says: "the same with 100 messages",
  },
  {
    id: "turn",
    what: "10,000 messages, older ones behind a summary on both sides: LangChain createAgent, summarizing, durability exit",
    says: "a thread of 10,000 messages, older ones behind a summary on both sides",
  },
  {
    id: "cost",
    what: "the whole: summarize at 85 % on the cached prefix",
    says: "cost of a coding session far beyond the window, which pruning was tuned on, as a share of never pruning (what the model used again and still saw, by a judge apart); summarizing at 85 %",
  },
  {
    id: "recall",
    what: "first 10 hits; within 2,000 tokens; time of a search, p95: MiniSearch, our-terms",
    says: "evidence for LoCoMo questions among the first 10 hits; within 2,000 tokens; time; MiniSearch with our stems",
  },
  {
    id: "peer-playback",
    what: "LangChain, best settings, failing summarizer",
    says: "with a failing summarizer: broken rules / over the window / failed / messages lost of those hidden; LangChain's middleware, best settings",
  },
] as const;

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
  const columns = (["what", "ours", "theirs", "ratio"] as const).filter((name) => rows.some((row) => row[name]));
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
