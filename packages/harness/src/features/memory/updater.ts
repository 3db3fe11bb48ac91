/**
 * Learns from one batch of a thread: reads the log from the document's watermark, asks the model once per batch, and
 * saves what passes the gates together with the new watermark, in one write. So a crash at any point repeats nothing
 * and loses nothing. When to run it is the queue's business: it calls `process(job)`.
 */

import type { MessageRecord } from "@palimpsest/core/internal/log";
import type { MemoryDocument, MemoryUpdate, Refusal, SourceTurn } from "@palimpsest/core/internal/memory";
import {
  bindTurns,
  extractInput,
  extractionPrompt,
  isFenced,
  mergeUpdate,
  parseUpdate,
  planMemoryErasure,
  validWatermark,
  withWatermark,
} from "@palimpsest/core/internal/memory";
import { errorText } from "@palimpsest/core/internal/text";
import { within } from "../../long-work.ts";
import { readTurns } from "../../recall/search.ts";
import { refOf } from "../../recall/stored-index.ts";
import { asUser } from "../../stores/driver-rules.ts";
import type { Store } from "../../stores/store.ts";
import { hashAt } from "../../thread/acts.ts";
import type { MemoryJob } from "./queue.ts";
import { checkScope, type MemoryScope, type Repository } from "./repository.ts";
import { dropStaleTurns } from "./source-turns.ts";
import type { EmitMemory } from "./storage.ts";

/** Asks the extraction model. It should stop at the signal, and is not waited for beyond it. */
export type Extract = (prompt: string, signal: AbortSignal, of: LearnedThread) => Promise<string>;

/** What is learned from. */
interface LearnedThread {
  readonly userId: string;
  readonly threadId: string;
}

export type UpdateOutcome =
  | { readonly kind: "updated"; readonly added: number; readonly changed: number; readonly refused: readonly Refusal[] }
  | { readonly kind: "skipped"; readonly reason: "off" | "no-thread" | "already-read" | "trivial" | "bad-name" }
  /** Nothing was written; the same job may be tried again. */
  | {
      readonly kind: "failed";
      readonly reason: "model-failed" | "model-timeout" | "unreadable-answer";
      readonly detail: string;
    };

export interface UpdaterOptions {
  readonly store: Store;
  readonly repository: Repository;
  readonly extract: Extract;
  readonly settings: { readonly maxFacts: number; readonly factConfidenceThreshold: number };
  readonly clock: () => Date;
  readonly ids: () => string;
  readonly emit: EmitMemory;
  readonly timeoutMs?: number;
}

export interface Updater {
  process(job: MemoryJob, signal?: AbortSignal): Promise<UpdateOutcome>;
}

export function createUpdater(options: UpdaterOptions): Updater {
  const { repository, emit } = options;
  return {
    async process({ userId, threadId, payload: { throughSeq } }, signal = NEVER) {
      const store = asUser(options.store, userId);
      const header = await store.header(threadId);
      if (header === undefined) return { kind: "skipped", reason: "no-thread" };
      if (header.memory === "off" || header.kind === "subagent") return { kind: "skipped", reason: "off" };
      const checked = checkScope(header.user, header.agent);
      if (checked.kind === "invalid") return { kind: "skipped", reason: "bad-name" };
      const { scope } = checked;
      emit({ type: "memory-processing", threadId });
      // A document of before doesn't say whether its watermark is this thread's or that of one with its id.
      if (!isMarked(await repository.read(scope), threadId)) await dropStaleTurns(store, repository, scope);
      let total: UpdateOutcome = { kind: "skipped", reason: "already-read" };
      for (;;) {
        const document = await repository.read(scope);
        const watermark = document.watermarks?.[threadId] ?? 0;
        const from = validWatermark(document, threadId, await hashAt(store, threadId, watermark));
        if (from >= throughSeq) return total;
        const batch = await readBatch(store, { threadId, from, through: throughSeq, document });
        const outcome = await learn({ ...options, store }, { scope, threadId, from, document, ...batch, signal });
        if (outcome.kind === "failed") emit({ type: "memory-failed", threadId, reason: outcome.detail });
        if (outcome.kind !== "updated") return total.kind === "updated" ? total : outcome;
        total = total.kind === "updated" ? sum(total, outcome) : outcome;
      }
    },
  };
}

interface UpdateBatch {
  readonly turns: readonly SourceTurn[];
  readonly content: "informative" | "trivial";
  /** Where the watermark stands once it is learned, and on what. */
  readonly last: number;
  readonly hash: string | undefined;
}

interface LearnRequest extends UpdateBatch {
  readonly scope: MemoryScope;
  readonly threadId: string;
  readonly from: number;
  readonly document: MemoryDocument;
  readonly signal: AbortSignal;
}

/** Longest text of one model call; a longer conversation is read in several, each with a watermark of its own. */
const BATCH_CHARACTERS = 48_000;
const TIMEOUT_MS = 120_000;
const NEVER = new AbortController().signal;

async function readBatch(
  store: Store,
  { threadId, from, through, document }: { threadId: string; from: number; through: number; document: MemoryDocument },
): Promise<UpdateBatch> {
  const records: MessageRecord[] = [];
  let size = 0;
  let last = through;
  for await (const { record, redacted } of store.records(threadId, {
    range: [from + 1, through],
    kinds: ["message"],
  })) {
    if (record.kind !== "message" || redacted) continue;
    if (size > 0 && size + record.body.length > BATCH_CHARACTERS) {
      last = record.seq - 1;
      break;
    }
    // What tools returned is dropped below; it must not fill the batch.
    size += record.origin === "tool" ? 0 : record.body.length;
    records.push(record);
  }
  const imported = records.some(({ origin }) => origin === "import");
  const imports = imported && (await teaches(store, threadId)) ? "learn" : "skip";
  const input = extractInput(records, { threadId, fenced: (turn) => isFenced(document, turn), imports });
  return { ...input, last, hash: await hashAt(store, threadId, last) };
}

/** Whether who imported the thread said that it is the user's own. */
async function teaches(store: Store, threadId: string): Promise<boolean> {
  for await (const { record } of store.records(threadId, { kinds: ["event"] }))
    if (record.kind === "event" && record.event.type === "imported" && record.event["memory"] === "learn") return true;
  return false;
}

/** Its store is the thread's user's. */
async function learn(options: UpdaterOptions, request: LearnRequest): Promise<UpdateOutcome> {
  if (request.content === "trivial" && request.last - request.from < MANY_RECORDS)
    return { kind: "skipped", reason: "trivial" };
  if (request.content === "trivial") return save(options, request, NOTHING);
  const { text, ids } = extractionPrompt(request.document, request.turns);
  const answered = await ask(options, text, request);
  if (answered.kind === "failed") return answered;
  const parsed = parseUpdate(answered.text, ids);
  if (parsed.kind === "unreadable") {
    const detail = `the extraction model's answer is no update (${parsed.reason})`;
    return { kind: "failed", reason: "unreadable-answer", detail };
  }
  return save(options, request, parsed.update);
}

/** So many trivial records are marked as read, so that they are not read again with every turn. */
const MANY_RECORDS = 100;
const NOTHING: MemoryUpdate = { additions: [], updates: [], removals: [], sections: [] };

async function ask(
  { extract, timeoutMs = TIMEOUT_MS }: UpdaterOptions,
  prompt: string,
  { scope: { userId }, threadId, signal }: LearnRequest,
): Promise<{ kind: "answered"; text: string } | FailedUpdate> {
  const tooLong = (): SlowUpdate => new SlowUpdate(`the extraction model took longer than ${timeoutMs} ms`);
  try {
    const text = await within({ ms: timeoutMs, signal, tooLong }, (own) => extract(prompt, own, { userId, threadId }));
    return { kind: "answered", text };
  } catch (error) {
    const detail = errorText(error);
    if (error instanceof SlowUpdate) return { kind: "failed", reason: "model-timeout", detail };
    return { kind: "failed", reason: "model-failed", detail: `the extraction model failed: ${detail}` };
  }
}

class SlowUpdate extends Error {}

type FailedUpdate = UpdateOutcome & { kind: "failed" };

async function save(options: UpdaterOptions, request: LearnRequest, update: MemoryUpdate): Promise<UpdateOutcome> {
  const { repository, settings, clock, ids, emit } = options;
  const { scope, threadId, last, hash, turns } = request;
  let merged: ReturnType<typeof mergeUpdate> = { changes: [], refused: [] };
  const { document, saved } = await repository.change(
    scope,
    (now) => {
      // Another worker has read this batch meanwhile and saved what we learned.
      if (!sameWatermark(now, request.document, threadId)) return null;
      const rules = {
        threshold: settings.factConfidenceThreshold,
        maxFacts: settings.maxFacts,
        now: clock().toISOString(),
        ids,
      };
      merged = mergeUpdate(now, update, { ...rules, turns: turns.filter((turn) => !isFenced(now, turn)) });
      return {
        changes: merged.changes,
        also: (next) => bindTurns(withWatermark(next, threadId, { seq: last, hash }), turns),
      };
    },
    "conversation",
  );
  if (!saved) return { kind: "updated", added: 0, changed: 0, refused: [] };
  await eraseIfErased(options, scope, turns);
  const added = merged.changes.flatMap((change) =>
    change.kind === "add" && change.on === "fact" ? [change.after!.confidence] : [],
  );
  emit({ type: "memory-extracted", threadId, confidences: added });
  for (const change of merged.changes) {
    if (change.on === "section") emit({ type: "memory-updated", threadId, path: change.target });
  }
  if (merged.refused.length > 0) emit({ type: "memory-refused", threadId, refusals: merged.refused });
  emit({ type: "memory-persisted", place: repository.storage.place(scope), revision: document.revision ?? 0 });
  return {
    kind: "updated",
    added: added.length,
    changed: merged.changes.length - added.length,
    refused: merged.refused,
  };
}

function isMarked({ watermarks, marks }: MemoryDocument, threadId: string): boolean {
  return watermarks?.[threadId] === undefined || marks?.[threadId] !== undefined;
}

function sameWatermark(a: MemoryDocument, b: MemoryDocument, threadId: string): boolean {
  return a.watermarks?.[threadId] === b.watermarks?.[threadId] && a.marks?.[threadId] === b.marks?.[threadId];
}

/** A turn that was erased while the model read it: who erased it can't have found yet what was learned from it. */
async function eraseIfErased({ store, repository }: UpdaterOptions, scope: MemoryScope, turns: readonly SourceTurn[]) {
  const userRefs = turns.filter(({ role }) => role === "user").map(({ ref }) => ref);
  const there = new Set((await readTurns(store, userRefs)).map(refOf));
  const refs = new Set(userRefs.filter((ref) => !there.has(ref)));
  if (refs.size > 0) await repository.change(scope, (now) => planMemoryErasure(now, { refs }), "manual");
}

function sum(a: UpdateOutcome & { kind: "updated" }, b: UpdateOutcome & { kind: "updated" }): UpdateOutcome {
  return {
    kind: "updated",
    added: a.added + b.added,
    changed: a.changed + b.changed,
    refused: [...a.refused, ...b.refused],
  };
}
