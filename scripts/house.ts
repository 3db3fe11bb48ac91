/**
 * Prints figures of the sources as a table, for this checkout or for others side by side: how large files and functions
 * are, casts, spreads, knots of files and folders, what is written more than once, what is public, and how long the ways
 * of a turn, a request and a few commands through the sources are (`house/walk.ts`; another checkout needs its own
 * dependencies for that). What must never get worse stands in `house/ratchet.json`; `--tighten` writes what got better.
 * `npm run -s house -- [--tighten] [CHECKOUT ...]`
 */
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { loadWorkspace, type Workspace } from "./architecture/workspace.ts";
import { duplicatesOf, type Figures, figuresOf, testsAmong } from "./house/figures.ts";
import { commitRatchet, committedRatchet, measure, type Ratchet, tightened, worse } from "./house/ratchet.ts";

const here = join(dirname(fileURLToPath(import.meta.url)), "..");
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { tighten: { type: "boolean", default: false } },
});
if (values.tighten) tighten();
else compare(positionals.length > 0 ? positionals.map((path) => resolve(path)) : [here]);

function tighten(): void {
  const now = measure(here);
  const best = committedRatchet();
  commitRatchet(tightened(now, best));
  for (const line of worse(now, best)) console.error(line);
}

function compare(roots: readonly string[]): void {
  const workspaces = roots.map(loadWorkspace);
  const names = [...new Set(workspaces.flatMap(({ packages }) => packages.map(({ folder }) => folder)))];
  const columns = names.flatMap((name) => workspaces.map((workspace) => ({ name, workspace })));
  print(
    "",
    columns.map(({ name }) => name),
    columns.map(({ name, workspace }) => packageFigures(workspace, name)),
  );
  const measured = roots.map(measure);
  print(
    "all packages",
    roots,
    workspaces.map((workspace, index) => ({
      ...measured[index]!.totals,
      ...measured[index]!.figures,
      ...duplicatesOf(testsAmong(workspace.files.filter(({ package: owner }) => owner !== null)).sources),
    })),
  );
  print("files / folders / returns to a folder / lines that ran", roots, measured.map(waysOf));
}

function packageFigures(workspace: Workspace, name: string): Figures {
  const own = workspace.files.filter((file) => file.package?.folder === name);
  const { sources, tests } = testsAmong(own);
  return figuresOf(sources, tests);
}

function waysOf({ ways }: Ratchet): Figures {
  return Object.fromEntries(Object.entries(ways).map(([name, figures]) => [name, Object.values(figures).join(" / ")]));
}

function print(title: string, heads: readonly string[], figures: readonly Figures[]): void {
  const line = (cells: readonly (string | number)[]): void => console.log(`| ${cells.join(" | ")} |`);
  line([title, ...heads]);
  line(["---", ...heads.map(() => "---")]);
  for (const name of Object.keys(figures[0]!)) line([name, ...figures.map((one) => one[name]!)]);
  console.log();
}
