/**
 * Asks the store which threads a request may belong to, in as few reads as it takes, has `match` decide, and claims the thread.
 * `claimMatch` forks it after all where another request holds it or it has moved on since.
 */
import { readStoredAs, type Shape } from "@palimpsest/core/internal/message";
import { bytesOf, createThread, fork, LeftOpen, liveRecordsOf } from "palimpsest/internal/threads";
import { type OpenThread, type OpenThreadOptions, openThread, type ThreadDeps } from "palimpsest/session";
import type { MatchRow, MatchRows, Store } from "palimpsest/stores";
import type { ServerThreadPlace } from "./answer.ts";
import { rowsOfThread } from "./fork-places.ts";
import {
  type ChainPlace,
  type ChainState,
  chainOf,
  chainStateAt,
  depthOf,
  goOn,
  keyed,
  type MatchCandidate,
  match,
  type RequestFingerprint,
  type Secret,
  START,
  type ThreadMatch,
} from "./match.ts";
import { isOwnDefinition } from "./own-tools/offer.ts";
import { type LoggedMessage, shownMessages, withoutFailedRounds } from "./own-tools/stitch.ts";

export interface RequestIdentity<M> extends RequestFingerprint {
  readonly messages: readonly M[];
  readonly shape: Shape<M>;
  readonly secret: Secret;
  readonly named: string | null;
  /** For a thread that is made now. */
  readonly agentName: string;
}

export type MatchingStore = Store & { readonly matches: MatchRows };

export async function findMatch<M extends object>(
  store: MatchingStore,
  identity: RequestIdentity<M>,
): Promise<ThreadMatch> {
  const { named, group } = identity;
  const rows = await deepestRows(store, identity);
  const candidates = await Promise.all(rows.map((row) => candidateOf(store, identity, row)));
  const hasNamed = named !== null && (await store.header(named)) !== undefined;
  const run = candidates.length === 0 ? await runIn(store, identity, hasNamed) : null;
  const newest =
    candidates.length === 0 && run === null && group !== null ? await store.matches.newest(group) : undefined;
  return match(identity, { candidates, run, named: hasNamed ? named : null, groupThread: newest?.threadId ?? null });
}

/** At most this many threads that match at the deepest position. */
const MOST_ALIKE = 8;
/** Places asked for at once, from the last answer on: a conversation that goes on is known by one of its last. */
const FIRST_PLACES = 4;
const PLACES = 256;

async function deepestRows<M>(
  store: MatchingStore,
  { places, named }: RequestIdentity<M>,
): Promise<readonly MatchRow[]> {
  let asked: string[] = [];
  let most = FIRST_PLACES;
  for (let at = places.length - 1; at >= 0; at -= 1) {
    if (places[at]!.answer !== null) asked.push(places[at]!.hash);
    if (asked.length < most && at > 0) continue;
    const rows = asked.length === 0 ? [] : await store.matches.find(asked);
    const own = named === null ? rows : await rowsOfThread(store, named, rows);
    if (own.length > 0) return own.filter(({ hash }) => hash === own[0]!.hash).slice(0, MOST_ALIKE);
    asked = [];
    most = PLACES;
  }
  return [];
}

async function candidateOf<M extends object>(
  store: Store,
  identity: RequestIdentity<M>,
  row: MatchRow,
): Promise<MatchCandidate> {
  const { messages, shape } = identity;
  const depth = depthOf(identity, row.hash) ?? 0;
  const from = chainStateAt(row.hash, shape.calls(messages[depth - 1]!));
  return { ...row, tail: await tailOf(store, identity, { row, from }) };
}

/** What stands behind a place, up to the next answer. */
async function tailOf<M extends object>(
  store: Store,
  { shape, secret }: Pick<RequestIdentity<M>, "shape" | "secret">,
  { row, from }: { readonly row: Pick<MatchRow, "threadId" | "seq" | "version">; readonly from: ChainState },
): Promise<readonly ChainPlace[]> {
  const places: ChainPlace[] = [];
  if (row.version <= row.seq) return places;
  let state = from;
  const query = { range: [row.seq + 1, row.version], kinds: ["message"] } as const;
  for await (const message of withoutFailedRounds(store.records(row.threadId, query), shape)) {
    const next = chainOf([message], { shape, secret, from: state });
    state = next.state;
    places.push(...next.places);
    if (next.places.some(({ answer }) => answer !== null)) break;
  }
  return places;
}

/** Require this many consecutive matching answers; fewer could be a coincidence. */
const LEAST_ANSWERS = 2;

/** Looks for the request as a stretch in the middle of a thread of that name or group: its client cut the head off. */
async function runIn<M extends object>(store: MatchingStore, identity: RequestIdentity<M>, hasNamed: boolean) {
  const { places, messages, named, group, shape, secret } = identity;
  const answers = places.flatMap(({ answer }, index) => (answer === null ? [] : [{ answer, index }]));
  const last = answers.at(-1);
  if (last === undefined || answers.length < LEAST_ANSWERS || (!hasNamed && group === null)) return null;
  const scope = hasNamed ? { threadId: named! } : { group: group! };
  const rows = await store.matches.answers(scope, [last.answer]);
  for (const row of rows.toReversed().slice(0, MOST_ALIKE)) {
    const stands = await standsThere(store, identity, { row, messages: messages.slice(0, last.index + 1) });
    if (!stands) continue;
    const from = chainStateAt(places[last.index]!.hash, shape.calls(messages[last.index]!));
    const tail = await tailOf(store, { shape, secret }, { row, from });
    return { ...row, tail, depth: last.index + 1 };
  }
  return null;
}

/** Whether exactly these messages stand in the log up to the row's answer. */
async function standsThere<M extends object>(
  store: Store,
  { shape, secret }: RequestIdentity<M>,
  { row, messages }: { readonly row: MatchRow; readonly messages: readonly M[] },
): Promise<boolean> {
  const logged: LoggedMessage<M>[] = [];
  let stored: readonly M[] = [];
  const query = { range: [1, row.seq], kinds: ["message"], order: "descending" } as const;
  for await (const { record } of store.records(row.threadId, query)) {
    if (record.kind !== "message") continue;
    const { seq, origin } = record;
    logged.unshift(...readStoredAs(record, shape).map((message) => ({ seq, origin, message })));
    // The round before the first may belong to it: one more is read than are compared.
    if (logged.length <= messages.length) continue;
    stored = shownMessages(logged, shape).map(({ message }) => message);
    if (stored.length > messages.length) break;
  }
  stored = shownMessages(logged, shape).map(({ message }) => message);
  if (stored.length < messages.length) return false;
  const hash = (list: readonly M[]) => chainOf(list, { shape, secret, from: { ...START } }).places.at(-1)?.hash;
  return hash(stored.slice(-messages.length)) === hash(messages);
}

/*
 * Claiming the matched thread: create, fork or continue it. If another request got there first, the conversation continues
 * in a fork: no request waits, and nothing is written between the messages of another request.
 */

/** The thread of a request, held from before its messages are written until its answer is. */
export interface ClaimedThread<M> {
  readonly outcome: "new" | "extended" | "forked";
  /** Why a fork: it goes another way; another request holds the thread; the thread has moved on since the answer. */
  readonly fork: "other-way" | "held" | "moved-on" | null;
  readonly id: string;
  /** How many of the request's messages it already has. */
  readonly known: number;
  readonly thread: OpenThread<M>;
  /** Gives up the lease and leaves the thread open for the next request. Only the first call counts. */
  release(): Promise<void>;
}

type ThreadClaim<M> = Pick<ClaimedThread<M>, "thread" | "release"> | "busy" | "missing";

interface ClaimOptions<M extends object> extends OpenThreadOptions<M> {
  /** Threads of one name that are open with other settings are others. */
  readonly label: string;
}

export interface OpenThreads {
  /** `busy`: another request works on it. */
  claim<M extends object>(options: ClaimOptions<M>): Promise<ThreadClaim<M>>;
  close(): Promise<void>;
}

/** Most that are kept in memory. */
const KEPT = 256;

export function openThreads(deps: Pick<ThreadDeps, "clock" | "ids">): OpenThreads {
  const bytes = (thread: OpenThread<object>): number => bytesOf(liveRecordsOf(thread));
  const left = new LeftOpen({ most: KEPT, bytes, letGo: (thread) => thread.close().catch(() => {}) });
  return {
    async claim<M extends object>({ label, ...options }: ClaimOptions<M>) {
      const { store, id } = options;
      const key = JSON.stringify([store.userId, id, label]);
      const thread = await heldThread(left, key, {
        ...options,
        deps,
        lease: "held",
        ifMissing: "refuse",
        times: "behind-summary",
      });
      if (typeof thread === "string") return thread;
      let released = false;
      const release = async (): Promise<void> => {
        if (released) return;
        released = true;
        await thread.release();
        left.leave(key, thread);
      };
      return { thread, release };
    },
    close: () => left.close(),
  };
}

async function heldThread<M extends object>(
  left: LeftOpen<OpenThread<object>>,
  key: string,
  options: OpenThreadOptions<M>,
): Promise<OpenThread<M> | "busy" | "missing"> {
  // The key names the shape it was opened with.
  const before = left.take(key) as OpenThread<M> | null;
  if (before !== null) {
    const held = await before.hold();
    if (held === "held") return before;
    left.leave(key, before);
    return held.kind;
  }
  const opened = await openThread(options);
  if (opened.kind === "open") return opened.thread;
  if (opened.kind === "busy" || opened.kind === "missing") return opened.kind;
  throw new Error(`thread ${options.id} can't be opened: ${opened.problem}`);
}

interface ClaimContext<M extends object> {
  readonly deps: ThreadDeps;
  readonly identity: RequestIdentity<M>;
  readonly claim: (threadId: string) => Promise<ThreadClaim<M>>;
}

type Matched = Exclude<ThreadMatch, { readonly kind: "passed" }>;

/** Null if the thread was deleted, or changes faster than it can be claimed. */
export async function claimMatch<M extends object>(
  match: Matched,
  context: ClaimContext<M>,
): Promise<ClaimedThread<M> | null> {
  switch (match.kind) {
    case "new":
      return claimNew(match.parent, context);
    case "forked":
      return claimFork(match.thread, match, "other-way", context);
    case "extended": {
      const { thread: id, known, instead } = match;
      const claimed = await context.claim(id);
      if (claimed === "missing") return null;
      if (claimed === "busy") {
        const head = await context.deps.store.head(id);
        return claimFork(id, instead ?? { at: head?.version ?? 0, known: 0 }, "held", context);
      }
      if (instead === null || instead.version === (await claimed.thread.changes()).version)
        return { outcome: "extended", fork: null, id, known, ...claimed };
      await claimed.release();
      return claimFork(id, instead, "moved-on", context);
    }
  }
}

async function claimFork<M extends object>(
  from: string,
  { at, known }: { readonly at: number; readonly known: number },
  reason: NonNullable<ClaimedThread<M>["fork"]>,
  { deps, claim }: ClaimContext<M>,
): Promise<ClaimedThread<M> | null> {
  const as = `c-${deps.ids()}`;
  const forked = await fork(deps, from, { as, at });
  const claimed = forked.kind === "forked" ? await claim(as) : "missing";
  return typeof claimed === "string" ? null : { outcome: "forked", fork: reason, id: as, known, ...claimed };
}

/** Its id is made of what it begins with, so that a first request which failed and comes again finds its thread. */
async function claimNew<M extends object>(
  parent: string | null,
  context: ClaimContext<M>,
): Promise<ClaimedThread<M> | null> {
  const { deps, identity, claim } = context;
  const { named, group, places, secret, agentName } = identity;
  const id = named ?? `c-${keyed(secret, `thread\n${group}\n${places.at(-1)?.hash}`)}`;
  const made = await createThread(deps, { id, parent, agentName });
  const claimed = await claim(id);
  if (typeof claimed !== "string") {
    const known = made === "created" ? 0 : await beginningIn(id, context);
    const outcome = made === "created" ? "new" : "extended";
    if (known !== null) return { outcome, fork: null, id, known, ...claimed };
    await claimed.release();
  }
  if (named !== null) return null;
  const other = `c-${deps.ids()}`;
  await createThread(deps, { id: other, parent, agentName });
  const own = await claim(other);
  return typeof own === "string" ? null : { outcome: "new", fork: null, id: other, known: 0, ...own };
}

/** How many of the request's messages a thread has that holds nothing else; null: it has been answered, or is about something else. */
async function beginningIn<M extends object>(id: string, { deps, identity }: ClaimContext<M>): Promise<number | null> {
  const { shape, secret, places } = identity;
  let state: ChainState = { ...START };
  let known = 0;
  for await (const message of withoutFailedRounds(deps.store.records(id, { kinds: ["message"] }), shape)) {
    const next = chainOf([message], { shape, secret, from: state });
    state = next.state;
    for (const { hash } of next.places) {
      if (places[known]?.hash !== hash) return null;
      known += 1;
    }
  }
  return known;
}

/* Claiming a position that the client names: continue there, or fork. */

/** Null: it is gone, or changes faster than it can be held. Throws the place's refusal where it may not be forked. */
export async function claimPlace<M extends object>(
  place: ServerThreadPlace,
  context: ClaimContext<M> & { readonly deps: { readonly store: MatchingStore } },
): Promise<ClaimedThread<M> | null> {
  const found = await matchPlace(place, context);
  if (place.otherwise === "fork") return claimMatch(found, context);
  const claimed = await context.claim(place.threadId);
  if (claimed === "missing") return null;
  if (claimed === "busy") throw place.otherwise;
  const known = found.kind === "extended" ? found.known : 0;
  return { outcome: "extended", fork: null, id: place.threadId, known, ...claimed };
}

/** Answers that stand behind the place and came back with the request are known by what they say. */
async function matchPlace<M extends object>(
  { threadId, seq, state }: ServerThreadPlace,
  { deps: { store }, identity }: ClaimContext<M> & { readonly deps: { readonly store: MatchingStore } },
): Promise<Exclude<ThreadMatch, { readonly kind: "passed" | "new" }>> {
  const rows = await deepestRows(store, identity);
  const candidates = await Promise.all(rows.map((row) => candidateOf(store, identity, row)));
  const known = match(identity, { candidates, run: null, named: null, groupThread: null });
  if (known.kind === "extended" || known.kind === "forked") return known;
  const head = await store.head(threadId);
  const row = { threadId, seq, version: head?.version ?? seq };
  const tail = await tailOf(store, identity, { row, from: state });
  const { group, fixed } = identity;
  const candidate: MatchCandidate = {
    ...row,
    hash: state.hash,
    group,
    fixed,
    updatedAt: head?.updatedAt ?? "",
    tail,
  };
  return goOn(identity, candidate);
}

/* The system prompt and tools of a request, logged once whenever they change. */

export interface StoredRequest {
  /** All its words, as one text. */
  readonly system: string;
  readonly tools: readonly unknown[];
}

interface RequestEvent {
  readonly stored?: { readonly system: string; readonly tools: string };
  readonly system?: string;
  readonly tools?: readonly unknown[];
}

/** As it stood at that record; null: its words were erased. */
export async function keptRequest(store: Store, threadId: string, seq: number): Promise<StoredRequest | null> {
  const { stored, system = "", tools = [] } = await lastRequest(store, threadId, seq);
  if (stored === undefined) return { system, tools: tools.filter((tool) => !isOwnDefinition(tool)) };
  const [words, list] = await Promise.all([store.prompts?.get(stored.system), store.prompts?.get(stored.tools)]);
  if (words === undefined || list === undefined) return null;
  const stated: readonly unknown[] = JSON.parse(list);
  return { system: words, tools: stated.filter((tool) => !isOwnDefinition(tool)) };
}

async function lastRequest(store: Store, threadId: string, seq: number): Promise<RequestEvent> {
  const query = { range: [1, seq], kinds: ["event"], order: "descending" } as const;
  for await (const { record } of store.records(threadId, query))
    if (record.kind === "event" && record.event.type === "request") return record.event as RequestEvent;
  return {};
}
