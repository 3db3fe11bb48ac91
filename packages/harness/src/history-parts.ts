/** The names of a thread's hidden originals as files. Apart from the files themselves: records name them where there is no disk. */
import type { Range } from "@palimpsest/core/internal/log";

/** Where a thread's folder keeps the hidden originals. */
export const HISTORY = "history";

/** Names sort in the order of what they hold. */
export function partName([first, last]: Range): string {
  const pad = (seq: number): string => String(seq).padStart(10, "0");
  return `part-${pad(first)}-${pad(last)}.jsonl`;
}

/** Relative to the thread's workspace, as records and outcomes name it. */
export function archivePath(covers: Range): string {
  return `${HISTORY}/${partName(covers)}`;
}
