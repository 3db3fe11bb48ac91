/**
 * Blocks that a user's small threads share, and what is known of all of the user's threads together. A thread's slots grow with
 * it, each as large as all before it: however its messages came, its entries lie in a few places.
 */
import { signsOf, withoutPlaces } from "../posting-text.ts";
import type { IndexBatch, PostingPool, Slot } from "../search-tables.ts";
import type { Connection, Row } from "./connection.ts";
import { BLOCK_SIZE } from "./postings.ts";
import { findThread, type UserConnection } from "./rows.ts";

/** Larger threads have blocks of their own that are worth reading by themselves. */
const MOST = 256;

export function postingPool(
  connection: UserConnection,
  write: <T>(work: () => T) => Promise<T>,
  forgetPostingsOf: (connection: Connection, num: number) => void,
): PostingPool {
  return {
    most: MOST,
    reserve: (threadId, ordinal, count) => write(() => reserve(connection, threadId, ordinal, count)),
    leave: (threadId) =>
      write(() => {
        const row = findThread(connection, threadId);
        if (row) forgetPostingsOf(connection, row.num);
      }),
    locate: (places) => connection.guard(() => locate(connection, places)),
  };
}

/** The number under which the user's shared blocks are: threads have positive ones. */
export function poolNumber(connection: Connection, userId: string): number {
  const known = connection.get("SELECT num FROM recall_users WHERE user = ?", userId);
  if (known !== undefined) return known["num"] as number;
  const sql = `INSERT INTO recall_users (user, num) SELECT ?, coalesce(min(num), 0) - 1 FROM recall_users RETURNING num`;
  return connection.get(sql, userId)!["num"] as number;
}

function reserve(connection: UserConnection, threadId: string, ordinal: number, count: number): Slot[] {
  const thread = findThread(connection, threadId);
  if (!thread) return [];
  const pool = poolNumber(connection, connection.userId);
  const own = connection.all(
    "SELECT first, size, ordinal FROM recall_slots WHERE num = ? ORDER BY ordinal",
    thread.num,
  );
  const last = own.at(-1);
  const end = last === undefined ? ordinal : (last["ordinal"] as number) + (last["size"] as number);
  const lacking = ordinal + count - end;
  if (lacking > 0) {
    const next = connection.get("SELECT next FROM recall_users WHERE num = ?", pool)!["next"] as number;
    const isLast = last !== undefined && (last["first"] as number) + (last["size"] as number) === next;
    const size = isLast ? lacking : Math.max(lacking, end - ((own[0]?.["ordinal"] ?? ordinal) as number));
    if (isLast)
      connection.run(
        "UPDATE recall_slots SET size = size + ? WHERE pool = ? AND first = ?",
        size,
        pool,
        last["first"]!,
      );
    else {
      const sql = "INSERT INTO recall_slots (pool, first, size, num, ordinal) VALUES (?, ?, ?, ?, ?)";
      connection.run(sql, pool, next, size, thread.num, end);
    }
    connection.run("UPDATE recall_users SET next = next + ? WHERE num = ?", size, pool);
  }
  const sql = `SELECT first, size, ordinal FROM recall_slots
    WHERE num = ? AND ordinal + size > ? AND ordinal < ? ORDER BY ordinal`;
  return connection.all(sql, thread.num, ordinal, ordinal + count).map((row) => toSlot(threadId, row));
}

function toSlot(threadId: string, row: Row): Slot {
  return {
    threadId,
    ordinal: row["ordinal"] as number,
    first: row["first"] as number,
    size: row["size"] as number,
  };
}

export function slotsOf(connection: Connection, threadId: string, num: number): Slot[] {
  const sql = "SELECT first, size, ordinal FROM recall_slots WHERE num = ? ORDER BY ordinal";
  return connection.all(sql, num).map((row) => toSlot(threadId, row));
}

function locate(connection: UserConnection, places: readonly number[]): Slot[] {
  const rows = connection.all(
    `WITH held (num) AS MATERIALIZED (
       SELECT DISTINCT (SELECT s.num FROM recall_slots s WHERE s.pool = u.num AND s.first <= p.value
         ORDER BY s.first DESC LIMIT 1) FROM recall_users u CROSS JOIN json_each(?) p WHERE u.user = ?
     )
     SELECT t.id, s.first, s.size, s.ordinal
     FROM held CROSS JOIN threads t USING (num) CROSS JOIN recall_slots s USING (num) ORDER BY s.num, s.ordinal`,
    JSON.stringify(places),
    connection.userId,
  );
  return rows.map((row) => toSlot(row["id"] as string, row));
}

/** Whether the thread still has the batch's slots, or none where it has none: its index may have been dropped meanwhile. */
export function holdsSlots(connection: Connection, num: number, { entries, slots }: IndexBatch): boolean {
  const known = slotsOf(connection, "", num);
  if (slots === undefined) return known.length === 0 || entries.length === 0;
  return slots.every(({ ordinal, first, size }) =>
    known.some((slot) => slot.ordinal === ordinal && slot.first === first && slot.size >= size),
  );
}

/** Where the thread's ordinal lies in the pool; null: it has its own blocks for it. */
export function placeInPool(
  connection: Connection,
  num: number,
  ordinal: number,
): { pool: number; place: number } | null {
  const row = connection.get(
    `SELECT pool, first + ? - ordinal AS place FROM recall_slots
     WHERE num = ? AND ordinal <= ? AND ordinal + size > ?`,
    ...[ordinal, num, ordinal, ordinal],
  );
  return row ? { pool: row["pool"] as number, place: row["place"] as number } : null;
}

/** The words of a thread leave the pool with it. */
export function forgetSlots(connection: Connection, num: number): void {
  for (const { pool, first, size } of connection.all("SELECT pool, first, size FROM recall_slots WHERE num = ?", num))
    forgetPlaces(connection, pool as number, first as number, (first as number) + (size as number) - 1);
  connection.run("DELETE FROM recall_slots WHERE num = ?", num);
}

export function forgetPlaces(connection: Connection, pool: number, first: number, last: number): void {
  for (let block = Math.floor(first / BLOCK_SIZE); block * BLOCK_SIZE <= last; block += 1) {
    const start = Math.max(0, first - block * BLOCK_SIZE);
    const end = Math.min(BLOCK_SIZE - 1, last - block * BLOCK_SIZE);
    const globs = signsOf(start, end).map((signs) => `*${signs}*`);
    const holds = globs.map(() => "list GLOB ?").join(" OR ");
    const sql = `SELECT term, list FROM recall_postings WHERE num = ? AND block = ? AND (${holds})`;
    for (const row of connection.all(sql, pool, block, ...globs)) {
      const { list, removed } = withoutPlaces(row["list"] as string, start, end);
      if (removed === 0) continue;
      const own = [pool, block, row["term"] as string] as const;
      const at = "num = ? AND block = ? AND term = ?";
      if (list === "") connection.run(`DELETE FROM recall_postings WHERE ${at}`, ...own);
      else connection.run(`UPDATE recall_postings SET list = ?, count = count - ? WHERE ${at}`, list, removed, ...own);
    }
  }
}
