/** The view of a conversation's live records: folded forward from the one before it, and kept until they change. */
import { view, viewAfter } from "@palimpsest/core/internal/log";
import type { Folded, LiveRecords, ViewEntry, ViewOptions } from "@palimpsest/core/log";

/** `before`: a view to go on from. */
export function foldingView<M>(
  options: ViewOptions<M>,
  before: Folded<M> | null = null,
): (live: LiveRecords) => readonly ViewEntry<M>[] {
  let folded = before;
  return (live) => {
    if (folded?.live !== live) {
      const entries = folded === null ? view(live, options) : viewAfter(folded, live, options);
      folded = { live, entries };
    }
    return folded.entries;
  };
}
