/**
 * Publishes the packages in the order of their arrows, with provenance. `npm run release` checks and packs only;
 * `npm run release -- --publish` publishes, and is meant for the workflow that runs on a tag.
 */
import { execFileSync } from "node:child_process";
import { globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

export interface Manifest {
  readonly folder: string;
  readonly name: string;
  readonly version: string;
  readonly private?: boolean;
  readonly dependencies?: Readonly<Record<string, string>>;
}

export interface ReleaseFacts {
  readonly manifests: readonly Manifest[];
  readonly changelog: string;
  /** What `git status --porcelain` printed. */
  readonly status: string;
  /** The tag of the commit; null if it has none. */
  readonly tag: string | null;
}

/** What stands in the way of a release; empty if nothing does. */
export function releaseProblems({ manifests, changelog, status, tag }: ReleaseFacts): readonly string[] {
  const versions = [...new Set(manifests.map(({ version }) => version))];
  if (versions.length !== 1) return [`the packages have different versions: ${versions.join(", ")}`];
  const version = versions[0]!;
  const foreign = manifests.flatMap(({ name, dependencies = {} }) =>
    manifests
      .filter((other) => other.name in dependencies && dependencies[other.name] !== version)
      .map((other) => `${name} depends on ${other.name} ${dependencies[other.name]}, not ${version}`),
  );
  const isNamed = changelog.split("\n").some((line) => line.startsWith(`## ${version} `));
  return [
    ...foreign,
    ...(isNamed ? [] : [`CHANGELOG.md has no heading "## ${version} (date)"`]),
    ...(status.trim() === "" ? [] : ["there are changes that are not committed"]),
    ...(tag === `v${version}` ? [] : [`the commit has ${tag === null ? "no tag" : `the tag ${tag}`}, not v${version}`]),
  ];
}

/** Public packages, each behind those it depends on. */
export function releaseOrder(manifests: readonly Manifest[]): readonly Manifest[] {
  const waiting = manifests.filter((one) => one.private !== true);
  const ordered: Manifest[] = [];
  while (waiting.length > 0) {
    const isFree = (one: Manifest) => !waiting.some((other) => other !== one && other.name in (one.dependencies ?? {}));
    const index = waiting.findIndex(isFree);
    if (index < 0)
      throw new Error(`These packages depend on each other: ${waiting.map(({ name }) => name).join(", ")}`);
    ordered.push(...waiting.splice(index, 1));
  }
  return ordered;
}

function release(root: string, publish: boolean): void {
  const manifests = globSync("packages/*/package.json", { cwd: root }).map((path) => ({
    ...(JSON.parse(readFileSync(join(root, path), "utf8")) as Omit<Manifest, "folder">),
    folder: dirname(path),
  }));
  const git = (...args: readonly string[]) => execFileSync("git", args, { cwd: root, encoding: "utf8" }).trim();
  const problems = releaseProblems({
    manifests: manifests.filter((one) => one.private !== true),
    changelog: readFileSync(join(root, "CHANGELOG.md"), "utf8"),
    status: git("status", "--porcelain"),
    tag: git("tag", "--points-at", "HEAD").split("\n")[0] || null,
  });
  for (const problem of problems) process.stderr.write(`${problem}\n`);
  if (problems.length > 0) process.exitCode = 1;
  if (problems.length > 0 && publish) return;
  for (const { folder, name } of releaseOrder(manifests)) {
    const args = publish ? ["publish", "--provenance", "--access", "public"] : ["pack", "--dry-run", "--json"];
    process.stdout.write(`${name}: npm ${args.join(" ")}\n`);
    execFileSync("npm", args, { cwd: join(root, folder), stdio: publish ? "inherit" : "ignore" });
  }
}

if (import.meta.main) release(join(dirname(fileURLToPath(import.meta.url)), ".."), process.argv.includes("--publish"));
