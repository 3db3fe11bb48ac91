/** What a command is: an entry of the table in `commands.ts`, and a `run` that is loaded only when it is called. */
import type { ChosenHome } from "palimpsest/trust";
import type { Output } from "../terminal/output.ts";

export interface Command {
  /** One word, or two: `threads delete`. */
  readonly name: string;
  /** One line of help. */
  readonly summary: string;
  /** In order: `FILE` is required, `[FILE]` optional, `FILE...` any number but one at least. */
  readonly positionals: readonly string[];
  readonly options: Readonly<Record<string, CommandOption>>;
  /** `read`: it changes nothing, so it also works where nothing can be written. */
  readonly access?: "read";
  readonly load: () => Promise<{ readonly run: Run }>;
}

export interface CommandOption {
  /** The name of its value in the help (`N`, `DIR`); a flag has none. */
  readonly value?: string;
  readonly short?: string;
  /** It may stand several times; its values come joined by commas. */
  readonly multiple?: boolean;
  readonly help: string;
}

/** Returns the exit code: 0 done, 1 the thing asked for failed. Bad usage is a `UsageError`, expected failures a `Failure`. */
export type Run = (input: Input, context: Context) => Promise<number>;

export interface Input {
  readonly positionals: readonly string[];
  /** By option name; a flag is `true`. */
  readonly options: Readonly<Record<string, string | boolean | undefined>>;
}

export interface Context {
  readonly home: string;
  /** `--user`: whose threads and memory; another's are not there. */
  readonly user: string;
  /** The home, and why it is this one. */
  readonly place: ChosenHome;
  /** What the command does with the store. */
  readonly access: "read" | "write";
  /** `--config`, if it was given. */
  readonly config: string | null;
  /** `--store`, if it was given; else the configuration says where the threads are. */
  readonly store: string | null;
  /** `--verbose`: everything worth a line at debug level. */
  readonly verbose: boolean;
  readonly format: "json" | "text";
  readonly output: Output;
  readonly signal: AbortSignal;
}
