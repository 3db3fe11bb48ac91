/**
 * Answers under way, and those that have just ended, by the ids that their clients know: so that one can be followed,
 * taken up again where its client lost it, and cancelled. What has left the memory is read from the log.
 */
import type { Fields } from "../vendor.ts";
import type { Flight } from "../wire/flight.ts";

export interface LiveResponse {
  readonly flight: Flight;
  readonly background: "yes" | "no";
  readonly stream: boolean;
  state: "running" | "cancelled" | "ended";
  /** As its client would see it now. */
  response: Fields;
  readonly ended: Promise<void>;
}

export interface LiveResponses {
  get(userId: string, id: string): LiveResponse | undefined;
  put(userId: string, id: string, response: LiveResponse): void;
  drop(userId: string, id: string): void;
  /** Gives all of them up; what they have said is in the log then. */
  close(): Promise<void>;
}

/** Most that are remembered after their end. */
const KEPT = 128;

export function liveResponses(kept = KEPT): LiveResponses {
  const responses = new Map<string, LiveResponse>();
  const keyOf = (userId: string, id: string) => `${id}\n${userId}`;
  return {
    get: (userId, id) => responses.get(keyOf(userId, id)),
    put(userId, id, response) {
      responses.set(keyOf(userId, id), response);
      for (const [key, { state }] of responses) {
        if (responses.size <= kept) return;
        if (state === "ended") responses.delete(key);
      }
    },
    drop: (userId, id) => void responses.delete(keyOf(userId, id)),
    async close() {
      const running = [...responses.values()].filter(({ state }) => state === "running");
      for (const { flight } of running) flight.abandon();
      await Promise.all(running.map(({ ended }) => ended));
      responses.clear();
    },
  };
}
