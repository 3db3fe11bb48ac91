/**
 * The newest entries that hold all of a seek's terms, for several seeks at once. The counts of the terms say which pieces
 * can hold some, and about how many: lists are read from the newest piece on, no further than they are needed.
 */
import type { CandidateRequest } from "@palimpsest/core/recall";
import type { Piece, PostingLists } from "./posting-lists.ts";

/** Ordinals of the matches, by the thread that wrote them. */
export type Matches = ReadonlyMap<string, ReadonlySet<number>>;

export async function seekAll(
  lists: PostingLists,
  newestFirst: readonly Piece[],
  { terms, seeks }: Pick<CandidateRequest, "terms" | "seeks">,
): Promise<Matches> {
  const matches = new Map<string, Set<number>>();
  let open = seeks.map(({ all, limit }): Seeking => {
    const own = all.map((term) => terms.indexOf(term));
    return {
      terms: own,
      left: limit,
      pieces: newestFirst.filter(({ counts }) => own.every((term) => counts[term]! > 0)),
    };
  });
  while (open.length > 0) {
    const rounds = open.map((seeking) => ({ seeking, next: seeking.pieces.slice(0, piecesToRead(seeking)) }));
    await lists.load(rounds.flatMap(({ seeking, next }) => next.map((piece) => ({ piece, terms: seeking.terms }))));
    open = rounds.flatMap(({ seeking, next }) => {
      let { left } = seeking;
      for (const piece of next) {
        if (left === 0) break;
        const newest = lists.matches(piece, seeking.terms).slice(-left);
        left -= newest.length;
        const known = matches.get(piece.threadId) ?? new Set();
        matches.set(piece.threadId, known);
        for (const ordinal of newest) known.add(ordinal);
      }
      const pieces = seeking.pieces.slice(next.length);
      return left > 0 && pieces.length > 0 ? [{ ...seeking, left, pieces }] : [];
    });
  }
  return matches;
}

interface Seeking {
  readonly terms: readonly number[];
  readonly left: number;
  readonly pieces: readonly Piece[];
}

/** Words that are asked for together seldom stand apart from each other by chance alone: a little more than what is expected. */
const MARGIN = 1.5;

/** So many that they probably hold what is left; of a single term it is known. */
function piecesToRead({ terms, left, pieces }: Seeking): number {
  let expected = 0;
  let next = 0;
  while (next < pieces.length && expected < left) {
    const { counts, size } = pieces[next]!;
    const share = terms.reduce((product, term) => product * (counts[term]! / size), 1);
    expected += (share * size) / (terms.length > 1 ? MARGIN : 1);
    next += 1;
  }
  return next;
}
