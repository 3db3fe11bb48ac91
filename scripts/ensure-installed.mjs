// Runs before `npm start`, `npm test` and the others, on whatever Node the machine has: installs and builds only when that is
// needed, so that a fresh clone and a changed lock file work with one command.
import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const installed = join(root, "node_modules", ".package-lock.json");
const lock = join(root, "package-lock.json");
const built = join(root, "packages", "cli", "dist", "main.js");

// Tests, and the command from the sources, need nothing built.
const testing = /^pre(?:test|palimpsest)$/.test(process.env.npm_lifecycle_event ?? "");

const run = (args) => {
  try {
    execFileSync("npm", args, { cwd: root, stdio: "inherit", shell: process.platform === "win32" });
  } catch {
    // npm has said why.
    process.stderr.write(
      `"npm ${args.join(" ")}" failed, so there is nothing to run yet: what it says above is the reason.\n`,
    );
    process.exit(1);
  }
};

if (!existsSync(installed) || statSync(installed).mtimeMs < statSync(lock).mtimeMs) {
  process.stderr.write("Installing dependencies (once)...\n");
  run(["ci", "--loglevel=error"]);
} else if (!existsSync(built) || (!testing && newestSource() > statSync(built).mtimeMs)) {
  run(["run", "build"]);
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
