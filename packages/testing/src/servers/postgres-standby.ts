/**
 * A standby for a test's PostgreSQL: a copy of its cluster that follows it over the replication protocol, and an address that
 * moves with the primary, as a virtual address or a name does.
 */
import { setTimeout as pause } from "node:timers/promises";
import { Client } from "pg";
import { startPostgresProxy } from "./postgres-proxy.ts";
import { type PostgresServer, startPostgres } from "./postgres-server.ts";

/** `synchronous`: from now on a commit of the primary is acknowledged when the standby has it too. The primary is restarted for it. */
export async function startStandby(
  primary: PostgresServer,
  mode: "synchronous" | "asynchronous",
): Promise<PostgresServer> {
  await primary.halt();
  const standby = await startPostgres([], { standbyOf: primary });
  await primary.start();
  while ((await sqlOn(primary, "SELECT 1 FROM pg_stat_replication WHERE state = 'streaming'")).length === 0)
    await pause(20);
  if (mode === "asynchronous") return standby;
  await sqlOn(primary, "ALTER SYSTEM SET synchronous_standby_names = 'standby'");
  await sqlOn(primary, "SELECT pg_reload_conf()");
  while ((await sqlOn(primary, "SELECT 1 FROM pg_stat_replication WHERE sync_state = 'sync'")).length === 0)
    await pause(20);
  return standby;
}

interface MovingPostgres {
  /** Leads to whichever server is the primary. */
  url(): string;
  /**
   * Kills the primary and puts the standby in its place; it has a standby of its own when this ends. `late`: the address
   * leads to the standby before that is promoted.
   */
  failOver(promotion: "first" | "late"): Promise<void>;
  stop(): Promise<void>;
}

export async function startMovingPostgres(): Promise<MovingPostgres> {
  let primary = await startPostgres();
  let standby = await startStandby(primary, "synchronous");
  const proxy = await startPostgresProxy(primary);
  return {
    url: () => proxy.url(),
    async failOver(promotion) {
      await primary.crash();
      if (promotion === "late") proxy.switchTo(standby);
      await sqlOn(standby, "SELECT pg_promote()");
      if (promotion === "first") proxy.switchTo(standby);
      await primary.stop();
      primary = standby;
      standby = await startStandby(primary, "synchronous");
    },
    async stop() {
      await proxy.stop();
      await standby.stop();
      await primary.stop();
    },
  };
}

/** Waits until what the primary has on disk is to be seen on the standby: to have it there is not to have read it yet. */
export async function replayed(primary: PostgresServer, standby: PostgresServer): Promise<void> {
  const [row] = await sqlOn(primary, "SELECT pg_current_wal_flush_lsn()::text AS at");
  while ((await sqlOn(standby, `SELECT 1 WHERE pg_last_wal_replay_lsn() >= '${row!["at"]}'`)).length === 0)
    await pause(20);
}

export async function sqlOn(server: PostgresServer, text: string): Promise<Record<string, unknown>[]> {
  const client = new Client({ connectionString: server.url() });
  client.on("error", () => {});
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(text)).rows;
  } finally {
    await client.end();
  }
}
