/**
 * How long a process takes to be ready and how much an install weighs: importing the package as users get it (built), the
 * command line, and the peers. `npm run bench -- startup [--rounds 7] [--json]`. Times are medians with an empty
 * process taken off; sizes are the files of a package and of everything it depends on, each once.
 */
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { type Bench, BenchInputError, quantile } from "./bench.ts";
import { installSize } from "./report/install-size.ts";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const BENCH = fileURLToPath(new URL(".", import.meta.url));

const PACKAGES = [
  { who: "palimpsest", folder: `${ROOT}packages/cli`, name: "palimpsest" },
  { who: "LangChain with LangGraph", folder: BENCH, name: "langchain" },
  { who: "DeepAgents", folder: BENCH, name: "deepagents" },
] as const;

const bench: Bench = async (_args, options) => {
  const rounds = Number(options["rounds"] ?? 7);
  const empty = median(rounds, ["-e", "0"], ROOT);
  const rows = [];
  for (const { who, folder, name } of PACKAGES) {
    const size = installSize(folder, name);
    if (size === null) continue;
    const importing = median(rounds, ["--input-type=module", "-e", `await import("${name}")`], folder);
    rows.push({ who, importMs: importing - empty, packages: size.packages, megabytes: size.bytes / 1e6 });
  }
  const cli = median(rounds, [`${ROOT}packages/cli/bin/palimpsest.js`, "--version"], ROOT) - empty;
  return { rounds, emptyProcessMs: empty, commandLineMs: cli, rows };
};

export default bench;

function median(rounds: number, args: readonly string[], cwd: string): number {
  const times: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const start = performance.now();
    const { status, stderr } = spawnSync(process.execPath, args, { cwd, encoding: "utf8" });
    times.push(performance.now() - start);
    if (status !== 0)
      throw new BenchInputError(`It does not start (npm run build first?): ${stderr.split("\n")[4] ?? stderr}`);
  }
  return quantile(times, 0.5);
}
