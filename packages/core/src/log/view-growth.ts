/**
 * A view folded on from the one before it: with every message that is said the whole fold would cost the thread again.
 */
import type { Shape } from "../message/shape.ts";
import { type LiveRecords, type ViewEntry, type ViewOptions, view, visibleMessage, withDigest } from "./view.ts";

/** A view and the live records it was folded from. */
export interface Folded<M> {
  readonly live: LiveRecords;
  readonly entries: readonly ViewEntry<M>[];
}

/** The same as `view(live)`: what was folded before is taken over where records were only added since. */
export function viewAfter<M>(before: Folded<M>, live: LiveRecords, options: ViewOptions<M>): readonly ViewEntry<M>[] {
  if (!isGrown(before, live, options.shape)) return view(live, options);
  const visible = visibleMessage(live, options);
  const additionTargets = new Set(live.evidence.slice(before.live.evidence.length).map(({ of }) => of));
  const entries = before.entries.slice();
  if (additionTargets.size > 0) {
    const records = [...live.systems, ...live.tail, ...(live.request === null ? [] : [live.request])];
    const bySeq = new Map(records.filter(({ seq }) => additionTargets.has(seq)).map((record) => [record.seq, record]));
    for (const [index, entry] of entries.entries()) {
      const record = entry.seq === null ? undefined : bySeq.get(entry.seq);
      if (record === undefined) continue;
      const digest = entry.source === "request" ? (live.compaction?.summary.digest ?? null) : null;
      entries[index] = { source: entry.source, ...withDigest(visible(record), digest) };
    }
  }
  for (const record of live.tail.slice(before.live.tail.length))
    entries.push({ source: "message", ...visible(record) });
  return entries;
}

/** Nothing but messages and evidence came, and what stands behind a summary was not the first that was said after it. */
function isGrown<M>({ live: before, entries }: Folded<M>, live: LiveRecords, shape: Shape<M>): boolean {
  const isSaid = ({ source, message }: ViewEntry<M>) =>
    (source === "message" || source === "request") && shape.role(message) !== "system";
  return (
    before.compaction === live.compaction &&
    before.systems === live.systems &&
    before.request === live.request &&
    before.prunes === live.prunes &&
    beginsWith(live.tail, before.tail) &&
    beginsWith(live.evidence, before.evidence) &&
    (live.compaction === null || entries.some(isSaid))
  );
}

function beginsWith<T>(list: readonly T[], start: readonly T[]): boolean {
  return list === start || (list.length >= start.length && start.every((item, index) => item === list[index]));
}
