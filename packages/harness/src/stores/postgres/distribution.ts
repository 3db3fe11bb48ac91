/**
 * A store on Citus: tables of users are spread over the nodes by their user, all alike, so that whatever is done for one user is
 * done by one node. The other tables stay on the coordinator: they are written at run time, so they can't be copies on every
 * node, and with them there everybody can log in and is counted while a node is away.
 */
import { StoreError } from "../store-error.ts";
import type { SqlQuery } from "./connection.ts";

/** What is distributed is so alike: this one says where the others' shards are. */
const FIRST = "threads";

/** Those that are distributed by their column `owner`: kept, and with a key that begins with it. What is unlogged lives for minutes. */
export async function userTables(query: SqlQuery, schema: string): Promise<readonly string[]> {
  const rows = await query<{ name: string }>(
    `SELECT c.relname AS name FROM pg_catalog.pg_class c JOIN pg_catalog.pg_index i ON i.indrelid = c.oid AND i.indisprimary
    JOIN pg_catalog.pg_attribute a ON a.attrelid = c.oid AND a.attnum = i.indkey[0]
    JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
    WHERE n.nspname = $1 AND c.relkind = 'r' AND c.relpersistence = 'p' AND a.attname = 'owner'
    ORDER BY c.relname <> '${FIRST}', c.relname`,
    [schema.slice(1, -1)],
  );
  return rows.map(({ name }) => name);
}

async function hasCitus(query: SqlQuery): Promise<boolean> {
  return (await query("SELECT 1 FROM pg_catalog.pg_extension WHERE extname = 'citus'")).length === 1;
}

/** Those of ours that are. */
async function distributedTables(query: SqlQuery, schema: string): Promise<ReadonlySet<string>> {
  if (!(await hasCitus(query))) return new Set();
  const rows = await query<{ name: string }>(
    `SELECT c.relname AS name FROM pg_catalog.pg_dist_partition p JOIN pg_catalog.pg_class c ON c.oid = p.logicalrelid
    JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = $1 AND p.partmethod = 'h'`,
    [schema.slice(1, -1)],
  );
  return new Set(rows.map(({ name }) => name));
}

export async function isDistributed(query: SqlQuery, schema: string): Promise<boolean> {
  return (await distributedTables(query, schema)).has(FIRST);
}

/** Those that aren't yet: of a new store all, later what a step of the schema has added. */
export async function distributeTables(query: SqlQuery, schema: string): Promise<void> {
  if (!(await hasCitus(query)))
    throw new StoreError(
      "unsuitable",
      `The database has no Citus, which a distributed store needs: install it on every node, then run "CREATE EXTENSION citus" in this database. Nothing was made.`,
    );
  const done = await distributedTables(query, schema);
  for (const table of (await userTables(query, schema)).filter((name) => !done.has(name)))
    await query("SELECT create_distributed_table($1, 'owner', colocate_with => $2)", [
      `${schema}.${table}`,
      table === FIRST ? "none" : `${schema}.${FIRST}`,
    ]);
}

/** Rows would have to be moved: a store that is there stays as it is. */
export async function refuseUndistributed(query: SqlQuery, schema: string): Promise<void> {
  if (await isDistributed(query, schema)) return;
  throw new StoreError(
    "unsuitable",
    `The schema ${schema} is there already, on one server: make a new one (&schema=NAME in the store's URL) and bring the threads over with "palimpsest store copy FROM TO".`,
  );
}

/** A node that holds shards, or is to. */
export interface NodeState {
  readonly node: string;
  readonly shards: number;
  /** Of our tables. */
  readonly bytes: number;
  /** Its own setting, which ours don't reach; null: it doesn't answer. */
  readonly synchronousCommit: string | null;
}

export async function nodeStates(query: SqlQuery, schema: string): Promise<readonly NodeState[]> {
  return query<NodeState & { node: string }>(
    `SELECT n.nodename || ':' || n.nodeport AS node, coalesce(s.shards, 0)::int AS shards, coalesce(s.bytes, 0)::float8 AS bytes,
      CASE WHEN w.success THEN w.result END AS "synchronousCommit"
    FROM pg_dist_node n
    LEFT JOIN run_command_on_workers('SHOW synchronous_commit') w ON w.nodename = n.nodename AND w.nodeport = n.nodeport
    LEFT JOIN (
      SELECT nodename, nodeport, count(*) AS shards, sum(shard_size) AS bytes FROM citus_shards
      WHERE split_part(table_name::text, '.', 1) = $1 GROUP BY nodename, nodeport
    ) s ON s.nodename = n.nodename AND s.nodeport = n.nodeport
    WHERE n.noderole = 'primary' AND n.shouldhaveshards ORDER BY n.nodeid`,
    [schema.slice(1, -1)],
  );
}

/** Nodes that hold much more or less than others are worth a word from this size on. */
const WORTH_BALANCING = 256 * 1024 * 1024;

export function describeNodes(nodes: readonly NodeState[]): { readonly ok: boolean; readonly detail: string } {
  const answering = nodes.filter(({ synchronousCommit }) => synchronousCommit !== null);
  const away = nodes.filter((node) => !answering.includes(node));
  const hasty = answering.filter(({ synchronousCommit }) => synchronousCommit === "off");
  const empty = answering.filter(({ shards }) => shards === 0);
  const mean = nodes.reduce((sum, { bytes }) => sum + bytes, 0) / nodes.length;
  const isUneven = mean > WORTH_BALANCING && nodes.some(({ bytes }) => Math.abs(bytes - mean) > mean / 5);
  const size = (bytes: number) => `${(bytes / 1024 / 1024).toFixed(1)} MB`;
  const each = nodes.map(({ node, shards, bytes }) => `${node} ${shards} shards, ${size(bytes)}`).join("; ");
  const names = (some: readonly NodeState[]) => some.map(({ node }) => node).join(", ");
  const rebalance = `run "SELECT citus_rebalance_start()"`;
  const sentences = [
    `spread over ${nodes.length} nodes by user (${each})`,
    ...(away.length > 0 ? [`${names(away)} doesn't answer: the users there wait until it is back`] : []),
    ...(hasty.length > 0
      ? [`${names(hasty)} acknowledges what isn't on disk yet: set synchronous_commit to on there`]
      : []),
    ...(empty.length > 0 ? [`${names(empty)} holds nothing yet: ${rebalance}`] : []),
    ...(away.length === 0 && empty.length === 0 && isUneven ? [`they differ by more than a fifth: ${rebalance}`] : []),
  ];
  return { ok: away.length + hasty.length === 0, detail: sentences.join("; ") };
}
