// What must happen before the rest is loaded. From a clone the sources run as they are when node is given
// `--conditions=palimpsest-source`, and when nothing was built there; elsewhere what was built.
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import module from "node:module";
import { homedir } from "node:os";
import { isAbsolute, join } from "node:path";
import { fileURLToPath } from "node:url";

const args = process.argv.slice(2);
// Scripts ask for the version often: nothing else is loaded for it.
if (args.includes("--version")) {
  const { version } = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8"));
  process.stdout.write(`${version}\n`);
} else if (isUnbuiltClone()) {
  if (args[0] === "studio" && !args.includes("--help") && !args.includes("-h")) buildPage();
  await runSources();
} else {
  keepCompiledCode();
  silenceSqliteWarning();
  const { main } = await import("@palimpsest/cli");
  process.exitCode = await main(args);
}

function isUnbuiltClone() {
  return (
    isThere("../src/main.ts") && !isThere("../dist/main.js") && !process.execArgv.join().includes("palimpsest-source")
  );
}

function isThere(path) {
  return existsSync(new URL(path, import.meta.url));
}

// The one thing that can't run from its sources. Where it fails, the gateway says so in the page's place.
function buildPage() {
  if (isThere("../../gateway/dist/page/index.html")) return;
  process.stderr.write("Building the page, once ...\n");
  const cwd = fileURLToPath(new URL("../../..", import.meta.url));
  // On stdout is what the command says.
  spawnSync("npm", ["run", "-s", "page"], { cwd, stdio: ["ignore", 2, 2], shell: process.platform === "win32" });
}

// Node takes the condition only at its start.
async function runSources() {
  const bin = fileURLToPath(new URL("./palimpsest.js", import.meta.url));
  const child = spawn(process.execPath, ["--conditions=palimpsest-source", bin, ...args], { stdio: "inherit" });
  // The terminal sends Ctrl-C to both; other signals come to this process alone.
  process.on("SIGINT", () => {});
  for (const signal of ["SIGTERM", "SIGHUP"]) process.on(signal, () => child.kill(signal));
  const [code, signal] = await once(child, "exit");
  process.exitCode = code ?? (signal === "SIGINT" ? 130 : 143);
}

// In the person's own cache: by default it lies in the shared temporary folder, where others may have put code first.
function keepCompiledCode() {
  const { NODE_COMPILE_CACHE, XDG_CACHE_HOME, HOME } = process.env;
  if (NODE_COMPILE_CACHE) return void module.enableCompileCache?.();
  const cache = isAbsolute(XDG_CACHE_HOME ?? "") ? XDG_CACHE_HOME : join(HOME || homedir(), ".cache");
  const folder = join(cache, "palimpsest", "compiled");
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    module.enableCompileCache?.(folder);
  } catch {
    // It starts a little slower.
  }
}

// node:sqlite works and is tested here; Node's warning that it is experimental is no help in a CLI's output.
function silenceSqliteWarning() {
  const emitWarning = process.emitWarning;
  process.emitWarning = (warning, ...rest) => {
    const type = typeof rest[0] === "object" ? rest[0]?.type : rest[0];
    const text = typeof warning === "string" ? warning : warning?.message;
    if (type === "ExperimentalWarning" && text?.startsWith("SQLite ")) return;
    emitWarning.call(process, warning, ...rest);
  };
}
