/** What a command is: an entry of the table in `commands.ts` with its options, and a `run` that is loaded only when it is called. */
import type { LocatedHome } from "palimpsest/internal/home";
import type { Output } from "../terminal/output.ts";
import { UsageError } from "./failure.ts";
import type { Server } from "./server.ts";

export interface Command extends CommandTexts {
  readonly options: Readonly<Record<string, CommandOption>>;
  readonly load: () => Promise<CommandModule<never>>;
}

export interface CommandModule<O extends object> {
  readonly run: CommandRun<O>;
  /** The same against a gateway; without it the command works on this machine's home only. */
  readonly remote?: Remote<O>;
}

interface CommandTexts {
  /** One word, or two: `threads delete`. */
  readonly name: string;
  readonly summary: string;
  /** What follows `palimpsest` in the examples of its help. */
  readonly examples: readonly string[];
  /** In order: `FILE` is required, `[FILE]` optional, `FILE...` any number but one at least. */
  readonly positionals: readonly string[];
  /** `read`: it changes nothing, so it also works where nothing can be written. */
  readonly access?: "read";
  /** It has no `--json`, and this is said to who asks for it. */
  readonly withoutJson?: string;
  /** It works in long pieces and may be ended between any two instructions: Ctrl-C ends the process itself. */
  readonly interrupt?: "at-once";
}

/** An entry of the table; the compiler holds its options to those its `run` takes. Without any both lists may be left out. */
export function command<O extends object>(
  entry: Omit<CommandTexts, "positionals"> &
    Partial<Pick<CommandTexts, "positionals">> &
    OptionsOf<NoInfer<O>> & { readonly load: () => Promise<CommandModule<O>> },
): Command {
  return { positionals: [], options: {}, ...entry };
}

type OptionsOf<O> = [keyof O] extends [never]
  ? { readonly options?: Readonly<Record<never, never>> }
  : { readonly options: OptionTable<O> };

/** Returns the exit code: 0 done, 1 the thing asked for failed. Bad usage is a `UsageError`, expected failures a `Failure`. */
export type CommandRun<O extends object = NoOptions> = (input: Input<O>, context: Context) => Promise<number>;

/** As `Run`, with `--server`. Nothing of the home is touched. */
export type Remote<O extends object = NoOptions> = (input: Input<O>, context: RemoteContext) => Promise<number>;

export interface RemoteContext extends Printing {
  readonly server: Server;
  /** `--user`, else the default one. */
  readonly userId: string;
  readonly signal: AbortSignal;
}

/** What printing a document takes, wherever it came from. */
export type Printing = Pick<Context, "format" | "output">;

// biome-ignore lint/complexity/noBannedTypes: an object without any option
type NoOptions = {};

export interface Input<O extends object = NoOptions> {
  readonly positionals: readonly string[];
  /** What was given; the rest is absent. */
  readonly options: O;
}

export interface Context {
  /** The home's directory. */
  readonly home: string;
  /** `--user`: whose threads and memory; another's are not there. */
  readonly userId: string;
  /** The home with its configuration, before anything of it is opened. */
  readonly located: LocatedHome;
  /** `--store`, if it was given; else the configuration says where the threads are. */
  readonly store: string | null;
  /** `--verbose`: everything worth a line at debug level. */
  readonly verbose: boolean;
  readonly format: "json" | "text";
  readonly output: Output;
  readonly signal: AbortSignal;
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

/** How a command is called: its name, its positionals, and the options that it can't do without. */
export function usageOf({ name, positionals, options }: Pick<Command, "name" | "positionals" | "options">): string {
  const required = Object.entries(options).flatMap(([key, option]) =>
    option.kind !== "flag" && option.required ? [`--${key} ${option.value}`] : [],
  );
  return [name, ...positionals, ...required].join(" ");
}

export function wholeNumber(text: string, name: string, min: number): number {
  const value = /^\d+$/.test(text) ? Number(text) : Number.NaN;
  if (!Number.isSafeInteger(value) || value < min)
    throw new UsageError(`${name} must be a whole number of ${min} or more, not ${JSON.stringify(text)}.`);
  return value;
}
