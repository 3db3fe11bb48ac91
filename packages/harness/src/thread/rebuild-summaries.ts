/**
 * Summaries made anew when words that they stand for are erased: by rules, from the messages that are left, and never
 * longer than they were. Each takes up the one it folds, as it was first written. Changes nothing itself.
 */

import {
  type Covered,
  coveredIn,
  extractState,
  renderState,
  stateOf,
  storedSummary,
} from "@palimpsest/core/internal/compaction";
import {
  type CompactionRecord,
  type Erasure,
  erase,
  erasedState,
  type FoldReport,
  flatSteps,
  type Head,
  isQuoted,
  type MessageRecord,
  type PruneRecord,
  type Range,
  readReports,
  type StoredSummary,
  summaryEdits,
  withoutEchoes,
} from "@palimpsest/core/internal/log";
import { readStored, type Shape, shapeOf } from "@palimpsest/core/internal/message";
import {
  originalsIn,
  ownText,
  quotable,
  quote,
  quoteSteps,
  splitQuotes,
  withEdits,
} from "@palimpsest/core/internal/summary";
import { stateChainOf, stateLines } from "../compaction/state-chain.ts";
import { inTurns } from "../long-work.ts";
import type { Store, StoredRecord } from "../stores/store.ts";
import { readBody } from "./thread-view.ts";

/** By the hash of their records, so that threads that share one get the same. */
export type RebuiltSummaries = Map<string, StoredSummary>;

/** By seq: those that cover the message or quote the words, and those whose stored changes rest on one of them. */
export async function rebuildSummaries(
  store: Store,
  threadId: string,
  erasure: Erasure,
  known: RebuiltSummaries,
): Promise<ReadonlyMap<number, StoredSummary>> {
  const summaries = new Map<number, StoredSummary>();
  const head = await store.head(threadId);
  if (head === undefined) return summaries;
  for await (const stored of store.records(threadId, { kinds: ["compaction"] })) {
    const { record, chained } = stored;
    if (record.kind !== "compaction") continue;
    const rests = record.folds !== null && summaries.has(record.folds);
    if (!rests && erase(record, chained, erasure) === null) continue;
    const summary =
      known.get(chained.hash) ??
      (isRebuilt(stored, erasure)
        ? record.summary
        : await rebuilt(record, { store, threadId, head, erasure, summaries }));
    known.set(chained.hash, summary);
    summaries.set(record.seq, summary);
  }
  return summaries;
}

/** The message was erased before, and this was made anew then: it says nothing of it. */
function isRebuilt({ record, redacted }: StoredRecord, { texts }: Erasure): boolean {
  return texts.length === 0 && redacted && record.kind === "compaction" && record.summary.state !== null;
}

type CoveredWords = Covered<object>["own"];

interface RecordSource {
  readonly store: Store;
  readonly threadId: string;
}

interface Rebuilding extends RecordSource {
  readonly head: Head;
  readonly erasure: Erasure;
  /** Those made so far. */
  readonly summaries: ReadonlyMap<number, StoredSummary>;
}

async function rebuilt(record: CompactionRecord, context: Rebuilding): Promise<StoredSummary> {
  const { head, erasure } = context;
  const { format, text: before } = record.summary;
  const last = record.covers[1];
  const folded = await foldedState(record, context);
  // Where the summary before it is gone, everything it stood for is read again.
  const records = await messagesIn(context, { range: storedSummary(folded) === null ? [1, last] : record.covers });
  const shape = shapeOf<object>(records.at(-1)?.dialect ?? "openai");
  const entries = records
    .map((one) => ({ seq: one.seq, message: readBody(one, shape) }))
    .filter(({ message }) => shape.role(message) !== "system");
  const covered = await inTurns(coveredIn(folded, { last, entries, tail: [] }, shape));
  const own = { ...ownLeft(covered.own, erasure), reports: await reportsLeft(record, context) };
  const userTurns = covered.userTurns.filter((seq) => seq !== erasure.message?.seq);
  const pinned = [...new Set([...head.pins.filter((seq) => seq <= last), ...userTurns.toReversed()])];
  const seqs = [...new Set([...pinned, ...quotable(own.hidden).map(({ seq }) => seq)])];
  const quoted = new Map((await messagesIn(context, { seqs })).map((one) => [one.seq, readBody(one, shape)]));
  const [words, quotes] = splitQuotes(before);
  const input = {
    ...covered,
    own,
    userTurns,
    pins: pinned.flatMap((seq) => (quoted.has(seq) ? [quote(seq, quoted.get(seq)!, shape)] : [])),
    quotes: await inTurns(
      quoteSteps(own.hidden, {
        maxTokens: size(quotes),
        count: size,
        text: ({ seq, part }) => {
          const text = writtenIn(quoted.get(seq), part, shape);
          return text === null || isQuoted(text, erasure.texts) ? null : text;
        },
      }),
    ),
    lines: stateLines(erasedState(head.state, erasure) ?? head.state),
    originals: originalsIn(before),
  };
  const room = { maxTokens: record.summary.state === null ? ROOM_OF_ERASED : size(words), count: size };
  const summary = withoutEchoes(await inTurns(extractState(input, shape, room)), erasure.texts);
  const { text } = renderState(summary, input, { ...room, format });
  return { format, text, digest: null, state: stateOf(summary, input) };
}

/** Calls that stay may name a file or a value that the erased message names, too. */
function ownLeft(own: CoveredWords, { texts }: Erasure): CoveredWords {
  const partsLeft = ({ messages, parts }: CoveredWords["work"]) => ({
    messages,
    parts: parts.filter(({ path }) => path === null || !isQuoted(path, texts)),
  });
  const names = own.names.filter(([name]) => !isQuoted(name, texts));
  return { ...own, names, work: partsLeft(own.work), hidden: partsLeft(own.hidden) };
}

/** Reports are carried from compaction to compaction, so its own state has all of them. */
async function reportsLeft(
  record: CompactionRecord,
  { store, threadId, erasure }: Rebuilding,
): Promise<readonly FoldReport[]> {
  const { message, texts } = erasure;
  const reports = readReports((await stateChainOf(store, threadId, record))?.state);
  const covers = ([first, last]: Range): boolean => message !== null && first <= message.seq && message.seq <= last;
  return reports.filter(({ range, text }) => !covers(range) && !isQuoted(text, texts));
}

function writtenIn<M>(message: M | undefined, index: number, shape: Shape<M>): string | null {
  const part = message === undefined ? undefined : shape.parts(message)[index];
  return ownText(part);
}

async function foldedState(record: CompactionRecord, { store, threadId, summaries }: Rebuilding): Promise<unknown> {
  if (record.folds === null) return null;
  const made = summaries.get(record.folds);
  if (made !== undefined) return made.state;
  for await (const { record: folded } of store.records(threadId, { range: [record.folds, record.folds] }))
    if (folded.kind === "compaction") {
      const state = (await stateChainOf(store, threadId, folded))?.state ?? null;
      return withEdits(state, await editsOf(folded, record.seq, { store, threadId }));
    }
  return null;
}

/** What people had changed in a summary when the next one was written. */
async function editsOf(compaction: CompactionRecord, until: number, { store, threadId }: RecordSource) {
  const prunes = new Map<number, PruneRecord>();
  const query = { kinds: ["prune", "undo"], range: [compaction.seq, until] } as const;
  for await (const { record } of store.records(threadId, query)) {
    if (record.kind === "prune") prunes.set(record.seq, record);
    else if (record.kind === "undo") prunes.delete(record.of);
  }
  return summaryEdits({ compaction, prunes: [...prunes.values()] });
}

/** Without what goes, what was erased before, and whatever repeats the words. */
async function messagesIn(
  { store, threadId, erasure }: Rebuilding,
  which: { readonly range: Range } | { readonly seqs: readonly number[] },
): Promise<readonly MessageRecord[]> {
  const messages: MessageRecord[] = [];
  if ("seqs" in which && which.seqs.length === 0) return messages;
  for await (const { record, redacted } of store.records(threadId, { ...which, kinds: ["message"] })) {
    if (record.kind !== "message" || redacted || record.seq === erasure.message?.seq) continue;
    const { shape, message } = readStored(record);
    const says = shape.parts(message).map((part) => ("text" in part ? String(part.text) : ""));
    const isEcho = await inTurns(quotedSteps(says, erasure.texts));
    if (!isEcho) messages.push(record);
  }
  return messages;
}

function* quotedSteps(says: readonly string[], texts: readonly string[]): Generator<void, boolean> {
  for (const text of says) if (isQuoted(yield* flatSteps(text), texts)) return true;
  return false;
}

/** In tokens, about: only the old text and the new one are compared by it. */
function size(text: string): number {
  return Math.ceil(Buffer.byteLength(text) / 4);
}

/** How long a summary was that is erased whole is unknown. */
const ROOM_OF_ERASED = 200;
