/**
 * Blocks that a user's small threads share, and what is known of all of the user's threads together. A thread's slots grow with
 * it, each as large as all before it: however its messages came, its entries lie in a few places. A transaction that changes the pool holds
 * its row, after the thread's.
 */
import type { QueryResultRow } from "pg";
import { signsOf, withoutPlaces } from "../posting-text.ts";
import type { IndexBatch, PostingPool, Slot } from "../search-tables.ts";
import type { SqlQuery } from "./connection.ts";
import { NAMED, type PostgresUserConnection } from "./lineage.ts";
import { BLOCK_SIZE, POOL_NUM } from "./merged-blocks.ts";
import { changeLists } from "./posting-buckets.ts";

/** Larger threads have blocks of their own that are worth reading by themselves. */
const MOST = 256;

type ForgetWords = (query: SqlQuery, schema: string, owner: string, thread: number) => Promise<void>;

export function postingPool(connection: PostgresUserConnection, forgetWords: ForgetWords): PostingPool {
  const { schema, run, transaction, userId } = connection;
  return {
    most: MOST,
    reserve: (threadId, ordinal, count) =>
      transaction((query) => reserve(query, schema, [userId, threadId], ordinal, count)),
    leave: (threadId) =>
      transaction(async (query) => {
        const sql = `SELECT num FROM ${schema}.threads WHERE ${NAMED} FOR SHARE`;
        const [thread] = await query<{ num: number }>(sql, [userId, threadId]);
        if (thread) await forgetWords(query, schema, userId, thread.num);
      }),
    locate: (places) =>
      run((query) =>
        query<Slot & QueryResultRow>(
          `SELECT t.id AS "threadId", s.ordinal, s.first, s.size
          FROM (SELECT DISTINCT h.thread FROM unnest($2::bigint[]) AS p (place) CROSS JOIN LATERAL (
            SELECT thread FROM ${schema}.recall_slots WHERE owner = $1 AND first <= p.place ORDER BY first DESC LIMIT 1
          ) h) held
          JOIN ${schema}.recall_slots s ON s.owner = $1 AND s.thread = held.thread
          JOIN ${schema}.threads t ON t.owner = $1 AND t.num = held.thread
          ORDER BY s.thread, s.ordinal`,
          [userId, places],
        ),
      ),
  };
}

/** Holds the user's pool until the transaction ends; its next free place. */
export async function lockPool(query: SqlQuery, schema: string, owner: string): Promise<number> {
  const [row] = await query<{ next: number }>(
    `INSERT INTO ${schema}.recall_users AS u (owner) VALUES ($1)
    ON CONFLICT (owner) DO UPDATE SET next = u.next RETURNING next`,
    [owner],
  );
  return row!.next;
}

async function reserve(
  query: SqlQuery,
  schema: string,
  name: readonly [string, string],
  ordinal: number,
  count: number,
): Promise<readonly Slot[]> {
  await query("SELECT set_config('synchronous_commit', 'off', true)");
  const sql = `SELECT num FROM ${schema}.threads WHERE ${NAMED} FOR SHARE`;
  const [thread] = await query<{ num: number }>(sql, name);
  if (!thread) return [];
  const next = await lockPool(query, schema, name[0]);
  const own = await query<Omit<Slot, "threadId"> & QueryResultRow>(
    `SELECT ordinal, first, size FROM ${schema}.recall_slots WHERE owner = $1 AND thread = $2 ORDER BY ordinal`,
    [name[0], thread.num],
  );
  const slots = own.map((slot) => ({ threadId: name[1], ...slot }));
  const last = slots.at(-1);
  const end = last === undefined ? ordinal : last.ordinal + last.size;
  const lacking = ordinal + count - end;
  if (lacking > 0) {
    const isLast = last !== undefined && last.first + last.size === next;
    const size = isLast ? lacking : Math.max(lacking, end - (slots[0]?.ordinal ?? ordinal));
    const slot = isLast
      ? { ...slots.pop()!, size: last.size + size }
      : { threadId: name[1], ordinal: end, first: next, size };
    slots.push(slot);
    await query(
      `INSERT INTO ${schema}.recall_slots (owner, first, size, thread, ordinal) VALUES ($1, $2, $3, $4, $5)
      ON CONFLICT (owner, first) DO UPDATE SET size = excluded.size`,
      [name[0], slot.first, slot.size, thread.num, slot.ordinal],
    );
    await query(`UPDATE ${schema}.recall_users SET next = next + $2 WHERE owner = $1`, [name[0], size]);
  }
  return slots.filter((slot) => slot.ordinal + slot.size > ordinal && slot.ordinal < ordinal + count);
}

/** Whether the thread still has the batch's slots, or none where it has none: its index may have been dropped meanwhile. */
export async function holdsSlots(
  query: SqlQuery,
  schema: string,
  owner: string,
  thread: number,
  { entries, slots }: IndexBatch,
): Promise<boolean> {
  const known = await query<Omit<Slot, "threadId"> & QueryResultRow>(
    `SELECT ordinal, first, size FROM ${schema}.recall_slots WHERE owner = $1 AND thread = $2`,
    [owner, thread],
  );
  if (slots === undefined) return known.length === 0 || entries.length === 0;
  return slots.every(({ ordinal, first, size }) =>
    known.some((slot) => slot.ordinal === ordinal && slot.first === first && slot.size >= size),
  );
}

/** The words of a thread leave the pool with it. */
export async function forgetSlots(query: SqlQuery, schema: string, owner: string, thread: number): Promise<void> {
  const slots = await query<{ first: number; size: number }>(
    `SELECT first, size FROM ${schema}.recall_slots WHERE owner = $1 AND thread = $2`,
    [owner, thread],
  );
  if (slots.length === 0) return;
  await lockPool(query, schema, owner);
  for (const { first, size } of slots) await forgetPlaces(query, schema, owner, first, first + size - 1);
  await query(`DELETE FROM ${schema}.recall_slots WHERE owner = $1 AND thread = $2`, [owner, thread]);
}

export async function forgetPlaces(query: SqlQuery, schema: string, owner: string, first: number, last: number) {
  for (let block = Math.floor(first / BLOCK_SIZE); block * BLOCK_SIZE <= last; block += 1) {
    const start = Math.max(0, first - block * BLOCK_SIZE);
    const end = Math.min(BLOCK_SIZE - 1, last - block * BLOCK_SIZE);
    const mayHold = new RegExp(signsOf(start, end).join("|"));
    await changeLists(query, schema, [owner, POOL_NUM], block, (list) =>
      mayHold.test(list) ? withoutPlaces(list, start, end) : { list, removed: 0 },
    );
  }
}
