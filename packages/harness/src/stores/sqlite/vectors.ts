/** Vectors of indexed messages in SQLite: one embedder for each thread, a blob for each message. */
import type { StoredVector, VectorBatch, VectorTable } from "../search-tables.ts";
import { entryUpTo } from "./entries.ts";
import { findThread, NUM, type UserConnection } from "./rows.ts";

export function vectorTable(connection: UserConnection): VectorTable {
  const { guard, userId } = connection;
  return {
    pending: (threadId, { model, dimension }, limit) =>
      guard(() => {
        const state = connection.get(`SELECT * FROM recall_embedders WHERE num = ${NUM}`, userId, threadId);
        const same = state?.["model"] === model && (dimension === undefined || state["dimension"] === dimension);
        const through = same ? (state["through"] as number) : 0;
        const num = findThread(connection, threadId)?.num ?? -1;
        const after = entryUpTo(connection, num, through)?.ordinal ?? -1;
        const rows = connection.all(
          "SELECT seq FROM recall_entries WHERE num = ? AND ordinal > ? ORDER BY ordinal LIMIT ?",
          ...[num, after, limit],
        );
        return { through, seqs: rows.map((row) => row["seq"] as number) };
      }),
    // Derived: what a power cut takes of it is made again.
    write: (threadId, batch) =>
      guard(() =>
        connection.unhurried(() => connection.transaction("IMMEDIATE", () => write(connection, threadId, batch))),
      ),
    read: ({ model, dimension }, places) =>
      guard(() => {
        const rows = connection.all(
          `SELECT t.id, v.seq, v.vector FROM json_each(?) p CROSS JOIN threads t ON t.user = ? AND t.id = p.value ->> 0
           JOIN recall_embedders e ON e.num = t.num AND e.model = ? AND e.dimension = ?
           JOIN recall_vectors v ON v.num = t.num AND v.seq = p.value ->> 1`,
          ...[JSON.stringify(places.map(({ threadId, seq }) => [threadId, seq])), userId, model, dimension!],
        );
        return rows.map((row): StoredVector => {
          const vector = new Int8Array(row["vector"] as Uint8Array);
          return { threadId: row["id"] as string, seq: row["seq"] as number, vector };
        });
      }),
  };
}

function write(
  connection: UserConnection,
  threadId: string,
  { embedder, expect, through, vectors }: VectorBatch,
): "written" | "conflict" | "missing" {
  const num = findThread(connection, threadId)?.num;
  if (num === undefined) return "missing";
  const state = connection.get("SELECT * FROM recall_embedders WHERE num = ?", num);
  const same = state?.["model"] === embedder.model && state["dimension"] === embedder.dimension;
  if (expect !== (same ? state["through"] : 0)) return "conflict";
  if (!same) connection.run("DELETE FROM recall_vectors WHERE num = ?", num);
  connection.run(
    "INSERT OR REPLACE INTO recall_embedders (num, model, dimension, through) VALUES (?, ?, ?, ?)",
    ...[num, embedder.model, embedder.dimension!, through],
  );
  for (const { seq, vector } of vectors) {
    if (entryUpTo(connection, num, seq)?.seq !== seq) continue;
    connection.run(
      "INSERT OR REPLACE INTO recall_vectors (num, seq, vector) VALUES (?, ?, ?)",
      ...[num, seq, new Uint8Array(vector.buffer, vector.byteOffset, vector.length)],
    );
  }
  return "written";
}
