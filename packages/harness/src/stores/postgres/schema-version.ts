/** Which steps of the schema the tables have seen, and whether this program may work with them. */
import { StoreError } from "../store-error.ts";
import type { Query } from "./connection.ts";

interface SchemaVersion {
  readonly version: number;
  /** How many of the steps a program must know to work with these tables. */
  readonly least: number;
}

export async function schemaVersion(query: Query, schema: string): Promise<SchemaVersion> {
  // Asks the catalogue's tables: `to_regclass` may answer from a cache that is older than the lock we waited for.
  const tables = await query(
    `SELECT 1 AS found FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
    WHERE n.nspname = $1 AND c.relname = 'schema_version'`,
    [schema.slice(1, -1)],
  );
  if (tables.length === 0) return { version: 0, least: 0 };
  const [row] = await query<{ version: number; least?: number }>(`SELECT * FROM ${schema}.schema_version`);
  const version = row?.version ?? 0;
  return { version, least: row?.least ?? version };
}

export function refuseNewer({ version, least }: SchemaVersion, newest: number, schema: string): void {
  if (least <= newest) return;
  throw new StoreError(
    "newer-version",
    `The schema ${schema} was written by a newer palimpsest (schema version ${version}, for programs that know ${least}; this one knows ${newest}): update palimpsest. Nothing was changed.`,
  );
}
