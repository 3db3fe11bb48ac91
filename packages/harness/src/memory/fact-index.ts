/**
 * Facts as a searchable list, built once per document: BM25 over their words. Ended and forgotten facts aren't in it,
 * because it is made from the document and from nothing else.
 */
import { type Fact, liveFacts, type MemoryDocument } from "@palimpsest/core/memory";
import { type IndexEntry, indexEntry, MemoryIndex, search } from "@palimpsest/core/recall";

export interface FactHit {
  readonly fact: Fact;
  readonly score: number;
}

export async function searchFacts(document: MemoryDocument, query: string, limit: number): Promise<FactHit[]> {
  const { index, facts } = indexOf(document);
  const options = { limit: Math.max(1, limit), matches: MATCHES };
  const result = await search(index, { kind: "thread", threadId: FACTS }, query, options);
  if (result.kind === "nothing") return [];
  return result.hits.map(({ doc, score }) => ({ fact: facts[doc.seq - 1]!, score })).filter(({ score }) => score > 0);
}

/** How much facts have to do with a question, by their ids; those without a word of it are missing. */
export async function relevanceTo(document: MemoryDocument, question: string): Promise<ReadonlyMap<string, number>> {
  if (question.trim() === "") return new Map();
  const hits = await searchFacts(document, question, RELEVANT);
  return new Map(hits.map(({ fact, score }) => [fact.id, score]));
}

const RELEVANT = 60;
const FACTS = "facts";
/** Facts are in memory: looking at more of them costs little. */
const MATCHES = 250;
const built = new WeakMap<MemoryDocument, { readonly index: MemoryIndex; readonly facts: readonly Fact[] }>();

function indexOf(document: MemoryDocument) {
  const cached = built.get(document);
  if (cached !== undefined) return cached;
  const facts = liveFacts(document);
  const index = new MemoryIndex();
  for (const [at, fact] of facts.entries()) {
    // Neighbours in the list have nothing to do with each other: a session each keeps them apart.
    index.put({ threadId: FACTS, seq: at + 1 }, { ...entryOf(fact), at: apart(at) });
  }
  const entry = { index, facts };
  built.set(document, entry);
  return entry;
}

/** A fact that stays as it is from one document to the next is read once. */
function entryOf(fact: Fact): IndexEntry {
  const entry = entries.get(fact) ?? indexEntry({ text: fact.content, speaker: "user", at: fact.createdAt });
  entries.set(fact, entry);
  return entry;
}

const entries = new WeakMap<Fact, IndexEntry>();

function apart(at: number): string {
  return new Date(at * 86_400_000).toISOString();
}
