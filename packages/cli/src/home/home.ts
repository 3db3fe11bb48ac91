/** Which home and configuration the command line means; in a terminal the person is asked about what isn't known to be theirs. */

import { existsSync } from "node:fs";
import { join } from "node:path";
import { checkThreadId, DEFAULT_USER } from "@palimpsest/core/internal/log";
import type { Admission } from "palimpsest/home";
import { type Home, type LocatedHome, locateHome } from "palimpsest/internal/home";
import { heldText, storeTarget } from "palimpsest/internal/stores";
import { openStore, type Store } from "palimpsest/stores";
import type { GlobalOptions } from "../command/arguments.ts";
import type { Command, Context } from "../command/command.ts";
import { Failure, sentence, UsageError } from "../command/failure.ts";

export function locate(
  { home, config, store, verbose }: GlobalOptions,
  userId: string,
  { access }: Pick<Command, "access">,
  asking: Asking,
): LocatedHome {
  if (home === "") throw new UsageError("--home is empty: name a directory.");
  const { output } = asking;
  return locateHome({
    home: home ?? null,
    config: config ?? null,
    store: store ?? null,
    userId,
    access: access ?? "write",
    cwd: process.cwd(),
    env: process.env,
    trust: (admission) => isTrustedNow(admission, asking),
    // The rest is said by "config check" and "doctor"; otherwise it would be said again at every command.
    onWarning: (text, told) => (verbose || told === "always" ? output.note(`warning: ${text}`) : undefined),
    onError: (text) => output.note(`error: ${text}`),
  });
}

type Asking = Pick<Context, "format" | "output" | "signal">;

/** What it would be allowed to do, a line each. */
export function powerLines({ powers }: Admission): string[] {
  return powers.map(({ key, detail }) => `  ${detail} (${key})`);
}

async function isTrustedNow(admission: Admission, { format, output, signal }: Asking): Promise<boolean> {
  if (!canAsk(format)) return false;
  const changed = admission.state === "changed" ? "has changed since you trusted it" : "is not known to be yours";
  await output.line(
    sentence(`this ${admission.kind === "home" ? "home" : "configuration"} ${changed}: ${admission.path}`),
  );
  const lines = powerLines(admission);
  if (lines.length > 0) await output.line(["It would", ...lines].join("\n"));
  return isYes(await ask("Trust it as it is now? [y/N] ", signal));
}

/* The home opened for one command and closed whatever happens, and the sentences commands share about threads. */

/** As a person writes it on the command line: a path is seen from where they are. */
export function namedStore(text: string): string {
  return storeTarget(text, process.cwd());
}

/** The threads of the user that was named. Creates the home where it is missing. */
export async function withHome<T>({ located }: Context, work: (home: Home) => Promise<T>): Promise<T> {
  const home = await located.open();
  try {
    return await work(home);
  } finally {
    await home.close();
  }
}

export async function withStore<T>(
  target: string,
  work: (store: Store) => Promise<T>,
  access: NonNullable<Command["access"]> | "write" = "write",
): Promise<T> {
  const store = await openStore(target, { access });
  try {
    return await work(store);
  } finally {
    await store.close();
  }
}

/** For commands on a thread that must exist: a home that isn't there is not created only to find it empty. */
export async function withThread<T>(context: Context, threadId: string, work: (home: Home) => Promise<T>): Promise<T> {
  requireThreadId(threadId);
  const missing = async () => {
    const { code, message } = missingThread(context, threadId);
    return new Failure(code, message + (await ownHomeNote(context)));
  };
  if (!(await context.located.hasStore())) throw await missing();
  return withHome(context, async (home) => {
    if ((await home.store.header(threadId)) === undefined) throw await missing();
    return work(home);
  });
}

/** Where a home that was found here stands before the person's own, and that one has threads; else "". */
export async function ownHomeNote({ located, userId }: Context): Promise<string> {
  const { place, person } = located;
  const own = person.folders.data;
  const target = join(own, "palimpsest.db");
  if (place.reason !== "found" || !existsSync(target)) return "";
  const page = await withStore(target, async (store) => store.forUser(userId).threads({ limit: MOST }), "read").catch(
    () => null,
  );
  const count = page?.threads.length ?? 0;
  if (count === 0) return "";
  const threads = count === 1 ? "1 thread" : `${count}${page?.next === null ? "" : " or more"} threads`;
  return ` ${place.directory} was found here and stands before your own home, ${own}, which has ${threads}: --home ${own} names that one.`;
}

const MOST = 100;

export function requireThreadId(id: string): void {
  const checked = checkThreadId(id);
  if (checked.kind === "invalid") throw new UsageError(`Not a thread id: ${checked.problem}.`);
}

/** A little longer than the lease of a run that was killed. */
const PATIENCE_SECONDS = 35;

/** `--wait`, in milliseconds. */
export function patience(seconds: number = PATIENCE_SECONDS): number {
  return seconds * 1000;
}

export function waitingNote(threadId: string, { waitMs }: { readonly waitMs: number }): string {
  return `Thread "${threadId}" is held by another run, or by one that was killed: waiting up to ${waitMs / 1000} s (Ctrl-C stops).`;
}

export function busy(
  threadId: string,
  held?: Parameters<typeof heldText>[0],
  next = "try again when it has ended",
): Failure {
  return new Failure("busy", `Thread "${threadId}" is being written to by another run${heldText(held)}: ${next}.`);
}

export function missingThread({ home, store, userId }: Context, threadId: string): Failure {
  const where = store === null ? ` in ${home}` : "";
  const of = userId === DEFAULT_USER ? "" : ` of the user ${JSON.stringify(userId)}`;
  return new Failure("missing", `There is no thread "${threadId}"${of}${where}. "palimpsest threads" lists them.`);
}

/** What to tell of erased words that another process still holds in a file. */
export function leftNotes(left: string | null | undefined): readonly string[] {
  if (left == null) return [];
  return [`Another process is reading the database: ${left} still holds the words until it has ended.`];
}

/** What a command that goes on with the thread must say of its user. */
export function whose({ userId }: Context): string {
  return userId === DEFAULT_USER ? "" : ` --user ${/^[\w@.:-]+$/.test(userId) ? userId : JSON.stringify(userId)}`;
}

/* Questions to a person at a terminal. */

export function canAsk(format: Context["format"]): boolean {
  return process.stdin.isTTY === true && process.stdout.isTTY === true && format === "text";
}

export function ask(question: string, signal: AbortSignal): Promise<string> {
  return askSeveral(signal, (answer) => answer(question));
}

/** One keyboard for all questions: what is typed or pasted ahead answers the next one. */
export async function askSeveral<T>(
  signal: AbortSignal,
  work: (answer: (question: string) => Promise<string>) => Promise<T>,
): Promise<T> {
  const { createInterface } = await import("node:readline");
  const keyboard = createInterface({ input: process.stdin, output: process.stdout });
  const lines = keyboard[Symbol.asyncIterator]();
  const close = () => keyboard.close();
  signal.addEventListener("abort", close);
  try {
    return await work(async (question) => {
      keyboard.setPrompt(question);
      keyboard.prompt();
      const line = await lines.next();
      // Ctrl-C and Ctrl-D close the keyboard.
      if (line.done === true) throw new DOMException("nobody answers", "AbortError");
      return line.value;
    });
  } finally {
    signal.removeEventListener("abort", close);
    keyboard.close();
  }
}

export function isYes(answer: string): boolean {
  return /^\s*y(?:es)?\s*$/i.test(answer);
}
