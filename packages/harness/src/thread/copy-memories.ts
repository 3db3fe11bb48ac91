/**
 * Copies memory documents between stores: facts, audit, fences and watermarks are one text, written by compare-and-set and
 * read back. A document that the target already has is replaced only where it is an earlier state of the source's: by its
 * revision, and by its newest change, which the source's audit must hold. Anything else is reported and left as it is.
 */

import type { MemoryKey, MemoryRow, MemoryRows, Store } from "../stores/store.ts";
import type { CopyFailure } from "./copy.ts";

export interface MemoryCopyReport {
  readonly copied: number;
  /** The target had them, equal. */
  readonly present: number;
  /** An empty agent is the user's own memory. */
  readonly failed: readonly {
    readonly user: string;
    readonly agent: string;
    readonly reason: CopyFailure;
    readonly detail: string;
  }[];
}

export interface MemoryCopyOptions {
  readonly onProgress?: (done: number) => void;
  readonly signal?: AbortSignal;
}

export async function copyMemories(
  { memories: from }: Pick<Store, "memories">,
  { memories: to }: Pick<Store, "memories">,
  { onProgress, signal }: MemoryCopyOptions,
): Promise<MemoryCopyReport> {
  const failed: MemoryCopyReport["failed"][number][] = [];
  let [copied, present] = [0, 0];
  if (from === undefined) return { copied, present, failed };
  for await (const key of everyKey(from)) {
    signal?.throwIfAborted();
    const result = to === undefined ? NO_MEMORIES : await copyOne(from, to, key);
    if (result === "copied") copied += 1;
    else if (result === "present") present += 1;
    else if (result !== "gone") failed.push({ user: key.userId, agent: key.agentName, ...result });
    onProgress?.(copied + present + failed.length);
  }
  return { copied, present, failed };
}

const NO_MEMORIES: Failed = {
  reason: "unsupported",
  detail: "the target keeps no memories: keep them in files (storage_class: file)",
};

type Failed = { readonly reason: CopyFailure; readonly detail: string };

async function copyOne(
  from: MemoryRows,
  to: MemoryRows,
  { userId, agentName }: MemoryKey,
): Promise<"copied" | "present" | "gone" | Failed> {
  const name = `the memory of ${userId}${agentName === "" ? "" : ` and agent ${agentName}`}`;
  const row = await from.get(userId, agentName);
  if (row === undefined) return "gone";
  const there = await to.get(userId, agentName);
  if (there?.document === row.document && there.revision === row.revision) return "present";
  if (there !== undefined && !isEarlier(there, row))
    return { reason: "different", detail: `${name} stands in the target with other changes; it was left as it is` };
  const saved = await to.put(userId, agentName, row, there?.revision ?? 0);
  if (saved === "conflict")
    return { reason: "busy", detail: `${name} changed in the target during the copy; run the copy again` };
  const arrived = await to.get(userId, agentName);
  if (arrived?.document === row.document) return "copied";
  return { reason: "broken", detail: `${name} doesn't read back as it was written; run the copy again` };
}

/** A document without an audit can't show what it comes from. */
function isEarlier(there: MemoryRow, source: MemoryRow): boolean {
  if (there.revision >= source.revision) return false;
  const [newest, audit] = [auditOf(there.document)?.at(-1), auditOf(source.document)];
  return newest !== undefined && audit?.some(({ id, at }) => id === newest.id && at === newest.at) === true;
}

interface Change {
  readonly id?: unknown;
  readonly at?: unknown;
}

function auditOf(document: string): readonly Change[] | undefined {
  try {
    const { changes } = JSON.parse(document) as { changes?: unknown };
    return Array.isArray(changes) ? (changes as Change[]) : undefined;
  } catch {
    return undefined;
  }
}

async function* everyKey(memories: MemoryRows): AsyncGenerator<MemoryKey> {
  for (let after: MemoryKey | undefined; ; ) {
    const page = await memories.list(after);
    yield* page;
    after = page.at(-1);
    if (after === undefined) return;
  }
}
