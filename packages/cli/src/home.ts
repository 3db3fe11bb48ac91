/** The home directory and what it holds: opens its store for one command and closes it whatever happens. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { checkThreadId } from "@palimpsest/core/log";
import { openSqlite } from "palimpsest/stores";
import { type Means, means } from "palimpsest/threads";
import type { Context } from "./command.ts";
import { Failure, UsageError } from "./failure.ts";

export function databasePath(home: string): string {
  return join(home, "palimpsest.db");
}

/** Creates the home where it is missing. */
export async function withHome<T>({ home }: Context, work: (means: Means) => Promise<T>): Promise<T> {
  const store = openSqlite({ path: databasePath(home) });
  try {
    return await work(means(store));
  } finally {
    await store.close();
  }
}

/** For commands on a thread that must exist: a home that isn't there is not created only to find it empty. */
export async function withThread<T>(context: Context, thread: string, work: (means: Means) => Promise<T>): Promise<T> {
  requireThreadId(thread);
  if (!existsSync(databasePath(context.home))) throw missingThread(context, thread);
  return withHome(context, async (means) => {
    if ((await means.store.header(thread)) === undefined) throw missingThread(context, thread);
    return work(means);
  });
}

export function requireThreadId(id: string): void {
  const checked = checkThreadId(id);
  if (checked.kind === "invalid") throw new UsageError(`Not a thread id: ${checked.problem}.`);
}

export function busy(thread: string, expiresAt?: string): Failure {
  const until = expiresAt === undefined ? "" : ` (its lease ends ${expiresAt} at the latest)`;
  return new Failure(
    "busy",
    `Thread "${thread}" is being written to by another run${until}: wait for it and try again.`,
  );
}

export function missingThread({ home }: Context, thread: string): Failure {
  return new Failure("missing", `There is no thread "${thread}" in ${home}. "palimpsest threads" lists them.`);
}
