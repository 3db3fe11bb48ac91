/** Vectors of indexed messages in PostgreSQL: one embedder for each thread, a row of bytes for each message. */
import type { QueryResultRow } from "pg";
import type { VectorBatch, VectorTable } from "../search-tables.ts";
import type { SqlQuery } from "./connection.ts";
import { NAMED, numOf, type PostgresUserConnection, type ThreadRowName } from "./lineage.ts";

export function vectorTable({ schema, run, transaction, userId }: PostgresUserConnection): VectorTable {
  const rows = <R extends QueryResultRow>(sql: string, ...values: unknown[]) => run((query) => query<R>(sql, values));
  return {
    async pending(threadId, { model, dimension }, limit) {
      const [state] = await rows<{ through: number }>(
        `SELECT through::float8 FROM ${schema}.recall_embedders
        WHERE owner = $1 AND thread = ${numOf(schema)} AND model = $3 AND dimension = coalesce($4::int, dimension)`,
        ...[userId, threadId, model, dimension ?? null],
      );
      const through = state?.through ?? 0;
      const entries = await rows<{ seq: number }>(
        `SELECT seq::float8 FROM ${schema}.recall_entries e
        WHERE owner = $1 AND thread = ${numOf(schema)} AND seq > $3 ORDER BY e.seq LIMIT $4`,
        ...[userId, threadId, through, limit],
      );
      return { through, seqs: entries.map(({ seq }) => seq) };
    },
    write: (threadId, batch) => transaction((query) => write(query, schema, [userId, threadId], batch)),
    async read({ model, dimension }, places) {
      const vectors = await rows<{ id: string; seq: number; vector: Buffer }>(
        `SELECT t.id, v.seq::float8, v.vector FROM unnest($2::text[], $3::bigint[]) AS p (thread, seq)
        JOIN ${schema}.threads t ON t.owner = $1 AND t.id = p.thread
        JOIN ${schema}.recall_embedders e ON e.owner = $1 AND e.thread = t.num AND e.model = $4 AND e.dimension = $5
        JOIN ${schema}.recall_vectors v ON v.owner = $1 AND v.thread = t.num AND v.seq = p.seq`,
        ...[userId, places.map(({ threadId }) => threadId), places.map(({ seq }) => seq), model, dimension],
      );
      return vectors.map(({ id, seq, vector }) => ({ threadId: id, seq, vector: new Int8Array(vector) }));
    },
  };
}

async function write(
  query: SqlQuery,
  schema: string,
  name: ThreadRowName,
  { embedder, expect, through, vectors }: VectorBatch,
): Promise<"written" | "conflict" | "missing"> {
  const { model, dimension } = embedder;
  const [thread] = await query<{ num: number }>(`SELECT num FROM ${schema}.threads WHERE ${NAMED} FOR SHARE`, name);
  if (!thread) return "missing";
  const own = [name[0], thread.num];
  // The second one waits here and then finds that it has moved on.
  await query(
    `INSERT INTO ${schema}.recall_embedders (owner, thread, through, dimension, model) VALUES ($1, $2, 0, 0, '')
    ON CONFLICT DO NOTHING`,
    own,
  );
  const [state] = await query<{ same: boolean; through: number }>(
    `SELECT model = $3 AND dimension = $4 AS same, through::float8 FROM ${schema}.recall_embedders
    WHERE owner = $1 AND thread = $2 FOR UPDATE`,
    [...own, model, dimension],
  );
  if (expect !== (state!.same ? state!.through : 0)) return "conflict";
  if (!state!.same) await query(`DELETE FROM ${schema}.recall_vectors WHERE ${OWN}`, own);
  const moved = "model = $3, dimension = $4, through = $5";
  await query(`UPDATE ${schema}.recall_embedders SET ${moved} WHERE ${OWN}`, [...own, model, dimension, through]);
  await query(
    `INSERT INTO ${schema}.recall_vectors (owner, thread, seq, vector)
    SELECT e.owner, e.thread, e.seq, v.vector FROM unnest($3::bigint[], $4::bytea[]) AS v (seq, vector)
    JOIN ${schema}.recall_entries e ON e.owner = $1 AND e.thread = $2 AND e.seq = v.seq
    ON CONFLICT (owner, thread, seq) DO UPDATE SET vector = excluded.vector`,
    [
      ...own,
      vectors.map(({ seq }) => seq),
      vectors.map(({ vector }) => Buffer.from(vector.buffer, vector.byteOffset, vector.length)),
    ],
  );
  return "written";
}

const OWN = "owner = $1 AND thread = $2";
