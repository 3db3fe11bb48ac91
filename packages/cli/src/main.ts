/** The `palimpsest` command: reads the command line, runs the command, turns whatever happens into an exit code. */
import { checkUser, DEFAULT_USER } from "@palimpsest/core/internal/log";
import { type GlobalOptions, readCommandLine } from "./command/arguments.ts";
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
