/** The lab: policies replayed on transcripts, on the sessions of this machine, and requests evaluated. */
import { readFileSync, writeFileSync } from "node:fs";
import { readdir, readFile, realpath, stat } from "node:fs/promises";
import { homedir } from "node:os";
import { basename, extname, isAbsolute, join, relative } from "node:path";
import { redactSecrets } from "@palimpsest/core/internal/memory";
import { errorText } from "@palimpsest/core/internal/text";
import type { LabRow, Policy, Transcript } from "@palimpsest/lab";
import { builtInPolicies, readTranscripts, renderReport, runLab } from "@palimpsest/lab";
import type { EvalInput, EvalReport } from "@palimpsest/lab/internal/eval";
import {
  BOUNDS,
  evaluate,
  gateFailures,
  parseGate,
  readEvalFile,
  readThreads,
  UNBOUNDED,
} from "@palimpsest/lab/internal/eval";
import type { OwnReport } from "@palimpsest/lab/internal/replay";
import { ours, ownPage, ownTotals, playOwnSessions, RECALL_HITS } from "@palimpsest/lab/internal/replay";
import {
  parseConfig,
  requestWindow,
  summarizationForThreads,
  summarizationFromFile,
  summarizationOptions,
} from "palimpsest/internal/config";
import { FORMATS } from "palimpsest/internal/import";
import type { CommandRun, Context } from "../command/command.ts";
import { Failure, UsageError } from "../command/failure.ts";
import { missingThread, ownHomeNote, requireThreadId, withHome } from "../home/home.ts";
import { listThreads } from "../home/list-threads.ts";
import { counted, grouped, money, throttled } from "../terminal/output.ts";
import { evalTables, table } from "../terminal/table.ts";

interface LabFlags {
  readonly policy?: readonly string[];
  readonly window?: number;
  readonly limit?: number;
  readonly html?: string;
  readonly mine?: boolean;
  readonly mask?: boolean;
}

const runLabCommand: CommandRun<LabFlags> = async ({ positionals, options }, context) => {
  const { window = 200_000, limit: hits = RECALL_HITS, policy: files = [], html } = options;
  if (options.mine === true) {
    const about = { date: new Date(), command: commandLine(), versions: versions() };
    return playMine(positionals, { window, hits, html, mask: options.mask === true, about }, context);
  }
  if (positionals.length === 0) throw new UsageError("Which file? Name one, or pass --mine for your own sessions.");
  const problems: string[] = [];
  const transcripts = (await Promise.all(positionals.map((path) => readFileLab(path, problems)))).flat();
  const policies = [...builtInPolicies(window), ...files.flatMap((path) => readPolicy(path, window, problems))];
  for (const problem of problems) context.output.note(problem);
  if (transcripts.length === 0) throw new Failure("no-transcript", "No file could be read: nothing to play.");
  const onProgress = progressOn(context);
  const report = await runLab({ transcripts, policies, window, hits, signal: context.signal, onProgress });
  if (html !== undefined) {
    writeFileSync(html, renderReport(report, { date: new Date(), command: commandLine(), versions: versions() }));
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

async function readFileLab(path: string, problems: string[]): Promise<readonly Transcript[]> {
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

export const playing = { run: runLabCommand };

/* `lab --mine`: the lab on the sessions that programs have left on this machine, or on those in folders that are named. */

export interface MineOptions {
  readonly window: number;
  readonly hits: number;
  readonly html?: string | undefined;
  readonly mask: boolean;
  readonly about: { readonly date: Date; readonly command: string; readonly versions: string };
}

export async function playMine(places: readonly string[], options: MineOptions, context: Context): Promise<number> {
  const { output, signal } = context;
  const files = (await Promise.all(await folders(places))).flat();
  if (files.length === 0) throw new Failure("no-transcript", "No session was found: name a folder or a file.");
  const tell = throttled(output, (line: string) => line);
  const played = await playOwnSessions(files, {
    policies: builtInPolicies(options.window).filter(({ name }) => PLAYED.test(name)),
    hits: options.hits,
    signal,
    onProgress: (done, file) => tell(`${Math.round(done * 100)} % ${basename(file)}`),
  });
  const report = options.mask ? masked(played) : played;
  for (const problem of report.problems.slice(0, SHOWN)) output.note(problem);
  if (options.html !== undefined) {
    writeFileSync(options.html, ownPage(report, options.about), { mode: 0o600 });
    output.note(`The page is in ${options.html}.`);
  }
  const totals = ownTotals(report.sessions);
  if (context.format === "json") await output.json({ ...report, totals });
  else for (const line of linesOf(report, totals)) await output.line(line);
  return 0;
}

/** Ours, nothing at all, and those of others that people really use with such programs. */
const PLAYED = /^(?:ours|none|summarize at|DeepAgents|opencode)/;
const SHOWN = 20;

async function folders(places: readonly string[]) {
  const known = FORMATS.flatMap(({ folder }) => folder?.(process.env, homedir()) ?? []);
  return (places.length > 0 ? places : known).map(async (place) => {
    const found = await stat(place).catch(() => null);
    if (found === null && places.length > 0) throw new Failure("unreadable", `${place} does not exist.`);
    if (found?.isFile() === true) return [{ path: place, name: basename(place) }];
    if (found?.isDirectory() !== true) return [];
    const folder = await realpath(place);
    const entries = await readdir(folder, { recursive: true, withFileTypes: true });
    return entries
      .filter((entry) => entry.isFile() && /\.jsonl?$/i.test(entry.name))
      .map((entry) => join(entry.parentPath, entry.name))
      .sort()
      .map((path) => ({ path, name: relative(folder, path) }));
  });
}

/** Titles are made of what people said. */
function masked({ sessions, problems }: OwnReport): OwnReport {
  const clean = (text: string): string => redactSecrets(text).text;
  return { sessions: sessions.map((one) => ({ ...one, name: clean(one.name) })), problems: problems.map(clean) };
}

function linesOf({ sessions }: OwnReport, totals: ReturnType<typeof ownTotals>): string[] {
  const paid =
    totals.sessions === 0
      ? `, none with a known price. "palimpsest lab FILE" compares policies without one`
      : `; ${totals.sessions} with a known price cost ${money(totals.spent)}`;
  const rows = totals.policies.map(({ name, sessions: played, cost, used, lost }) => {
    const figures = [played, money(cost), used, lost].map(String);
    return [name, ...figures];
  });
  const head = ["policy", "sessions", "would have cost", "used again", "lost"];
  return [`${counted(sessions.length, "session")}${paid}.`, ...(rows.length === 0 ? [] : [table(head, rows)])];
}

interface EvalFlags {
  readonly thread?: readonly string[];
  readonly window?: number;
  readonly gate?: string;
  readonly "held-out"?: readonly string[];
  readonly all?: boolean;
}

type Bounds = typeof BOUNDS;

const runEval: CommandRun<EvalFlags> = async ({ positionals, options }, context) => {
  const { thread: threads = [], "held-out": heldOutFiles = [] } = options;
  const gate = options.gate === undefined ? null : await readGate(options.gate);
  const bounds = options.all === true ? UNBOUNDED : BOUNDS;
  const problems: string[] = [];
  const files = await readFiles(positionals, problems);
  const heldOut = await readFiles(heldOutFiles, problems);
  for (const problem of problems) context.output.note(problem);
  const wantsThreads = threads.length > 0 || positionals.length + heldOutFiles.length === 0;
  const own = wantsThreads ? await ownThreads(context, threads, bounds) : [];
  if (files.length + heldOut.length + own.length === 0)
    throw new Failure("nothing-to-measure", "No file could be read: nothing to measure.");
  const report = await measured(context, { inputs: [...files, ...own], heldOut, bounds, window: options.window });
  const failures = gate === null ? [] : gateFailures(gate, report.figures);
  if (context.format === "json") await context.output.json({ ...report, problems, gate: gate && { failures } });
  else await print(report, context);
  for (const failure of failures) context.output.note(failure);
  if (gate !== null && context.format === "text")
    context.output.note(
      failures.length === 0 ? "The gate holds." : `The gate is broken: ${counted(failures.length, "figure")}.`,
    );
  return problems.length + failures.length === 0 ? 0 : 1;
};

async function readGate(path: string) {
  const text = await readFile(path, "utf8").catch((error: unknown) => {
    const isMissing = error instanceof Error && "code" in error && error.code === "ENOENT";
    const problem = isMissing ? "does not exist" : `can't be read: ${errorText(error)}`;
    throw new Failure("bad-gate", `The gate ${path} ${problem}.`);
  });
  const parsed = parseGate(text);
  if (parsed.kind === "gate") return parsed.gate;
  throw new Failure("bad-gate", `The gate ${path} can't be used: ${parsed.problem}.`);
}

async function readFiles(paths: readonly string[], problems: string[]): Promise<EvalInput[]> {
  const inputs: EvalInput[] = [];
  for (const path of paths) {
    const read = await readEvalFile(path);
    if (read.kind === "unreadable") problems.push(read.problem);
    else {
      problems.push(...read.problems);
      inputs.push(read.input);
    }
  }
  return inputs;
}

/** Only those of the user that the command is for. */
async function ownThreads(context: Context, named: readonly string[], bounds: Bounds): Promise<EvalInput[]> {
  for (const id of named) requireThreadId(id);
  if (!(await context.located.hasStore())) {
    if (named.length > 0) throw missingThread(context, named[0]!);
    throw new Failure("nothing-to-measure", `${NO_THREADS}${await ownHomeNote(context)}`);
  }
  return withHome(context, async ({ store }) => {
    for (const id of named) if ((await store.header(id)) === undefined) throw missingThread(context, id);
    const limit = bounds === UNBOUNDED ? Number.POSITIVE_INFINITY : NEWEST;
    const listed = named.length > 0 ? named : (await listThreads(store, { limit })).map(({ header }) => header.id);
    if (listed.length === 0) throw new Failure("nothing-to-measure", NO_THREADS);
    const name = listed.length === 1 ? `thread ${listed[0]}` : "threads";
    return [await readThreads(store, listed, { name, of: listed.length, bounds })];
  });
}

const NEWEST = 20;
const NO_THREADS = 'There is no thread to measure: name a file, or import one ("palimpsest import FILE --thread T").';

interface Measuring {
  readonly inputs: readonly EvalInput[];
  readonly heldOut: readonly EvalInput[];
  readonly bounds: Bounds;
  readonly window: number | undefined;
}

interface MeasuredReport extends EvalReport {
  readonly heldOut: EvalReport | null;
}

async function measured(context: Context, { inputs, heldOut, bounds, window }: Measuring): Promise<MeasuredReport> {
  const { located, output, signal } = context;
  const settings = await located.settings();
  const options = {
    window: requestWindow(settings, window, await located.learned()).size,
    summarization: summarizationOptions(summarizationForThreads(settings.summarization)),
    bounds,
    signal,
    onProgress: throttled(output, (what: string) => `measuring ${what}`),
  };
  const report = await evaluate(inputs, options);
  if (heldOut.length === 0) return { ...report, heldOut: null };
  const apart = await evaluate(heldOut, options);
  const figures = Object.entries(apart.figures).map(([name, value]) => [`held-out ${name}`, value] as const);
  return { ...report, figures: { ...report.figures, ...Object.fromEntries(figures) }, heldOut: apart };
}

async function print({ heldOut, ...report }: MeasuredReport, { output }: Context): Promise<void> {
  for (const table of evalTables(report)) await output.line(`${table}\n`);
  for (const table of heldOut === null ? [] : evalTables(heldOut)) await output.line(`held-out: ${table}\n`);
  for (const note of [...report.notes, ...(heldOut?.notes ?? [])]) output.note(note);
}

export const evaluating = { run: runEval };
