/**
 * How near in meaning a text is to the question, as an embedder sees it: vectors as bytes, their angle, and what it adds to
 * the ranking by words. It reorders what words have found as a weak extra term, and proposes a few messages that they haven't
 * found, which come after the first hits: an embedder that is of no use costs little. Pure.
 */
import type { IndexedDoc } from "./port.ts";
import type { Hit, RankedHit } from "./rank.ts";

/** By the order of the docs: a cosine, or null where there is no vector. */
export type Closeness = (docs: readonly IndexedDoc[]) => Promise<readonly (number | null)[]>;

/** The entries that are nearest to the question of all that are compared, nearest first. */
export type Propose = () => Promise<readonly IndexedDoc[]>;

/** So many of the best are looked at. */
export const COMPARED = 200;
/** What the nearest of them gains over the farthest. */
const GAIN = 0.25;

/** A vector in a byte for each number: its direction is kept to about a hundredth, its length isn't. Null for what has none. */
export function packVector(values: readonly number[]): Int8Array | null {
  const largest = values.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
  if (!(largest > 0) || !Number.isFinite(largest)) return null;
  return Int8Array.from(values, (value) => Math.round((value / largest) * 127));
}

/** The cosine of two packed vectors; null where they can't be compared. */
export function cosine(a: Int8Array, b: Int8Array): number | null {
  if (a.length !== b.length || a.length === 0) return null;
  let [product, ofA, ofB] = [0, 0, 0];
  for (let at = 0; at < a.length; at += 1) {
    product += a[at]! * b[at]!;
    ofA += a[at]! * a[at]!;
    ofB += b[at]! * b[at]!;
  }
  return product / Math.sqrt(ofA * ofB);
}

/** The hits in their new order. One without a vector is taken for average, so that it neither gains nor loses. */
export function withCloseness(hits: readonly RankedHit[], cosines: readonly (number | null)[]): RankedHit[] {
  const values = cosines.filter((value) => value !== null);
  if (values.length === 0) return [...hits];
  const [least, most] = [Math.min(...values), Math.max(...values)];
  const average = values.reduce((sum, value) => sum + value, 0) / values.length;
  const span = most - least || 1;
  const gain = (value: number): number => 1 + (GAIN * (value - least)) / span;
  return hits
    .map((hit, at) => ({ ...hit, score: hit.score * gain(cosines[at] ?? (at < cosines.length ? average : least)) }))
    .sort((a, b) => b.exact - a.exact || b.score - a.score);
}

/** The first hits are those that words have found. */
const FIRST_BY_WORDS = 10;
/** So many proposals at most. */
export const PROPOSED = 10;

/** After the first ten hits every second one is a proposal, as long as there are any; where words find fewer, proposals follow them. */
export function withProposals(hits: readonly Hit[], proposed: readonly IndexedDoc[]): Hit[] {
  const placed = hits.slice(0, FIRST_BY_WORDS);
  const refs = new Set(placed.map(({ doc }) => refOf(doc)));
  const fresh = proposed.filter((doc) => !refs.has(refOf(doc))).slice(0, PROPOSED);
  const chosen = new Map(fresh.map((doc) => [refOf(doc), doc]));
  const found = new Map(hits.map((hit) => [refOf(hit.doc), hit]));
  const rest = hits.slice(FIRST_BY_WORDS).filter(({ doc }) => !chosen.has(refOf(doc)));
  for (let at = 0; at < Math.max(fresh.length, rest.length); at += 1) {
    const proposal = fresh[at];
    // What words have found further down keeps its score.
    if (proposal !== undefined) placed.push(found.get(refOf(proposal)) ?? { doc: proposal, score: 0 });
    const hit = rest[at];
    if (hit !== undefined) placed.push(hit);
  }
  return placed;
}

function refOf({ threadId, seq }: IndexedDoc): string {
  return `${threadId}#${seq}`;
}
