/** The `palimpsest` command: reads the command line, runs the command, turns whatever happens into an exit code. */
import { checkUser, DEFAULT_USER } from "@palimpsest/core/log";
import { type GlobalOptions, readCommandLine } from "./command/arguments.ts";
import { endingOf, UsageError } from "./command/failure.ts";
import { commands } from "./commands.ts";
import { commandHelp, generalHelp, groupHelp } from "./help.ts";
import { locate } from "./home/locate.ts";
import { createOutput, type Output } from "./terminal/output.ts";

export async function main(args: readonly string[]): Promise<number> {
  const { env, stdout, stderr } = process;
  const output = createOutput({ stdout, stderr, env, onClosed: () => process.exit() });
  const format = args.includes("--json") ? "json" : "text";
  const interrupt = new AbortController();
  // Ctrl-C lets the command put things away; one that waits for a reader that never reads is ended all the same.
  const onInterrupt = () => {
    interrupt.abort();
    setTimeout(() => process.exit(130), GRACE_MS).unref();
  };
  process.once("SIGINT", onInterrupt);
  try {
    const line = readCommandLine(args, commands);
    if (line.kind === "help") {
      const { command, group } = line;
      await output.line(command ? commandHelp(command) : group.length > 0 ? groupHelp(group) : generalHelp(commands));
      return 0;
    }
    const { globals, command, input } = line;
    if (format === "json" && command.withoutJson !== undefined) throw new UsageError(command.withoutJson);
    const { run } = await command.load();
    // While the thread computes no handler would be called; without one the system ends the process.
    if (command.interrupt === "at-once") process.removeListener("SIGINT", onInterrupt);
    const { signal } = interrupt;
    const userId = userOf(globals);
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

const GRACE_MS = 1000;

async function reportError(error: unknown, format: "json" | "text", output: Output): Promise<number> {
  const { exitCode, code, message, ...details } = await endingOf(error);
  if (process.env["PALIMPSEST_DEBUG"]) output.note(error instanceof Error ? `${error.stack}` : String(error));
  output.note(`palimpsest: ${message}`);
  if (format === "json") await output.json({ error: { code, message, ...details } });
  return exitCode;
}
