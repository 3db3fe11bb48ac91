/** What one model call may take: how long it may say nothing, and how much it may say. */
import { startTimer } from "../abort.ts";
import { AgentError } from "./errors.ts";

export interface CallLimits {
  /** Until the first piece of an answer; null: no limit. Keep-alives of the connection don't count. */
  readonly firstMs: number | null;
  /** From one piece to the next. */
  readonly idleMs: number | null;
  /** Characters of text, reasoning and tool arguments together; a piece counts as 8 at least. */
  readonly answerChars: number;
}

/** Models that think long send nothing for minutes; no answer is as long as a small book. */
export const CALL_LIMITS: CallLimits = { firstMs: 5 * 60_000, idleMs: 2 * 60_000, answerChars: 4_000_000 };

/** Rings when a model has said nothing for too long. */
export class SilenceTimer {
  readonly #limits: CallLimits;
  readonly #ring: (error: AgentError) => void;
  #timer: NodeJS.Timeout | undefined;

  constructor(limits: CallLimits, ring: (error: AgentError) => void) {
    this.#limits = limits;
    this.#ring = ring;
    this.#start(limits.firstMs);
  }

  /** A piece of the answer has come. */
  heard(): void {
    this.stop();
    this.#start(this.#limits.idleMs);
  }

  stop(): void {
    clearTimeout(this.#timer);
  }

  #start(ms: number | null): void {
    this.#timer = startTimer(ms, () => this.#ring(silence(ms ?? 0)));
  }
}

function silence(ms: number): AgentError {
  return new AgentError(
    "timed-out",
    `the model has sent nothing for ${ms / 1000} seconds: try again, or let it be silent for longer (limits)`,
  );
}

export function answerTooLong({ answerChars }: CallLimits): AgentError {
  return new AgentError(
    "answer-too-long",
    `the model's answer is longer than ${answerChars} characters and was cut off: it may be repeating itself`,
  );
}
