/** Which steps of the schema the tables have seen, and whether this program may work with them. */
import { StoreError } from "../store-error.ts";
import type { SqlQuery } from "./connection.ts";

interface SchemaVersion {
  readonly version: number;
  /** How many of the steps a program must know to work with these tables. */
  readonly least: number;
}

/** The first of this layout. Those below are of others: threads had numbers of their own beside their users, or rows were not packed. */
export const FIRST_VERSION = 23;

export async function schemaVersion(query: SqlQuery, schema: string): Promise<SchemaVersion> {
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

/** Throws for tables of a newer program, and for those of another layout. */
export function refuseOthers({ version, least }: SchemaVersion, newest: number, schema: string): void {
  if (least > newest)
    throw new StoreError(
      "newer-version",
      `The schema ${schema} was written by a newer palimpsest (schema version ${version}, for programs that know ${least}; this one knows ${newest}): update palimpsest. Nothing was changed.`,
    );
  if (version > 0 && version < FIRST_VERSION)
    throw new StoreError(
      "unsuitable",
      `The schema ${schema} has the layout of an earlier palimpsest (schema version ${version}; this one begins with ${FIRST_VERSION}). Nothing was changed. Write it to a file with that version ("palimpsest store backup old.db"), then bring it into a new schema with this one: "palimpsest store copy old.db 'postgres://...?schema=NAME'".`,
    );
}
