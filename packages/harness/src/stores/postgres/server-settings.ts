/** What the server has to be, and how it keeps our tables. */
import { StoreError } from "../store-error.ts";
import type { SqlQuery } from "./connection.ts";

/**
 * A step of the schema: the server cleans up by what is written. Its own defaults wait for a share of a table, which
 * one with millions of rows reaches too late.
 */
export function upkeepSettings(schema: string): readonly string[] {
  const set = (values: string, tables: readonly string[]) =>
    tables.map((table) => `ALTER TABLE ${schema}.${table} SET (${values})`);
  return [
    ...set(INSERTED, ["records", "recall_entries", "matches"]),
    ...set(UPDATED, ["threads", "recall_threads", "recall_postings"]),
    ...set(PASSING, ["outbox", "runs", "run_events", "drafts"]),
  ];
}

const INSERTED = "autovacuum_vacuum_insert_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02";
const UPDATED = "autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.05";
/** Rows that live for minutes. */
const PASSING = "autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 1000";

/** The oldest that the suite of stores is run on. Newer ones than those that exist are not refused. */
const OLDEST = 15;

export async function refuseServer(query: SqlQuery): Promise<void> {
  const [row] = await query<{ version: string; number: number; encoding: string }>(
    `SELECT current_setting('server_version') AS version, current_setting('server_version_num')::int AS number,
      current_setting('server_encoding') AS encoding`,
  );
  const { version, number, encoding } = row!;
  if (number < OLDEST * 10_000)
    throw new StoreError(
      "unsuitable",
      `The server is PostgreSQL ${version}; palimpsest works with ${OLDEST} to 18: update the server. Nothing was changed.`,
    );
  if (encoding === "UTF8") return;
  throw new StoreError(
    "unsuitable",
    `The database is encoded as ${encoding}; messages need UTF8: create one with createdb --encoding=UTF8 --template=template0.`,
  );
}
