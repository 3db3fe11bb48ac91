/**
 * A log takes nothing back: a session that is popped, rewound or cleared goes on in another thread, and the thread it leaves
 * says in which. So the session keeps its name, what it left stays whole, and whoever follows the name ends where it stands.
 */
import { setTimeout as pause } from "node:timers/promises";
import { UserError } from "@openai/agents-core";
import { commit, continuedIn, continuedPatch, withWriter } from "palimpsest/internal/threads";
import { createThread, fork, type RecordInput, type ThreadDeps, type Writer } from "palimpsest/threads";

export interface SessionDeps extends ThreadDeps {
  /** The session's name: its first thread's. */
  readonly name: string;
  /** How long a write waits for somebody who holds the thread. */
  readonly waitMs: number;
}

/** The session's threads in order; the last one is where it stands now. */
export async function sessionThreads({ store, name }: Pick<SessionDeps, "store" | "name">): Promise<readonly string[]> {
  const threads: string[] = [];
  for (let next: string | null = name; next !== null; ) {
    threads.push(next);
    const head = await store.head(next);
    next = head === undefined ? null : continuedIn(next, head);
  }
  return threads;
}

/** `moved`: the session stands elsewhere by now; nothing was done. */
export type Written<T> = { readonly kind: "written"; readonly value: T } | { readonly kind: "moved" };

/** While nobody else can write, and only if the session still stands here. */
export async function writing<T>(
  deps: SessionDeps,
  threadId: string,
  work: (writer: Writer) => Promise<T>,
): Promise<Written<T>> {
  const until = deps.clock().getTime() + deps.waitMs;
  for (let ms = FIRST_PAUSE_MS; ; ms = Math.min(2 * ms, LONGEST_PAUSE_MS)) {
    const leased = await withWriter(deps, threadId, async (writer): Promise<Written<T>> => {
      const head = await deps.store.head(threadId);
      if (head === undefined || continuedIn(threadId, head) !== null) return { kind: "moved" };
      return { kind: "written", value: await work(writer) };
    });
    if (leased.kind === "done") return leased.value;
    if (leased.kind === "missing") return { kind: "moved" };
    if (deps.clock().getTime() + ms > until)
      throw new UserError(`session ${deps.name} is held by somebody else: nothing was written, try again later`);
    await pause(ms);
  }
}

const FIRST_PAUSE_MS = 4;
const LONGEST_PAUSE_MS = 250;

/** All of it or nothing. */
export async function say(writer: Writer, inputs: readonly RecordInput[]): Promise<void> {
  const { kind } = await commit(writer, inputs);
  if (kind !== "committed")
    throw new UserError(`thread ${writer.lease.threadId} was taken over while it was written to: try again`);
}

export interface Continuation {
  /** The last record that still holds; 0 for none. */
  readonly keep: number;
  /** What is said after it. */
  readonly say: readonly RecordInput[];
}

/** Leaves the thread for one that shares its beginning. Until the last write nobody sees the new one. */
export async function goOn(deps: SessionDeps, writer: Writer, continuation: Continuation): Promise<void> {
  const from = writer.lease.threadId;
  const head = await deps.store.head(from);
  if (head === undefined) throw new UserError(`thread ${from} is gone: open the session again`);
  const thread = await newThread(deps, from, continuation.keep);
  if (continuation.say.length > 0) await withWriter(deps, thread, (own) => say(own, continuation.say));
  await say(writer, [{ kind: "state", patch: continuedPatch(from, head, thread) }]);
}

/** The first free name: one that a crash has left behind is passed over. */
async function newThread(deps: SessionDeps, from: string, keep: number): Promise<string> {
  const agent = (await deps.store.header(from))?.agent ?? "default";
  const { length } = await sessionThreads(deps);
  for (let n = length; ; n += 1) {
    const as = `${deps.name}-${n}`;
    const made =
      keep === 0
        ? await createThread(deps, { id: as, agentName: agent, parent: from })
        : (await fork(deps, from, { as, at: keep })).kind;
    if (made === "created" || made === "forked") return as;
    if (made !== "exists") throw new UserError(`thread ${from} can't be continued: ${made}`);
  }
}
