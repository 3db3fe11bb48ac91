/** Drafts: a small cache beside a thread, for summaries that are being prepared. Losing one costs work, never data. */
import type { Drafts } from "../store.ts";
import { findThread, NUM, type UserConnection } from "./rows.ts";

export function drafts(connection: UserConnection): Drafts {
  return {
    get: (threadId, key) =>
      connection.guard(() => {
        const row = connection.get(
          `SELECT value, created FROM drafts WHERE num = ${NUM} AND key = ?`,
          ...[connection.userId, threadId, key],
        );
        return row && { value: row["value"] as string, created: row["created"] as string };
      }),
    put: (threadId, key, value, created) =>
      connection.guard(() =>
        connection.transaction("IMMEDIATE", () => {
          const row = findThread(connection, threadId);
          if (!row) return "missing";
          connection.run(
            `INSERT INTO drafts (num, key, value, created) VALUES (?, ?, ?, ?)
             ON CONFLICT (num, key) DO UPDATE SET value = excluded.value, created = excluded.created`,
            row.num,
            key,
            value,
            created,
          );
          return "put";
        }),
      ),
    drop: (threadId, key) =>
      connection.guard(() => {
        const own = `DELETE FROM drafts WHERE num = ${NUM}`;
        if (key === undefined) connection.run(own, connection.userId, threadId);
        else connection.run(`${own} AND key = ?`, connection.userId, threadId, key);
      }),
  };
}
