/**
 * Indexes that came after their tables had rows. They are built outside of the migration's transaction and beside all other work
 * (CONCURRENTLY): no statement waits for them, and nothing but speed rests on them. One that was interrupted is left invalid by the
 * server; it is dropped and built again the next time (`store init`).
 */
import { LONG, type PostgresConnection } from "./connection.ts";

interface LateIndex {
  readonly name: string;
  readonly table: string;
  /** Columns, and what else stands behind the table's name. */
  readonly on: string;
}

const LATE_INDEXES: readonly LateIndex[] = [
  // A worker asks for its job by its holder; without this each time all that waits is looked through.
  { name: "outbox_held", table: "outbox", on: "(holder) WHERE holder IS NOT NULL" },
];

/** In a schema that was just made: nothing is there that could be waited for. */
export async function makeLateIndexes({ schema, run }: PostgresConnection): Promise<void> {
  for (const { name, table, on } of LATE_INDEXES)
    await run((query) => query(`CREATE INDEX IF NOT EXISTS ${name} ON ${schema}.${table} ${on}`));
}

/** Those that were missing. It waits for every transaction that began before, so it isn't a part of opening a store. */
export async function buildLateIndexes(connection: PostgresConnection): Promise<readonly string[]> {
  const unbuilt = await missingIndexes(connection);
  for (const index of unbuilt) await build(connection, index);
  return unbuilt.map(({ name }) => name);
}

interface Unbuilt extends LateIndex {
  /** Of an earlier attempt. */
  readonly invalid: boolean;
}

/** Not there, or invalid and not being built. */
export async function missingIndexes({ schema, run }: PostgresConnection): Promise<Unbuilt[]> {
  const rows = await run((query) =>
    query<{ name: string; valid: boolean; building: boolean }>(
      `SELECT c.relname AS name, i.indisvalid AS valid,
        EXISTS (SELECT 1 FROM pg_catalog.pg_stat_progress_create_index p WHERE p.index_relid = c.oid) AS building
      FROM pg_catalog.pg_index i JOIN pg_catalog.pg_class c ON c.oid = i.indexrelid
      JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = $1 AND c.relname = ANY ($2::text[])`,
      [schema.slice(1, -1), LATE_INDEXES.map(({ name }) => name)],
    ),
  );
  const states = new Map(rows.map((row) => [row.name, row]));
  return LATE_INDEXES.flatMap((index) => {
    const state = states.get(index.name);
    return state?.valid || state?.building ? [] : [{ ...index, invalid: state !== undefined }];
  });
}

async function build({ schema, run }: PostgresConnection, { name, table, on, invalid }: Unbuilt): Promise<void> {
  const alone = (sql: string) => run((query) => query(sql), LONG);
  if (invalid) await alone(`DROP INDEX CONCURRENTLY IF EXISTS ${schema}.${name}`);
  await alone(`CREATE INDEX CONCURRENTLY IF NOT EXISTS ${name} ON ${schema}.${table} ${on}`);
}
