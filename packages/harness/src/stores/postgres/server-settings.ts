/** What the server has to be, and how it keeps our tables. */
import { StoreError } from "../store-error.ts";
import type { Query } from "./connection.ts";

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

export async function refuseEncoding(query: Query): Promise<void> {
  const [row] = await query<{ encoding: string }>("SELECT current_setting('server_encoding') AS encoding");
  if (row!.encoding === "UTF8") return;
  throw new StoreError(
    "unsuitable",
    `The database is encoded as ${row!.encoding}; messages need UTF8: create one with createdb --encoding=UTF8 --template=template0.`,
  );
}
