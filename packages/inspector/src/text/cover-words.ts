/** What a search could not look through, in words; null: it looked through everything. Pure. */
import { grouped } from "./format.ts";

interface Cover {
  readonly unindexed?: number;
  readonly building?: { readonly indexed: number; readonly records: number };
}

export function coverWords({ unindexed = 0, building }: Cover): string | null {
  if (unindexed === 0) return null;
  if (building === undefined)
    return `${grouped(unindexed)} records were not searched: the index can't be written here.`;
  return `The search index is being built: ${grouped(building.indexed)} of ${grouped(building.records)} records are in it so far.`;
}
