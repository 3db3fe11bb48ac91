/**
 * The promise of the ranking that no weight may break: if every term that entry B scores by, its own or its neighbors', stands in
 * entry A itself, then A comes before B. Where that holds both ways, both hold the same terms, and the score decides.
 * One exception: a long answer or result holds many words by its length alone. Before a user's message it goes only if that one
 * gathered terms of messages around it. Pure.
 */

/** Of terms a bit for each; numbers of 32 bits, the second for terms from the 33rd on. One flat object for each entry, as there are thousands. */
export interface TermSets {
  /** The terms that stand in the entry itself. */
  readonly holds: number;
  readonly holdsHigh: number;
  /** Those it scores by: its own and its neighbors'. */
  readonly scoresBy: number;
  readonly scoresByHigh: number;
  /** It took frequencies of terms from short entries around it. */
  readonly gathers: boolean;
  readonly isShort: boolean;
  /** Said by the user. */
  readonly isUsers: boolean;
}

/** The same entries, best first as given, but each after all that go before it by their terms; at least the first `limit`. */
export function inPrecedence<T>(
  best: readonly T[],
  setsOf: (one: T) => TermSets,
  limit = Number.POSITIVE_INFINITY,
): T[] {
  const groups = groupsOf(best, setsOf);
  const groupAt = new Array<TieGroup>(best.length);
  for (const group of groups) for (const place of group.places) groupAt[place] = group;
  const ordered: T[] = [];
  const open = (group: TieGroup): void => {
    if (group.isOpen) return;
    group.isOpen = true;
    const first = groups.filter((other) => goesBefore(other, group)).flatMap(({ places }) => places);
    for (const place of first.sort((a, b) => a - b)) put(place);
  };
  const placed = new Uint8Array(best.length);
  const put = (place: number): void => {
    if (placed[place] === 1) return;
    open(groupAt[place]!);
    placed[place] = 1;
    ordered.push(best[place]!);
  };
  for (const place of best.keys()) {
    if (ordered.length >= limit) break;
    put(place);
  }
  return ordered;
}

/** Entries of the same sets, by their places in what was given. There are far fewer of them than entries. */
interface TieGroup extends TermSets {
  readonly places: number[];
  isOpen: boolean;
}

function groupsOf<T>(best: readonly T[], setsOf: (one: T) => TermSets): TieGroup[] {
  const groups = new Map<number | string, TieGroup>();
  for (const [place, one] of best.entries()) {
    const sets = setsOf(one);
    const key = keyOf(sets);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, { ...sets, places: [place], isOpen: false });
    else group.places.push(place);
  }
  return [...groups.values()];
}

/** A number where there are few terms, as nearly always: there are thousands of entries, and texts cost more. */
function keyOf({ holds, holdsHigh, scoresBy, scoresByHigh, gathers, isShort, isUsers }: TermSets): number | string {
  const flags = (gathers ? 1 : 0) + (isShort ? 2 : 0) + (isUsers ? 4 : 0);
  const isSmall = holdsHigh === 0 && scoresByHigh === 0 && holds >>> 0 < SMALL && scoresBy >>> 0 < SMALL;
  return isSmall
    ? (holds * SMALL + scoresBy) * 8 + flags
    : `${flags} ${holds} ${holdsHigh} ${scoresBy} ${scoresByHigh}`;
}

const SMALL = 2 ** 25;

/** No circle can come of it: in one all sets would be the same, and then neither goes before the other. */
export function goesBefore(a: TermSets, b: TermSets): boolean {
  if (!covers(a, b)) return false;
  const holdsByLength = !a.isShort && !a.isUsers && b.isUsers;
  return holdsByLength ? b.gathers : !covers(b, a);
}

/** Every term that the one scores by stands in the other. */
function covers(all: TermSets, one: TermSets): boolean {
  return (one.scoresBy & ~all.holds) === 0 && (one.scoresByHigh & ~all.holdsHigh) === 0;
}
