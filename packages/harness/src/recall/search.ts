/**
 * Search over what was ever said, in one thread or in all of a user's: brings the index up to date, lets core rank, and
 * shows the messages found. Compactions and undos hide nothing here; a fork finds what it shares. Below: messages read by
 * their addresses.
 */
import {
  type MessageRecord,
  type RuleList,
  readRules,
  recognizeRules,
  withoutEnded,
} from "@palimpsest/core/internal/log";
import { mayBecomeRule } from "@palimpsest/core/internal/memory";
import type { FindToolFacts, Role } from "@palimpsest/core/internal/message";
import {
  COURSE_SEARCH,
  createSnippets,
  type IndexedDoc,
  indexableText,
  type RecallIndex,
  type Scope,
  search,
  standingSentences,
} from "@palimpsest/core/internal/recall";
import type { EmbeddingModel } from "ai";
import { inTurns } from "../long-work.ts";
import type { IndexedSegment, SearchableStore, UserIndex } from "../stores/search-tables.ts";
import type { Store } from "../stores/store.ts";
import { StoreError } from "../stores/store-error.ts";
import { catchUpShare, type IndexDeps, isSearchable, recallShape, shareWork } from "./catch-up.ts";
import { type EmbeddingEvent, meaningOf, type OnEmbedding } from "./embedder.ts";
import { scanLog } from "./scan.ts";
import { type IndexProgress, type MessagePlace, progressOf, refOf, storedIndex } from "./stored-index.ts";

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

export type SearchOutcome = (
  | { readonly kind: "found"; readonly hits: readonly SearchHit[] }
  /** `no-terms`: the question is empty or holds only words that stand in every text. */
  | { readonly kind: "nothing"; readonly reason: "no-terms" | "no-match" | "missing" }
) &
  SearchCover &
  ShownWith;

/** What `renderHits` shows beside the hits, and by what it chooses their windows. */
export interface ShownWith {
  /** How much each term of the question counts in what was searched. */
  readonly weights?: ReadonlyMap<string, number> | undefined;
  /** The newest messages with standing instructions or preferences, whatever was asked. */
  readonly standing?: readonly SearchHit[] | undefined;
}

/** Nothing of it where all that was said has been searched. */
export interface SearchCover {
  /** So many records could not be searched: their index is still being built, or it can't be written here. */
  readonly unindexed?: number;
  /** How far the index has come that is being built in the background. */
  readonly building?: IndexProgress;
}

/** Why nothing was found, in a sentence. */
export function whyNothing(reason: "no-terms" | "no-match" | "missing"): string {
  switch (reason) {
    case "no-terms":
      return "The question has no word that could be looked for: name something that was said.";
    case "no-match":
      return "Nothing found: try other words.";
    case "missing":
      return "There is no such thread.";
  }
}

/** What was not searched and why, in a sentence; null: nothing. */
export function coverNote({ unindexed = 0, building }: SearchCover): string | null {
  if (unindexed === 0) return null;
  const missing = `${unindexed} ${unindexed === 1 ? "record was" : "records were"} not searched`;
  if (building === undefined) return `${missing}: the index can't be written here.`;
  return `${missing}: the search index is being built, ${building.indexed} of ${building.records} records are in it.`;
}

export interface SearchSettings {
  /** How many hits at most; 20 unless told. */
  readonly limit?: number | undefined;
  /** @deprecated The earlier name of `limit`. */
  readonly k?: number;
  /** What is known of the tools in the log, beside recall's own. */
  readonly tools?: FindToolFacts | undefined;
  /** Compares the best hits by meaning as well, and in one thread adds messages that only it finds, as far as their vectors are there. */
  readonly embedder?: EmbeddingModel | undefined;
  /** What the embedder takes, and that it fails. */
  readonly onEmbedding?: OnEmbedding | undefined;
  /** `holders`: only messages with a word of the question in their text, for people: others matter to a model only. */
  readonly only?: "holders" | undefined;
  /** `with`: messages with standing instructions and preferences are found as well, whatever is asked. */
  readonly standing?: "with" | "without" | undefined;
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

/** By seq, how well the messages of a thread answer a question for the course of things. Empty where none does. */
export async function courseScores(
  store: Store,
  threadId: string,
  question: string,
  settings: SearchSettings = {},
): Promise<ReadonlyMap<number, number>> {
  const scope = { kind: "thread", threadId } as const;
  const ready = await readyIndex(store, scope, settings.tools);
  if (ready === null) return new Map();
  const meaning = meaningFor(store, scope, ready, question, settings);
  const result = await search(ready.index, scope, question, {
    ...COURSE_SEARCH,
    closeness: meaning?.closeness,
  });
  return new Map(result.kind === "found" ? result.hits.map(({ doc, score }) => [doc.seq, score]) : []);
}

interface ReadyIndex {
  readonly index: RecallIndex;
  /** Of a thread. */
  readonly segments: readonly IndexedSegment[];
  readonly cover: SearchCover;
}

/** An index that is up to date, as far as it can be: the store's, else one of the log in memory. Null: no such thread. */
async function readyIndex(store: Store, scope: Scope, tools?: FindToolFacts): Promise<ReadyIndex | null> {
  if (!isSearchable(store)) {
    const index = await scanLog({ store, tools }, scope);
    return index && { index, segments: [], cover: {} };
  }
  const deps = { store, tools };
  if (scope.kind === "user") return readyUser(deps);
  const brought = await asFarAsWritable(() => catchUpShare(deps, scope.threadId));
  const segments = brought ?? (await store.search.lineage(scope.threadId));
  if (segments.length === 0) return null;
  const cover = coverOf(segments, brought === null ? "unwritable" : "building");
  return { index: storedIndex(store.search, { kind: "thread", segments }), segments, cover };
}

async function readyUser(deps: IndexDeps & { readonly store: SearchableStore }): Promise<ReadyIndex> {
  const { search } = deps.store;
  const brought = await asFarAsWritable(() => allIndexed(deps));
  const user = brought ?? (await search.user());
  // How far an index is that is being built is the only thing for which every thread is looked at.
  const cover =
    user.late.length === 0 ? {} : coverOf(await search.ofUser(), brought === null ? "unwritable" : "building");
  return { index: storedIndex(search, { kind: "user", user }), segments: [], cover };
}

/** In the order in which their last words were said: what is newest is asked for most. */
async function allIndexed(deps: IndexDeps & { readonly store: SearchableStore }): Promise<UserIndex> {
  const { search } = deps.store;
  const user = await search.user();
  if (user.late.length === 0) return user;
  const late = [...user.late].sort((a, b) => ((a.newest?.at ?? "") > (b.newest?.at ?? "") ? -1 : 1));
  await shareWork(
    deps,
    late.map(({ threadId, indexed, through }) => ({ threadId, missing: through - indexed })),
  );
  return search.user();
}

function coverOf(segments: readonly IndexedSegment[], why: "unwritable" | "building"): SearchCover {
  const progress = progressOf(segments);
  const unindexed = progress.records - progress.indexed;
  if (unindexed === 0) return {};
  return why === "unwritable" ? { unindexed } : { unindexed, building: progress };
}

async function run(
  store: Store,
  scope: Scope,
  ready: ReadyIndex,
  question: string,
  settings: SearchSettings,
): Promise<SearchOutcome> {
  const { k, limit = k ?? 20, tools, standing, only } = settings;
  const { cover } = ready;
  const meaning = meaningFor(store, scope, ready, question, settings);
  const result = await search(ready.index, scope, question, {
    // A date or a name is a word of the question, too, and stands in no text: some more are asked for.
    limit: only === undefined ? limit : limit + EXTRA,
    standing,
    only,
    closeness: meaning?.closeness,
    // People see messages with their words only.
    propose: only === undefined ? meaning?.propose : undefined,
  });
  const ranked = result.kind === "found" ? result.hits : [];
  const docs = [...ranked.map(({ doc }) => doc), ...(result.standing ?? [])];
  if (docs.length === 0)
    return { kind: "nothing", reason: result.kind === "nothing" ? result.reason : "no-match", ...cover };
  const messages = await readMessages(store, docs, tools);
  const shown = (doc: IndexedDoc, score: number, words: "text" | "typed" = "text"): SearchHit[] => {
    const { threadId, seq, at, speaker, session } = doc;
    const message = messages.get(refOf(doc));
    if (message === undefined) return [];
    const said = { id: message.id, role: message.role, text: message[words] };
    const place = { threadId, seq, session };
    return [{ ...said, ...place, score, speaker, at }];
  };
  const typed = result.standing?.flatMap((doc) => shown(doc, 0, "typed"));
  const rules = typed && { standing: await inForce(store, typed) };
  if (result.kind === "nothing") return { kind: "nothing", reason: result.reason, ...rules, ...cover };
  const all = ranked.flatMap(({ doc, score }) => shown(doc, score));
  const hits = only === undefined ? all : (await inTurns(holders(all, question))).slice(0, limit);
  if (hits.length === 0) return { kind: "nothing", reason: "no-match", ...rules, ...cover };
  return { kind: "found", hits, weights: result.weights, ...rules, ...cover };
}

const EXTRA = 20;

/** Without the instructions that ended since: a person ended them, or a later one took their place. */
async function inForce(store: Store, hits: readonly SearchHit[]): Promise<SearchHit[]> {
  const told = (hit: SearchHit) => standingSentences(hit.text).map(({ text }) => ({ text, source: hit.seq }));
  const rules = new Map<string, RuleList>();
  for (const [threadId, own] of Map.groupBy(hits, (hit) => hit.threadId)) {
    const stated = own.toSorted((a, b) => a.seq - b.seq).flatMap(told);
    const binding = stated.filter(({ text }) => mayBecomeRule(text));
    const stored = readRules((await store.head(threadId))?.state ?? {});
    rules.set(threadId, recognizeRules(stored, binding, own[0]!.at));
  }
  return hits.flatMap((hit): SearchHit[] => {
    const all = told(hit);
    const left = all.filter(({ text }) => withoutEnded(text, rules.get(hit.threadId)!) === text);
    if (left.length === all.length) return [hit];
    return left.length === 0 ? [] : [{ ...hit, text: left.map(({ text }) => text).join("\n") }];
  });
}

/** False where no embedder is asked. */
function meaningFor(
  store: Store,
  scope: Scope,
  { segments }: ReadyIndex,
  question: string,
  { embedder, onEmbedding, askedBy }: SearchSettings,
): ReturnType<typeof meaningOf> | null {
  const asking = scope.kind === "thread" ? scope.threadId : (askedBy ?? null);
  const tell = (event: EmbeddingEvent): void => onEmbedding?.(event, asking, store.userId);
  if (embedder === undefined || !isSearchable(store)) return null;
  return meaningOf(question, { store, segments, embedder, tell });
}

function* holders(hits: readonly SearchHit[], question: string): Generator<void, SearchHit[]> {
  const snippetOf = createSnippets(question);
  const holding: SearchHit[] = [];
  for (const hit of hits) {
    yield;
    if (snippetOf(hit.text).marks.length > 0) holding.push(hit);
  }
  return holding;
}

/** Null where the index can't be written: it answers as far as it goes. */
async function asFarAsWritable<T>(work: () => Promise<T>): Promise<T | null> {
  try {
    return await work();
  } catch (error) {
    const unwritable = error instanceof StoreError && ["unwritable", "full"].includes(error.code);
    if (!unwritable) throw error;
    return null;
  }
}

/* The words of messages as they were indexed, by where they stand. */

interface ShownHitText extends Pick<SearchHit, "id" | "role" | "text" | "at"> {
  /** What a person typed in this thread. */
  readonly typed: string;
}

/** The words of messages as they were indexed, by `refOf`; one read for each thread. */
export async function readMessages(
  store: Store,
  places: readonly MessagePlace[],
  tools?: FindToolFacts,
): Promise<Map<string, ShownHitText>> {
  const messages = new Map<string, ShownHitText>();
  const read = async (threadId: string, seqs: readonly number[]): Promise<void> => {
    const range = [Math.min(...seqs), Math.max(...seqs)] as const;
    for await (const { record, redacted } of store.records(threadId, { range, seqs, kinds: ["message"] })) {
      if (redacted) continue;
      const { id, dialect, body, origin, at, seq } = record as MessageRecord;
      const shape = recallShape(dialect, tools);
      const message: object = JSON.parse(body);
      const { text, typed } = indexableText(message, shape, { origin }) ?? { text: "", typed: "" };
      messages.set(refOf({ threadId, seq }), { id, role: shape.role(message), at, text, typed });
    }
  };
  const byThread = Map.groupBy(places, ({ threadId }) => threadId);
  await Promise.all(
    [...byThread].map(([threadId, own]) =>
      read(
        threadId,
        own.map(({ seq }) => seq),
      ),
    ),
  );
  return messages;
}

/**
 * Messages by address (`thread#seq`), as hits that no search found. Those that aren't there or were erased are left out,
 * and so is what is no address: a memory that came from elsewhere names its sources as it likes.
 */
export async function readTurns(store: Store, refs: readonly string[]): Promise<SearchHit[]> {
  const places = refs.flatMap((ref) => {
    const [, threadId, seq] = /^([^#]+)#(\d{1,15})$/.exec(ref) ?? [];
    return threadId === undefined ? [] : [{ threadId, seq: Number(seq) }];
  });
  const messages = await readMessages(store, places);
  return places.flatMap((place): SearchHit[] => {
    const message = messages.get(refOf(place));
    if (message === undefined) return [];
    // Its sitting isn't known without the index; the day stands for it.
    const session = -Math.floor(Date.parse(message.at) / 86_400_000);
    const { typed: _, ...shown } = message;
    return [{ ...place, score: 0, session, ...shown, speaker: message.role }];
  });
}
