/** Writes what memory does to stderr, as far as `log_level` and `--verbose` ask for it. */
import { type ConfigFile, isLogged } from "palimpsest/config";
import { type MemoryEvent, memoryLogLine } from "palimpsest/memory";
import type { Context } from "../command/command.ts";

export function memoryLog(
  { log_level }: Pick<ConfigFile, "log_level">,
  { output, verbose }: Pick<Context, "output" | "verbose">,
): (event: MemoryEvent) => void {
  const setting = verbose ? "debug" : log_level;
  return (event) => {
    const level = event.type === "memory-failed" ? "error" : "debug";
    if (isLogged(setting, "memory", level)) output.note(memoryLogLine(event));
  };
}
