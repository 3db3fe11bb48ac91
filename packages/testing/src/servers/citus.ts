/** A store on a real Citus, whose coordinator `PALIMPSEST_CITUS_URL` names: a superuser's address of a database with the extension. */
import { randomBytes } from "node:crypto";
import { openPostgres } from "palimpsest/internal/postgres-store";
import pg from "pg";

const CITUS_URL = process.env["PALIMPSEST_CITUS_URL"] ?? "";

/** Why there is none; null: there is one. */
export const noCitus = CITUS_URL === "" ? "PALIMPSEST_CITUS_URL is not set: it names the coordinator of a Citus" : null;

export interface CitusStore {
  readonly url: string;
  /** Letters and digits only, so it needs no quotes. */
  readonly schema: string;
  sql(text: string, values?: readonly unknown[]): Promise<Record<string, unknown>[]>;
  /** Runs a command on each shard of a table, which it names `%s`: for changes that Citus itself would refuse. */
  onShards(table: string, command: string): Promise<void>;
  drop(): Promise<void>;
}

/** A new schema, distributed. */
export async function citusStore(): Promise<CitusStore> {
  const schema = `citus_${randomBytes(6).toString("hex")}`;
  const address = new URL(CITUS_URL);
  address.searchParams.set("schema", schema);
  const url = address.href;
  const sql = onCitus;
  await (await openPostgres(url, { distributed: true })).close();
  return {
    url,
    schema,
    sql,
    async onShards(table, command) {
      const failed = await sql("SELECT result FROM run_command_on_shards($1::regclass, $2) WHERE NOT success LIMIT 1", [
        `${schema}.${table}`,
        command,
      ]);
      if (failed.length > 0) throw new Error(String(failed[0]!["result"]));
    },
    drop: async () => void (await sql(`DROP SCHEMA ${schema} CASCADE`)),
  };
}

/** The address of the node that has a user's rows, reached as the coordinator is. */
export async function nodeOf({ schema, sql }: CitusStore, userId: string): Promise<string> {
  const [node] = await sql(
    `SELECT n.nodename, n.nodeport FROM pg_dist_placement p JOIN pg_dist_node n USING (groupid)
    WHERE p.shardid = get_shard_id_for_distribution_column($1::regclass, $2::text)`,
    [`${schema}.threads`, userId],
  );
  const address = new URL(CITUS_URL);
  address.hostname = String(node!["nodename"]);
  address.port = String(node!["nodeport"]);
  return address.href;
}

/** Asks the coordinator. */
export const onCitus: CitusStore["sql"] = (text, values) => ask(CITUS_URL, text, values);

async function ask(url: string, text: string, values: readonly unknown[] = []): Promise<Record<string, unknown>[]> {
  const client = new pg.Client(url);
  await client.connect();
  try {
    return (await client.query(text, [...values])).rows as Record<string, unknown>[];
  } finally {
    await client.end();
  }
}

/** Refuses connections to the node's database and ends those there are: as it looks while the node is down. */
export async function takeAway(url: string): Promise<{ bringBack(): Promise<void> }> {
  const database = new URL(url).pathname.slice(1);
  const other = new URL(url);
  other.pathname = "/postgres";
  await ask(other.href, `ALTER DATABASE "${database}" ALLOW_CONNECTIONS false`);
  await ask(other.href, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1", [database]);
  return { bringBack: async () => void (await ask(other.href, `ALTER DATABASE "${database}" ALLOW_CONNECTIONS true`)) };
}
