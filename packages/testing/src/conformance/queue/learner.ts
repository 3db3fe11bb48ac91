/**
 * The smallest memory there can be, for tests of the queue: it learns every user message by heart. Like the real one it
 * reads the log from its watermark and saves what it learned together with the new watermark in one write.
 */

import { randomUUID } from "node:crypto";
import type { MessageRecord } from "@palimpsest/core/internal/log";
import { extractInput } from "@palimpsest/core/internal/memory";
import type { MemoryJob, MemoryQueue, UpdateOutcome } from "palimpsest/internal/memory";
import { prepare } from "palimpsest/internal/threads";
import type { RecordInput, Writer } from "palimpsest/session";
import type { Store } from "palimpsest/stores";
import { headOf } from "../kit.ts";

export interface Learned {
  readonly watermark: number;
  readonly texts: readonly string[];
  readonly fenced: readonly string[];
}

/** Beside the thread, where other processes see it; in this process for a store that keeps no drafts. */
export async function learned(store: Store, threadId: string): Promise<Learned> {
  const text = store.drafts
    ? (await store.drafts.get(threadId, "learned"))?.value
    : documents.get(nameOf(store, threadId));
  return text === undefined ? { watermark: 0, texts: [], fenced: [] } : (JSON.parse(text) as Learned);
}

export async function save(store: Store, threadId: string, document: Learned): Promise<void> {
  const text = JSON.stringify(document);
  if (store.drafts) await store.drafts.put(threadId, "learned", text, new Date().toISOString());
  else documents.set(nameOf(store, threadId), text);
}

const documents = new Map<string, string>();

function nameOf({ userId }: Store, threadId: string): string {
  return JSON.stringify([userId, threadId]);
}

export async function learn(
  store: Store,
  { threadId, payload: { throughSeq } }: MemoryJob,
  between = async () => {},
): Promise<UpdateOutcome> {
  const before = await learned(store, threadId);
  if (throughSeq <= before.watermark) return { kind: "skipped", reason: "already-read" };
  const records: MessageRecord[] = [];
  for await (const { record } of store.records(threadId, { range: [before.watermark + 1, throughSeq] }))
    if (record.kind === "message") records.push(record);
  const { turns } = extractInput(records, { threadId, fenced: ({ ref }) => before.fenced.includes(ref) });
  const texts = turns.filter(({ role }) => role === "user").map(({ text }) => text);
  await between();
  await save(store, threadId, { ...before, watermark: throughSeq, texts: [...before.texts, ...texts] });
  return { kind: "updated", added: texts.length, changed: 0, refused: [] };
}

/** A question and its answer, and the job that they ask for, in one append. */
export async function takeTurn(writer: Writer, queue: MemoryQueue, text: string): Promise<number> {
  const { store, lease } = writer;
  const head = await headOf(store, lease.threadId);
  const batch = await prepare(writer, head, [said("user", text), said("assistant", "Noted.")]);
  const throughSeq = batch.head.version;
  const jobs = [queue.job({ agentName: "default", throughSeq })];
  const result = await store.append(lease.threadId, { ...batch, jobs });
  if (result.kind !== "appended") throw new Error(`the turn was not appended: ${result.kind}`);
  queue.queued({ userId: store.userId, threadId: lease.threadId }, 2);
  return throughSeq;
}

function said(role: "user" | "assistant", content: string): RecordInput {
  const origin = role === "user" ? "user" : "model";
  return { kind: "message", id: randomUUID(), dialect: "openai", origin, body: JSON.stringify({ role, content }) };
}
