/**
 * Search over what was ever said, in one thread or in all of a user's: brings the index up to date, lets core rank, and
 * shows the messages found. Compactions and undos hide nothing here; a fork finds what it shares.
 */
import type { FindToolFacts, Role } from "@palimpsest/core/message";
import { type RecallIndex, type Scope, search } from "@palimpsest/core/recall";
import type { EmbeddingModel } from "ai";
import type { IndexedSegment, SearchableStore } from "../stores/search-tables.ts";
import type { Store } from "../stores/store.ts";
import { StoreError } from "../stores/store-error.ts";
import { catchUp, isSearchable } from "./catch-up.ts";
import { closenessTo, type OnEmbedding } from "./embedder.ts";
import { readMessages, refOf } from "./messages.ts";
import { scanLog } from "./scan.ts";
import { storedIndex } from "./stored-index.ts";

export interface SearchHit {
  readonly threadId: string;
  readonly seq: number;
  /** The message's own. */
  readonly id: string;
  readonly score: number;
  readonly at: string;
  readonly role: Role;
  /** Who spoke: a name where the message has one, else the role. */
  readonly speaker: string;
  /** Messages of one sitting share a number, within their thread. */
  readonly session: number;
  readonly text: string;
}

/** `unindexed`: so many of the newest records could not be searched, because the index can't be written here. */
export type SearchOutcome =
  | { readonly kind: "found"; readonly hits: readonly SearchHit[]; readonly unindexed?: number }
  /** `no-terms`: the question is empty or holds only words that stand in every text. */
  | { readonly kind: "nothing"; readonly reason: "no-terms" | "no-match" | "missing"; readonly unindexed?: number };

export interface SearchSettings {
  /** How many hits at most; 20 unless told. */
  readonly k?: number;
  /** What is known of the tools in the log, beside recall's own. */
  readonly tools?: FindToolFacts | undefined;
  /** Compares the best hits by meaning as well, as far as their vectors are there. */
  readonly embedder?: EmbeddingModel | undefined;
  /** What the embedder takes, and that it fails. */
  readonly onEmbedding?: OnEmbedding | undefined;
  /** The thread that asks, where all are searched. */
  readonly askedBy?: string | undefined;
}

export async function searchThread(
  store: Store,
  threadId: string,
  question: string,
  settings: SearchSettings = {},
): Promise<SearchOutcome> {
  const scope = { kind: "thread", threadId } as const;
  const ready = await readyIndex(store, scope, settings.tools);
  if (ready === null) return { kind: "nothing", reason: "missing" };
  return run(store, scope, ready, question, settings);
}

/** In every thread of the store's user. */
export async function searchAll(store: Store, question: string, settings: SearchSettings = {}): Promise<SearchOutcome> {
  const scope = { kind: "user", userId: store.userId } as const;
  return run(store, scope, (await readyIndex(store, scope, settings.tools))!, question, settings);
}

interface ReadyIndex {
  readonly index: RecallIndex;
  readonly segments: readonly IndexedSegment[];
  readonly unindexed: number;
}

/** An index that is up to date, as far as it can be: the store's, else one of the log in memory. Null: no such thread. */
async function readyIndex(store: Store, scope: Scope, tools?: FindToolFacts): Promise<ReadyIndex | null> {
  if (!isSearchable(store)) {
    const index = await scanLog({ store, ...(tools && { tools }) }, scope);
    return index && { index, segments: [], unindexed: 0 };
  }
  const segments =
    scope.kind === "thread" ? await indexed(store, scope.threadId, tools) : await allIndexed(store, tools);
  if (scope.kind === "thread" && segments.length === 0) return null;
  const unindexed = segments.reduce((sum, { through, indexed: done }) => sum + Math.max(0, through - done), 0);
  return { index: storedIndex(store.search, segments), segments, unindexed };
}

async function allIndexed(store: SearchableStore, tools?: FindToolFacts): Promise<readonly IndexedSegment[]> {
  const segments = await store.search.ofUser();
  const behind = segments.filter(({ indexed, through }) => indexed < through);
  for (const { threadId } of behind) await indexed(store, threadId, tools);
  return behind.length > 0 ? store.search.ofUser() : segments;
}

async function run(
  store: Store,
  scope: Scope,
  { index, segments, unindexed: left }: ReadyIndex,
  question: string,
  { k = 20, tools, embedder, onEmbedding, askedBy }: SearchSettings,
): Promise<SearchOutcome> {
  const asking = scope.kind === "thread" ? scope.threadId : (askedBy ?? null);
  const compared = embedder !== undefined && isSearchable(store) && { store, segments, embedder };
  const result = await search(index, scope, question, {
    limit: k,
    ...(compared && {
      closeness: closenessTo(question, { ...compared, tell: (event) => onEmbedding?.(event, asking, store.userId) }),
    }),
  });
  const unindexed = left > 0 ? { unindexed: left } : {};
  if (result.kind === "nothing") return { ...result, ...unindexed };
  const messages = await readMessages(
    store,
    result.hits.map(({ doc }) => doc),
    tools,
  );
  const hits = result.hits.flatMap(({ doc, score }): SearchHit[] => {
    const { threadId, seq, at, speaker, session } = doc;
    const message = messages.get(refOf(doc));
    if (message === undefined) return [];
    return [
      {
        threadId,
        seq,
        score,
        speaker,
        session,
        ...message,
        at,
      },
    ];
  });
  return { kind: "found", hits, ...unindexed };
}

/** Where the index can't be written, it answers as far as it goes. */
async function indexed(
  store: SearchableStore,
  threadId: string,
  tools?: FindToolFacts,
): Promise<readonly IndexedSegment[]> {
  try {
    return await catchUp(store, threadId, tools);
  } catch (error) {
    const unwritable = error instanceof StoreError && ["unwritable", "full"].includes(error.code);
    if (!unwritable) throw error;
    return store.search.lineage(threadId);
  }
}
