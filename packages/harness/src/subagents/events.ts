/** What a child tells its parent's consumer, as one union, and DeerFlow's words for it in the debug log. */
import type { StepEvent, StepUsage } from "../agent/events.ts";
import type { SubagentStatus } from "./result.ts";

interface Child {
  /** The child's own thread. */
  readonly threadId: string;
  /** The parent's tool call. */
  readonly callId: string;
  /** The sub-agent's name. */
  readonly agent: string;
}

export type SubagentEvent =
  | (Child & {
      readonly type: "subagent-start";
      readonly description: string;
      readonly model: string;
      readonly maxTurns: number;
      /** It goes on from where it was interrupted. */
      readonly resumed: boolean;
    })
  | (Child & {
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
  | (Child & { readonly type: "subagent-event"; readonly event: StepEvent })
  | (Child & {
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
