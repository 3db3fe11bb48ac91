/** The home directory and the store that belongs to it: opened for one command and closed whatever happens. */
import { existsSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { checkThreadId, DEFAULT_USER } from "@palimpsest/core/log";
import { admitHome } from "palimpsest/config/admission";
import { asUser, openStore, type Scrubbed, type Store, storeTarget } from "palimpsest/stores";
import { type ThreadDeps, threadDeps } from "palimpsest/threads";
import { makeHome, personHere } from "palimpsest/trust";
import { adoptOldFolders } from "palimpsest/workspace/old-folders";
import { integer } from "../command/arguments.ts";
import type { Context, Input } from "../command/command.ts";
import { Failure, UsageError } from "../command/failure.ts";
import { admittedHome, configOf } from "./places.ts";
import { loadSettings } from "./settings.ts";

/** A URL, or the path of a SQLite file. Without a configuration file none is read. */
export async function storeOf(context: Context): Promise<string> {
  requireDirectory(context.home);
  await admittedHome(context);
  if (context.store !== null) return namedStore(context.store);
  if ((await configOf(context)) === null) return storeTarget(null, context.home);
  const { store } = await loadSettings(context);
  return storeTarget(store.url, context.home);
}

export function requireDirectory(home: string): void {
  if (existsSync(home) && !statSync(home).isDirectory())
    throw new Failure("home-not-a-directory", `${home} is a file, not a directory: choose another --home.`);
}

/** As a person writes it on the command line: a path is seen from where they are. */
export function namedStore(text: string): string {
  return storeTarget(text, process.cwd());
}

/** Whether opening it would find something: a database server always may, a file only where it is. */
export function standsAlready(target: string): boolean {
  return /^[a-z][a-z0-9+.-]+:/i.test(target) || existsSync(target);
}

/** The threads of the user that was named. Creates the home where it is missing. */
export async function withHome<T>(context: Context, work: (deps: ThreadDeps) => Promise<T>): Promise<T> {
  const target = await storeOf(context);
  const isNew = !standsAlready(target);
  if (dirname(target) === context.home) makeHome(context.place, personHere());
  const use = async (store: Store): Promise<T> => {
    const { standing } = await admittedHome(context);
    // The database is part of what was trusted, and this one is ours.
    if (isNew && standing === "trusted") admitHome(context.place, personHere()).trust();
    if (context.access === "write" && context.store === null && existsSync(join(context.home, "threads")))
      await adoptOldFolders(context.home, store);
    return work(threadDeps(asUser(store, context.user)));
  };
  return withStore(target, use, context.access);
}

export async function withStore<T>(
  target: string,
  work: (store: Store) => Promise<T>,
  access: Context["access"] = "write",
): Promise<T> {
  const store = await openStore(target, { access });
  try {
    return await work(store);
  } finally {
    await store.close();
  }
}

/** For commands on a thread that must exist: a home that isn't there is not created only to find it empty. */
export async function withThread<T>(
  context: Context,
  thread: string,
  work: (deps: ThreadDeps) => Promise<T>,
): Promise<T> {
  requireThreadId(thread);
  if (!standsAlready(await storeOf(context))) throw missingThread(context, thread);
  return withHome(context, async (deps) => {
    if ((await deps.store.header(thread)) === undefined) throw missingThread(context, thread);
    return work(deps);
  });
}

export function requireThreadId(id: string): void {
  const checked = checkThreadId(id);
  if (checked.kind === "invalid") throw new UsageError(`Not a thread id: ${checked.problem}.`);
}

/** A little longer than the lease of a run that was killed. */
const PATIENCE_SECONDS = 35;

/** `--wait`, in milliseconds. */
export function patience(input: Input): number {
  return (integer(input, "wait", { min: 0 }) ?? PATIENCE_SECONDS) * 1000;
}

export function waitingNote(thread: string, { waitMs }: { readonly waitMs: number }): string {
  return `Thread "${thread}" is held by another run, or by one that was killed: waiting up to ${waitMs / 1000} s (Ctrl-C stops).`;
}

export function busy(thread: string, expiresAt?: string, next = "try again when it has ended"): Failure {
  const until = expiresAt === undefined ? "" : ` (its lease ends ${expiresAt} at the latest)`;
  return new Failure("busy", `Thread "${thread}" is being written to by another run${until}: ${next}.`);
}

/** After everything else was said: where the words still are, and until when. */
export function noteScrubbed({ output }: Context, scrubbed: Scrubbed): void {
  if (scrubbed.kind === "held")
    output.note(`Another process is reading the database: ${scrubbed.file} still holds the words until it has ended.`);
}

export function missingThread({ home, store, user }: Context, thread: string): Failure {
  const where = store === null ? ` in ${home}` : "";
  const of = user === DEFAULT_USER ? "" : ` of the user ${JSON.stringify(user)}`;
  return new Failure("missing", `There is no thread "${thread}"${of}${where}. "palimpsest threads" lists them.`);
}

/** What a command that goes on with the thread must say of its user. */
export function whose({ user }: Context): string {
  return user === DEFAULT_USER ? "" : ` --user ${/^[\w@.:-]+$/.test(user) ? user : JSON.stringify(user)}`;
}
