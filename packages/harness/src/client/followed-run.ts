/**
 * A run that is followed to its end, whatever becomes of the connection: when it breaks, the events go on behind the last
 * one that was read. Each event comes once.
 */
import type { AgentEvent } from "../agent/events.ts";
import { ClientError, errorIn, errorOf } from "./client-error.ts";
import type { Routes } from "./routes.ts";
import { ServerEventReader } from "./server-events.ts";

type RunBody = NonNullable<Routes["POST /api/threads/{id}/runs"]["body"]>;

/** What a run is asked for with; it is always streamed. */
export type NewRun = Omit<RunBody, "stream">;

export interface FollowOptions {
  /** The id of the last event that is known already. */
  readonly after?: number;
  readonly signal?: AbortSignal;
}

export interface FollowedRun extends AsyncIterable<AgentEvent> {
  readonly id: string;
  readonly thread: string;
  /** The id of the newest event that was read, to go on from there at another time. */
  readonly lastEvent: number;
  cancel(): Promise<void>;
}

export interface FollowDeps {
  /** Asks for the events behind this one. */
  readonly open: (after: number) => Promise<Response>;
  readonly wait: (ms: number, signal: AbortSignal | undefined) => Promise<void>;
}

/** How a client may be told of it: the agent's events and nothing else. */
export async function* followEvents(
  first: Response | null,
  { open, wait }: FollowDeps,
  { place, signal }: { readonly place: { lastEvent: number }; readonly signal?: AbortSignal | undefined },
): AsyncGenerator<AgentEvent, undefined> {
  let response = first;
  for (let failures = 0; ; ) {
    try {
      response ??= await open(place.lastEvent);
      if (!response.ok) throw await errorOf(response);
      for await (const { id, event } of eventsOf(response)) {
        // One that was read before the connection broke.
        if (id <= place.lastEvent) continue;
        place.lastEvent = id;
        failures = 0;
        yield event;
        if (event.type === "run-end") return undefined;
      }
    } catch (error) {
      if (signal?.aborted === true || isFinal(error) || failures >= MOST_FAILURES) throw error;
    }
    response = null;
    failures += 1;
    if (failures > MOST_FAILURES) throw new ClientError("unreachable", "the run's events broke off, again and again");
    await wait(Math.min(FIRST_PAUSE_MS * 2 ** (failures - 1), LONGEST_PAUSE_MS), signal);
  }
}

/** About a minute in all. */
const MOST_FAILURES = 12;
const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 10_000;

/** Asking again would be answered the same. */
function isFinal(error: unknown): boolean {
  if (!ClientError.isInstance(error) || error.code === "unreachable") return false;
  return error.status === null || (error.status < 500 && error.status !== 429 && error.status !== 408);
}

async function* eventsOf(response: Response): AsyncGenerator<{ readonly id: number; readonly event: AgentEvent }> {
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
  const events = new ServerEventReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      for (const { id, name, data } of events.read(value)) {
        if (name === "error") throw toldError(data);
        yield { id: Number(id), event: JSON.parse(data) as AgentEvent };
      }
    }
  } finally {
    void reader.cancel().catch(() => {});
  }
}

/** Said in the stream: the run is over, or its events are. */
function toldError(data: string): ClientError {
  const { code = "failed", message = "the run's events ended with an error" } = errorIn(data);
  return new ClientError(code, message);
}
