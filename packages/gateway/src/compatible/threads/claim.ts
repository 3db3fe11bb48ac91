/**
 * From a match to a thread that the request holds: made, forked or gone on with. Where another request got there first,
 * the conversation goes on in a fork of its own: nobody waits, and nothing is written between another's words.
 */
import { createThread, fork, type ThreadDeps } from "palimpsest/threads";
import { keyed, START } from "../matching/chain.ts";
import type { Match } from "../matching/match.ts";
import { type Asking, tailOf } from "./find.ts";
import type { Claimed } from "./open-threads.ts";

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
      const head = claimed === "busy" ? await claiming.deps.store.head(id) : await claimed.head();
      const version = head?.version ?? 0;
      if (claimed === "busy") return claimFork(id, instead ?? { at: version, known: 0 }, claiming);
      if (instead === null || instead.version === version) return { outcome: "extended", id, known, claimed };
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
    const known = made === "created" ? 0 : await unansweredIn(id, claiming);
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

/** How many of the request's messages a thread has that was never answered; null: it has been, or is about something else. */
async function unansweredIn<M extends object>(id: string, { deps, asking }: Claiming<M>): Promise<number | null> {
  const version = (await deps.store.head(id))?.version ?? 0;
  const tail = await tailOf(deps.store, asking, { row: { threadId: id, seq: 0, version }, from: { ...START } });
  const repeats = tail.every(({ hash, answer }, index) => answer === null && asking.places[index]?.hash === hash);
  return repeats ? tail.length : null;
}
