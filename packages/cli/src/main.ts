/** The `palimpsest` command: reads the command line, runs the command, turns whatever happens into an exit code. */
import { checkUser, DEFAULT_USER } from "@palimpsest/core/log";
import { readCommandLine } from "./command/arguments.ts";
import type { Input } from "./command/command.ts";
import { endingOf, UsageError } from "./command/failure.ts";
import { commands } from "./commands.ts";
import { commandHelp, generalHelp, groupHelp } from "./help.ts";
import { chosenHome } from "./home/places.ts";
import { createOutput, type Output } from "./terminal/output.ts";

export async function main(args: readonly string[]): Promise<number> {
  const { env, stdout, stderr } = process;
  const output = createOutput({ stdout, stderr, env, onClosed: () => process.exit() });
  const format = args.includes("--json") ? "json" : "text";
  const interrupt = new AbortController();
  // Ctrl-C lets the command put things away; one that waits for a reader that never reads is ended all the same.
  process.once("SIGINT", () => {
    interrupt.abort();
    setTimeout(() => process.exit(130), GRACE_MS).unref();
  });
  try {
    const line = readCommandLine(args, commands);
    if (line.kind === "help") {
      const { command, group } = line;
      await output.line(command ? commandHelp(command) : group.length > 0 ? groupHelp(group) : generalHelp(commands));
      return 0;
    }
    const { run } = await line.command.load();
    const place = chosenHome(line.input);
    const { store, config, verbose } = line.input.options;
    const given = { store: text(store), config: text(config), verbose: verbose === true };
    const access = line.command.access ?? "write";
    const context = {
      home: place.directory,
      user: userOf(line.input),
      place,
      access,
      ...given,
      format,
      output,
      signal: interrupt.signal,
    } as const;
    return await run(line.input, context);
  } catch (error) {
    return await reportError(error, format, output);
  } finally {
    process.removeAllListeners("SIGINT");
  }
}

function userOf({ options }: Input): string {
  const checked = checkUser(String(options["user"] ?? DEFAULT_USER));
  if (checked.kind === "invalid") throw new UsageError(`--user: ${checked.problem}.`);
  return checked.user;
}

const GRACE_MS = 1000;

function text(option: string | boolean | undefined): string | null {
  return typeof option === "string" ? option : null;
}

async function reportError(error: unknown, format: "json" | "text", output: Output): Promise<number> {
  const { exitCode, code, message, ...details } = await endingOf(error);
  if (process.env["PALIMPSEST_DEBUG"]) output.note(error instanceof Error ? `${error.stack}` : String(error));
  output.note(`palimpsest: ${message}`);
  if (format === "json") await output.json({ error: { code, message, ...details } });
  return exitCode;
}
