/**
 * What a child comes back with, and how it is made to fit: the parent grows by at most the bound, whatever the child
 * did. The rest is in a file or in the child's thread, and the cut says where.
 */

import type { CountText } from "@palimpsest/core/internal/tokens";
import type { StepEvent, StepUsage } from "../../agent/events.ts";

export type SubagentStatus =
  | "completed"
  | "failed"
  | "cancelled"
  | "timed-out"
  | "turn-capped"
  | "token-capped"
  | "interrupted";

export interface SubagentResult {
  readonly status: SubagentStatus;
  readonly output: string;
  /** Files it presented. */
  readonly artifacts: readonly string[];
  readonly usage: StepUsage;
  readonly threadId: string;
  /** Why, unless it completed. */
  readonly reason?: string;
}

export const NO_RESPONSE = "No response";

interface Bound {
  readonly tokens: number;
  readonly count: CountText;
  /** Where the whole answer can be read. */
  readonly pointer: string;
}

export function bounded(result: SubagentResult, { tokens, count, pointer }: Bound): SubagentResult {
  const room = tokens - FRAME_TOKENS;
  const fits = (candidate: SubagentResult): boolean => count(JSON.stringify(candidate)) <= room;
  const short = result.reason === undefined ? result : { ...result, reason: shortened(result.reason, REASON_CHARS) };
  if (fits(short)) return short;
  const listed = { ...short, artifacts: someOf(short.artifacts, (some) => count(some) <= tokens / 4) };
  if (fits(listed)) return listed;
  const { output } = listed;
  const cutAt = (length: number): SubagentResult => ({ ...listed, output: cut(output, length, pointer) });
  const length = longest(Math.min(output.length, tokens * CHARS_PER_TOKEN_AT_MOST), (some) => fits(cutAt(some)));
  return cutAt(length);
}

/** What stands around a result in the request. */
const FRAME_TOKENS = 16;
const REASON_CHARS = 400;
/** No tokenizer makes longer tokens of ordinary text; it only bounds the search. */
const CHARS_PER_TOKEN_AT_MOST = 16;

function cut(output: string, length: number, pointer: string): string {
  const note = `[cut: ${length} of ${output.length} characters; the whole answer is in ${pointer}]`;
  return length === 0 ? note : `${wholeStart(output, length)}\n${note}`;
}

/** Never half of a character. */
function wholeStart(text: string, length: number): string {
  const last = text.charCodeAt(length - 1);
  return text.slice(0, last >= 0xd800 && last <= 0xdbff ? length - 1 : length);
}

/** The greatest length that fits; 0 when none does. */
function longest(most: number, fits: (length: number) => boolean): number {
  let [low, high] = [0, most];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (fits(middle)) low = middle;
    else high = middle - 1;
  }
  return low;
}

/** All of them are in the parent's state; the answer names as many as have room. */
function someOf(artifacts: readonly string[], fit: (text: string) => boolean): readonly string[] {
  const kept = longest(artifacts.length, (some) => fit(JSON.stringify(artifacts.slice(0, some))));
  if (kept === artifacts.length) return artifacts;
  return [...artifacts.slice(0, kept), `... and ${artifacts.length - kept} more`];
}

function shortened(text: string, characters: number): string {
  return text.length <= characters ? text : `${wholeStart(text, characters)}...`;
}

/* What a child tells its parent's consumer, as one union, and DeerFlow's words for it in the debug log. */

interface ChildThread {
  /** The child's own thread. */
  readonly threadId: string;
  /** The parent's tool call. */
  readonly callId: string;
  /** The sub-agent's name. */
  readonly agent: string;
}

export type SubagentEvent =
  | (ChildThread & {
      readonly type: "subagent-start";
      readonly description: string;
      readonly model: string;
      readonly maxTurns: number;
      /** It goes on from where it was interrupted. */
      readonly resumed: boolean;
    })
  | (ChildThread & {
      readonly type: "subagent-step";
      readonly turn: number;
      readonly maxTurns: number;
      /** Names of the tools the step called. */
      readonly tools: readonly string[];
      readonly usage: StepUsage | null;
      /** All steps of this child so far. */
      readonly total: StepUsage;
      readonly ms: number;
    })
  /** What is seen of its steps: its words, its tools and their inputs. Not in the log, as the like of a parent isn't. */
  | (ChildThread & { readonly type: "subagent-event"; readonly event: StepEvent })
  | (ChildThread & {
      readonly type: "subagent-end";
      readonly status: SubagentStatus;
      readonly reason: string | null;
      readonly turns: number;
      readonly model: string;
      readonly usage: StepUsage;
      /** As the parent gets it, bounded. */
      readonly output: string;
      readonly artifacts: readonly string[];
      readonly ms: number;
    });

const NAME = "[SubagentExecutor]";

/** Several lines for one event. */
export function subagentLogLines(event: SubagentEvent): readonly string[] {
  switch (event.type) {
    case "subagent-start":
      return [
        `${NAME} ${event.resumed ? "Resuming" : "Starting"} task: ${JSON.stringify(event.description)}`,
        `${NAME} Isolated thread: ${event.threadId}`,
      ];
    case "subagent-step":
      return [stepLine(event)];
    case "subagent-event":
      return [];
    case "subagent-end":
      return [
        `${NAME} Task ${event.status}${took(event)}${event.reason === null ? "" : `: ${event.reason}`}`,
        `${NAME} Final output: ${JSON.stringify(event.output)}`,
        `${NAME} Artifacts: ${JSON.stringify(event.artifacts)}`,
      ];
  }
}

/** Past the last turn it is asked once more, without tools, for its answer so far. */
function stepLine({ turn, maxTurns }: Extract<SubagentEvent, { type: "subagent-step" }>): string {
  if (turn <= maxTurns) return `${NAME} Turn ${turn}/${maxTurns} completed`;
  return `${NAME} Answered without tools after ${maxTurns}/${maxTurns} turns`;
}

/** With all turns used the reason says how many that were. */
function took({ status, turns }: Extract<SubagentEvent, { type: "subagent-end" }>): string {
  return status === "turn-capped" ? "" : ` after ${turns} turns`;
}
