/**
 * Runs every bench of the plan, each in a process of its own, writes `bench/results/*.json` and renders
 * `docs/benchmarks.md`, `docs/charts` and the table of the README from them:
 * `npm run bench -- all [--data FOLDER] [--held-out FOLDER] [--only NAME,NAME]`. A bench that needs a data file and doesn't
 * find it, or fails, leaves a result that says so; `--only` keeps the other results of earlier runs, `--only none` keeps all.
 * In the folder of held-out data the files have the same names; those that are there are measured as well.
 */
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { cpus, loadavg, totalmem } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type Bench, BenchInputError } from "./bench.ts";
import { type Result, renderPage, renderReadme } from "./report/page.ts";
import { commandOf, STEPS, type Step } from "./report/plan.ts";
import { renderCharts } from "./report/published-charts.ts";

const RESULTS = fileURLToPath(new URL("results/", import.meta.url));
const PAGE = fileURLToPath(new URL("../docs/benchmarks.md", import.meta.url));
const CHARTS = fileURLToPath(new URL("../docs/charts/", import.meta.url));
const README = fileURLToPath(new URL("../README.md", import.meta.url));
const RUNNER = fileURLToPath(new URL("run.ts", import.meta.url));
const LIMIT_MS = 1_800_000;

const bench: Bench = async (args, options) => {
  const { data, "held-out": heldOut } = options;
  if (args.length > 0 || data === true || heldOut === true)
    throw new BenchInputError(
      "Name the folders of the data files: npm run bench -- all --data FOLDER --held-out FOLDER",
    );
  const only = typeof options["only"] === "string" ? options["only"].split(",") : null;
  mkdirSync(RESULTS, { recursive: true });
  const rows = [];
  for (const step of STEPS) {
    if (only !== null && !only.includes(step.id)) continue;
    process.stderr.write(`${step.id} ... `);
    const result = run(step, { data, heldOut });
    writeFileSync(join(RESULTS, `${step.id}.json`), `${JSON.stringify(result, null, 2)}\n`);
    const outcome = result.outcome.kind;
    process.stderr.write(`${outcome}, ${result.seconds} s\n`);
    rows.push({ bench: step.id, outcome, seconds: result.seconds });
  }
  const results = STEPS.map(readResult);
  writeFileSync(PAGE, renderPage(results));
  mkdirSync(CHARTS, { recursive: true });
  for (const [file, svg] of renderCharts(results)) writeFileSync(join(CHARTS, file), svg);
  writeFileSync(README, renderReadme(readFileSync(README, "utf8"), results));
  return { ok: rows.every(({ outcome }) => outcome !== "failed"), rows };
};

export default bench;

interface Folders {
  readonly data: string | undefined;
  readonly heldOut: string | undefined;
}

function run(step: Step, folders: Folders): Result {
  const about = { id: step.id, command: commandOf(step), machine: machine(), versions: versions() };
  const { data: files = [], options = [] } = step;
  const place = (folder: string | undefined, file: string): string => join(folder ?? "", file);
  const isThere = (folder: string | undefined) => (file: string) =>
    folder !== undefined && existsSync(place(folder, file));
  const missing = files.find((file) => !isThere(folders.data)(file));
  if (missing !== undefined) return { ...about, seconds: 0, outcome: { kind: "no-data", file: missing } };
  const data = files.map((file) => place(folders.data, file));
  const heldOut = files.filter(isThere(folders.heldOut)).map((file) => place(folders.heldOut, file));
  const measure = step.measure === undefined ? [] : [step.measure];
  const also = heldOut.length > 0 ? ["--held-out", heldOut.join(",")] : [];
  const args = [
    "--conditions=palimpsest-source",
    RUNNER,
    step.bench,
    ...measure,
    ...data,
    ...options,
    ...also,
    "--json",
  ];
  const start = performance.now();
  const done = spawnSync(process.execPath, args, { encoding: "utf8", maxBuffer: 1e8, timeout: LIMIT_MS });
  const result = { ...about, seconds: Math.round((performance.now() - start) / 1000) };
  if (done.status === 0) return { ...result, outcome: { kind: "measured", figures: JSON.parse(done.stdout) } };
  // A stack names files of this machine; its first line says enough.
  const why = done.status === null ? `not done after ${LIMIT_MS / 1000} s` : "it ended with an error; run the command";
  return { ...result, outcome: { kind: "failed", why } };
}

function readResult(step: Step): Result {
  const path = join(RESULTS, `${step.id}.json`);
  if (existsSync(path)) return JSON.parse(readFileSync(path, "utf8")) as Result;
  const about = { id: step.id, command: commandOf(step), machine: machine(), versions: versions() };
  return { ...about, seconds: 0, outcome: { kind: "failed", why: "never run" } };
}

function machine(): Result["machine"] {
  const memory = `${Math.round(totalmem() / 2 ** 30)} GiB`;
  return { cores: cpus().length, memory, node: process.version, system: process.platform, load: loadavg()[0]! };
}

/** Ours and the peers', as installed. */
function versions(): Record<string, string> {
  const read = (path: string) =>
    JSON.parse(readFileSync(new URL(path, import.meta.url), "utf8")) as { version: string; dependencies: object };
  return { palimpsest: read("../packages/harness/package.json").version, ...read("package.json").dependencies };
}
