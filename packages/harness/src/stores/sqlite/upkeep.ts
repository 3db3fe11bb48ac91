/** What keeps the database file in order: SQLite's own check, freed space, and what its write-ahead log still holds. */
import type { Scrubbed, Upkeep } from "../store.ts";
import type { Connection } from "./connection.ts";

export function upkeep(connection: Connection): Upkeep {
  const { guard } = connection;
  return {
    scrub: () => guard(() => scrub(connection)),
    check: () =>
      guard(() => {
        const detail = String(connection.get("PRAGMA quick_check(1)")?.["quick_check"]);
        return { ok: detail === "ok", detail };
      }),
    probe: () =>
      guard(() => {
        // No thread has this number.
        connection.run(
          "INSERT OR REPLACE INTO drafts (num, key, value, created) VALUES (0, 'probe', hex(zeroblob(131072)), '')",
        );
        connection.run("DELETE FROM drafts WHERE num = 0");
      }),
    vacuum: () =>
      guard(() => {
        connection.exec("VACUUM");
        connection.all("PRAGMA wal_checkpoint(TRUNCATE)");
      }),
  };
}

/**
 * The write-ahead log holds the old pages until it is folded into the file and cut. A reader can stand in the way for as long
 * as it likes, so it is not waited for: its end, or the next of these, does the rest.
 */
function scrub(connection: Connection): Scrubbed {
  const patience = connection.get("PRAGMA busy_timeout")?.["timeout"] ?? 0;
  connection.exec(`PRAGMA busy_timeout = ${Math.min(Number(patience), SCRUB_MS)}`);
  try {
    const busy = connection.get("PRAGMA wal_checkpoint(TRUNCATE)")?.["busy"];
    return busy === 1 ? { kind: "held", file: `${connection.path}-wal` } : { kind: "clean" };
  } finally {
    connection.exec(`PRAGMA busy_timeout = ${patience}`);
  }
}

/** Long enough for a process that holds it only briefly. */
const SCRUB_MS = 200;
