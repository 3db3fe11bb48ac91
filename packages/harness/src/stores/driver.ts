/**
 * What every driver does alike, whatever its engine, so that a new one need only keep rows: who may be named, the order of a
 * batch, what a load brings beside the tail, page marks, and what becomes of a fork whose parent goes.
 */
import type { Head, ThreadHeader } from "@palimpsest/core/log";
import type { AppendBatch, StoredRecord, ThreadSummary } from "./store.ts";
import { seqOf, storedRecord } from "./stored-record.ts";

export { storedRecord } from "./stored-record.ts";
export { assertUser, ownHeader } from "./users.ts";

/** Throws for a batch whose records don't follow the version it expects, one by one. */
export function assertInOrder({ expect, records }: Pick<AppendBatch, "expect" | "records">): void {
  for (const [index, { seq }] of records.entries())
    if (seq !== expect + 1 + index)
      throw new RangeError(`record ${seq} of a batch on version ${expect} is out of order`);
}

/** Which hidden records a load brings beside the tail, ascending. A live compaction stands after all it hides: in the tail. */
export function hiddenButShown(head: Head, tail: readonly StoredRecord[]): number[] {
  const { compaction, prunes, evidence, pins, usage, hiddenThrough } = head;
  const seqs = new Set([...prunes, ...evidence, ...pins]);
  if (usage !== null) seqs.add(usage);
  const live = compaction === null ? undefined : tail.find((stored) => seqOf(stored) === compaction);
  if (live?.record.kind === "compaction") {
    if (live.record.request !== null) seqs.add(live.record.request);
    for (const system of live.record.systems ?? []) seqs.add(system);
  }
  return [...seqs].filter((seq) => seq <= hiddenThrough).sort((a, b) => a - b);
}

/** As a query for `bodies: "none"` shows it. */
export function withoutBody({ chained, redacted }: StoredRecord): StoredRecord {
  return storedRecord({ ...chained, body: null, redacted });
}

/** A thread as a list shows it. */
export function summaryOf({ header, head }: { readonly header: ThreadHeader; readonly head: Head }): ThreadSummary {
  return { header, title: titleOf(head), messages: head.messages, updatedAt: head.updatedAt };
}

export function titleOf({ state }: Pick<Head, "state">): string | null {
  const { title } = state;
  return typeof title === "string" ? title : null;
}

/** A fork whose parent is deleted has what it shared as its own. */
export function orphaned(header: ThreadHeader): ThreadHeader {
  return { ...header, parent: null, forkedAt: null };
}

/** Where a page of threads ended: the number of its last thread, in the order of creation, and when that last changed. */
export interface PageMark {
  readonly num: number;
  readonly updated: string;
}

/** How pages of threads go on, for an engine that sorts by itself. */
export const PAGE_ORDERS = {
  created: (a: PageMark, b: PageMark) => a.num - b.num,
  recent: (a: PageMark, b: PageMark) => {
    if (a.updated === b.updated) return b.num - a.num;
    return a.updated > b.updated ? -1 : 1;
  },
} as const;

export function writeMark({ num, updated }: PageMark): string {
  return `${num}~${updated}`;
}

export function readMark(text: string): PageMark {
  const match = /^(\d+)~(.*)$/s.exec(text);
  if (!match) throw new TypeError(`${JSON.stringify(text)} is no page mark: pass the "next" of the page before`);
  return { num: Number(match[1]), updated: match[2]! };
}
