/**
 * Deletes old sub-agent threads. One whose parent still lists it among its delegations is kept, because the parent may
 * continue it, unless a person asks for it to go too.
 */
import { withLease } from "../stores/leases.ts";
import type { Means } from "../threads/writer.ts";
import { delegationsOf } from "./delegations.ts";

export interface PruneOptions {
  /** Those not changed for longer. */
  readonly days: number;
  /** `too`: also those that a parent points at. */
  readonly pointedAt?: "keep" | "too";
  /** Removes what the thread has on the disk. */
  readonly forget?: (thread: string) => Promise<void>;
}

export interface Pruned {
  readonly deleted: readonly string[];
  readonly kept: readonly { readonly thread: string; readonly reason: "pointed-at" | "busy" }[];
}

export async function pruneSubagents(means: Means, options: PruneOptions): Promise<Pruned> {
  const { days, pointedAt = "keep", forget } = options;
  const before = new Date(means.clock().getTime() - days * DAY_MS).toISOString();
  const deleted: string[] = [];
  const kept: Pruned["kept"][number][] = [];
  const listed = listedBy(means);
  for (const { thread, parent } of await old(means, before)) {
    if (pointedAt === "keep" && parent !== null && (await listed(parent)).has(thread)) {
      kept.push({ thread, reason: "pointed-at" });
      continue;
    }
    // Files first: whoever is killed in between leaves a thread that can be deleted again, never files without one.
    const held = await withLease(means.store, thread, { owner: means.ids() }, async (lease) => {
      await forget?.(thread);
      return means.store.deleteThread(thread, lease);
    });
    if (held.kind === "busy" || (held.kind === "done" && held.value === "busy")) kept.push({ thread, reason: "busy" });
    if (held.kind === "done" && held.value === "deleted") deleted.push(thread);
  }
  if (deleted.length > 0) await means.store.scrub();
  return { deleted, kept };
}

const DAY_MS = 86_400_000;

/** Oldest first; the list ends at the first that was made too recently to be old. */
async function old({ store }: Means, before: string) {
  const found: { readonly thread: string; readonly parent: string | null }[] = [];
  let after: string | undefined;
  for (;;) {
    const page = await store.threads({ kind: "subagent", order: "created", limit: 200, ...(after && { after }) });
    for (const { header, updatedAt } of page.threads) {
      if (header.createdAt >= before) return found;
      if (updatedAt < before) found.push({ thread: header.id, parent: header.parent });
    }
    if (page.next === null) return found;
    after = page.next;
  }
}

/** What each parent lists, read once. */
function listedBy({ store }: Means): (parent: string) => Promise<ReadonlySet<string>> {
  const known = new Map<string, Promise<ReadonlySet<string>>>();
  const read = async (parent: string): Promise<ReadonlySet<string>> => {
    const head = await store.head(parent);
    return new Set(head === undefined ? [] : delegationsOf(head.state).map(({ threadId }) => threadId));
  };
  return (parent) => {
    const list = known.get(parent) ?? read(parent);
    known.set(parent, list);
    return list;
  };
}
