/** Writes what a compaction says of itself to stderr, as far as `log_level` and `--verbose` ask for it. */
import { type CompactionEvent, logLine } from "palimpsest/compaction";
import { type ConfigFile, isLogged } from "palimpsest/config";
import type { Context } from "../command/command.ts";

export function compactionLog(
  { log_level }: Pick<ConfigFile, "log_level">,
  { output, verbose }: Pick<Context, "output" | "verbose">,
): (event: CompactionEvent) => void {
  const setting = verbose ? "debug" : log_level;
  return (event) => {
    const level = event.type === "summary-failed" || event.type === "breaker-open" ? "warn" : "debug";
    if (isLogged(setting, "summarization", level)) output.note(logLine(event));
  };
}
