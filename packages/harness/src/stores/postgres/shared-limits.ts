/** What keys have used of their limits and which windows are known, in unlogged tables: the processes settle up once a second. */
import type { AccountState, SharedLimits, StatedWindow } from "../shared.ts";
import type { PostgresConnection } from "./connection.ts";

export function sharedLimits({ schema, run }: PostgresConnection): SharedLimits {
  return {
    async beat(instance, kind) {
      const sql = `WITH here AS (
          INSERT INTO ${schema}.instances (id, kind, seen) VALUES ($1, $2, ${NOW})
          ON CONFLICT (id) DO UPDATE SET seen = excluded.seen
        ), gone AS (DELETE FROM ${schema}.instances WHERE id <> $1 AND NOT ${SEEN})
        SELECT count(*) + CASE $2 WHEN 'gateway' THEN 1 ELSE 0 END AS count
        FROM ${schema}.instances WHERE id <> $1 AND kind = 'gateway' AND ${SEEN}`;
      const [row] = await run((query) => query<{ count: number }>(sql, [instance, kind]));
      return row!.count;
    },
    settle(instance, uses) {
      const column = <K extends keyof (typeof uses)[number]>(name: K) => uses.map((use) => use[name]);
      const more = (column: string) =>
        `least(greatest(a.${column}, ${NOW}) + (excluded.${column} - ${NOW}), ${NOW} + interval '1 hour')`;
      const sql = `WITH given AS (
          SELECT * FROM unnest($2::text[], $3::float8[], $4::float8[], $5::int[]) AS given (account, requests, tokens, running)
        ), moved AS (
          INSERT INTO ${schema}.accounts AS a (account, until, tokens_until)
          SELECT account, ${AFTER("requests")}, ${AFTER("tokens")} FROM given ORDER BY account
          ON CONFLICT (account) DO UPDATE SET until = ${more("until")}, tokens_until = ${more("tokens_until")}
          RETURNING account, until, tokens_until
        ), here AS (
          INSERT INTO ${schema}.account_running AS a (account, instance, running, seen)
          SELECT account, $1, running, ${NOW} FROM given ORDER BY account
          ON CONFLICT (account, instance) DO UPDATE SET running = excluded.running, seen = excluded.seen
        )
        SELECT account, ${MS_UNTIL("until")} AS "requestsMs", ${MS_UNTIL("tokens_until")} AS "tokensMs",
          (SELECT coalesce(sum(running), 0)::int FROM ${schema}.account_running r
            WHERE r.account = moved.account AND r.instance <> $1 AND ${SEEN}) AS running
        FROM moved`;
      const values = [instance, column("account"), column("requestsMs"), column("tokensMs"), column("running")];
      return run((query, again) => query<AccountState>(sql, again ? onceOnly(values) : values));
    },
    windows() {
      const sql = `SELECT endpoint, tokens, learned AS "learnedAt" FROM ${schema}.stated_windows`;
      return run((query) => query<StatedWindow>(sql));
    },
    async putWindow({ endpoint, tokens, learnedAt }) {
      const sql = `INSERT INTO ${schema}.stated_windows AS w (endpoint, tokens, learned) VALUES ($1, $2, $3)
        ON CONFLICT (endpoint) DO UPDATE SET tokens = excluded.tokens, learned = excluded.learned
        WHERE w.learned < excluded.learned`;
      await run((query) => query(sql, [endpoint, tokens, learnedAt]));
    },
    async dropWindow(endpoint) {
      await run((query) => query(`DELETE FROM ${schema}.stated_windows WHERE endpoint = $1`, [endpoint]));
    },
  };
}

/** One time for the whole statement, since differences of it are added. */
const NOW = "statement_timestamp()";
const AFTER = (ms: string) => `${NOW} + ${ms} * interval '1 millisecond'`;
const MS_UNTIL = (column: string) => `greatest(0, extract(epoch FROM ${column} - ${NOW})::float8 * 1000)`;
/** Of a process that is there. */
const SEEN = `(seen > ${NOW} - interval '30 seconds' AND seen <= ${NOW} + interval '30 seconds')`;

/** The attempt whose connection broke may have been counted: no one is charged twice. */
function onceOnly([instance, accounts, requests, tokens, running]: readonly unknown[]): readonly unknown[] {
  const nothing = (values: unknown) => (Array.isArray(values) ? values.map(() => 0) : values);
  return [instance, accounts, nothing(requests), nothing(tokens), running];
}
