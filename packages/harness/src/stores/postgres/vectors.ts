/** Vectors of indexed messages in PostgreSQL: one embedder for each thread, a row of bytes for each message. */
import type { QueryResultRow } from "pg";
import type { VectorBatch, VectorTable } from "../search-tables.ts";
import type { Query } from "./connection.ts";
import { NAMED, numOf, type ThreadName, type UserConnection } from "./lineage.ts";

export function vectorTable({ schema, run, transaction, userId }: UserConnection): VectorTable {
  const rows = <R extends QueryResultRow>(sql: string, ...values: unknown[]) => run((query) => query<R>(sql, values));
  return {
    async pending(threadId, { model, dimension }, limit) {
      const name = [userId, threadId];
      const [state] = await rows<{ through: number }>(
        `SELECT through::float8 FROM ${schema}.recall_embedders
        WHERE thread = ${numOf(schema)} AND model = $2 AND dimension = coalesce($3::int, dimension)`,
        ...[name, model, dimension ?? null],
      );
      const through = state?.through ?? 0;
      const entries = await rows<{ seq: number }>(
        `SELECT seq::float8 FROM ${schema}.recall_entries WHERE thread = ${numOf(schema)} AND seq > $2 ORDER BY recall_entries.seq LIMIT $3`,
        ...[name, through, limit],
      );
      return { through, seqs: entries.map(({ seq }) => seq) };
    },
    write: (threadId, batch) => transaction((query) => write(query, schema, [userId, threadId], batch)),
    async read({ model, dimension }, places) {
      const vectors = await rows<{ id: string; seq: number; vector: Buffer }>(
        `SELECT t.id, v.seq::float8, v.vector FROM unnest($1::text[], $2::bigint[]) AS p (thread, seq)
        JOIN ${schema}.threads t ON t.owner = $3 AND t.id = p.thread
        JOIN ${schema}.recall_embedders e ON e.thread = t.num AND e.model = $4 AND e.dimension = $5
        JOIN ${schema}.recall_vectors v ON v.thread = t.num AND v.seq = p.seq`,
        ...[places.map(({ threadId }) => threadId), places.map(({ seq }) => seq), userId, model, dimension],
      );
      return vectors.map(({ id, seq, vector }) => ({ threadId: id, seq, vector: new Int8Array(vector) }));
    },
  };
}

async function write(
  query: Query,
  schema: string,
  name: ThreadName,
  { embedder, expect, through, vectors }: VectorBatch,
): Promise<"written" | "conflict" | "missing"> {
  const { model, dimension } = embedder;
  const [thread] = await query<{ num: number }>(`SELECT num FROM ${schema}.threads WHERE ${NAMED} FOR SHARE`, [name]);
  if (!thread) return "missing";
  const { num } = thread;
  // Whoever comes second waits here and then finds that it has moved on.
  await query(`INSERT INTO ${schema}.recall_embedders VALUES ($1, '', 0, 0) ON CONFLICT DO NOTHING`, [num]);
  const [state] = await query<{ same: boolean; through: number }>(
    `SELECT model = $2 AND dimension = $3 AS same, through::float8 FROM ${schema}.recall_embedders WHERE thread = $1 FOR UPDATE`,
    [num, model, dimension],
  );
  if (expect !== (state!.same ? state!.through : 0)) return "conflict";
  if (!state!.same) await query(`DELETE FROM ${schema}.recall_vectors WHERE thread = $1`, [num]);
  const moved = "model = $2, dimension = $3, through = $4";
  await query(`UPDATE ${schema}.recall_embedders SET ${moved} WHERE thread = $1`, [num, model, dimension, through]);
  await query(
    `INSERT INTO ${schema}.recall_vectors (thread, seq, vector)
    SELECT e.thread, e.seq, v.vector FROM unnest($2::bigint[], $3::bytea[]) AS v (seq, vector)
    JOIN ${schema}.recall_entries e ON e.thread = $1 AND e.seq = v.seq
    ON CONFLICT (thread, seq) DO UPDATE SET vector = excluded.vector`,
    [
      num,
      vectors.map(({ seq }) => seq),
      vectors.map(({ vector }) => Buffer.from(vector.buffer, vector.byteOffset, vector.length)),
    ],
  );
  return "written";
}

/** The step that makes them: for each thread which embedder and how far it has come, and what it made of indexed messages. */
export function vectorTables(schema: string): string[] {
  return [
    `CREATE TABLE ${schema}.recall_embedders (
      thread bigint PRIMARY KEY,
      model text NOT NULL,
      dimension int NOT NULL,
      through bigint NOT NULL
    )`,
    `CREATE TABLE ${schema}.recall_vectors (
      thread bigint NOT NULL,
      seq bigint NOT NULL,
      vector bytea NOT NULL,
      PRIMARY KEY (thread, seq)
    )`,
    `ALTER TABLE ${schema}.recall_vectors ALTER COLUMN vector SET STORAGE EXTERNAL`,
  ];
}
