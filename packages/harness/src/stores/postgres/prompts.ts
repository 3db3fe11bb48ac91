/** Texts that requests repeat, in PostgreSQL: the same rows and rules as in SQLite (sqlite/tables.ts). */
import type { PromptText, PromptTexts } from "../store.ts";
import type { SqlQuery } from "./connection.ts";
import { BESIDE_NAMED, beside, type Inheritance, type PostgresUserConnection } from "./lineage.ts";

export function promptTexts({ schema, run, userId }: PostgresUserConnection): PromptTexts {
  const table = `${schema}.prompts`;
  return {
    async get(hash) {
      const sql = `SELECT text FROM ${table} WHERE owner = $1 AND hash = $2`;
      return (await run((query) => query<PromptText>(sql, [userId, hash])))[0]?.text;
    },
    list: () =>
      run((query) => query<PromptText>(`SELECT hash, text FROM ${table} WHERE owner = $1 ORDER BY hash`, [userId])),
    async drop(hashes) {
      const sql = `DELETE FROM ${table} WHERE owner = $1 AND hash = ANY ($2::text[])`;
      await run((query) => query(sql, [userId, hashes]));
    },
  };
}

/** Part of the append's statement, after its `moved`; the first two parameters name the thread. `first`: the number of its first parameter. */
export function KEPT(schema: string, first: number): string {
  const texts = `unnest($${first}::text[], $${first + 1}::text[]) AS given (hash, text)`;
  // Written again if it exists: a deletion of the last thread that named it waits, and checks again.
  return `kept AS (
    INSERT INTO ${schema}.prompts (owner, hash, text)
    SELECT named.owner, given.hash, given.text FROM ${beside(schema)}, moved, ${texts}
    WHERE ${BESIDE_NAMED} ORDER BY given.hash
    ON CONFLICT (owner, hash) DO UPDATE SET text = excluded.text
  ), uses AS (
    INSERT INTO ${schema}.prompt_uses (owner, thread, hash, seq)
    SELECT named.owner, moved.num, given.hash, $${first + 2}::bigint FROM ${beside(schema)}, moved, ${texts}
    WHERE ${BESIDE_NAMED}
    ON CONFLICT DO NOTHING
  )`;
}

/** The parameters of `KEPT`. */
export function promptColumns(prompts: readonly PromptText[], expect: number): readonly unknown[] {
  // One statement writes a row once.
  const each = [...new Map(prompts.map((one) => [one.hash, one])).values()];
  return [each.map(({ hash }) => hash), each.map(({ text }) => text), expect + 1];
}

/** A fork whose parent goes names what the records that it takes over name. */
export async function inheritPrompts(
  query: SqlQuery,
  schema: string,
  { owner, parent, fork, through }: Inheritance,
): Promise<void> {
  const uses = `${schema}.prompt_uses`;
  await query(
    `INSERT INTO ${uses} (owner, thread, hash, seq)
    SELECT owner, $3::bigint, hash, seq FROM ${uses} WHERE owner = $1 AND thread = $2 AND seq <= $4 ON CONFLICT DO NOTHING`,
    [owner, parent, fork, through],
  );
}

/** With a thread go the texts that no other thread of its user names. */
export async function forgetPrompts(query: SqlQuery, schema: string, userId: string, num: number): Promise<void> {
  const uses = `${schema}.prompt_uses`;
  // Appends that name one of them are waited for here; the next statement sees what they wrote.
  await query(
    `SELECT 1 FROM ${schema}.prompts WHERE owner = $1 AND hash IN (
      SELECT hash FROM ${uses} WHERE owner = $1 AND thread = $2
    ) ORDER BY hash FOR UPDATE`,
    [userId, num],
  );
  await query(
    `DELETE FROM ${schema}.prompts p WHERE owner = $1
      AND hash IN (SELECT hash FROM ${uses} WHERE owner = $1 AND thread = $2)
      AND NOT EXISTS (SELECT 1 FROM ${uses} u WHERE u.owner = $1 AND u.hash = p.hash AND u.thread <> $2)`,
    [userId, num],
  );
  await query(`DELETE FROM ${uses} WHERE owner = $1 AND thread = $2`, [userId, num]);
}
