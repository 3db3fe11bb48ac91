import { readFileSync, writeFileSync } from "node:fs";
import { basename, extname, isAbsolute } from "node:path";
import { errorText } from "@palimpsest/core/internal/text";
import {
  builtInPolicies,
  type LabRow,
  labPage,
  type Policy,
  readTranscripts,
  runLab,
  type Transcript,
} from "@palimpsest/lab";
import { ours, RECALL_HITS } from "@palimpsest/lab/internal/replay";
import { parseConfig, summarizationFromFile } from "palimpsest/internal/config";
import type { Context, Run } from "../command/command.ts";
import { Failure, UsageError } from "../command/failure.ts";
import { grouped } from "../terminal/grouped.ts";
import { playMine } from "./lab-mine.ts";

interface Options {
  readonly policy?: readonly string[];
  readonly window?: number;
  readonly limit?: number;
  readonly html?: string;
  readonly mine?: boolean;
  readonly mask?: boolean;
}

export const run: Run<Options> = async ({ positionals, options }, context) => {
  const { window = 200_000, limit: hits = RECALL_HITS, policy: files = [], html } = options;
  if (options.mine === true) {
    const about = { date: new Date(), command: commandLine(), versions: versions() };
    return playMine(positionals, { window, hits, html, mask: options.mask === true, about }, context);
  }
  if (positionals.length === 0) throw new UsageError("Which file? Name one, or pass --mine for your own sessions.");
  const problems: string[] = [];
  const transcripts = (await Promise.all(positionals.map((path) => readFile(path, problems)))).flat();
  const policies = [...builtInPolicies(window), ...files.flatMap((path) => readPolicy(path, window, problems))];
  for (const problem of problems) context.output.note(problem);
  if (transcripts.length === 0) throw new Failure("no-transcript", "No file could be read: nothing to play.");
  const onProgress = progressOn(context);
  const report = await runLab({ transcripts, policies, window, hits, signal: context.signal, onProgress });
  if (html !== undefined) {
    writeFileSync(html, labPage(report, { date: new Date(), command: commandLine(), versions: versions() }));
    context.output.note(`The page is in ${html}.`);
  }
  const rows = report.policies.map(({ timelines: _, ...row }) => row);
  if (context.format === "json") await context.output.json({ ...report, policies: rows, problems });
  else for (const line of tableOf(rows)) await context.output.line(line);
  return problems.length === 0 ? 0 : 1;
};

/** As it was typed, with the files' names and not where they are. */
function commandLine(): string {
  const words = process.argv.slice(2).map((word) => (isAbsolute(word) ? basename(word) : word));
  return ["palimpsest", ...words.map((word) => (/\s/.test(word) ? JSON.stringify(word) : word))].join(" ");
}

function versions(): string {
  const { version } = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8")) as {
    version: string;
  };
  return `palimpsest ${version}, Node ${process.versions.node}`;
}

async function readFile(path: string, problems: string[]): Promise<readonly Transcript[]> {
  try {
    const { transcripts, problems: bad } = await readTranscripts(basename(path), readFileSync(path));
    problems.push(...bad.map((problem) => `${path}: ${problem}`));
    return transcripts;
  } catch (error) {
    problems.push(`${path} can't be read: ${errorText(error)}`);
    return [];
  }
}

/** A policy file is a `summarization` block, as in config.yaml. */
function readPolicy(path: string, window: number, problems: string[]): Policy[] {
  try {
    const text = readFileSync(path, "utf8");
    const parsed = parseConfig(text, /^summarization:/m.test(text) ? { env: {} } : { env: {}, under: "summarization" });
    if (parsed.kind === "invalid") throw new Error(parsed.problems.join("; "));
    const settings = summarizationFromFile(parsed.config.summarization);
    if (settings.policy.trigger.length === 0) throw new Error("it has no trigger, so it would never compact");
    return [ours(window, settings, basename(path, extname(path)))];
  } catch (error) {
    problems.push(`policy ${path} can't be played: ${errorText(error)}`);
    return [];
  }
}

function tableOf(rows: readonly Omit<LabRow, "timelines">[]): string[] {
  const percent = (share: number | null): string => (share === null ? "-" : `${(share * 100).toFixed(1)} %`);
  const hasQuestions = rows.some(({ evidence }) => evidence !== null);
  const cells = rows.map((row) => [
    row.name,
    percent(row.cost),
    percent(row.known),
    percent(row.knownWithRecall),
    ...(hasQuestions ? [percent(row.evidence), percent(row.evidenceWithRecall)] : []),
    ...[row.tokens, row.compactions, row.waits, row.violations, row.overWindow].map(grouped),
  ]);
  const evidence = hasQuestions ? ["evidence", "ev+recall"] : [];
  const head = ["policy", "cost", "known", "recall", ...evidence, "tokens", "compact", "waits", "invalid", "over"];
  const widths = head.map((title, column) => Math.max(title.length, ...cells.map((row) => row[column]!.length)));
  return [head, ...cells].map((row) =>
    row.map((cell, column) => (column === 0 ? cell.padEnd(widths[0]!) : cell.padStart(widths[column]!))).join("  "),
  );
}

/** A bar at a terminal; in a log it would only be noise. */
function progressOn({ output }: Context): (done: number, policy: string) => void {
  return (done, policy) => {
    if (!process.stderr.isTTY) return;
    const filled = Math.round(done * 30);
    output.progress(`[${"#".repeat(filled)}${".".repeat(30 - filled)}] ${policy}`);
  };
}
