/** Memory documents in SQLite: one row each, written by compare-and-set on the revision. */
import type { MemoryRows } from "../store.ts";
import type { Connection } from "./connection.ts";

export function memoryRows(connection: Connection): MemoryRows {
  return {
    get: (userId, agentName) =>
      connection.guard(() => {
        const row = connection.get(
          "SELECT revision, document FROM memories WHERE user = ? AND agent = ?",
          userId,
          agentName,
        );
        return row && { revision: Number(row["revision"]), document: row["document"] as string };
      }),
    revision: (userId, agentName) =>
      connection.guard(() => {
        const row = connection.get("SELECT revision FROM memories WHERE user = ? AND agent = ?", userId, agentName);
        return Number(row?.["revision"] ?? 0);
      }),
    put: (userId, agentName, { revision, document }, expect) =>
      connection.guard(() => {
        const { changes } =
          expect === 0
            ? connection.run(
                "INSERT INTO memories (user, agent, revision, document) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING",
                ...[userId, agentName, revision, document],
              )
            : connection.run(
                "UPDATE memories SET revision = ?, document = ? WHERE user = ? AND agent = ? AND revision = ?",
                ...[revision, document, userId, agentName, expect],
              );
        return changes === 1 ? "saved" : "conflict";
      }),
    list: (after) =>
      connection.guard(() => {
        const beyond = after === undefined ? "" : "WHERE (user, agent) > (?, ?)";
        const sql = `SELECT user, agent FROM memories ${beyond} ORDER BY user, agent LIMIT 500`;
        return connection
          .all(sql, ...(after === undefined ? [] : [after.userId, after.agentName]))
          .map(({ user, agent }) => ({ userId: user as string, agentName: agent as string }));
      }),
  };
}
