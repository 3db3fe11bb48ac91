/**
 * From a match to a thread that the request holds: made, forked or gone on with. Where another request got there first,
 * the conversation goes on in a fork of its own: nobody waits, and nothing is written between another's words.
 */
import { type LeftOpen, leftOpen } from "palimpsest/internal/threads";
import { type OpenThread, type OpenThreadOptions, openThread } from "palimpsest/session";
import { createThread, fork, type ThreadDeps } from "palimpsest/threads";
import { type ChainState, chainOf, keyed, START } from "../matching/chain.ts";
import type { Match } from "../matching/match.ts";
import { type Asking, messagesOf } from "./find.ts";

/** A thread that a request holds from before its words are written until its answer is. */
export interface Claimed<M> {
  readonly thread: OpenThread<M>;
  /** Gives it back, and leaves it open for the next request. The first time counts. */
  release(): Promise<void>;
}

interface ClaimOptions<M extends object> extends OpenThreadOptions<M> {
  /** Threads of one name that are open with other settings are others. */
  readonly label: string;
}

export interface OpenThreads {
  /** `busy`: another request works on it. */
  claim<M extends object>(options: ClaimOptions<M>): Promise<Claimed<M> | "busy" | "missing">;
  close(): Promise<void>;
}

/** Most that are kept in memory. */
const KEPT = 256;

export function openThreads(deps: Pick<ThreadDeps, "clock" | "ids">): OpenThreads {
  const left = leftOpen<OpenThread<object>>(KEPT, (thread) => thread.close().catch(() => {}));
  return {
    async claim<M extends object>({ label, ...options }: ClaimOptions<M>) {
      const { store, id } = options;
      const key = JSON.stringify([store.userId, id, label]);
      const thread = await heldThread(left, key, { ...options, deps, lease: "held", ifMissing: "refuse" });
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
    close: left.close,
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

export interface Claiming<M extends object> {
  readonly deps: ThreadDeps;
  readonly asking: Asking<M>;
  readonly claim: (threadId: string) => Promise<Claimed<M> | "busy" | "missing">;
}

export interface ClaimedThread<M> {
  readonly outcome: "new" | "extended" | "forked";
  readonly id: string;
  /** How many of the request's messages it has. */
  readonly known: number;
  readonly claimed: Claimed<M>;
}

type Matched = Exclude<Match, { readonly kind: "passed" }>;

/** Null: it is gone, or changes faster than it can be claimed. */
export async function claimMatch<M extends object>(
  match: Matched,
  claiming: Claiming<M>,
): Promise<ClaimedThread<M> | null> {
  switch (match.kind) {
    case "new":
      return claimNew(match.parent, claiming);
    case "forked":
      return claimFork(match.thread, match, claiming);
    case "extended": {
      const { thread: id, known, instead } = match;
      const claimed = await claiming.claim(id);
      if (claimed === "missing") return null;
      if (claimed === "busy") {
        const head = await claiming.deps.store.head(id);
        return claimFork(id, instead ?? { at: head?.version ?? 0, known: 0 }, claiming);
      }
      if (instead === null || instead.version === (await claimed.thread.changes()).version)
        return { outcome: "extended", id, known, claimed };
      // Somebody wrote to it after it was looked at.
      await claimed.release();
      return claimFork(id, instead, claiming);
    }
  }
}

async function claimFork<M extends object>(
  from: string,
  { at, known }: { readonly at: number; readonly known: number },
  { deps, claim }: Claiming<M>,
): Promise<ClaimedThread<M> | null> {
  const as = `c-${deps.ids()}`;
  const forked = await fork(deps, from, { as, at });
  const claimed = forked.kind === "forked" ? await claim(as) : "missing";
  return typeof claimed === "string" ? null : { outcome: "forked", id: as, known, claimed };
}

/** Its id is made of what it begins with, so that a first request which failed and comes again finds its thread. */
async function claimNew<M extends object>(
  parent: string | null,
  claiming: Claiming<M>,
): Promise<ClaimedThread<M> | null> {
  const { deps, asking, claim } = claiming;
  const { named, group, places, secret, agentName } = asking;
  const id = named ?? `c-${keyed(secret, `thread\n${group}\n${places.at(-1)?.hash}`)}`;
  const made = await createThread(deps, { id, parent, agentName });
  const claimed = await claim(id);
  if (typeof claimed !== "string") {
    const known = made === "created" ? 0 : await beginningIn(id, claiming);
    const outcome = made === "created" ? "new" : "extended";
    if (known !== null) return { outcome, id, known, claimed };
    await claimed.release();
  }
  if (named !== null) return null;
  const other = `c-${deps.ids()}`;
  await createThread(deps, { id: other, parent, agentName });
  const own = await claim(other);
  return typeof own === "string" ? null : { outcome: "new", id: other, known: 0, claimed: own };
}

/** How many of the request's messages a thread has that holds nothing else; null: it has been answered, or is about something else. */
async function beginningIn<M extends object>(id: string, { deps, asking }: Claiming<M>): Promise<number | null> {
  const { shape, secret, places } = asking;
  let state: ChainState = { ...START };
  let known = 0;
  for await (const { record } of deps.store.records(id, { kinds: ["message"] })) {
    if (record.kind !== "message") continue;
    const next = chainOf(messagesOf(record, shape), { shape, secret, from: state });
    state = next.state;
    for (const { hash } of next.places) {
      if (places[known]?.hash !== hash) return null;
      known += 1;
    }
  }
  return known;
}
