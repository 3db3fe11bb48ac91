/**
 * Keeps a child inside its turns and its token budget. `max_turns` counts model calls; at the cap, or while the budget
 * still holds for one call, the child is asked once more, without tools, for its answer so far. Works from inside the
 * child's run, so that every way out leaves a whole log.
 */
import type { StepUsage } from "../agent/events.ts";
import type { ModelRequest } from "../agent/fixed-part.ts";
import type { Middleware } from "../agent/middleware.ts";
import type { Answered } from "../agent/step.ts";
import { addUsage, NO_USAGE } from "../models/usage.ts";

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
    usage: NO_USAGE,
    spent: 0,
    lastText: "",
    capped: null,
  };
}

/** The agent's own step limit must leave room for the last question. */
export function stepLimit({ maxTurns }: Cap): number {
  return maxTurns + 1;
}

/** Internal: every child has it, and nobody else. */
export function childLimits(cap: Cap, meter: ChildMeter, onStep: (answer: Answered) => void): Middleware {
  let closing = false;
  const size = requestSize();
  return {
    name: "child-limits",
    async beforeModel(run) {
      if (closing) await run.say({ role: "user", content: LAST_QUESTION }, "injected");
    },
    async wrapModel(request, next) {
      const asked = closing ? { ...request, tools: {} } : request;
      if (meter.spent + size.estimate(asked) <= cap.tokenBudget) return next(asked);
      meter.capped ??= "token-capped";
      return { kind: "aborted", text: "" };
    },
    afterModel(run, answer) {
      const took = size.settle(answer);
      note(meter, answer, took);
      onStep(answer);
      if (answer.calls.length === 0) return;
      if (closing) return run.finish({ kind: "step-limit", limit: run.step });
      // Where the budget holds for one more call but not for two, that one is for the answer.
      const nearlySpent = meter.spent + 2.2 * took > cap.tokenBudget;
      closing = nearlySpent || run.step >= cap.maxTurns;
      if (closing) meter.capped = run.step >= cap.maxTurns ? "turn-capped" : "token-capped";
    },
  };
}

const LAST_QUESTION =
  "This is your last turn, and there are no tools any more. Answer the task now with what you have found so far, and say what is missing.";

/** A request's tokens by its characters, corrected by what the provider last reported for one. */
function requestSize() {
  let characters = 0;
  let perToken = 4;
  return {
    estimate({ instructions, messages, tools }: ModelRequest): number {
      const schemas = Object.values(tools).map(({ description }) => description);
      characters = JSON.stringify([instructions, messages, schemas]).length;
      return characters / perToken;
    },
    /** What the last one took. A provider that reports nothing is estimated: a budget must hold for it too. */
    settle({ usage }: Answered): number {
      if (usage === null || usage.input <= 0) return characters / perToken;
      perToken = characters / usage.input;
      return usage.input;
    },
  };
}

function note(meter: ChildMeter, { text, usage }: Answered, took: number): void {
  meter.turns++;
  if (text.trim() !== "") meter.lastText = text;
  meter.spent += took + (usage?.output ?? text.length / 4);
  meter.usage = addUsage(meter.usage, usage);
}
