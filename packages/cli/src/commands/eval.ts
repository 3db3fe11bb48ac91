import { readFile } from "node:fs/promises";
import { errorText } from "@palimpsest/core/internal/text";
import {
  BOUNDS,
  type EvalInput,
  type EvalReport,
  evaluate,
  gateFailures,
  parseGate,
  readEvalFile,
  readThreads,
  UNBOUNDED,
} from "@palimpsest/lab/internal/eval";
import { requestWindow, summarizationForThreads, summarizationOptions } from "palimpsest/internal/config";
import type { Context, Run } from "../command/command.ts";
import { Failure } from "../command/failure.ts";
import { missingThread, ownHomeNote, requireThreadId, withHome } from "../home/home.ts";
import { listThreads } from "../home/list-threads.ts";
import { counted } from "../terminal/counted.ts";
import { evalTables } from "../terminal/eval-tables.ts";
import { throttled } from "../terminal/throttled.ts";

interface Options {
  readonly thread?: readonly string[];
  readonly window?: number;
  readonly gate?: string;
  readonly "held-out"?: readonly string[];
  readonly all?: boolean;
}

type Bounds = typeof BOUNDS;

export const run: Run<Options> = async ({ positionals, options }, context) => {
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
    throw new Failure("bad-gate", `The gate ${path} can't be read: ${errorText(error)}.`);
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

/** Of the user that the command is for, and of nobody else. */
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
