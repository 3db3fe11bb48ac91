/**
 * A TCP proxy before a test's PostgreSQL, for the faults of networks: a connection that breaks at a chosen query, an answer
 * that is lost after the server gave it, a connection on which nothing comes any more.
 */
import { once } from "node:events";
import { type AddressInfo, createConnection, createServer, type Socket } from "node:net";
import { join } from "node:path";
import { openPostgres } from "palimpsest/internal/postgres-store";
import { StoreError } from "palimpsest/stores";
import type { PostgresServer } from "./postgres-server.ts";

/**
 * `cut`: the query never arrives. `lose-answer`: the server has carried it out, the client doesn't hear of it.
 * `delay-answer`: it hears of it after `speak`. `fall-silent`: the query never arrives, but the connection stays open.
 */
type NetworkFault = "cut" | "lose-answer" | "delay-answer" | "fall-silent";

export interface PostgresProxy {
  url(database?: string): string;
  /** The next query with these words meets the fault; resolves when it has. */
  next(words: string, fault: NetworkFault): Promise<void>;
  /** Nothing passes any more, on no connection, until `speak`: then what was held back arrives. */
  fallSilent(): void;
  speak(): void;
  /** From now on every query arrives so much later. */
  slow(ms: number): void;
  /** Connections break off, and new ones go to this server: as an address that moves with the primary does. */
  switchTo(other: PostgresServer): void;
  stop(): Promise<void>;
}

export async function startPostgresProxy(server: PostgresServer): Promise<PostgresProxy> {
  const sockets = new Set<Socket>();
  const waiting: Expected[] = [];
  const delayed: (() => void)[] = [];
  let silent = false;
  let target = server;
  let slowness = 0;
  const proxy = createServer((client) => {
    const upstream = createConnection(join(target.folder, ".s.PGSQL.5432"));
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on("error", () => {});
      socket.on("close", () => {
        for (const end of [client, upstream]) {
          sockets.delete(end);
          end.destroy();
        }
      });
      if (silent) socket.pause();
    }
    relay({ client, upstream, waiting, delayed, slowness: () => slowness });
  });
  proxy.listen(0, "127.0.0.1");
  await once(proxy, "listening");
  const { port } = proxy.address() as AddressInfo;
  return {
    url: (database = "postgres") => `postgres://postgres@127.0.0.1:${port}/${database}`,
    next: (words, fault) => new Promise((met) => waiting.push({ words, fault, met })),
    fallSilent: () => {
      silent = true;
      for (const socket of sockets) socket.pause();
    },
    speak: () => {
      silent = false;
      for (const socket of sockets) socket.resume();
      for (const deliver of delayed.splice(0)) deliver();
    },
    slow: (ms) => {
      slowness = ms;
    },
    switchTo: (other) => {
      target = other;
      for (const socket of sockets) socket.destroy();
    },
    stop: async () => {
      for (const socket of sockets) socket.destroy();
      const closed = once(proxy, "close");
      proxy.close();
      await closed;
    },
  };
}

/**
 * A store that soon gives a silent connection up. To a busy machine its limits may be too short already when it is opened:
 * then it is tried again.
 */
export async function openHasty(
  url: string,
  options: Parameters<typeof openPostgres>[1],
): ReturnType<typeof openPostgres> {
  for (;;) {
    try {
      return await openPostgres(url, options);
    } catch (error) {
      if (!(error instanceof StoreError && error.code === "unavailable")) throw error;
    }
  }
}

interface Expected {
  readonly words: string;
  readonly fault: NetworkFault;
  met(): void;
}

interface Relay {
  readonly client: Socket;
  readonly upstream: Socket;
  readonly waiting: Expected[];
  readonly delayed: (() => void)[];
  readonly slowness: () => number;
}

function relay({ client, upstream, waiting, delayed, slowness }: Relay): void {
  let state: "open" | "mute" | Expected = "open";
  let arriving = Promise.resolve();
  client.on("data", (chunk) => {
    if (state === "mute") return;
    const index = waiting.findIndex(({ words }) => chunk.includes(words));
    const [expected] = index < 0 ? [] : waiting.splice(index, 1);
    if (expected?.fault === "cut") client.destroy();
    if (expected?.fault === "cut" || expected?.fault === "fall-silent") {
      state = "mute";
      return expected.met();
    }
    state = expected ?? state;
    arriving = arriving.then(() => passed(slowness())).then(() => void upstream.write(chunk));
  });
  upstream.on("data", (chunk) => {
    if (state === "mute") return;
    if (state === "open") return void client.write(chunk);
    if (state.fault === "delay-answer") delayed.push(() => client.write(chunk));
    // Ready for the next query: what was asked is done, and committed if it was a statement of its own.
    if (chunk.at(-6) !== READY_FOR_QUERY) return;
    state.met();
    if (state.fault === "lose-answer") client.destroy();
    else state = "open";
  });
}

async function passed(ms: number): Promise<void> {
  if (ms > 0) await new Promise((wake) => setTimeout(wake, ms));
}

const READY_FOR_QUERY = "Z".charCodeAt(0);
