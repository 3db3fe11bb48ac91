/**
 * Keeps what memory says of its source turns true: names that mean another message by now are dropped before anything is
 * done in their name, and a thread that is deleted takes its names along.
 */
import type { EvidenceRecord, MessageRecord } from "@palimpsest/core/internal/log";
import {
  type AnsweredQuestion,
  type Correction,
  correctionOf,
  correctionsIn,
  type MemoryDocument,
  namedRefs,
  namesOldValue,
  staleRefs,
  withoutStale,
  withoutThread,
} from "@palimpsest/core/internal/memory";
import { type CallPart, readStored } from "@palimpsest/core/internal/message";
import { isEcho } from "@palimpsest/core/internal/recall";
import { recallShape } from "../../recall/catch-up.ts";
import type { SearchHit } from "../../recall/search.ts";
import { refOf } from "../../recall/stored-index.ts";
import type { Store } from "../../stores/store.ts";
import { messageTexts } from "../../thread/redact.ts";
import type { ThreadDeps } from "../../thread/writer.ts";
import { delegationsOf } from "../subagents/delegations.ts";
import { frozenIn, type MemoryScope, type Repository } from "./repository.ts";

export async function dropStaleTurns(store: Store, repository: Repository, scope: MemoryScope): Promise<void> {
  const document = await repository.storage.reload(scope);
  if (document === null) return;
  const stale = staleRefs(document, await messagesUnder(store, namedRefs(document)));
  if (stale.size === 0) return;
  await repository.change(scope, () => ({ changes: [], also: (next) => withoutStale(next, stale) }), "manual");
}

/** In every document of the user. What was learned there stays. */
export async function forgetThread(repository: Repository, userId: string, threadId: string): Promise<void> {
  const scopes = (await repository.storage.scopes?.(userId)) ?? [{ userId, agentName: null }];
  for (const scope of scopes) {
    const document = await repository.storage.reload(scope);
    if (document === null) continue;
    const knows = document.watermarks?.[threadId] !== undefined || [...namedRefs(document)].some(isOf(threadId));
    if (!knows) continue;
    await repository.change(scope, () => ({ changes: [], also: (next) => withoutThread(next, threadId) }), "manual");
  }
}

function isOf(threadId: string): (ref: string) => boolean {
  return (ref) => ref.startsWith(`${threadId}#`);
}

/** Also those that were erased: their ids are left. */
async function messagesUnder(
  store: Store,
  refs: Iterable<string>,
): Promise<Map<string, Pick<MessageRecord, "id" | "at">>> {
  const places = [...refs].flatMap((ref) => {
    const [, threadId, seq] = /^([^#]+)#(\d{1,15})$/.exec(ref) ?? [];
    return threadId === undefined ? [] : [{ thread: threadId, seq: Number(seq) }];
  });
  const records = new Map<string, Pick<MessageRecord, "id" | "at">>();
  for (const [threadId, own] of Map.groupBy(places, (place) => place.thread)) {
    const seqs = own.map(({ seq }) => seq);
    for await (const { record } of store.records(threadId, { seqs, kinds: ["message"] }))
      if (record.kind === "message")
        records.set(refOf({ threadId, seq: record.seq }), { id: record.id, at: record.at });
  }
  return records;
}

/*
 * Where a thread repeats one of its messages because the agent looked it up: results of recall, and of tools that read the
 * part files. A search names what it found by its number, so that an echo is known when the words are gone already.
 */

export async function echoesOf({ store, tools }: ThreadDeps, threadId: string, seq: number): Promise<ChildCopy[]> {
  const echoes: ChildCopy[] = [];
  for (const sharer of await store.sharers(threadId, seq)) {
    const calls = new Map<string, Pick<CallPart, "input" | "facts">>();
    let shows = (_text: string): boolean => false;
    for await (const { record, redacted } of store.records(sharer, { kinds: ["message"] })) {
      if (record.kind !== "message" || record.seq < seq) continue;
      if (record.seq === seq) shows = showing(seq, redacted ? [] : messageTexts(record));
      if (redacted) continue;
      for (const part of recallShape(record.dialect, tools).parts(JSON.parse(record.body))) {
        if (part.kind === "call") calls.set(part.id, part);
        if (part.kind !== "result" || !shows(part.text)) continue;
        if (isEcho(calls.get(part.id) ?? { facts: part.facts, input: "" }))
          echoes.push({ threadId: sharer, seq: record.seq });
      }
    }
  }
  return echoes;
}

function showing(seq: number, texts: readonly string[]): (text: string) => boolean {
  const named = new RegExp(`^${seq} [^\\n:]{1,200}: `, "m");
  // A part file holds it as JSON.
  const spellings = texts.flatMap((text) => [text.trim(), JSON.stringify(text.trim()).slice(1, -1)]).filter(Boolean);
  return (text) => named.test(text) || spellings.some((one) => text.includes(one));
}

/* Which hits of a search state something that memory has corrected since: the source turn, echoes of it, answers that rested on it. */

/** By `refOf`. */
export async function correctedHits(
  store: Store,
  document: MemoryDocument,
  hits: readonly SearchHit[],
): Promise<ReadonlyMap<string, Correction>> {
  const corrections = correctionsIn(document);
  const corrected = new Map<string, Correction>();
  if (corrections.length === 0) return corrected;
  for (const hit of hits) {
    const turn = { ...hit, ref: refOf(hit) };
    // An answer may say nothing but the value: then the question before it says of what.
    const asked =
      hit.role === "assistant" && namesOldValue(corrections, hit.text) ? await questionOf(store, hit) : undefined;
    const correction = correctionOf(document, corrections, turn, asked);
    if (correction !== null) corrected.set(turn.ref, correction);
  }
  return corrected;
}

/** Takes the evidence of all earlier questions out of the prompt: an empty batch does that as any other. */
export const DROP_EVIDENCE = { kind: "prune", entries: [], tokensBefore: 0, tokensAfter: 0 } as const;

/** Whether evidence that a prompt shows names a value that was corrected after it was looked up. */
export function isOutdated(document: MemoryDocument, records: readonly Pick<EvidenceRecord, "text" | "at">[]): boolean {
  if (records.length === 0) return false;
  const corrections = correctionsIn(document);
  return records.some(({ text, at }) =>
    namesOldValue(
      corrections.filter(({ until }) => at <= until),
      text,
    ),
  );
}

/** So far before an answer its question is looked for: between them stand evidence, states, calls and results. */
const REACH = 16;

async function questionOf(store: Store, { threadId, seq }: SearchHit): Promise<AnsweredQuestion | undefined> {
  let asked: AnsweredQuestion | undefined;
  const range = [Math.max(1, seq - REACH), seq - 1] as const;
  for await (const { record, redacted } of store.records(threadId, { range, kinds: ["message", "evidence"] })) {
    if (redacted) continue;
    if (record.kind === "evidence" && asked !== undefined) asked = { ...asked, shown: [...asked.shown, ...record.ids] };
    if (record.kind !== "message") continue;
    const { shape, message } = readStored(record);
    if (shape.role(message) !== "user") continue;
    const texts = shape.parts(message).flatMap((part) => (part.kind === "text" ? [part.text] : []));
    if (texts.length > 0) asked = { text: texts.join("\n"), shown: [] };
  }
  const head = await store.head(threadId);
  const block = head === undefined ? [] : (frozenIn(head)?.factIds ?? []);
  return asked && { ...asked, shown: [...asked.shown, ...block] };
}

/*
 * Where a sub-agent's thread repeats a message of its parent word for word: the task of a call as its first message, and
 * its last answer where the parent holds the result. Reads only.
 */

interface ChildCopy {
  readonly threadId: string;
  readonly seq: number;
}

export async function childCopies({ store }: ThreadDeps, threadId: string, seq: number): Promise<ChildCopy[]> {
  const [message] = await messagesOf({ store }, threadId, [seq, seq]);
  const head = await store.head(threadId);
  if (message === undefined || head === undefined) return [];
  const { shape, message: value } = readStored(message);
  const [calls, answers] = [shape.calls(value), shape.answers(value)];
  const texts = messageTexts(message).map((text) => text.trim());
  const copies: ChildCopy[] = [];
  for (const { id, threadId } of delegationsOf(head.state)) {
    if (!calls.includes(id) && !answers.includes(id)) continue;
    const messages = await messagesOf({ store }, threadId);
    const same = messages.filter((one) => messageTexts(one).some((text) => texts.includes(text.trim())));
    // A long answer is cut for the parent, so that it is no longer the same.
    const last = answers.includes(id) ? messages.findLast(({ origin }) => origin === "model") : undefined;
    for (const one of new Set([...same, ...(last ? [last] : [])])) copies.push({ threadId, seq: one.seq });
  }
  return copies;
}

async function messagesOf(
  { store }: Pick<ThreadDeps, "store">,
  threadId: string,
  range?: readonly [number, number],
): Promise<MessageRecord[]> {
  const records: MessageRecord[] = [];
  for await (const { record } of store.records(threadId, { kinds: ["message"], ...(range && { range }) }))
    if (record.kind === "message") records.push(record);
  return records;
}
