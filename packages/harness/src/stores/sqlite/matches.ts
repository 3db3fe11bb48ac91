/** What conversations are known by, in SQLite: one row for each answer, under its thread and its place. */
import type { AppendBatch, MatchRow, MatchRows } from "../store.ts";
import type { Row } from "./connection.ts";
import type { ThreadRow, UserConnection } from "./rows.ts";

const COLUMNS = "t.id, m.seq, m.hash, m.answer, m.grp, m.fixed, h.version, h.updated";
const FROM = "matches m JOIN threads t USING (num) JOIN heads h USING (num)";

export function matchRows(connection: UserConnection): MatchRows {
  const { guard, userId } = connection;
  return {
    find: (hashes) =>
      guard(() =>
        connection
          .all(
            `SELECT ${COLUMNS} FROM json_each(?) g CROSS JOIN ${FROM} WHERE m.user = ? AND m.hash = g.value
             ORDER BY g.key, h.updated DESC, m.num DESC LIMIT ${MOST}`,
            ...[JSON.stringify(hashes), userId],
          )
          .map(matchOf),
      ),
    answers: (within, answers) =>
      guard(() => {
        const [where, name] = "group" in within ? ["m.grp = ?", within.group] : ["t.id = ?", within.threadId];
        const sql = `SELECT ${COLUMNS} FROM ${FROM} WHERE m.user = ? AND t.user = m.user AND ${where}
          AND m.answer IN (SELECT value FROM json_each(?)) ORDER BY m.num, m.seq LIMIT ${MOST}`;
        return connection.all(sql, userId, name, JSON.stringify(answers)).map(matchOf);
      }),
    newest: (group) =>
      guard(() => {
        const sql = `SELECT ${COLUMNS} FROM ${FROM} WHERE m.user = ? AND m.grp = ?
          ORDER BY h.updated DESC, m.num DESC, m.seq DESC LIMIT 1`;
        const row = connection.get(sql, userId, group);
        return row && matchOf(row);
      }),
    within: (threadId, [first, last]) =>
      guard(() => {
        const sql = `SELECT ${COLUMNS} FROM ${FROM} WHERE t.user = ? AND t.id = ? AND m.seq BETWEEN ? AND ? ORDER BY m.seq`;
        return connection.all(sql, userId, threadId, first, last).map(matchOf);
      }),
  };
}

/** Of one read: more conversations alike than this are no help in telling which is meant. */
const MOST = 500;

function matchOf(row: Row): MatchRow {
  return {
    threadId: row["id"] as string,
    seq: row["seq"] as number,
    hash: row["hash"] as string,
    answer: row["answer"] as string,
    group: row["grp"] as string | null,
    fixed: row["fixed"] as string | null,
    version: row["version"] as number,
    updatedAt: row["updated"] as string,
  };
}

/** Inside the append's transaction. */
export function keepMatches(connection: UserConnection, num: number, { matches = [] }: AppendBatch): void {
  for (const { seq, hash, answer, group, fixed } of matches)
    connection.run(
      `INSERT INTO matches (num, seq, user, hash, answer, grp, fixed) VALUES (?, ?, ?, ?, ?, ?, ?)
       ON CONFLICT DO NOTHING`,
      ...[num, seq, connection.userId, hash, answer, group, fixed],
    );
}

/** A fork whose parent goes is known by what the records that it takes over were known by. */
export function inheritMatches(connection: UserConnection, parent: ThreadRow, fork: ThreadRow): void {
  connection.run(
    `INSERT INTO matches (num, seq, user, hash, answer, grp, fixed)
     SELECT ?, seq, user, hash, answer, grp, fixed FROM matches WHERE num = ? AND seq <= ? ON CONFLICT DO NOTHING`,
    ...[fork.num, parent.num, fork.baseSeq],
  );
}
