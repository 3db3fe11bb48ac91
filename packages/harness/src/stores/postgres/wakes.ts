/**
 * Wake-ups between processes: NOTIFY in statements of their own, never in an append, since a transaction that notifies takes
 * a lock of the whole server when it commits. Listening needs a connection that stays the same, so it has an address of its
 * own, past any pooler. A listener that was away hears that it may have missed some.
 */
import { createHash } from "node:crypto";
import type { Wakes } from "../shared.ts";
import type { PostgresConnection } from "./connection.ts";
import { loadDriver } from "./pool.ts";

export function wakes({ schema, run }: PostgresConnection, listenUrl: string | null): Wakes {
  const channel = `pal_${createHash("sha256").update(schema).digest("hex").slice(0, 16)}`;
  return {
    async tell(ids) {
      for (let from = 0; from < ids.length; from += MOST_IDS) {
        const payload = ids.slice(from, from + MOST_IDS).join(" ");
        await run((query) => query("SELECT pg_notify($1, $2)", [channel, payload]));
      }
    },
    listen: (hear) => (listenUrl === null ? null : keepListening(listenUrl, channel, hear)),
  };
}

/** A payload has less than 8,000 bytes, and an id 140 at most. */
const MOST_IDS = 50;
const PAUSE_MS = 1000;

function keepListening(
  url: string,
  channel: string,
  hear: (ids: readonly string[] | null) => void,
): { stop(): Promise<void> } {
  const stopping = new AbortController();
  const connectOnce = async (): Promise<void> => {
    const { default: pg } = await loadDriver();
    const address = new URL(url);
    address.searchParams.delete("schema");
    const client = new pg.Client({ connectionString: address.href, keepAlive: true, connectionTimeoutMillis: 10_000 });
    const { promise: over, resolve } = Promise.withResolvers<void>();
    client.on("error", () => resolve());
    client.on("end", () => resolve());
    client.on("notification", ({ payload }) => hear((payload ?? "").split(" ").filter((id) => id !== "")));
    stopping.signal.addEventListener("abort", () => resolve(), { once: true });
    try {
      await client.connect();
      await client.query(`LISTEN ${channel}`);
      hear(null);
      await over;
    } finally {
      await client.end().catch(() => {});
    }
  };
  const loop = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      await connectOnce().catch(() => {});
      if (stopping.signal.aborted) return;
      await new Promise<void>((wake) => {
        const timer = setTimeout(wake, PAUSE_MS);
        timer.unref();
        stopping.signal.addEventListener("abort", () => wake(), { once: true });
      });
    }
  };
  const looping = loop();
  return {
    async stop() {
      stopping.abort();
      await looping;
    },
  };
}
