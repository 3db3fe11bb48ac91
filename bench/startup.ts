/**
 * How long a process takes to be ready and how much an install weighs: importing the package as users get it (built), and
 * the peers. `npm run bench -- startup [--rounds 7] [--json]`. CPU and time are medians with an
 * empty process taken off; sizes are the files of a package and of everything it depends on, each once.
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
  const installed = PACKAGES.flatMap((one) => {
    const size = installSize(one.folder, one.name);
    return size === null ? [] : [{ ...one, size, starts: [] as Start[] }];
  });
  const empty: Start[] = [];
  for (let round = 0; round < rounds; round += 1) {
    empty.push(start("", ROOT));
    for (const { folder, name, starts } of installed) starts.push(start(`await import("${name}");`, folder));
  }
  const median = (starts: readonly Start[], what: keyof Start): number =>
    quantile(
      starts.map((one) => one[what]),
      0.5,
    );
  const beyond = (starts: readonly Start[], what: keyof Start): number => median(starts, what) - median(empty, what);
  const rows = installed.map(({ who, size, starts }) => ({
    who,
    importCpuMs: beyond(starts, "cpuMs"),
    importMs: beyond(starts, "ms"),
    packages: size.packages,
    megabytes: size.bytes / 1e6,
  }));
  return { rounds, emptyProcessMs: median(empty, "ms"), emptyProcessCpuMs: median(empty, "cpuMs"), rows };
};

export default bench;

interface Start {
  readonly ms: number;
  readonly cpuMs: number;
}

function start(code: string, cwd: string): Start {
  const tell = "const { user, system } = process.cpuUsage(); process.stdout.write(String((user + system) / 1000));";
  const begin = performance.now();
  const { status, stdout, stderr } = spawnSync(process.execPath, ["--input-type=module", "-e", `${code} ${tell}`], {
    cwd,
    encoding: "utf8",
  });
  const ms = performance.now() - begin;
  if (status !== 0)
    throw new BenchInputError(`It does not start (npm run build first?): ${stderr.split("\n")[4] ?? stderr}`);
  return { ms, cpuMs: Number(stdout) };
}
