// Runs before the checks: links a package that a pull has brought, so that they need no install. Others are left alone.
import { existsSync, lstatSync, mkdirSync, readdirSync, readFileSync, symlinkSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");

for (const folder of readdirSync(join(root, "packages"))) {
  const manifest = join(root, "packages", folder, "package.json");
  if (!existsSync(manifest)) continue;
  const link = join(root, "node_modules", JSON.parse(readFileSync(manifest, "utf8")).name);
  if (lstatSync(link, { throwIfNoEntry: false }) !== undefined) continue;
  mkdirSync(dirname(link), { recursive: true });
  symlinkSync(relative(dirname(link), dirname(manifest)), link, "junction");
}
