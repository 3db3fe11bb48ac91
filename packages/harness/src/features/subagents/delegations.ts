/**
 * Deletes a user's sub-agent threads by age. What their parents say about them says so from then on, so that no one looks for
 * them. One that was interrupted is kept, because its parent can still continue it, unless a person asks for it to go.
 */
import type { Head, ThreadName } from "@palimpsest/core/internal/log";
import { everyThread, scrub } from "../../stores/driver-rules.ts";
import { withLease } from "../../stores/leases.ts";
import { withWriter } from "../../thread/acts.ts";
import { commit, type RecordInput, type ThreadDeps } from "../../thread/writer.ts";
import type { SubagentStatus } from "./result.ts";

export interface PruneOptions {
  /** Those not changed for longer. */
  readonly days: number;
  /** `too`: also those that a parent could still continue. */
  readonly unfinished?: "keep" | "too" | undefined;
  /** Removes what the thread has on the disk. */
  readonly forget?: ((thread: ThreadName) => Promise<void>) | undefined;
  /** A thread that the caller holds, and how the caller writes to it. */
  readonly held?: HeldThread | undefined;
}

export interface HeldThread {
  readonly threadId: string;
  write(inputsOf: (head: Head) => readonly RecordInput[]): Promise<unknown>;
}

export interface Pruned {
  readonly deleted: readonly string[];
  readonly kept: readonly { readonly thread: string; readonly reason: "unfinished" | "busy" }[];
}

export async function pruneSubagents(deps: ThreadDeps, options: PruneOptions): Promise<Pruned> {
  const before = new Date(deps.clock().getTime() - options.days * DAY_MS).toISOString();
  const deleted: string[] = [];
  const kept: Pruned["kept"][number][] = [];
  for (const [parent, children] of Map.groupBy(await old(deps, before), (child) => child.parent)) {
    const head = parent === null ? undefined : await deps.store.head(parent);
    const { loose, listed, unfinished } = sorted(children, head, options.unfinished ?? "keep");
    kept.push(...unfinished.map((threadId) => ({ thread: threadId, reason: "unfinished" as const })));
    const removal = { deps, options, deleted, kept };
    await remove(loose, removal);
    if (parent !== null && listed.length > 0) await removeListed(parent, listed, removal);
  }
  if (deleted.length > 0) await scrub(deps.store);
  return { deleted, kept };
}

const DAY_MS = 86_400_000;

interface OldChild {
  readonly threadId: string;
  readonly parent: string | null;
}

/** What a parent's list says about its old children. */
function sorted(children: readonly OldChild[], parent: Head | undefined, interrupted: "keep" | "too") {
  const list = new Map(delegationsOf(parent?.state ?? {}).map((one) => [one.threadId, one]));
  const threads = children.map(({ threadId }) => threadId);
  const stays = (threadId: string): boolean => interrupted === "keep" && !hasEnded(list.get(threadId)!);
  const known = threads.filter((threadId) => list.has(threadId));
  return {
    loose: threads.filter((threadId) => !list.has(threadId)),
    listed: known.filter((threadId) => !stays(threadId)),
    unfinished: known.filter(stays),
  };
}

interface ThreadRemoval {
  readonly deps: ThreadDeps;
  readonly options: PruneOptions;
  readonly deleted: string[];
  readonly kept: Pruned["kept"][number][];
}

async function remove(threads: readonly string[], { deps, options, deleted, kept }: ThreadRemoval): Promise<string[]> {
  const gone: string[] = [];
  for (const threadId of threads) {
    // Files first: a process that is killed in between leaves a thread that can be deleted again, never files without one.
    const held = await withLease(deps.store, threadId, { owner: deps.ids() }, async (lease) => {
      await options.forget?.({ user: deps.store.userId, id: threadId });
      return deps.store.deleteThread(threadId, lease);
    });
    if (held.kind === "busy" || (held.kind === "done" && held.value === "busy"))
      kept.push({ thread: threadId, reason: "busy" });
    if (held.kind === "done" && held.value === "deleted") gone.push(threadId);
  }
  deleted.push(...gone);
  return gone;
}

/** While the parent is held, so that its list can be put right in the same breath; one that is busy waits for next time. */
async function removeListed(parent: string, threads: readonly string[], removal: ThreadRemoval): Promise<void> {
  const { deps, options, kept } = removal;
  const at = deps.clock().toISOString();
  const removeFrom = async (held: HeldThread): Promise<void> => {
    const gone = await remove(threads, removal);
    if (gone.length === 0) return;
    await held.write(({ state }) => [
      { kind: "state", patch: { delegations: withDeleted(delegationsOf(state), gone, at) } },
    ]);
  };
  if (options.held?.threadId === parent) return removeFrom(options.held);
  const leased = await withWriter(deps, parent, (writer) =>
    removeFrom({
      threadId: parent,
      async write(inputsOf) {
        const head = await deps.store.head(parent);
        if (head !== undefined) await commit(writer, inputsOf(head));
      },
    }),
  );
  if (leased.kind === "busy") kept.push(...threads.map((threadId) => ({ thread: threadId, reason: "busy" as const })));
}

/** Oldest first; the list ends at the first that was made too recently to be old. */
async function old({ store }: ThreadDeps, before: string): Promise<OldChild[]> {
  const found: OldChild[] = [];
  for await (const { header, updatedAt } of everyThread(store, { kind: "subagent" })) {
    if (header.createdAt >= before) return found;
    if (updatedAt < before) found.push({ threadId: header.id, parent: header.parent });
  }
  return found;
}

// What a thread has delegated, as a part of its state: a compaction renders it into the summary, so that no work is
// delegated twice. Pure: reads a state and makes the next list.

export interface Delegation {
  /** The tool call that asked for it. */
  readonly id: string;
  readonly agent: string;
  readonly description: string;
  readonly status: SubagentStatus | "running";
  readonly threadId: string;
  /** The file its whole answer is in, if there is one. */
  readonly answer: string | null;
  /** Since when its thread is no more: it was pruned, and can't be continued or read. */
  readonly deletedAt?: string;
}

type DelegationState = Readonly<Record<string, unknown>>;

export function delegationsOf(state: DelegationState): readonly Delegation[] {
  const list = state["delegations"];
  return Array.isArray(list) ? (list as Delegation[]) : [];
}

/** The head is written with every append, so the list is bounded: the oldest that have ended leave first. */
const MOST = 100;

const DESCRIPTION_CHARS = 200;

/** A child that is continued keeps its place. */
export function withDelegation(list: readonly Delegation[], given: Delegation): readonly Delegation[] {
  const one = { ...given, description: [...given.description].slice(0, DESCRIPTION_CHARS).join("") };
  const known = list.some(({ threadId }) => threadId === one.threadId);
  const next = known ? list.map((old) => (old.threadId === one.threadId ? one : old)) : [...list, one];
  const excess = next.length - MOST;
  const leaving = new Set(next.filter(hasEnded).slice(0, Math.max(0, excess)));
  return next.filter((delegation) => !leaving.has(delegation));
}

export function running(list: readonly Delegation[]): readonly Delegation[] {
  return list.filter(({ status }) => status === "running");
}

/** The list once these threads are gone. */
function withDeleted(list: readonly Delegation[], threads: readonly string[], at: string): readonly Delegation[] {
  return list.map((one) => (threads.includes(one.threadId) ? { ...one, deletedAt: at } : one));
}

/** One that was interrupted can still be continued. */
function hasEnded({ status }: Delegation): boolean {
  return status !== "running" && status !== "interrupted";
}
