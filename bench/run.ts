/**
 * Runs one bench by name: `npm run bench -- NAME FILE... [--json]`. A bench is a file beside this one whose default
 * export is a `Bench`; it returns its figures and prints nothing; `ok: false` among them is a failure. Without a name it
 * lists the names: `all` writes over the committed results, so it is asked for. Exit codes: 0 done, 1 the bench failed, 2 bad usage.
 */
import { readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { Bench, BenchOptions } from "./bench.ts";
import { BenchInputError } from "./bench.ts";

const NOT_A_BENCH = new Set(["run", "bench", "session", "locomo", "recall-peers", "server-cpu"]);

const words = process.argv.slice(2);
process.exitCode = await main(words[0], words.slice(1));

async function main(name: string | undefined, rest: readonly string[]): Promise<number> {
  const names = benchNames();
  if (name === undefined || !names.includes(name)) {
    const problem = name === undefined ? "Name a bench." : `There is no bench "${name}".`;
    process.stderr.write(`${problem} Known: ${names.join(", ")}.\n`);
    return 2;
  }
  const { args, options } = parse(rest);
  const { default: bench } = (await import(`./${name}.ts`)) as { default: Bench };
  try {
    const figures = await bench(args, options);
    process.stdout.write(options["json"] === true ? `${JSON.stringify(figures, null, 2)}\n` : table(figures));
    return "ok" in figures && figures.ok === false ? 1 : 0;
  } catch (error) {
    if (!(error instanceof BenchInputError)) throw error;
    process.stderr.write(`${error.message}\n`);
    return 1;
  }
}

function benchNames(): string[] {
  return readdirSync(fileURLToPath(new URL(".", import.meta.url)))
    .filter((file) => file.endsWith(".ts") && !file.endsWith(".test.ts"))
    .map((file) => file.slice(0, -".ts".length))
    .filter((file) => !NOT_A_BENCH.has(file))
    .sort();
}

/** `--flag` alone is true; `--flag value` and `--flag=value` carry a string. Those of `bare` never take one. */
function parse(rest: readonly string[]): { args: string[]; options: BenchOptions } {
  const args: string[] = [];
  const options: Record<string, string | true> = {};
  const bare = new Set([
    "json",
    "facts",
    "update",
    "large",
    "leave-one-out",
    "leave-one-set-out",
    "ablation",
    "parts",
    "cost",
    "quick",
  ]);
  for (let i = 0; i < rest.length; i += 1) {
    const word = rest[i]!;
    if (!word.startsWith("--")) {
      args.push(word);
      continue;
    }
    const [key, inline] = splitOnce(word.slice(2), "=");
    const next = rest[i + 1];
    if (inline !== undefined) options[key] = inline;
    else if (bare.has(key) || next === undefined || next.startsWith("--")) options[key] = true;
    else {
      options[key] = next;
      i += 1;
    }
  }
  return { args, options };
}

function splitOnce(text: string, separator: string): [string, string | undefined] {
  const at = text.indexOf(separator);
  return at < 0 ? [text, undefined] : [text.slice(0, at), text.slice(at + 1)];
}

/** One line per figure, nested names joined by dots; a list of flat rows as columns below them. */
function table(figures: object): string {
  const lists = Object.entries(figures).filter(([, value]) => isRows(value)) as [string, Row[]][];
  const lines: [string, string][] = [];
  collect("", Object.fromEntries(Object.entries(figures).filter(([, value]) => !isRows(value))), lines);
  const width = Math.max(0, ...lines.map(([key]) => key.length));
  const single = lines.map(([key, value]) => `${key.padEnd(width)}  ${value}\n`).join("");
  return single + lists.map(([key, rows]) => `\n${key}\n${columns(rows)}`).join("");
}

type Row = Readonly<Record<string, unknown>>;

function isRows(value: unknown): value is Row[] {
  const flat = (row: unknown): boolean =>
    typeof row === "object" && row !== null && Object.values(row).every((cell) => Object(cell) !== cell);
  return Array.isArray(value) && value.length > 0 && value.every(flat);
}

function columns(rows: readonly Row[]): string {
  const keys = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  const cells = [keys, ...rows.map((row) => keys.map((key) => cell(row[key])))];
  const widths = keys.map((_, column) => Math.max(...cells.map((line) => line[column]!.length)));
  return cells
    .map(
      (line) =>
        `${line
          .map((text, i) => `  ${text.padEnd(widths[i]!)}`)
          .join("")
          .trimEnd()}\n`,
    )
    .join("");
}

function collect(prefix: string, value: unknown, lines: [string, string][]): void {
  if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) collect(`${prefix}[${index}]`, item, lines);
  } else if (typeof value === "object" && value !== null) {
    for (const [key, item] of Object.entries(value)) collect(prefix === "" ? key : `${prefix}.${key}`, item, lines);
  } else {
    lines.push([prefix, cell(value)]);
  }
}

function cell(value: unknown): string {
  if (typeof value !== "number" || Number.isInteger(value)) return String(value ?? "");
  return Math.abs(value) < 1 ? value.toFixed(4) : value.toFixed(2);
}
