/** What happens in a run, as an editor is told of it; and how a run's end ends a prompt. Pure, but for what it remembers of open compactions. */
import type { SessionUpdate, StopReason, ToolKind } from "@agentclientprotocol/sdk";
import type { CompactionOutcome } from "@palimpsest/core/internal/compaction";
import type { AgentEvent, RunEnd } from "palimpsest";
import { text } from "./content.ts";

export interface UpdatesOptions {
  /** Whether the editor says that it can show compactions. */
  readonly compactions: boolean;
  readonly ids: () => string;
}

/** One per run: a compaction keeps its id from its start to its end. */
export function createUpdates({ compactions, ids }: UpdatesOptions): (event: AgentEvent) => readonly SessionUpdate[] {
  let compaction: string | null = null;
  return (event) => {
    switch (event.type) {
      case "text-delta":
        return [{ sessionUpdate: "agent_message_chunk", content: text(event.text) }];
      case "reasoning-delta":
        return [{ sessionUpdate: "agent_thought_chunk", content: text(event.text) }];
      case "tool-start":
        return [toolCall(event, "in_progress")];
      case "approval-ask":
        return [toolCall(event, "pending")];
      case "tool-progress":
        return [{ sessionUpdate: "tool_call_update", toolCallId: event.callId, content: [shown(event.output)] }];
      case "tool-end":
        return [
          {
            sessionUpdate: "tool_call_update",
            toolCallId: event.callId,
            status: event.isError ? "failed" : "completed",
            content: [shown(event.output)],
            rawOutput: event.output,
          },
        ];
      case "compaction-start":
        if (!compactions) return [];
        compaction = ids();
        return [{ sessionUpdate: "compaction_update", compactionId: compaction, status: "in_progress" }];
      case "compaction-end": {
        const compactionId = compaction;
        compaction = null;
        return compactionId === null
          ? []
          : [{ compactionId, ...ended(event.outcome), sessionUpdate: "compaction_update" }];
      }
      default:
        return [];
    }
  };
}

interface CompactionEnd {
  readonly status: "completed" | "failed" | "cancelled";
  readonly summary?: { type: "text"; text: string }[];
  readonly error?: string;
}

export function ended(outcome: CompactionOutcome): CompactionEnd {
  if (outcome.kind === "unchanged")
    return outcome.reason === "aborted" ? { status: "cancelled" } : { status: "failed", error: outcome.detail };
  const { tokensBefore, tokensAfter, hidden } = outcome;
  const what = hidden === null ? "Old tool output was shortened" : `Messages ${hidden.join(" to ")} are summed up`;
  const words = `${what}: ${tokensBefore} to ${tokensAfter} tokens. Nothing is lost: /undo takes it back.`;
  return { status: "completed", summary: [{ type: "text", text: words }] };
}

interface EditorCall {
  readonly callId: string;
  readonly name: string;
  readonly input: unknown;
}

function toolCall({ callId, name, input }: EditorCall, status: "pending" | "in_progress"): SessionUpdate {
  return {
    sessionUpdate: "tool_call",
    toolCallId: callId,
    title: titleOf(name, input),
    name,
    kind: KINDS[name] ?? "other",
    status,
    rawInput: input,
  };
}

/** With what it is about, as far as that is one short text. */
export function titleOf(name: string, input: unknown): string {
  const first = typeof input === "object" && input !== null ? Object.values(input)[0] : undefined;
  if (typeof first !== "string" || first === "") return name;
  const line = first.split("\n", 1)[0]!;
  return `${name} ${line.length > 80 ? `${line.slice(0, 79)}…` : line}`;
}

const KINDS: Readonly<Record<string, ToolKind>> = {
  read_file: "read",
  view_image: "read",
  write_file: "edit",
  str_replace: "edit",
  ls: "search",
  glob: "search",
  grep: "search",
  bash: "execute",
  task: "think",
  recall: "search",
  recall_read: "read",
};

/** Tools that change files or run programs: an editor asks about them. */
export const ASKED_TOOLS: readonly string[] = ["write_file", "str_replace", "bash"];

function shown(output: unknown): { type: "content"; content: { type: "text"; text: string } } {
  const words = typeof output === "string" ? output : (JSON.stringify(output) ?? "");
  return { type: "content", content: { type: "text", text: words } };
}

export type PromptEnd =
  | { readonly kind: "stop"; readonly reason: StopReason }
  | { readonly kind: "approval" }
  | { readonly kind: "failed"; readonly message: string };

export function promptEnd(end: RunEnd): PromptEnd {
  switch (end.kind) {
    case "answered":
      return { kind: "stop", reason: STOPS[end.finish] ?? "end_turn" };
    case "approval":
      return { kind: "approval" };
    case "aborted":
      return { kind: "stop", reason: "cancelled" };
    case "step-limit":
    case "budget":
      return { kind: "stop", reason: "max_turn_requests" };
    case "busy":
      return {
        kind: "failed",
        message: "this thread is being written to by another program: try again when it has ended",
      };
    case "failed":
      return { kind: "failed", message: end.message };
    default:
      return { kind: "stop", reason: "end_turn" };
  }
}

const STOPS: Readonly<Record<string, StopReason>> = { length: "max_tokens", "content-filter": "refusal" };
