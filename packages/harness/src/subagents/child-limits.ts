/**
 * Keeps a child inside its turns and its token budget. `max_turns` counts model calls; at the cap the child is asked once
 * more, without tools, for its answer so far. Works from inside the child's run, so that every way out leaves a whole log.
 */
import type { StepUsage } from "../agent/events.ts";
import type { Middleware } from "../agent/middleware.ts";
import type { Answered } from "../agent/step.ts";

export interface Cap {
  readonly maxTurns: number;
  readonly tokenBudget: number;
}

/** Where a child stands. */
export interface ChildMeter {
  turns: number;
  usage: StepUsage;
  /** Tokens counted against the budget; the summarizer's are among them. */
  spent: number;
  /** The newest words it has said, for when it has to be stopped. */
  lastText: string;
  capped: "turn-capped" | "token-capped" | null;
}

export function newMeter(): ChildMeter {
  return {
    turns: 0,
    usage: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
    spent: 0,
    lastText: "",
    capped: null,
  };
}

/** The agent's own step limit must leave room for the last question. */
export function stepLimit({ maxTurns }: Cap): number {
  return maxTurns + 1;
}

export function childLimits(
  cap: Cap,
  meter: ChildMeter,
  onStep: (answer: Answered, maxTurns: number) => void,
): Middleware {
  let sent = 0;
  return {
    name: "child-limits",
    async beforeModel(run) {
      if (run.step > cap.maxTurns) await run.say({ role: "user", content: LAST_QUESTION }, "injected");
    },
    wrapModel(request, next, run) {
      sent = JSON.stringify(request.messages).length / 4;
      return next(run.step > cap.maxTurns ? { ...request, tools: {} } : request);
    },
    afterModel(run, answer) {
      const took = note(meter, answer, sent);
      onStep(answer, cap.maxTurns);
      if (answer.calls.length === 0) return;
      // The next request is at least about as large as this one was.
      const affordable = meter.spent + took <= cap.tokenBudget;
      if (run.step >= cap.maxTurns) meter.capped = "turn-capped";
      else if (!affordable) meter.capped = "token-capped";
      if (!affordable) run.finish({ kind: "step-limit", limit: run.step });
    },
  };
}

const LAST_QUESTION =
  "You have used all your turns, and there are no tools any more. Answer the task now with what you have found so far, and say what is missing.";

/** Returns the size of the request. A provider that reports nothing is estimated: a budget must hold for it too. */
function note(meter: ChildMeter, { text, usage }: Answered, estimate: number): number {
  meter.turns++;
  if (text.trim() !== "") meter.lastText = text;
  if (usage === null) {
    meter.spent += estimate + text.length / 4;
    return estimate;
  }
  const { input, output, cacheRead, cacheWrite } = meter.usage;
  meter.usage = {
    input: input + usage.input,
    output: output + usage.output,
    cacheRead: cacheRead + usage.cacheRead,
    cacheWrite: cacheWrite + usage.cacheWrite,
  };
  meter.spent += usage.input + usage.output;
  return usage.input;
}
