/** What is told while threads and memories are copied from one store to another. */
import type { CopyProgress } from "palimpsest/threads";
import type { Output } from "./output.ts";
import { throttled } from "./throttled.ts";

export function copyProgress(output: Output): (progress: CopyProgress) => void {
  return throttled(output, (progress: CopyProgress) =>
    "memories" in progress
      ? `${progress.memories} memories`
      : `${progress.threadId}: ${progress.records} of ${progress.of} records`,
  );
}
