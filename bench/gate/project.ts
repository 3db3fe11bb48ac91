/**
 * A made-up code base for made-up sessions: modules with names, constants and imports of one another, the output of its
 * tests, and edits that really change a file. Nothing here touches a disk.
 */
import type { SeededRandom } from "../../packages/lab/src/eval/random.ts";

export interface Project {
  readonly paths: readonly string[];
  read(path: string): string;
  /** Replaces one line of the file; says which by which. */
  edit(path: string): { readonly old: string; readonly new: string };
  test(outcome: "passes" | "fails", path: string): string;
  grep(word: string): string;
  /** A name that some file defines. */
  name(): string;
}

const THINGS = "invoice ledger basket courier ticket warehouse session refund tariff voucher shipment profile".split(
  " ",
);
const DEEDS = "load parse merge total render check store split round match retry expire".split(" ");

export function makeProject(random: SeededRandom): Project {
  const names = new Map<string, string[]>();
  const files = new Map<string, string[]>();
  for (const thing of THINGS) {
    for (const part of ["store", "rules"]) {
      const path = `src/${thing}/${thing}-${part}.ts`;
      names.set(path, []);
      files.set(path, moduleLines(thing, { random, own: names.get(path)!, others: names }));
    }
  }
  const paths = [...files.keys()];
  return {
    paths,
    read: (path) => numbered(files.get(path)!),
    edit: (path) => changeLine(files.get(path)!, random),
    test: (outcome, path) => testOutput(outcome, { path, lines: files.get(path)!, paths, random }),
    grep: (word) => grep(word, files),
    name: () => random.pick(names.get(random.pick(paths))!),
  };
}

function moduleLines(
  thing: string,
  { random, own, others }: { random: SeededRandom; own: string[]; others: ReadonlyMap<string, readonly string[]> },
): string[] {
  const lines: string[] = [];
  for (const [path, known] of [...others].slice(-4)) {
    if (known.length > 0) lines.push(`import { ${random.pick(known)} } from "../${path.slice("src/".length)}";`);
  }
  for (let index = random.between(5, 12); index > 0; index -= 1) {
    const name = `${random.pick(DEEDS)}${capital(thing)}${capital(random.pick(DEEDS))}${random.between(2, 99)}`;
    own.push(name);
    lines.push(
      "",
      `/** ${capital(random.pick(DEEDS))}s one ${thing} before the ${random.pick(THINGS)} is ${random.pick(DEEDS)}ed. */`,
      `export function ${name}(${thing}: ${capital(thing)}, limit = ${random.between(10, 9999)}): number {`,
      `  const ${random.pick(DEEDS)}ed = ${thing}.lines.filter((line) => line.amount > ${random.between(0, 500)});`,
    );
    for (let step = random.between(2, 9); step > 0; step -= 1) {
      const key = `${random.pick(THINGS)}_${random.pick(DEEDS)}_${random.between(100, 999)}`;
      lines.push(`  if (${thing}.flags.has("${key}")) total += rates["${key}"] ?? ${random.between(1, 90) / 10};`);
    }
    lines.push(`  return Math.min(limit, ${thing}.total * ${random.between(2, 40) / 10});`, "}");
  }
  return lines;
}

function numbered(lines: readonly string[]): string {
  return lines.map((line, index) => `${String(index + 1).padStart(5)}\t${line}`).join("\n");
}

function changeLine(lines: string[], random: SeededRandom) {
  const candidates = lines.flatMap((line, index) => (line.startsWith("  if") ? [index] : []));
  const index = random.pick(candidates);
  const old = lines[index]!;
  const changed = old.replace(/\?\? [\d.]+/, () => `?? ${random.between(1, 900) / 10}`);
  lines[index] = changed;
  return { old, new: changed };
}

function testOutput(
  outcome: "passes" | "fails",
  {
    path,
    lines,
    paths,
    random,
  }: { path: string; lines: readonly string[]; paths: readonly string[]; random: SeededRandom },
): string {
  const ran = paths.slice(0, random.between(8, paths.length));
  const passed = ran.flatMap((file) =>
    Array.from({ length: random.between(2, 5) }, (_, i) => `ok ${file} case ${i + 1} (${random.between(1, 90)} ms)`),
  );
  if (outcome === "passes") return [...passed, `# pass ${passed.length}`, "# fail 0"].join("\n");
  const at = random.between(1, lines.length);
  const wrong = [
    `not ok ${path} keeps the limit`,
    `  AssertionError: expected ${random.between(10, 99)} to equal ${random.between(100, 999)}`,
    `    at ${path}:${at}:${random.between(3, 40)}`,
  ];
  return [...passed, ...wrong, `# pass ${passed.length}`, "# fail 1"].join("\n");
}

function grep(word: string, files: ReadonlyMap<string, readonly string[]>): string {
  const matches = [...files].flatMap(([path, lines]) =>
    lines.flatMap((line, index) => (line.includes(word) ? [`${path}:${index + 1}:${line.trim()}`] : [])),
  );
  return matches.length === 0 ? "no match" : matches.slice(0, 60).join("\n");
}

function capital(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1);
}
