// Emits every package's dist with plain tsc, in the order of the arrows. Old output goes first: a file that no longer
// has a source must not be published.
import { execFileSync } from "node:child_process";
import { existsSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const tsc = join(root, "node_modules", "typescript", "bin", "tsc");

for (const name of ["core", "harness", "cli"]) {
  const folder = join(root, "packages", name);
  if (!existsSync(folder)) continue;
  rmSync(join(folder, "dist"), { recursive: true, force: true });
  execFileSync(process.execPath, [tsc, "-p", join(folder, "tsconfig.build.json")], { stdio: "inherit" });
}
