// Runs before a package is packed, in its folder: copies what belongs into every tarball and stands once in the
// repository. The copies are ignored by git.
import { cpSync, readdirSync, rmSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const here = process.cwd();

for (const name of ["LICENSE", "CHANGELOG.md"]) cpSync(join(root, name), join(here, name));
// The guides and the reference go with the package that they are about: an installed package has them in its own version.
if (basename(here) === "harness") {
  rmSync(join(here, "docs"), { recursive: true, force: true });
  await import("./api-reference/write.ts");
  for (const folder of ["docs", "docs/api"]) {
    const pages = readdirSync(join(root, folder)).filter((name) => name.endsWith(".md"));
    for (const name of pages) cpSync(join(root, folder, name), join(here, folder, name));
  }
}
