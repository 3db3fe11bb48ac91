/**
 * An optional embedder beside the search by words: any embedding model of the AI SDK. Vectors are made behind the turns, never
 * in an append, and kept in the store's tables. A search compares the best hits by them where they are there, and in a thread the
 * newest messages; an embedder that fails, is slow or has changed costs a search its extra term and nothing else. One that fails is left alone for a while.
 */
import type { Closeness, IndexedDoc, Propose } from "@palimpsest/core/internal/recall";
import { cosine, PROPOSED, packVector } from "@palimpsest/core/internal/recall";
import { errorText } from "@palimpsest/core/internal/text";
import { type EmbeddingModel, embedMany } from "ai";
import type { EmbedderName, IndexedSegment, SearchableStore, SearchTables } from "../stores/search-tables.ts";
import { alongSegments, type MessagePlace, refOf } from "./stored-index.ts";

/** What an embedder took, and that it stopped working. */
export type EmbeddingEvent =
  | { readonly type: "embedding-usage"; readonly model: string; readonly calls: number; readonly tokens: number }
  /** Told once: it is asked again after a while, and told again only after it has worked. */
  | { readonly type: "embedding-failed"; readonly model: string; readonly reason: string };

/** `threadId` null: for a search that no thread asked for. */
export type OnEmbedding = (event: EmbeddingEvent, threadId: string | null, userId: string) => void;

export type Tell = (event: EmbeddingEvent) => void;

export interface Embedder {
  readonly name: EmbedderName;
  embed(texts: readonly string[], request: EmbeddingRequest): Promise<readonly (Int8Array | null)[]>;
  /** By user and thread: whose vectors are being made. */
  readonly underWay: Map<string, Underway>;
}

interface EmbeddingRequest {
  readonly signal: AbortSignal;
  readonly retries: number;
  readonly tell: Tell;
}

export interface Underway {
  readonly work: Promise<void>;
  /** More was said meanwhile. */
  again: boolean;
}

/** One for each model, which remembers how many numbers its vectors have. */
export function embedderOf(model: EmbeddingModel): Embedder {
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
  const id = typeof model === "string" ? model : model.modelId;
  const name: { readonly model: string; dimension?: number } = {
    model: typeof model === "string" ? model : `${model.provider}/${model.modelId}`,
  };
  const pause = createEmbedderPause();
  return {
    name,
    underWay: new Map(),
    async embed(texts, { signal, retries, tell }) {
      const values = texts.map((text) => text.slice(0, MOST_CHARACTERS));
      const request = { model, values, abortSignal: signal, maxRetries: retries };
      const { embeddings, usage, responses } = await unlessPaused(pause, request, (reason) =>
        tell({ type: "embedding-failed", model: id, reason }),
      );
      if (embeddings[0] !== undefined) name.dimension = embeddings[0].length;
      const tokens = Number.isFinite(usage.tokens) ? usage.tokens : 0;
      tell({ type: "embedding-usage", model: id, calls: responses?.length ?? 1, tokens });
      return embeddings.map(packVector);
    },
  };
}

async function unlessPaused(
  pause: EmbedderPause,
  request: Parameters<typeof embedMany>[0],
  onFailure: (reason: string) => void,
): ReturnType<typeof embedMany> {
  if (pause.isOn(performance.now())) throw new Error("the embedder has failed and is left alone for a while");
  try {
    const result = await embedMany(request);
    pause.worked();
    return result;
  } catch (error) {
    const { reason } = request.abortSignal ?? {};
    // The caller has gone: that is no failure of the embedder's. Its own time having passed is one.
    const left = request.abortSignal?.aborted === true && (reason as Error | undefined)?.name !== "TimeoutError";
    if (!left && pause.failed(performance.now()) === "first") onFailure(errorText(error));
    throw error;
  }
}

/** What a model of 512 tokens reads of a text; of a longer one its beginning stands for it. */
const MOST_CHARACTERS = 2_000;
/** A question that waits longer for its vector is answered by words alone. */
const QUESTION_MS = 2_000;

export interface ComparedSearch {
  readonly store: SearchableStore;
  readonly segments: readonly IndexedSegment[];
  readonly embedder: EmbeddingModel;
  readonly tell: Tell;
}

/** How near hits are to the question, and what else of a thread is near to it; nothing where no embedder can say so. */
export function meaningOf(
  question: string,
  { store, segments, embedder: model, tell }: ComparedSearch,
): { readonly closeness: Closeness; readonly propose: Propose } {
  const { vectors } = store.search;
  const embedder = embedderOf(model);
  let asked: Promise<Int8Array | null> | undefined;
  const ofQuestion = (): Promise<Int8Array | null> => {
    const request = { signal: AbortSignal.timeout(QUESTION_MS), retries: 0, tell };
    asked ??= embedder.embed([question], request).then(([own]) => own ?? null);
    return asked;
  };
  const cosines = async (places: readonly MessagePlace[]): Promise<(number | null)[]> => {
    const own = vectors === undefined || places.length === 0 ? null : await ofQuestion();
    if (vectors === undefined || own === null) return [];
    const known = await vectors.read({ model: embedder.name.model, dimension: own.length }, places);
    const byPlace = new Map(known.map((one) => [refOf(one), one.vector]));
    return places.map((place) => {
      const vector = byPlace.get(refOf(place));
      return vector === undefined ? null : cosine(own, vector);
    });
  };
  return {
    // In a thread's scope what a fork inherited is under the fork's name; its vectors are its parent's.
    closeness: (docs) =>
      cosines(
        docs.map(({ threadId, seq, ordinal }) => {
          const inherited = segments.find((one) => one.cut !== null && ordinal <= one.cut);
          return { threadId: inherited?.threadId ?? threadId, seq };
        }),
      ).catch(() => []),
    propose: () => nearest(store.search, segments, cosines).catch(() => []),
  };
}

/** So many of a thread's newest messages are compared with a question: about 3 MB of vectors. */
const NEWEST_COMPARED = 2_000;

/** Those of the thread's newest messages that are nearest in meaning, nearest first. */
async function nearest(
  tables: SearchTables,
  segments: readonly IndexedSegment[],
  cosines: (places: readonly MessagePlace[]) => Promise<readonly (number | null)[]>,
): Promise<IndexedDoc[]> {
  const own = segments.at(-1);
  if (own === undefined) return [];
  const last = own.newest?.ordinal ?? segments.at(-2)?.cut ?? -1;
  const ranges = alongSegments(
    { threadId: own.threadId, first: Math.max(0, last + 1 - NEWEST_COMPARED), last },
    segments,
  );
  const entries = await tables.entries(ranges);
  const near = (await cosines(entries)).flatMap((value, at) =>
    value === null ? [] : [{ value, entry: entries[at]! }],
  );
  near.sort((a, b) => b.value - a.value || b.entry.ordinal - a.entry.ordinal);
  return near
    .slice(0, 2 * PROPOSED)
    .map(({ entry }) => ({ ...entry, threadId: own.threadId, frequencies: [], passages: null }));
}

/** An embedder that fails is left alone, longer each time, so that no search waits for it in vain. Time is an argument. */
export interface EmbedderPause {
  isOn(now: number): boolean;
  /** `first`: it has worked until now. */
  failed(now: number): "first" | "again";
  worked(): void;
}

const PAUSES_MS = [10_000, 60_000, 600_000] as const;

export function createEmbedderPause(): EmbedderPause {
  let failures = 0;
  let until = Number.NEGATIVE_INFINITY;
  return {
    isOn: (now) => now < until,
    failed(now) {
      until = now + (PAUSES_MS[failures] ?? PAUSES_MS.at(-1)!);
      failures += 1;
      return failures === 1 ? "first" : "again";
    },
    worked() {
      failures = 0;
      until = Number.NEGATIVE_INFINITY;
    },
  };
}
