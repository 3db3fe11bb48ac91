/**
 * An answer on its way: what came so far is kept until its end, so that a client which lost its connection and asks again
 * gets the same answer and not another one. Nobody is listening: it goes on for a while, then it is given up.
 */
import { type After, afterTime } from "../../http/event-stream.ts";
import type { Client } from "./client.ts";

export interface Flight {
  /** Aborts when nobody is left to hear the answer, or it is given up. */
  readonly abandoned: AbortSignal;
  abandon(): void;
  head(status: number, headers: Readonly<Record<string, string | string[]>>): void;
  hasHead(): boolean;
  write(bytes: Uint8Array): Promise<void>;
  end(how: "ended" | "broken"): void;
  /** Also gets what came before. */
  attach(client: Client): void;
  /** The same for one that doesn't count as hearing it. */
  watch(client: Client): void;
  isHeard(): boolean;
}

/** How long an answer goes on that nobody hears. */
const GRACE_MS = 5_000;

/** `forever`: it goes on to its end, whoever hears it. */
export function createFlight(graceMs: number | "forever" = GRACE_MS, after: After = afterTime): Flight {
  const abandoned = new AbortController();
  const clients = new Set<Client>();
  const watchers = new Set<Client>();
  const all = (): Client[] => [...clients, ...watchers];
  const pieces: Uint8Array[] = [];
  let begun: readonly [number, Readonly<Record<string, string | string[]>>] | null = null;
  let state: "open" | "ended" | "broken" = "open";
  let cancel = (): void => {};
  const leave = (client: Client): void => {
    clients.delete(client);
    if (clients.size > 0 || state !== "open" || graceMs === "forever") return;
    cancel = after(graceMs, () => abandoned.abort());
  };
  const catchUp = (client: Client): void => {
    if (begun !== null) client.head(...begun);
    for (const bytes of pieces) void client.write(bytes);
    finish(client);
  };
  const finish = (client: Client): void => {
    if (state === "ended") client.end();
    if (state === "broken") client.breakOff();
  };
  return {
    abandoned: abandoned.signal,
    abandon: () => abandoned.abort(),
    head(status, headers) {
      begun = [status, headers];
      for (const client of all()) client.head(status, headers);
    },
    hasHead: () => begun !== null,
    async write(bytes) {
      pieces.push(bytes);
      for (const client of all()) await client.write(bytes);
    },
    end(how) {
      state = how;
      cancel();
      for (const client of all()) finish(client);
    },
    attach(client) {
      cancel();
      clients.add(client);
      client.left.addEventListener("abort", () => leave(client), { once: true });
      if (client.left.aborted) leave(client);
      catchUp(client);
    },
    watch(client) {
      watchers.add(client);
      catchUp(client);
    },
    isHeard: () => clients.size > 0,
  };
}
