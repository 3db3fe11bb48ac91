/** From a place that a client names to a thread that its request holds: gone on with there, or forked. */
import type { HeldPlace } from "../held.ts";
import { type Candidate, goOn, type Match, match } from "../matching/match.ts";
import { type ClaimedThread, type Claiming, claimMatch } from "./claim.ts";
import { candidateOf, deepestRows, type MatchingStore, tailOf } from "./find.ts";

/** Null: it is gone, or changes faster than it can be held. Throws the place's refusal where it may not be forked. */
export async function claimPlace<M extends object>(
  place: HeldPlace,
  claiming: Claiming<M> & { readonly deps: { readonly store: MatchingStore } },
): Promise<ClaimedThread<M> | null> {
  const found = await matchPlace(place, claiming);
  if (place.otherwise === "fork") return claimMatch(found, claiming);
  const claimed = await claiming.claim(place.threadId);
  if (claimed === "missing") return null;
  if (claimed === "busy") throw place.otherwise;
  const known = found.kind === "extended" ? found.known : 0;
  return { outcome: "extended", id: place.threadId, known, claimed };
}

/** Answers that stand behind the place and came back with the request are known by what they say. */
async function matchPlace<M extends object>(
  { threadId, seq, state }: HeldPlace,
  { deps: { store }, asking }: Claiming<M> & { readonly deps: { readonly store: MatchingStore } },
): Promise<Exclude<Match, { readonly kind: "passed" | "new" }>> {
  const rows = await deepestRows(store, asking);
  const candidates = await Promise.all(rows.map((row) => candidateOf(store, asking, row)));
  const known = match(asking, { candidates, run: null, named: null, groupThread: null });
  if (known.kind === "extended" || known.kind === "forked") return known;
  const head = await store.head(threadId);
  const row = { threadId, seq, version: head?.version ?? seq };
  const tail = await tailOf(store, asking, { row, from: state });
  const { group, fixed } = asking;
  const candidate: Candidate = {
    ...row,
    hash: state.hash,
    group,
    fixed,
    updatedAt: head?.updatedAt ?? "",
    tail,
    state: "free",
  };
  return goOn(asking, candidate);
}
