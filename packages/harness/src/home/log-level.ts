/** What is worth a line: `log_level` is one level for all, or a map from a part (`summarization`, `memory`) to its own. */
import type { ConfigFile } from "./schema.ts";

const LEVELS = ["debug", "info", "warn", "error", "silent"] as const;

export type LogLevel = (typeof LEVELS)[number];

/** A map that doesn't name the part has a `default`, else it is `info`. */
export function isLogged(setting: ConfigFile["log_level"], part: string, level: Exclude<LogLevel, "silent">): boolean {
  const chosen = typeof setting === "string" ? setting : (setting[part] ?? setting["default"] ?? "info");
  return LEVELS.indexOf(level) >= LEVELS.indexOf(chosen);
}
