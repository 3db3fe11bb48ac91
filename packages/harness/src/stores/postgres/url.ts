/**
 * Reads a `postgres://` URL: what the driver gets, which schema holds our tables, and how to name the server to a
 * person without the password.
 */
import { StoreError } from "../store-error.ts";

export interface PostgresTarget {
  readonly connectionString: string;
  /** Quoted, ready for SQL. */
  readonly schema: string;
  readonly user: string;
  readonly database: string;
  /** `host:port/database`, or the socket's folder. */
  readonly place: string;
}

export function readPostgresUrl(text: string): PostgresTarget {
  // The parser's own error quotes its input, password included: it must not become a cause.
  if (!URL.canParse(text)) throw new StoreError("bad-url", `The store's URL can't be read. ${FORM}`);
  const url = new URL(text);
  const schema = url.searchParams.get("schema") ?? "palimpsest";
  if (!/^[A-Za-z_][A-Za-z0-9_]{0,62}$/.test(schema)) {
    throw new StoreError(
      "bad-url",
      `The schema ${JSON.stringify(schema)} in the store's URL must be a plain name: letters, digits and "_".`,
    );
  }
  url.searchParams.delete("schema");
  const host = url.searchParams.get("host") ?? (url.hostname || "localhost");
  const user = decodeURIComponent(url.username) || process.env["PGUSER"] || process.env["USER"] || "";
  const database = decodeURIComponent(url.pathname.slice(1)) || process.env["PGDATABASE"] || user;
  const place = host.startsWith("/") ? `${host} (${database})` : `${host}:${url.port || "5432"}/${database}`;
  return { connectionString: url.href, schema: `"${schema}"`, user, database, place };
}

const FORM =
  "Its form is postgres://user:password@host:5432/database; percent-encode special characters in the password.";
