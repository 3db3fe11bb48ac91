// Runs before `npm start`, `npm test` and the others, on whatever Node the machine has: installs and builds only when that is
// needed, so that a fresh clone and a changed lock file work with one command. A chat needs a ninth of what the tests need,
// and no build: the sources run as they are. The page needs a bundler beside it.
import { execFileSync, spawn } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { installOf } from "./install-of.mjs";

const CHAT_ONLY = ["-w", "@palimpsest/cli", "--include-workspace-root", "--omit=dev", "--omit=optional", "--omit=peer"];
const QUIET = ["--loglevel=error", "--no-audit", "--no-fund"];

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const installed = join(root, "node_modules", ".package-lock.json");
const compiler = join(root, "node_modules", "typescript");
const lock = join(root, "package-lock.json");
/** Where the install script of Node's package puts it. */
const ownNode = join(root, "node_modules", "node", "bin", "node");
const built = join(root, "packages", "cli", "dist", "main.js");

const command = process.env.npm_lifecycle_event ?? "";
const needsChatOnly = /^pre(?:start|demo|palimpsest|page)$/.test(command);
const install = installOf({
  needsChatOnly,
  isCurrent: existsSync(installed) && statSync(installed).mtimeMs >= statSync(lock).mtimeMs,
  hasTests: existsSync(compiler),
  hasOwnNode: existsSync(ownNode),
  runsOnOwnNode: existsSync(ownNode) && realpathSync(process.execPath) === realpathSync(ownNode),
  version: process.versions.node,
});

if (install === "chat" || install === "chat and Node") {
  const withNode = install === "chat and Node";
  say(
    `Installing what the chat needs, once: about ${withNode ? "240 MB, half of it the Node that it runs on" : "120 MB"} ...`,
  );
  const node = withNode && process.platform !== "win32" ? fetchNode() : null;
  // The package of Node fetches it in its install script. No other package of the chat has one.
  run(["ci", ...QUIET, ...CHAT_ONLY, "--ignore-scripts"]);
  if (withNode && !placeNode(await node)) run(["rebuild", ...QUIET, "node"]);
} else if (install === "all") {
  say("Installing everything that the tests need, once: about 850 MB, PostgreSQL and a browser among it ...");
  run(["ci", ...QUIET]);
} else if (
  existsSync(built) &&
  !/^pre(?:test|palimpsest|build|page)$/.test(command) &&
  newestSource() > statSync(built).mtimeMs
) {
  run(["run", "build"]);
}

if (command === "prepage" && !existsSync(join(root, "node_modules", "preact"))) {
  say("Installing what builds the page, once: about 15 MB ...");
  run(["install", ...QUIET, "--no-save", "--ignore-scripts", "-w", "@palimpsest/inspector"]);
}

function say(text) {
  process.stderr.write(`${text}\n`);
}

function run(args, again = args[0] === "ci") {
  try {
    execFileSync("npm", args, { cwd: root, stdio: "inherit", shell: process.platform === "win32" });
  } catch {
    if (again) {
      say("Installing failed; trying once more ...");
      return run(args, false);
    }
    // npm has said why.
    say(`"npm ${args.join(" ")}" failed, so there is nothing to run yet: what it says above is the reason.`);
    process.exit(1);
  }
}

// Generated types. They may be missing after a pull; no program needs them at run time.
if (!needsChatOnly && !existsSync(join(root, "packages", "harness", "src", "client", "routes.ts")))
  run(["run", "-s", "client-routes"]);

/** Node is most of the download, so it is fetched in parallel with the packages. Returns its path; null if its own package must fetch it. */
function fetchNode() {
  const { node: version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")).dependencies;
  const kind = process.platform === "darwin" && process.arch === "arm64" ? "node-bin" : "node";
  const name = `${kind}-${process.platform}-${process.arch}`;
  const folder = mkdtempSync(join(root, ".node-"));
  process.on("exit", () => rmSync(folder, { recursive: true, force: true }));
  const args = ["install", "--no-save", "--prefix", folder, `${name}@${version}`];
  const child = spawn("npm", args, { cwd: folder, stdio: "ignore" });
  return new Promise((done) => {
    child.on("error", () => done(null));
    child.on("close", (code) => done(code === 0 ? join(folder, "node_modules", name, "bin", "node") : null));
  });
}

/** False: the install script has to run. */
function placeNode(from) {
  if (from === null || !existsSync(from)) return false;
  const link = join(root, "node_modules", ".bin", "node");
  mkdirSync(dirname(ownNode), { recursive: true });
  renameSync(from, ownNode);
  rmSync(link, { force: true });
  symlinkSync(join("..", "node", "bin", "node"), link);
  return true;
}

/** After a pull or an edit, what was built is no longer what the sources say. */
function newestSource() {
  const packages = join(root, "packages");
  const sources = readdirSync(packages).map((name) => join(packages, name, "src"));
  const files = sources
    .filter(existsSync)
    .flatMap((folder) => readdirSync(folder, { recursive: true }).map((path) => join(folder, String(path))));
  return Math.max(0, ...files.map((path) => statSync(path).mtimeMs));
}
