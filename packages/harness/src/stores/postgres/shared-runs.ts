/**
 * Runs that other instances follow, in unlogged tables: they cost no write-ahead log, and a crash of the server empties
 * them, after which each holder puts its runs again. A run is live as long as its lease is renewed, by the server's clock.
 */
import type { NewSharedRun, RunBatch, RunClosing, RunPage, SharedRuns } from "../shared.ts";
import type { PostgresUserConnection } from "./lineage.ts";

type Put = Awaited<ReturnType<SharedRuns["put"]>>;

export function sharedRuns({ schema, run, userId }: PostgresUserConnection): SharedRuns {
  const runs = `${schema}.runs`;
  const events = `${schema}.run_events`;
  const own = "owner = $1 AND id = $2";
  const ids = async (sql: string, values: readonly unknown[]) =>
    (await run((query) => query<{ id: string }>(sql, values))).map(({ id }) => id);
  /** Nothing if the run that was in the way has ended since: its place is free. */
  async function tryPut({ id, threadId, model, request, holder, ttlMs }: NewSharedRun): Promise<Put | undefined> {
    if (request !== null) {
      const dead = `UPDATE ${runs} SET ended = ${NOW} WHERE owner = $1 AND request = $2 AND ended IS NULL AND NOT ${LIVE}`;
      await run((query) => query(dead, [userId, request]));
    }
    const sql = `INSERT INTO ${runs} (owner, id, thread, model, request, holder, asked, leased, until)
      VALUES ($1, $2, $3, $4, $5, $6, ${NOW}, ${NOW}, ${UNTIL("$7")}) ON CONFLICT DO NOTHING RETURNING id`;
    if ((await ids(sql, [userId, id, threadId, model, request, holder, ttlMs])).length === 1) return { kind: "put" };
    const standing = `SELECT id FROM ${runs} WHERE owner = $1 AND (id = $2 OR request = $3 AND ended IS NULL AND ${LIVE})`;
    const others = await ids(standing, [userId, id, request]);
    if (others.includes(id)) return { kind: "put" };
    const [other] = others;
    return other === undefined ? undefined : { kind: "taken", id: other };
  }
  return {
    async put(asked: NewSharedRun) {
      for (;;) {
        const put = await tryPut(asked);
        if (put !== undefined) return put;
      }
    },
    async write(id, holder, batch) {
      const sql = `WITH held AS (SELECT 1 FROM ${runs} WHERE ${own} AND holder = $3 AND ended IS NULL), ${ADDED(events, "held")}
        SELECT 1 AS id FROM held`;
      return (await ids(sql, [userId, id, holder, ...batchValues(batch)])).length === 1 ? "written" : "lost";
    },
    async end(id, { holder, batch, outcome }: RunClosing) {
      const mine = holder === null ? `$3::text IS NULL AND NOT ${LIVE}` : "holder = $3";
      const added = batch === null ? "" : `, ${ADDED(events, "closed")}`;
      const sql = `WITH closed AS (
          UPDATE ${runs} SET ended = ${NOW}, outcome = $${batch === null ? 4 : 7} WHERE ${own} AND ended IS NULL AND ${mine} RETURNING id
        )${added} SELECT id FROM closed`;
      const values = [userId, id, holder, ...(batch === null ? [] : batchValues(batch)), outcome];
      return (await ids(sql, values)).length === 1 ? "ended" : "lost";
    },
    async read(id, after) {
      const of = `FROM ${events} WHERE owner = $1 AND run = $2`;
      const sql = `SELECT r.thread, r.model, r.asked, r.ended, r.outcome, ${LIVE} AS live,
          extract(epoch FROM ${NOW} - r.follow_at) * 1000 AS followed, e.first, e.chunk,
          (SELECT max(n) ${of}) AS last, (SELECT min(first) ${of}) AS oldest
        FROM ${runs} r LEFT JOIN LATERAL (
          SELECT first, n, chunk ${of} AND n > $3 ORDER BY n LIMIT ${PAGE}
        ) e ON true WHERE ${own} ORDER BY e.n`;
      return pageOf(await run((query) => query<PageRow>(sql, [userId, id, after])));
    },
    async find(by) {
      const [column, value] = "request" in by ? ["request", by.request] : ["thread", by.threadId];
      const sql = `SELECT id FROM ${runs} WHERE owner = $1 AND ${column} = $2 AND ended IS NULL AND ${LIVE}
        ORDER BY asked LIMIT 1`;
      return (await ids(sql, [userId, value]))[0];
    },
    async ask(id, what) {
      const sql = `UPDATE ${runs} SET ${what}_at = ${NOW} WHERE ${own} RETURNING id`;
      return (await ids(sql, [userId, id])).length === 1 ? "asked" : "missing";
    },
    async drop(id) {
      const sql = `WITH gone AS (DELETE FROM ${runs} WHERE ${own}) DELETE FROM ${events} WHERE owner = $1 AND run = $2`;
      await run((query) => query(sql, [userId, id]));
    },
    held(holder, ttlMs) {
      const columns = `owner AS "userId", id, cancel_at IS NOT NULL AS cancel, follow_at IS NOT NULL AS follow`;
      const where = "WHERE holder = $1 AND ended IS NULL";
      const sql =
        ttlMs === null
          ? `SELECT ${columns} FROM ${runs} ${where}`
          : `UPDATE ${runs} SET leased = ${NOW}, until = ${UNTIL("$2")} ${where} RETURNING ${columns}`;
      return run((query) => query(sql, ttlMs === null ? [holder] : [holder, ttlMs]));
    },
    async sweep(keptMs) {
      const sql = `WITH gone AS (
          DELETE FROM ${runs} WHERE coalesce(ended, until) < ${NOW} - $1::float8 * interval '1 millisecond' RETURNING owner, id
        ) DELETE FROM ${events} e USING gone WHERE e.owner = gone.owner AND e.run = gone.id`;
      await run((query) => query(sql, [keptMs]));
    },
  };
}

/** What a thread's runs have said goes with the thread's own words. `$1` is the user, `$2` the thread's id. */
export function FORGET_RUNS(schema: string): string {
  return `WITH gone AS (DELETE FROM ${schema}.runs WHERE owner = $1 AND thread = $2 AND ended IS NOT NULL RETURNING id)
    DELETE FROM ${schema}.run_events e USING gone WHERE e.owner = $1 AND e.run = gone.id`;
}

/** Batches in one read: some hundred kilobytes at most. */
const PAGE = 32;
/** Not `now()`: a statement that waited must judge by the time it got its row. */
const NOW = "clock_timestamp()";
const UNTIL = (ms: string) => `${NOW} + ${ms}::float8 * interval '1 millisecond'`;
/** A lease from the future says that the clock was set back. */
const LIVE = `(until > ${NOW} AND leased <= ${NOW} + interval '1 second')`;

/** Part of a statement: the batch, if `where` has a row. A repeated statement finds its batch standing, or one that begins later. */
function ADDED(events: string, where: string): string {
  return `added AS (
    INSERT INTO ${events} (owner, run, first, n, chunk) SELECT $1, $2, $4::bigint, $5::bigint, $6 FROM ${where}
    ON CONFLICT (owner, run, n) DO UPDATE SET first = excluded.first, chunk = excluded.chunk WHERE run_events.first > excluded.first
  )`;
}

/** The parameters 4 to 6 of `ADDED`. */
function batchValues({ first, events }: RunBatch): readonly unknown[] {
  return [first, first + events.length - 1, events.join("\n")];
}

interface PageRow {
  readonly thread: string;
  readonly model: string | null;
  readonly asked: Date;
  readonly ended: Date | null;
  readonly outcome: string | null;
  readonly live: boolean;
  readonly followed: string | null;
  readonly first: number | null;
  readonly chunk: string | null;
  readonly last: number | null;
  readonly oldest: number | null;
}

function pageOf(rows: readonly PageRow[]): RunPage | undefined {
  const [row] = rows;
  if (row === undefined) return undefined;
  const { thread, model, asked, ended, outcome, live, followed, last, oldest } = row;
  return {
    threadId: thread,
    model,
    askedAt: asked.toISOString(),
    endedAt: ended?.toISOString() ?? null,
    state: ended !== null ? "ended" : live ? "live" : "dead",
    outcome,
    followedMs: followed === null ? null : Number(followed),
    last: last ?? 0,
    first: oldest ?? 1,
    batches: rows.flatMap(({ first, chunk }) =>
      first === null || chunk === null ? [] : [{ first, events: chunk.split("\n") }],
    ),
  };
}
