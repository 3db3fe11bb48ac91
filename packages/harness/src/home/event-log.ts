/** A line for what compaction, memory, an embedder and sub-agents do, as far as `log_level` asks for it; nothing of other events. */
import type { AgentEvent } from "../agent/events.ts";
import { type CompactionEvent, logLine } from "../compaction/events.ts";
import { type MemoryEvent, memoryLogLine } from "../memory/events.ts";
import type { EmbeddingEvent } from "../recall/embedder.ts";
import { type SubagentEvent, subagentLogLines } from "../subagents/events.ts";
import { embeddingLogLine } from "./configured-embedding.ts";
import { isLogged } from "./log-level.ts";
import type { ConfigFile } from "./schema.ts";

export type LoggedEvent = AgentEvent | CompactionEvent | MemoryEvent | SubagentEvent;

export interface EventLogOptions {
  readonly line: (text: string) => void;
  /** Everything that is worth a line. */
  readonly verbose: boolean;
}

export function eventLog(
  config: Pick<ConfigFile, "log_level">,
  { line, verbose }: EventLogOptions,
): (event: LoggedEvent) => void {
  const setting = verbose ? "debug" : config.log_level;
  /** Only the debug log names the part of the program that speaks. */
  const named = (part: string, text: string) =>
    line(isLogged(setting, part, "debug") ? text : text.replace(/^\[\w+\] /, ""));
  return (event) => {
    if (isCompaction(event)) {
      const level = WARNINGS.has(event.type) ? "warn" : "debug";
      if (isLogged(setting, "summarization", level)) named("summarization", logLine(event));
    } else if (isMemory(event)) {
      const level = event.type === "memory-failed" ? "error" : "debug";
      if (isLogged(setting, "memory", level)) named("memory", memoryLogLine(event));
    } else if (isEmbedding(event)) {
      const level = event.type === "embedding-failed" ? "warn" : "debug";
      if (isLogged(setting, "recall", level)) line(embeddingLogLine(event));
    } else if (isSubagent(event) && isLogged(setting, "subagents", "debug")) subagentLogLines(event).forEach(line);
  };
}

const WARNINGS: ReadonlySet<string> = new Set(["summary-failed", "breaker-open"]);

function isCompaction(event: LoggedEvent): event is CompactionEvent {
  return /^(?:compaction|summary|draft|breaker)-/.test(event.type);
}

function isMemory(event: LoggedEvent): event is MemoryEvent {
  return event.type.startsWith("memory-");
}

function isEmbedding(event: LoggedEvent): event is EmbeddingEvent {
  return event.type.startsWith("embedding-");
}

function isSubagent(event: LoggedEvent): event is SubagentEvent {
  return event.type.startsWith("subagent-");
}
