/**
 * The page of results as Markdown: one table per subject, each row with ours, theirs, the ratio and the command. What was
 * not measured says why; nothing is filled in from elsewhere.
 */
import { SUBJECTS } from "./subjects.ts";
import type { Row } from "./write.ts";

export interface Result {
  readonly id: string;
  readonly command: string;
  readonly machine: { readonly cores: number; readonly memory: string; readonly node: string; readonly system: string };
  readonly versions: Readonly<Record<string, string>>;
  readonly outcome:
    | { readonly kind: "measured"; readonly figures: unknown }
    | { readonly kind: "no-data"; readonly file: string }
    | { readonly kind: "failed"; readonly why: string };
}

export function renderPage(results: readonly Result[]): string {
  const { machine, versions } = results[0]!;
  const tables = SUBJECTS.map((subject) => {
    const result = results.find(({ id }) => id === subject.id)!;
    return `## ${subject.title}\n${subject.about}\n\n${table(rowsOf(result, subject.rows))}\n`;
  });
  const peers = Object.entries(versions).map(([name, version]) => `${name} ${version}`);
  return `${INTRODUCTION}
Each table was measured in one run, on ${machine.cores} cores, ${machine.memory} of memory, ${machine.system}, Node ${machine.node}, while other work was
running on the same machine: compare the figures of one table with each other, not with another machine's.
Versions: ${peers.join(", ")}.

${tables.join("\n")}
${NOT_MEASURED}`;
}

function rowsOf({ outcome, command }: Result, rows: (figures: never) => readonly Row[]): string[] {
  if (outcome.kind === "measured")
    return rows(outcome.figures as never).map(
      ({ what, ours, theirs, ratio }) => `| ${what} | ${ours} | ${theirs ?? ""} | ${ratio ?? ""} | \`${command}\` |`,
    );
  const why =
    outcome.kind === "no-data" ? `not measured: ${outcome.file} was not there` : `not measured: ${outcome.why}`;
  return [`| ${why} | | | | \`${command}\` |`];
}

function table(rows: readonly string[]): string {
  return ["| what | ours | theirs | ratio | command |", "| --- | --- | --- | --- | --- |", ...rows].join("\n");
}

const INTRODUCTION = `# Benchmarks
Written by \`npm run bench -- all DATA_FOLDER\`; edit \`bench/report/\`, not this page. Install the peers first: \`npm ci --prefix bench\`.
They run as published. In the commands \`DATA\` is the folder of the data files, which are not part of this repository. A ratio
says how many times better ours is; below 1 the peer is better.
`;

const NOT_MEASURED = `## Not measured here
- mem0's retrieval: it needs an embedding model, and nothing here calls a network.
- The SQLite saver of LangGraph with its own native addon: it would have to be compiled. It runs on Node's own SQLite instead.
- Peers' turns on threads of 100,000 messages: they take too long; ours is \`npm run bench -- turn --peer-turns 0\`.
- PostgreSQL (\`npm run bench -- turn\`, \`search\`, \`queue\` without \`--store\`) and memory's two lanes
  (\`npm run bench -- memory DATA/locomo-dev.json\`): one command away, not part of this run.
`;
