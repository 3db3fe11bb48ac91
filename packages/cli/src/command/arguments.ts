/** Reads a command line against the table: finds the command, checks its options and positionals, names the nearest. */

import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";
import { type ParseArgsOptionsConfig, parseArgs } from "node:util";
import type { Command, Input } from "./command.ts";
import { UsageError } from "./failure.ts";

export interface GlobalOptions {
  readonly home?: string;
  readonly config?: string;
  readonly store?: string;
  readonly user?: string;
  readonly server?: string;
  readonly key?: string;
  readonly verbose?: boolean;
  readonly json?: boolean;
  readonly help?: boolean;
  readonly version?: boolean;
}

export const GLOBAL_OPTIONS = {
  home: text(
    "DIR",
    "where threads are kept (or PALIMPSEST_HOME; default: the nearest .palimpsest above here, else your own)",
  ),
  config: text("FILE", "the configuration (or PALIMPSEST_CONFIG; default: config.yaml of the home, else near)"),
  store: text("URL", "postgres://... or a SQLite file (default: store.url of the configuration, else in the home)"),
  user: text("U", "whose threads and memory; another's are not there (default: default)"),
  server: text("URL", "work against a gateway instead of a home (or PALIMPSEST_SERVER)"),
  key: text("K", "the key to it (or PALIMPSEST_KEY, which others can't read)"),
  verbose: flag("say on stderr what happens and why"),
  json: flag("one JSON document on stdout, everything else on stderr"),
  help: { ...flag("show this help"), short: "h" },
  // Answered by bin/launch.js before anything is loaded.
  version: flag("show the version"),
} as const satisfies OptionTable<GlobalOptions>;

export type CommandLine =
  /** Of one command, of those that share a first word, or of all. */
  | { readonly kind: "help"; readonly command: Command | null; readonly group: readonly Command[] }
  | {
      readonly kind: "run";
      readonly command: Command;
      readonly globals: GlobalOptions;
      /** Of the kinds that the command's table says. */
      readonly input: Input<never>;
    };

export function readCommandLine(args: readonly string[], commands: readonly Command[]): CommandLine {
  const words = positionalIndexes(args);
  const first = words[0];
  if (first === undefined) return readGlobals(args);
  if (args[first] === "help") {
    const group = words.length === 2 ? groupOf(args[words[1]!]!, commands) : [];
    if (words[1] === undefined || group.length > 0) return { kind: "help", command: null, group };
    return { kind: "help", command: find(args, words.slice(1), commands).command, group: [] };
  }
  const group =
    words.length === 1 && args.some((arg) => arg === "--help" || arg === "-h") ? groupOf(args[first]!, commands) : [];
  if (group.length > 0) return { kind: "help", command: null, group };
  const { command, length } = find(args, words, commands);
  const taken = new Set(words.slice(0, length));
  const rest = args.filter((_, index) => !taken.has(index));
  const { values, positionals } = parse(rest, { ...GLOBAL_OPTIONS, ...command.options }, `palimpsest ${command.name}`);
  if (values["help"]) return { kind: "help", command, group: [] };
  checkPositionals(command, positionals);
  return { kind: "run", command, globals: values, input: { positionals, options: values as never } };
}

export function wholeNumber(text: string, name: string, min: number): number {
  const value = /^\d+$/.test(text) ? Number(text) : Number.NaN;
  if (!Number.isSafeInteger(value) || value < min)
    throw new UsageError(`${name} must be a whole number of ${min} or more, not ${JSON.stringify(text)}.`);
  return value;
}

/** Only the global options: `palimpsest --help`, or nothing at all. */
function readGlobals(args: readonly string[]): CommandLine {
  parse(args, GLOBAL_OPTIONS, "palimpsest");
  return { kind: "help", command: null, group: [] };
}

/** The commands that begin with this word, where it is none itself: `memory`. */
function groupOf(word: string, commands: readonly Command[]): readonly Command[] {
  return commands.some(({ name }) => name === word) ? [] : commands.filter(({ name }) => name.startsWith(`${word} `));
}

/** Where the words stand that are neither options nor the values of global ones. */
function positionalIndexes(args: readonly string[]): number[] {
  const { tokens } = parseArgs({
    args: [...args],
    options: parserOptions(GLOBAL_OPTIONS),
    strict: false,
    tokens: true,
  });
  return tokens.filter((token) => token.kind === "positional").map((token) => token.index);
}

function find(args: readonly string[], words: readonly number[], commands: readonly Command[]) {
  const [one, two] = words.slice(0, 2).map((index) => args[index]!);
  const double = commands.find(({ name }) => name === `${one} ${two}`);
  if (double) return { command: double, length: 2 };
  const single = commands.find(({ name }) => name === one);
  if (single) return { command: single, length: 1 };
  const inside = groupOf(one!, commands).map(({ name }) => name);
  if (inside.length > 0) throw new UsageError(`"${one}" needs one of: ${inside.join(", ")}.`);
  const names = [...new Set(commands.map(({ name }) => name.split(" ")[0]!))];
  throw new UsageError(`Unknown command "${one}"; "palimpsest --help" lists all.`, { word: one!, known: names });
}

function parse(args: readonly string[], options: Readonly<Record<string, CommandOption>>, usage: string) {
  // Its own checks tell what is wrong only in words; ours read the tokens.
  const { tokens, positionals } = parseArgs({
    args: [...args],
    options: parserOptions(options),
    strict: false,
    allowPositionals: true,
    tokens: true,
  });
  const given = tokens.filter((token) => token.kind === "option");
  for (const token of given) checkOption(token, options, usage);
  const values: Record<string, string | number | boolean | string[]> = {};
  for (const { name, rawName, value = "" } of given) {
    const option = options[name]!;
    if (option.kind === "list") values[name] = [...((values[name] as string[] | undefined) ?? []), value];
    else if (option.kind === "whole") values[name] = wholeNumber(value, rawName, option.min);
    else values[name] = option.kind === "flag" ? true : value;
  }
  return { values, positionals };
}

interface OptionToken {
  readonly name: string;
  /** As it was written. */
  readonly rawName: string;
  readonly value?: string | undefined;
  readonly inlineValue?: boolean | undefined;
}

function checkOption(token: OptionToken, options: Readonly<Record<string, CommandOption>>, usage: string): void {
  const { name, rawName } = token;
  const next = `; "${usage} --help" shows its options.`;
  if (!Object.hasOwn(options, name)) {
    const known = Object.keys(options).map((one) => `--${one}`);
    throw new UsageError(`Unknown option "${rawName}"${next}`, { word: rawName, known });
  }
  const problem = valueProblem(token, options[name]!);
  if (problem !== null) throw new UsageError(problem + next);
}

function valueProblem({ name, rawName, value, inlineValue }: OptionToken, option: CommandOption): string | null {
  const names = option.short === undefined ? `--${name}` : `-${option.short}, --${name}`;
  if (option.kind === "flag") return value === undefined ? null : `Option '${names}' does not take an argument`;
  if (value === undefined) return `Option '${names} <value>' argument missing`;
  const isNextOption = inlineValue === false && value.length > 1 && value.startsWith("-");
  return isNextOption ? `${rawName} needs a value, and what follows it begins with "-"` : null;
}

function checkPositionals(command: Command, positionals: readonly string[]): void {
  const required = command.positionals.filter((name) => !name.startsWith("["));
  const missing = required[positionals.length];
  const usage = `Usage: palimpsest ${usageOf(command)}`;
  if (missing !== undefined) throw new UsageError(`${missing.replace("...", "")} is missing. ${usage}`);
  const open = command.positionals.some((name) => /\.\.\.\]?$/.test(name));
  const extra = open ? undefined : positionals[command.positionals.length];
  if (extra !== undefined)
    throw new UsageError(`"${extra}" is one argument too many; put words that belong together in quotes. ${usage}`);
}

/** How a command is called: its name, its positionals, and the options that it can't do without. */
export function usageOf({ name, positionals, options }: Pick<Command, "name" | "positionals" | "options">): string {
  const required = Object.entries(options).flatMap(([key, option]) =>
    option.kind !== "flag" && option.required ? [`--${key} ${option.value}`] : [],
  );
  return [name, ...positionals, ...required].join(" ");
}

function parserOptions(options: Readonly<Record<string, CommandOption>>): ParseArgsOptionsConfig {
  return Object.fromEntries(
    Object.entries(options).map(([name, { kind, short }]) => [
      name,
      {
        type: kind === "flag" ? ("boolean" as const) : ("string" as const),
        multiple: kind === "list",
        ...(short !== undefined && { short }),
      },
    ]),
  );
}

/* The options of a command: how each is written and parsed. */

export type CommandOption = Flag | Text | Whole | List;

interface OptionText {
  readonly help: string;
  readonly short?: string;
}

export interface Flag extends OptionText {
  readonly kind: "flag";
}

interface Valued extends OptionText {
  /** The name of its value in the help: `N`, `DIR`. */
  readonly value: string;
  /** The command's `run` refuses to go without it. */
  readonly required?: true;
}

export interface Text extends Valued {
  readonly kind: "text";
}

export interface Whole extends Valued {
  readonly kind: "whole";
  readonly min: number;
}

/** It may stand several times. */
export interface List extends Valued {
  readonly kind: "list";
}

/** By what a command's `run` takes: a boolean is a flag, a number a whole one, a list stands several times. */
export type OptionTable<O> = { readonly [K in keyof O]-?: OptionFor<NonNullable<O[K]>> };

type OptionFor<V> = [V] extends [boolean] ? Flag : [V] extends [number] ? Whole : [V] extends [string] ? Text : List;

export function flag(help: string): Flag {
  return { kind: "flag", help };
}

export function text(value: string, help: string): Text {
  return { kind: "text", value, help };
}

export function whole(
  value: string,
  { min, short }: { readonly min: number; readonly short?: string },
  help: string,
): Whole {
  return { kind: "whole", value, min, help, ...(short !== undefined && { short }) };
}

export function list(value: string, help: string): List {
  return { kind: "list", value, help };
}

/* How this program is called where the person stands: a line to copy must work there. */

export function programName(env: Readonly<Record<string, string | undefined>> = process.env): string {
  // npm puts a project's own programs on the path of what it runs; the person's shell doesn't know them.
  const folders = (env["PATH"] ?? "")
    .split(delimiter)
    .filter((folder) => folder !== "" && !folder.endsWith(OF_PROJECT));
  return folders.some((folder) => existsSync(join(folder, "palimpsest"))) ? "palimpsest" : "npx palimpsest";
}

const OF_PROJECT = join("node_modules", ".bin");
