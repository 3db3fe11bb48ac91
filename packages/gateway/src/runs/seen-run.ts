/** A run as its readers see it, wherever it is carried out. */
import type { RunResult } from "palimpsest/agent";
import { ProblemError } from "../http/problem.ts";
import type { LoggedEvent } from "./event-log.ts";
import type { StartedRunFacts, StoppedBy } from "./run.ts";

export interface SeenRun {
  readonly facts: StartedRunFacts;
  readonly thread: string;
  readonly status: "waiting" | "running" | "ended";
  /** Version of the thread before the run began; null: it isn't known. */
  readonly base: number | null;
  /** Whether something of it is in the thread. */
  readonly wrote: boolean;
  readonly endedAt: Date | null;
  readonly result: RunResult | null;
  /** What was thrown by a run that failed, or stands for it. */
  readonly failure: unknown;
  readonly stoppedBy: StoppedBy | null;
  /** The numbers of the oldest event that is kept and of the newest; 0: none yet. */
  readonly kept: { readonly first: number; readonly last: number };
  /** What comes behind this number, as it comes. `lost`: its process is gone, and nobody knows more. */
  events(after: number): AsyncGenerator<readonly LoggedEvent[], "ended" | "gone" | "lost">;
  /** It may take a while until a run of another instance has heard of it. */
  stop(by: StoppedBy): Promise<void> | void;
}

/** As it was thrown, so that the log has its words. */
export function failureOf({ failure }: Pick<SeenRun, "failure">): unknown {
  if (failure !== null) return failure;
  const why = "it was stopped before it began: another message came, or the server ends";
  return new ProblemError(409, "interrupted", why);
}
