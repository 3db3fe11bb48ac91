/**
 * Evidence for a question in a thread that is open for another loop, as an agent's middleware adds it in a run: one record
 * beside the question, which shows it from then on until the next compaction. There is no system prompt of ours to hold
 * the stable block, so the first question that gets evidence gets the block too, and again after a compaction.
 */
import { asksNothing } from "@palimpsest/core/internal/memory";
import type { EvidenceRecord } from "@palimpsest/core/log";
import { type MemoryDocument, renderMemory } from "@palimpsest/core/memory";
import type { Shape } from "@palimpsest/core/message";
import { charsPerToken } from "@palimpsest/core/tokens";
import { readTurns, refOf } from "../recall/messages.ts";
import type { Store } from "../stores/store.ts";
import { openConversation } from "../thread/conversation.ts";
import { commit, type Writer } from "../thread/writer.ts";
import { type Evidence, evidenceBudget, gatherEvidence } from "./evidence.ts";
import { relevanceTo } from "./fact-index.ts";
import { blockBudget } from "./stable-lane.ts";

export interface QuestionRequest<M extends object> {
  /** Where it stands in the log, and its words. */
  readonly of: number;
  readonly words: string;
  readonly shape: Shape<M>;
  readonly window: number;
  readonly agentName: string;
  /** `thread`: only what the thread itself hides. */
  readonly scope: "thread" | "user";
  /** What is remembered, as it stands now. */
  readonly document: () => Promise<MemoryDocument>;
  /** The most for one question, and for the stable block. */
  readonly evidenceTokens: number;
  /** Undefined: as the window allows. */
  readonly memoryTokens: number | undefined;
}

/** Null: nothing matters to it. Under the writer's lease. */
export async function addQuestionEvidence<M extends object>(
  writer: Writer,
  request: QuestionRequest<M>,
): Promise<Pick<Evidence, "tokens"> | null> {
  const { of, shape, document } = request;
  const evidence = await evidenceFor(writer, request);
  if (evidence === null) return null;
  const { text, ids, tokens } = evidence;
  const done = await commit(writer, [{ kind: "evidence", of, text, ids, hash: writer.hash(text) }]);
  if (done.kind !== "committed") return null;
  if (await areThere(writer, await document(), ids)) return { tokens };
  // Somebody erased it meanwhile, and can't have found it in this thread yet.
  const conversation = await openConversation(writer, shape);
  await conversation?.erase([{ seq: done.seqs[0]!, body: JSON.stringify("[redacted]") }], []);
  return null;
}

async function evidenceFor<M extends object>(
  { store, lease, tools, embedder, onEmbedding }: Writer,
  { words, window, agentName, scope, document, evidenceTokens, memoryTokens }: QuestionRequest<M>,
): Promise<Evidence | null> {
  const { threadId } = lease;
  const head = await store.head(threadId);
  if (head === undefined || words.trim() === "") return null;
  if (head.hiddenThrough === 0 && asksNothing(words)) return null;
  const earlier = await recordsAt(store, threadId, head.evidence);
  const known = await document();
  const count = charsPerToken(4);
  const most = memoryTokens === undefined ? blockBudget(window) : Math.min(memoryTokens, Math.floor(window / 16));
  const block =
    scope === "user" && earlier.length === 0 && most > 0
      ? renderMemory(known, { tokens: most, count, relevance: await relevanceTo(known, words) })
      : null;
  const limit = { limit: evidenceTokens, window, current: earlier.reduce((sum, { text }) => sum + count(text), 0) };
  const gathered = await gatherEvidence(store, known, {
    question: words,
    agentName,
    threadId,
    visibleAfter: head.hiddenThrough,
    shown: new Set([...(block?.factIds ?? []), ...earlier.flatMap(({ ids }) => ids)]),
    earlier: earlier.map(({ text }) => text),
    tokens: evidenceBudget(limit),
    count,
    tools,
    embedder,
    onEmbedding,
    scope,
  });
  const texts = [block?.text ?? "", gathered?.text ?? ""].filter((text) => text !== "");
  if (texts.length === 0) return null;
  const text = texts.join("\n\n");
  return { text, tokens: count(text), ids: [...(block?.factIds ?? []), ...(gathered?.ids ?? [])] };
}

async function recordsAt(store: Store, threadId: string, seqs: readonly number[]): Promise<readonly EvidenceRecord[]> {
  if (seqs.length === 0) return [];
  const records: EvidenceRecord[] = [];
  const range = [seqs[0]!, seqs.at(-1)!] as const;
  for await (const { record } of store.records(threadId, { range, seqs, kinds: ["evidence"] }))
    if (record.kind === "evidence") records.push(record);
  return records;
}

async function areThere({ store }: Writer, { facts }: MemoryDocument, ids: readonly string[]): Promise<boolean> {
  const turns = await readTurns(store, ids);
  const there = new Set([...facts.map(({ id }) => id), ...turns.map(refOf)]);
  return ids.every((id) => there.has(id));
}
