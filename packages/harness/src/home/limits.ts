/** Limits a configuration sets for a thread: its window and the size of its files. */
import type { Window } from "@palimpsest/core/compaction";
import { answerReserve, type LearnedLimits } from "@palimpsest/core/tokens";
import { windowNow } from "../models/facts.ts";
import type { Quota } from "../workspace/workspace.ts";
import type { ConfigFile } from "./schema.ts";

export interface RequestWindow extends Window {
  readonly source: "given" | "config" | "table" | "fallback" | "learned";
}

/** With what providers have stated, all places agree with what a run would do. */
export function requestWindow(
  config: ConfigFile,
  given?: number,
  learned: { readonly limits: LearnedLimits; readonly now: number } = { limits: {}, now: 0 },
): RequestWindow {
  if (given !== undefined) return { size: given, reserve: answerReserve(given, null), source: "given" };
  const model = config.models[0] ?? { provider: "offline", model: "offline" };
  const { tokens, source } = windowNow(model, config.summarization.fallback_context_window, learned);
  // An answer may not take the whole window, whatever the model could write.
  const reserve = Math.min(answerReserve(tokens, config.models[0]?.max_output_tokens ?? null), Math.floor(tokens / 2));
  return { size: tokens, reserve, source };
}

/** Null if commands run on the host, where no limit can be enforced. */
export function workspaceQuota({ limits, workspace }: Pick<ConfigFile, "limits" | "workspace">): Quota | null {
  if (workspace.host_bash) return null;
  return { bytes: Math.floor(limits.workspace_megabytes * (1 << 20)), entries: limits.workspace_files };
}
