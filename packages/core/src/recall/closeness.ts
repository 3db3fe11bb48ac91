/**
 * How near in meaning a text is to the question, as an embedder sees it: vectors as bytes, their angle, and what it adds to
 * the ranking by words. A weak extra term: it reorders what words have found and finds nothing by itself. Pure.
 */
import type { IndexedDoc } from "./port.ts";
import type { RankedHit } from "./rank.ts";

/** By the order of the docs: a cosine, or null where there is no vector. */
export type Closeness = (docs: readonly IndexedDoc[]) => Promise<readonly (number | null)[]>;

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
