/**
 * The large tables in parts, by a hash of user and thread: an option of a schema that is being made. Statements are the
 * same with and without them; a thread's rows are all in one part, and one is looked at for each lookup.
 */
import { StoreError } from "../store-error.ts";
import type { SqlQuery } from "./connection.ts";

/** What grows with messages. */
const LARGE = ["records", "recall_entries", "recall_postings", "matches"] as const;

const MOST_PARTS = 256;

export function assertPartitions(partitions: number, distributed = false): void {
  if (distributed)
    throw new StoreError("unsuitable", "A distributed store is cut into shards already: leave the partitions out.");
  if (Number.isInteger(partitions) && partitions >= 2 && partitions <= MOST_PARTS) return;
  throw new StoreError("unsuitable", `${partitions} partitions: it must be a whole number from 2 to ${MOST_PARTS}.`);
}

/** For tables that were just made and hold nothing. Settings of a table are its parts', which alone have rows. */
export async function partitionTables(query: SqlQuery, schema: string, partitions: number): Promise<void> {
  for (const table of LARGE) {
    const [row] = await query<{ settings: string | null }>(
      "SELECT array_to_string(reloptions, ', ') AS settings FROM pg_catalog.pg_class WHERE oid = $1::regclass",
      [`${schema}.${table}`],
    );
    const settings = row?.settings ? ` WITH (${row.settings})` : "";
    await query(`ALTER TABLE ${schema}.${table} RENAME TO ${table}_whole`);
    await query(`CREATE TABLE ${schema}.${table}
      (LIKE ${schema}.${table}_whole INCLUDING DEFAULTS INCLUDING STORAGE INCLUDING INDEXES) PARTITION BY HASH (owner, thread)`);
    await query(`DROP TABLE ${schema}.${table}_whole`);
    for (let part = 0; part < partitions; part += 1)
      await query(`CREATE TABLE ${schema}.${table}_${part} PARTITION OF ${schema}.${table}
        FOR VALUES WITH (MODULUS ${partitions}, REMAINDER ${part})${settings}`);
  }
}

/** 0: the tables are whole. */
export async function countPartitions(query: SqlQuery, schema: string): Promise<number> {
  const [row] = await query<{ parts: number }>(
    `SELECT count(*)::int AS parts FROM pg_catalog.pg_inherits i JOIN pg_catalog.pg_class c ON c.oid = i.inhparent
    JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = $1 AND c.relname = 'records'`,
    [schema.slice(1, -1)],
  );
  return row!.parts;
}

/** Rows would have to be moved: a store that is there stays as it is. */
export async function refuseOther(query: SqlQuery, schema: string, partitions: number): Promise<void> {
  const parts = await countPartitions(query, schema);
  if (parts === partitions) return;
  throw new StoreError(
    "unsuitable",
    `The schema ${schema} is there already, ${parts === 0 ? "without partitions" : `with ${parts} partitions`}: make a new one (&schema=NAME in the store's URL) and bring the threads over with "palimpsest store copy FROM TO".`,
  );
}
