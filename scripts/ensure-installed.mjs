// Runs before `npm start` and `npm test`, on whatever Node the machine has: installs and builds only when that is
// needed, so that a fresh clone and a changed lock file work with one command.
import { execFileSync } from "node:child_process";
import { existsSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const installed = join(root, "node_modules", ".package-lock.json");
const lock = join(root, "package-lock.json");
const built = join(root, "packages", "cli", "dist", "main.js");

const run = (args) => execFileSync("npm", args, { cwd: root, stdio: "inherit", shell: process.platform === "win32" });

if (!existsSync(installed) || statSync(installed).mtimeMs < statSync(lock).mtimeMs) {
  process.stderr.write("Installing dependencies (once)...\n");
  run(["ci"]);
} else if (!existsSync(built)) {
  run(["run", "build"]);
}
