/** What a person sees while a compaction works. */
import type { CompactionEvent } from "palimpsest/compaction";
import type { Context } from "../command/command.ts";

/** What takes long is the summarizer's work; without a model there is hardly time to read it. */
export function compactionProgress({ output, verbose }: Context): (event: CompactionEvent) => void {
  return (event) => {
    if (verbose || (!process.stderr.isTTY && event.type !== "summary-progress")) return;
    if (event.type === "compaction-check") output.progress(`${event.tokens.toLocaleString("en-US")} tokens ...`);
    if (event.type === "compaction-start")
      output.progress(`summarizing ${event.hide} ${event.hide === 1 ? "message" : "messages"} ...`);
    if (event.type === "summary-progress") output.progress(`summarized ${event.done} of ${event.of}`);
  };
}
