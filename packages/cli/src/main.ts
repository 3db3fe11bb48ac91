/** The `palimpsest` command: reads the command line, runs the command, turns whatever happens into an exit code. */
import { type ParseArgsOptionsConfig, parseArgs } from "node:util";
import { checkUser, DEFAULT_USER } from "@palimpsest/core/internal/log";
import {
  type Command,
  type CommandOption,
  GLOBAL_OPTIONS,
  type GlobalOptions,
  type Input,
  usageOf,
  wholeNumber,
} from "./command/command.ts";
import { endingOf, UsageError } from "./command/failure.ts";
import { connectServer, isUnprotected } from "./command/server.ts";
import { commands } from "./commands.ts";
import { commandHelp, generalHelp, groupHelp } from "./help.ts";
import { locate } from "./home/home.ts";
import { createOutput, type Output } from "./terminal/output.ts";

export async function main(args: readonly string[]): Promise<number> {
  const { env, stdout, stderr } = process;
  const output = createOutput({ stdout, stderr, env, onClosed: () => process.exit() });
  const format = args.includes("--json") ? "json" : "text";
  const interrupt = new AbortController();
  // Ctrl-C lets the command put things away; one that waits for a reader that never reads is ended all the same.
  const onInterrupt = () => {
    interrupt.abort();
    // In two halves: where the first one was spent computing, the command still hears that it is to stop.
    const end = () => void setTimeout(() => process.exit(130), GRACE_MS / 2).unref();
    setTimeout(end, GRACE_MS / 2).unref();
  };
  process.once("SIGINT", onInterrupt);
  try {
    const line = readCommandLine(args, commands);
    if (line.kind === "help") {
      const { command, group } = line;
      const own = command === null ? null : commandHelp(command, await command.load());
      await output.line(own ?? (group.length > 0 ? groupHelp(group) : generalHelp(commands)));
      return 0;
    }
    const { globals, command, input } = line;
    if (format === "json" && command.withoutJson !== undefined) throw new UsageError(command.withoutJson);
    const { run, remote } = await command.load();
    // While the thread computes no handler would be called; without one the system ends the process.
    if (command.interrupt === "at-once") process.removeListener("SIGINT", onInterrupt);
    const { signal } = interrupt;
    const userId = userOf(globals);
    const server = serverOf(globals, { output, signal });
    if (server !== null && remote !== undefined) return await remote(input, { format, output, signal, server, userId });
    if (server !== null) notRemote(command.name, globals, output);
    const located = locate(globals, userId, command, { format, output, signal });
    return await run(input, {
      home: located.directory,
      userId,
      located,
      store: globals.store ?? null,
      verbose: globals.verbose === true,
      format,
      output,
      signal,
    });
  } catch (error) {
    return await reportError(error, format, output);
  } finally {
    process.removeAllListeners("SIGINT");
  }
}

function userOf({ user = DEFAULT_USER }: GlobalOptions): string {
  const checked = checkUser(user);
  if (checked.kind === "invalid") throw new UsageError(`--user: ${checked.problem}.`);
  return checked.userId;
}

/** Null: a home of this machine is meant. What is named on the command line wins over the environment. */
function serverOf(
  globals: GlobalOptions,
  { output, signal }: { readonly output: Output; readonly signal: AbortSignal },
) {
  const { home, config, store, server, user } = globals;
  const isHome = home !== undefined || config !== undefined || store !== undefined;
  if (isHome && server !== undefined)
    throw new UsageError("--server can't be combined with --home, --config or --store: it has its own.");
  const url = server ?? (isHome ? undefined : process.env["PALIMPSEST_SERVER"]);
  if (url === undefined || url === "") return null;
  const key = globals.key ?? process.env["PALIMPSEST_KEY"] ?? null;
  const connected = connectServer({ url, key, userId: user ?? null, signal });
  if (key !== null && isUnprotected(connected.url))
    output.note(`warning: the key goes to ${connected.url} in the open; https would protect it.`);
  return connected;
}

function notRemote(name: string, { server }: GlobalOptions, output: Output): void {
  if (server !== undefined)
    throw new UsageError(`"palimpsest ${name}" works on a home of this machine: leave --server out.`);
  output.note(`note: "palimpsest ${name}" works on a home of this machine, not on PALIMPSEST_SERVER.`);
}

const GRACE_MS = 1000;

async function reportError(error: unknown, format: "json" | "text", output: Output): Promise<number> {
  const { exitCode, code, message, ...details } = await endingOf(error);
  if (process.env["PALIMPSEST_DEBUG"]) output.note(error instanceof Error ? `${error.stack}` : String(error));
  output.note(`palimpsest: ${message}`);
  // Where stdout itself failed, stderr has said it.
  if (format === "json") await output.json({ error: { code, message, ...details } }).catch(() => {});
  return exitCode;
}

/* Reads a command line against the table: finds the command, checks its options and positionals, names the nearest. */

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
  const usage = () => `Usage: palimpsest ${usageOf(command)}`;
  if (missing !== undefined) throw new UsageError(`${missing.replace("...", "")} is missing. ${usage()}`);
  const open = command.positionals.some((name) => /\.\.\.\]?$/.test(name));
  const extra = open ? undefined : positionals[command.positionals.length];
  if (extra !== undefined)
    throw new UsageError(`"${extra}" is one argument too many; put words that belong together in quotes. ${usage()}`);
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
