/**
 * Copies every thread of one store into another: the same records, hashes, forks and heads, and what conversations are
 * known by; and the memories that are kept there, with what they have still to learn from. It may be interrupted at any moment and run again: a thread goes on
 * from its last copied record. Each is verified by its hash chain where it arrived. Nothing in the target is overwritten: a
 * thread that stands there with another history is reported.
 */
import type { ChainedRecord, Head, LogRecord, Structural, ThreadHeader } from "@palimpsest/core/internal/log";
import { advance, emptyHead, isQuoted, structural } from "@palimpsest/core/internal/log";
import { jsonOr } from "@palimpsest/core/internal/message";
import { isRecord } from "@palimpsest/core/internal/text";
import { asUser, everyThread, everyUser, scrub } from "../stores/driver-rules.ts";
import { type JobStatus, MAX_ATTEMPTS, type NewJob } from "../stores/outbox.ts";
import type {
  AppendBatch,
  AppendResult,
  Lease,
  MemoryKey,
  MemoryRow,
  MemoryRows,
  PromptText,
  Store,
  StoredRecord,
} from "../stores/store.ts";
import { hashAt, headAt } from "./acts.ts";
import { verify } from "./audit.ts";
import { sha256 } from "./writer.ts";

export interface CopyOptions {
  readonly onProgress?: (progress: CopyProgress) => void;
  readonly signal?: AbortSignal;
}

export type CopyProgress =
  /** Records of this thread that stand in the target, out of how many. */
  | { readonly threadId: string; readonly records: number; readonly of: number }
  /** Memories that were looked at, after the threads. */
  | { readonly memories: number };

export interface CopyReport {
  readonly copied: number;
  /** Threads the target already had, whole. */
  readonly present: number;
  readonly records: number;
  readonly failed: readonly {
    readonly user: string;
    readonly thread: string;
    readonly reason: CopyFailure;
    readonly detail: string;
  }[];
  readonly memories: MemoryCopyReport;
}

type CopyFailure = "different" | "busy" | "broken" | "unsupported";

/** Two runs at once are one copier: the later one takes the lease over and the earlier one stops. */
const OWNER = "store copy";
const LEASE_MS = 60_000;
const BATCH = { records: 500, characters: 4_000_000 };

export async function copyStore(from: Store, to: Store, options: CopyOptions = {}): Promise<CopyReport> {
  const failed: CopyReport["failed"][number][] = [];
  let [copied, present, records] = [0, 0, 0];
  const queued = (await from.outbox?.list()) ?? [];
  for await (const own of everyUser(from)) {
    const { userId } = own;
    for await (const { header } of everyThread(own)) {
      const head = await own.head(header.id);
      if (!head) continue;
      const jobs = queued.filter((job) => job.userId === userId && job.threadId === header.id);
      const waiting = jobs.map(anew);
      const result = await copyThread({ from: own, to: asUser(to, userId), header, head, jobs: waiting, options });
      if (result.kind === "failed")
        failed.push({ user: userId, thread: header.id, reason: result.reason, detail: result.detail });
      else if (result.records > 0 || result.created) copied += 1;
      else present += 1;
      records += result.kind === "done" ? result.records : 0;
    }
  }
  // Bodies that were erased in the source may have stood in the target in full.
  await scrub(to);
  const { onProgress, signal } = options;
  const memories = await copyMemories(from, to, {
    onProgress: onProgress && ((done) => onProgress({ memories: done })),
    signal,
  });
  return { copied, present, records, failed, memories };
}

/** What waits in the source waits in the target. */
function anew({ queue, key, payload }: JobStatus): NewJob {
  return { queue, key, payload, delayMs: 0, maxAttempts: MAX_ATTEMPTS, now: Date.now() };
}

interface CopyJob {
  readonly from: Store;
  readonly to: Store;
  readonly header: ThreadHeader;
  readonly head: Head;
  /** For the target's queue, with the last record. */
  readonly jobs: readonly NewJob[];
  readonly options: CopyOptions;
}

type ThreadResult =
  | { readonly kind: "done"; readonly created: boolean; readonly records: number }
  | { readonly kind: "failed"; readonly reason: CopyFailure; readonly detail: string };

async function copyThread(job: CopyJob): Promise<ThreadResult> {
  const { from, to, header, head } = job;
  const there = await to.head(header.id);
  const start = there ?? (await createCopy(job));
  if (!(await sameHistory(from, header, head, start))) {
    return failure("different", `${header.id} stands in the target with another history; it was left as it is`);
  }
  if (start.version < head.version) {
    const taken = await to.acquireLease(header.id, OWNER, LEASE_MS);
    if (taken.kind !== "acquired")
      return failure("busy", `${header.id} is being written in the target; run the copy again`);
    const result = await copyRecords(job, start, taken.lease);
    await to.releaseLease(taken.lease);
    if (result.kind !== "appended") {
      return failure("busy", `${header.id} changed in the target during the copy (${result.kind}); run the copy again`);
    }
  }
  const verdict = await verify({ store: to, hash: sha256 }, header.id);
  if (verdict.kind !== "whole") {
    const why = verdict.kind === "broken" ? verdict.firstBad.detail : "it vanished from the target";
    return failure("broken", `${header.id} doesn't verify in the target: ${why}`);
  }
  return { kind: "done", created: there === undefined, records: head.version - start.version };
}

function failure(reason: CopyFailure, detail: string): ThreadResult {
  return { kind: "failed", reason, detail };
}

/** A fork shares in the target what it shares in the source, if its parent arrived there with the same history. */
async function createCopy({ from, to, header }: CopyJob): Promise<Head> {
  const { id, parent, forkedAt: at } = header;
  if (parent !== null && at !== null && (await hashAt(from, id, at)) === (await hashAt(to, parent, at))) {
    const head = await headAt({ store: from }, id, at);
    await to.fork({ from: parent, at, header, head });
  } else await to.createThread(header, emptyHead(header.createdAt));
  return (await to.head(id))!;
}

/** What the target has is the beginning of what the source has. */
async function sameHistory(from: Store, header: ThreadHeader, head: Head, start: Head) {
  if (start.version > head.version) return false;
  return start.version === 0 || (await hashAt(from, header.id, start.version)) === start.hash;
}

async function copyRecords(
  { from, to, header, head: end, jobs, options }: CopyJob,
  start: Head,
  lease: Lease,
): Promise<AppendResult> {
  let head = start;
  let result: AppendResult = { kind: "appended", version: start.version };
  const structure: Structural[] = [];
  let waiting: StoredRecord[] = [];
  /** Bodies erased in the source since an earlier run copied them. */
  let erased: StoredRecord[] = [];
  const flush = async () => {
    options.signal?.throwIfAborted();
    const next = nextBatch(head, waiting, structure, lease);
    const prompts = await readPrompts(
      from,
      waiting.flatMap(({ record }) => namedPrompts(record)),
    );
    const places = [head.version + 1, next.head.version] as const;
    const matches = (await from.matches?.within(header.id, places)) ?? [];
    const batch = { ...next, prompts, matches, ...(next.head.version === end.version && { jobs }) };
    const gone = [...erased, ...waiting.filter((one) => one.redacted)].map(({ chained }) => chained);
    const place = ({ seq }: ChainedRecord) => ({ threadId: header.id, seq });
    const bodies = gone.flatMap((one) => (one.body === null ? [] : [{ ...place(one), body: one.body }]));
    const headers = gone.flatMap((one) => (one.body === null ? [{ ...place(one), header: one.header }] : []));
    const batches = [{ threadId: header.id, batch }];
    result = gone.length > 0 ? await to.redact({ bodies, headers, batches }) : await to.append(header.id, batch);
    if (result.kind !== "appended") return;
    [head, waiting, erased] = [batch.head, [], []];
    await to.renewLease(lease, LEASE_MS);
    options.onProgress?.({ threadId: header.id, records: head.version, of: end.version });
  };
  let characters = 0;
  for await (const one of from.records(header.id, { range: [1, end.version] })) {
    if (one.chained.seq <= start.version) {
      if (one.redacted) erased.push(one);
      const act = structural(one.record);
      if (act) structure.push(act);
      continue;
    }
    waiting.push(one);
    characters += one.chained.header.length + (one.chained.body?.length ?? 0);
    if (waiting.length < BATCH.records && characters < BATCH.characters) continue;
    characters = 0;
    await flush();
    if (result.kind !== "appended") return result;
  }
  if (waiting.length > 0) await flush();
  return result;
}

/** The records as they are, with the head that follows from them. `structure` grows with them: an undo needs it. */
function nextBatch(head: Head, records: readonly StoredRecord[], structure: Structural[], lease: Lease): AppendBatch {
  let next = head;
  for (const { chained, record } of records) {
    next = advance(next, chained, record, structure);
    const act = structural(record);
    if (act) structure.push(act);
  }
  return { expect: head.version, records: records.map((one) => one.chained), head: next, lease };
}

// Copies memory documents between stores: facts, audit, fences and watermarks are one text, written by
// compare-and-set and read back.

interface MemoryCopyReport {
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

interface MemoryCopyOptions {
  readonly onProgress?: ((done: number) => void) | undefined;
  readonly signal?: AbortSignal | undefined;
}

async function copyMemories(
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
  return newest !== undefined && audit?.some((change) => isSameChange(change, newest)) === true;
}

/** By its target too: changes are numbered, and two stores may make one with the same number in the same millisecond. */
function isSameChange(one: CopiedChange, other: CopiedChange): boolean {
  return one.id === other.id && one.at === other.at && one.target === other.target;
}

interface CopiedChange {
  readonly id?: unknown;
  readonly at?: unknown;
  readonly target?: unknown;
}

function auditOf(document: string): readonly CopiedChange[] | undefined {
  const fields = jsonOr(document, null);
  return isRecord(fields) && Array.isArray(fields["changes"]) ? fields["changes"] : undefined;
}

async function* everyKey(memories: MemoryRows): AsyncGenerator<MemoryKey> {
  for (let after: MemoryKey | undefined; ; ) {
    const page = await memories.list(after);
    yield* page;
    after = page.at(-1);
    if (after === undefined) return;
  }
}

// The texts that a log names by their hashes (`store.prompts`): which they are, and how they go with erased words.

/** The hashes that a record names. */
function namedPrompts(record: LogRecord): readonly string[] {
  if (record.kind !== "event" || record.event.type !== "request") return [];
  const { stored } = record.event;
  return typeof stored === "object" && stored !== null ? Object.values(stored).filter(isText) : [];
}

async function readPrompts({ prompts }: Store, hashes: readonly string[]): Promise<PromptText[]> {
  const texts: PromptText[] = [];
  for (const hash of new Set(hashes)) {
    const text = await prompts?.get(hash);
    if (text !== undefined) texts.push({ hash, text });
  }
  return texts;
}

/** A text that repeats the words goes whole: with a hole in it, it would be shown as if it had been sent like that. */
export async function erasePrompts({ prompts }: Store, words: readonly string[]): Promise<void> {
  if (prompts === undefined || words.length === 0) return;
  const quoting = (await prompts.list()).filter(({ text }) => isQuoted(text, words));
  if (quoting.length > 0) await prompts.drop(quoting.map(({ hash }) => hash));
}

function isText(value: unknown): value is string {
  return typeof value === "string";
}
