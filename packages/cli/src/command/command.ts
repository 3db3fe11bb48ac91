/** What a command is: an entry of the table in `commands.ts`, and a `run` that is loaded only when it is called. */
import type { LocatedHome } from "palimpsest/internal/home";
import type { Output } from "../terminal/output.ts";
import type { CommandOption, OptionTable } from "./arguments.ts";
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
