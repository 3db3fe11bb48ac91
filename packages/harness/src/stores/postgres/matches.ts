/** What conversations are known by, in PostgreSQL: the same rows and rules as in SQLite (sqlite/matches.ts). */
import type { MatchRow, MatchRows, NewMatch } from "../store.ts";
import type { Query } from "./connection.ts";
import type { UserConnection } from "./lineage.ts";

const COLUMNS = `t.id AS "threadId", m.seq, m.hash, m.answer, m.grp AS "group", m.fixed, t.version, t.updated_at AS "updatedAt"`;

export function matchRows({ schema, run, userId }: UserConnection): MatchRows {
  const from = `${schema}.matches m JOIN ${schema}.threads t USING (num)`;
  return {
    find(hashes) {
      const given = "unnest($2::text[]) WITH ORDINALITY AS given (hash, place)";
      const sql = `SELECT ${COLUMNS} FROM ${given} JOIN ${schema}.matches m ON m.owner = $1 AND m.hash = given.hash
        JOIN ${schema}.threads t USING (num) ORDER BY given.place, t.updated_at DESC, m.num DESC LIMIT ${MOST}`;
      return run((query) => query<MatchRow>(sql, [userId, hashes]));
    },
    answers(within, answers) {
      const [where, name] = "group" in within ? ["m.grp = $2", within.group] : ["t.id = $2", within.threadId];
      const sql = `SELECT ${COLUMNS} FROM ${from} WHERE m.owner = $1 AND t.owner = $1 AND ${where}
        AND m.answer = ANY ($3::text[]) ORDER BY m.num, m.seq LIMIT ${MOST}`;
      return run((query) => query<MatchRow>(sql, [userId, name, answers]));
    },
    async newest(group) {
      const sql = `SELECT ${COLUMNS} FROM ${from} WHERE m.owner = $1 AND m.grp = $2
        ORDER BY t.updated_at DESC, m.num DESC, m.seq DESC LIMIT 1`;
      return (await run((query) => query<MatchRow>(sql, [userId, group])))[0];
    },
    within(threadId, range) {
      const sql = `SELECT ${COLUMNS} FROM ${from} WHERE t.owner = $1 AND t.id = $2 AND m.seq BETWEEN $3 AND $4
        ORDER BY m.seq`;
      return run((query) => query<MatchRow>(sql, [userId, threadId, ...range]));
    },
  };
}

/** Of one read: more conversations alike than this are no help in telling which is meant. */
const MOST = 500;

/** Part of the append's statement, after its `moved`. `first`: the number of its first parameter. */
export function MATCHED(schema: string, first: number): string {
  const columns = ["bigint", "text", "text", "text", "text"].map((type, at) => `$${first + 1 + at}::${type}[]`);
  return `matched AS (
    INSERT INTO ${schema}.matches (num, owner, seq, hash, answer, grp, fixed)
    SELECT moved.num, $${first}, given.* FROM moved, unnest(${columns.join(", ")}) AS given
    ON CONFLICT DO NOTHING
  )`;
}

/** The parameters of `MATCHED`. */
export function matchColumns(userId: string, matches: readonly NewMatch[]): readonly unknown[] {
  const column = <K extends keyof NewMatch>(name: K) => matches.map((match) => match[name]);
  return [userId, column("seq"), column("hash"), column("answer"), column("group"), column("fixed")];
}

/** A fork whose parent goes is known by what the records that it takes over were known by. */
export async function inheritMatches(
  query: Query,
  schema: string,
  { parent, fork, through }: { readonly parent: number; readonly fork: number; readonly through: number },
): Promise<void> {
  await query(
    `INSERT INTO ${schema}.matches (num, seq, owner, hash, answer, grp, fixed)
    SELECT $2, seq, owner, hash, answer, grp, fixed FROM ${schema}.matches WHERE num = $1 AND seq <= $3
    ON CONFLICT DO NOTHING`,
    [parent, fork, through],
  );
}
