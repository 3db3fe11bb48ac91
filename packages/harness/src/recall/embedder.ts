/**
 * An optional embedder beside the search by words: any embedding model of the AI SDK. Vectors are made behind the turns, never
 * in an append, and kept in the store's tables. A search compares the best hits by them where they are there; an embedder
 * that fails, is slow or has changed costs a search its extra term and nothing else.
 */
import { cosine, packVector } from "@palimpsest/core/internal/recall";
import type { Closeness } from "@palimpsest/core/recall";
import { type EmbeddingModel, embedMany } from "ai";
import type { EmbedderName, IndexedSegment, SearchableStore, VectorTable } from "../stores/search-tables.ts";
import { catchUp, type IndexDeps, isSearchable } from "./catch-up.ts";
import { readMessages, refOf } from "./messages.ts";

interface Embedder {
  readonly name: EmbedderName;
  embed(texts: readonly string[], signal: AbortSignal): Promise<readonly (Int8Array | null)[]>;
  /** By user and thread: whose vectors are being made. */
  readonly underWay: Map<string, Promise<void>>;
}

/** One for each model, which remembers how many numbers its vectors have. */
function embedderOf(model: EmbeddingModel): Embedder {
  const known = typeof model === "string" ? named.get(model) : objects.get(model);
  if (known !== undefined) return known;
  const made = createEmbedder(model);
  if (typeof model === "string") named.set(model, made);
  else objects.set(model, made);
  return made;
}

const named = new Map<string, Embedder>();
const objects = new WeakMap<object, Embedder>();

function createEmbedder(model: EmbeddingModel): Embedder {
  const name: { readonly model: string; dimension?: number } = {
    model: typeof model === "string" ? model : `${model.provider}/${model.modelId}`,
  };
  return {
    name,
    underWay: new Map(),
    async embed(texts, abortSignal) {
      const values = texts.map((text) => text.slice(0, MOST_CHARACTERS));
      const { embeddings } = await embedMany({ model, values, abortSignal, maxRetries: 1 });
      if (embeddings[0] !== undefined) name.dimension = embeddings[0].length;
      return embeddings.map(packVector);
    },
  };
}

/** What a model of 512 tokens reads of a text; of a longer one its beginning stands for it. */
const MOST_CHARACTERS = 2_000;
/** A question that waits longer for its vector is answered by words alone. */
const QUESTION_MS = 2_000;
const BATCH = 64;

/** How near hits are to the question; null where no embedder can say so. */
export function closenessTo(
  question: string,
  store: SearchableStore,
  segments: readonly IndexedSegment[],
  model: EmbeddingModel,
): Closeness {
  const { vectors } = store.search;
  const embedder = embedderOf(model);
  return async (docs) => {
    try {
      const [own] = vectors ? await embedder.embed([question], AbortSignal.timeout(QUESTION_MS)) : [];
      if (!vectors || !own) return [];
      // In a thread's scope what a fork inherited is under the fork's name; its vectors are its parent's.
      const owners = docs.map(({ threadId, seq, ordinal }) => {
        const inherited = segments.find((one) => one.cut !== null && ordinal <= one.cut);
        return { threadId: inherited?.threadId ?? threadId, seq };
      });
      const known = await vectors.read({ model: embedder.name.model, dimension: own.length }, owners);
      const byPlace = new Map(known.map((one) => [refOf(one), one.vector]));
      return owners.map((place) => {
        const vector = byPlace.get(refOf(place));
        return vector === undefined ? null : cosine(own, vector);
      });
    } catch {
      return [];
    }
  };
}

interface EmbeddingDeps extends IndexDeps {
  readonly embedder?: EmbeddingModel | undefined;
}

/** Gives the thread's messages the vectors they lack. Never throws; whoever comes while it is under way gets the same promise. */
export function keepEmbedded(deps: EmbeddingDeps, threadId: string, signal: AbortSignal): Promise<void> {
  const { store } = deps;
  if (deps.embedder === undefined || !isSearchable(store) || !store.search.vectors) return Promise.resolve();
  const embedder = embedderOf(deps.embedder);
  const key = JSON.stringify([store.userId, threadId]);
  const current = embedder.underWay.get(key);
  if (current !== undefined) return current;
  const work = embedThread({ ...deps, store, embedder, vectors: store.search.vectors }, threadId, signal)
    .catch(() => {})
    .finally(() => embedder.underWay.delete(key));
  embedder.underWay.set(key, work);
  return work;
}

interface Embedding extends IndexDeps {
  readonly store: SearchableStore;
  readonly embedder: Embedder;
  readonly vectors: VectorTable;
}

async function embedThread(deps: Embedding, threadId: string, signal: AbortSignal): Promise<void> {
  for (const segment of await catchUp(deps.store, threadId, deps.tools)) {
    while (!signal.aborted && (await embedBatch(deps, segment.threadId, signal)));
  }
}

/** False when there is nothing left to do, or somebody else does it. */
async function embedBatch(deps: Embedding, threadId: string, signal: AbortSignal): Promise<boolean> {
  const { store, embedder, vectors, tools } = deps;
  const { through, seqs } = await vectors.pending(threadId, embedder.name, BATCH);
  const last = seqs.at(-1);
  if (last === undefined) return false;
  const messages = await readMessages(
    store,
    seqs.map((seq) => ({ threadId, seq })),
    tools,
  );
  const texts = seqs.flatMap((seq) => {
    const text = messages.get(refOf({ threadId, seq }))?.text ?? "";
    return text.trim() === "" ? [] : [{ seq, text }];
  });
  const made =
    texts.length === 0
      ? []
      : await embedder.embed(
          texts.map(({ text }) => text),
          signal,
        );
  const { model, dimension } = embedder.name;
  if (dimension === undefined) return false;
  const written = await vectors.write(threadId, {
    embedder: { model, dimension },
    expect: through,
    through: last,
    vectors: texts.flatMap(({ seq }, at) => {
      const vector = made[at];
      return vector && vector.length === dimension ? [{ seq, vector }] : [];
    }),
  });
  return written === "written";
}
