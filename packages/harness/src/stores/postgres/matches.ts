/** What conversations are known by, in PostgreSQL: the same rows and rules as in SQLite (sqlite/tables.ts). */
import type { MatchRow, MatchRows, NewMatch } from "../store.ts";
import type { SqlQuery } from "./connection.ts";
import { BESIDE_NAMED, beside, type Inheritance, type PostgresUserConnection } from "./lineage.ts";

const COLUMNS = `t.id AS "threadId", m.seq, m.hash, m.answer, m.grp AS "group", m.fixed, t.version, t.updated_at AS "updatedAt"`;

export function matchRows({ schema, run, userId }: PostgresUserConnection): MatchRows {
  const threads = `JOIN ${schema}.threads t ON t.owner = $1 AND t.num = m.thread`;
  const from = `${schema}.matches m ${threads}`;
  return {
    find(hashes) {
      const given = "unnest($2::text[]) WITH ORDINALITY AS given (hash, place)";
      const sql = `SELECT ${COLUMNS} FROM ${given} JOIN ${schema}.matches m ON m.owner = $1 AND m.hash = given.hash
        ${threads} ORDER BY given.place, t.updated_at DESC, m.thread DESC LIMIT ${MOST}`;
      return run((query) => query<MatchRow>(sql, [userId, hashes]));
    },
    answers(within, answers) {
      const [where, name] = "group" in within ? ["m.grp = $2", within.group] : ["t.id = $2", within.threadId];
      const sql = `SELECT ${COLUMNS} FROM ${from} WHERE m.owner = $1 AND ${where}
        AND m.answer = ANY ($3::text[]) ORDER BY m.thread, m.seq LIMIT ${MOST}`;
      return run((query) => query<MatchRow>(sql, [userId, name, answers]));
    },
    async newest(group) {
      const sql = `SELECT ${COLUMNS} FROM ${from} WHERE m.owner = $1 AND m.grp = $2
        ORDER BY t.updated_at DESC, m.thread DESC, m.seq DESC LIMIT 1`;
      return (await run((query) => query<MatchRow>(sql, [userId, group])))[0];
    },
    within(threadId, range) {
      const sql = `SELECT ${COLUMNS} FROM ${from} WHERE m.owner = $1 AND t.id = $2 AND m.seq BETWEEN $3 AND $4
        ORDER BY m.seq`;
      return run((query) => query<MatchRow>(sql, [userId, threadId, ...range]));
    },
  };
}

/** Of one read: more conversations alike than this are no help in telling which is meant. */
const MOST = 500;

/** Part of the append's statement, after its `moved`; the first two parameters name the thread. `first`: the number of its first parameter. */
export function MATCHED(schema: string, first: number): string {
  const columns = ["bigint", "text", "text", "text", "text"].map((type, at) => `$${first + at}::${type}[]`);
  return `matched AS (
    INSERT INTO ${schema}.matches (owner, thread, seq, hash, answer, grp, fixed)
    SELECT named.owner, moved.num, given.* FROM ${beside(schema)}, moved, unnest(${columns.join(", ")}) AS given
    WHERE ${BESIDE_NAMED} ON CONFLICT DO NOTHING
  )`;
}

/** The parameters of `MATCHED`. */
export function matchColumns(matches: readonly NewMatch[]): readonly unknown[] {
  const column = <K extends keyof NewMatch>(name: K) => matches.map((match) => match[name]);
  return [column("seq"), column("hash"), column("answer"), column("group"), column("fixed")];
}

/** A fork whose parent goes is known by what the records that it takes over were known by. */
export async function inheritMatches(
  query: SqlQuery,
  schema: string,
  { owner, parent, fork, through }: Inheritance,
): Promise<void> {
  await query(
    `INSERT INTO ${schema}.matches (owner, thread, seq, hash, answer, grp, fixed)
    SELECT owner, $3::bigint, seq, hash, answer, grp, fixed FROM ${schema}.matches
    WHERE owner = $1 AND thread = $2 AND seq <= $4 ON CONFLICT DO NOTHING`,
    [owner, parent, fork, through],
  );
}
