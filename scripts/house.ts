/**
 * Prints figures of the sources as a table, for this checkout or for others side by side: how large files and functions
 * are, casts, spreads, knots of files and folders, what is public, what is written more than once. A thermometer: what
 * must hold is tested by `scripts/architecture.test.ts`. At last the way of a turn, of a compaction, of a memory update and
 * of a search through the sources (`house/walk.ts`); another checkout needs its own `npm ci` for that.
 * `npm run -s house -- [CHECKOUT ...]`
 */
import { execFileSync } from "node:child_process";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { publicNames, publicValues } from "./architecture/public-names.ts";
import { loadWorkspace, type Workspace } from "./architecture/workspace.ts";
import { duplicatesOf, type Figures, figuresOf, testsAmong } from "./house/figures.ts";

const PACKAGES = ["core", "harness", "cli"];

const here = join(dirname(fileURLToPath(import.meta.url)), "..");
const checkouts = process.argv.slice(2).map((path) => resolve(path));
const roots = checkouts.length > 0 ? checkouts : [here];
const workspaces = roots.map(loadWorkspace);
const columns = PACKAGES.flatMap((name) => workspaces.map((workspace) => ({ name, workspace })));
print(
  "",
  columns.map(({ name }) => name),
  columns.map(({ name, workspace }) => packageFigures(workspace, name)),
);
print("all packages", roots, workspaces.map(wholeFigures));
print("files passed / lines that ran", roots, roots.map(walked));

function packageFigures(workspace: Workspace, name: string): Figures {
  const own = workspace.files.filter((file) => file.package?.folder === name);
  const { sources, tests } = testsAmong(own);
  return figuresOf(sources, tests);
}

function wholeFigures(workspace: Workspace): Figures {
  const names = Object.values(publicNames(workspace));
  const own = workspace.files.filter((file) => PACKAGES.includes(file.package?.folder ?? ""));
  return {
    "public subpaths": names.length,
    "public values": publicValues(workspace).reduce((total, { count }) => total + count, 0),
    "public types": names.reduce((total, { types }) => total + types.length, 0),
    ...duplicatesOf(testsAmong(own).sources),
  };
}

function walked(root: string): Figures {
  const script = join(here, "scripts", "house", "walk.ts");
  const answer = execFileSync(process.execPath, ["--conditions=palimpsest-source", script, root], { encoding: "utf8" });
  const ways = Object.entries(JSON.parse(answer) as Record<string, { files: number; lines: number }>);
  return Object.fromEntries(ways.map(([act, { files, lines }]) => [act, `${files} / ${lines}`]));
}

function print(title: string, heads: readonly string[], figures: readonly Figures[]): void {
  const line = (cells: readonly (string | number)[]): void => console.log(`| ${cells.join(" | ")} |`);
  line([title, ...heads]);
  line(["---", ...heads.map(() => "---")]);
  for (const name of Object.keys(figures[0]!)) line([name, ...figures.map((one) => one[name]!)]);
  console.log();
}
