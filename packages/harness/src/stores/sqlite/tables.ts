/** The small tables of the SQLite store: leases, drafts, texts that requests repeat, matches, keys and memories. */

import { PROMPT_BYTES } from "../packed-record.ts";
import type {
  AppendBatch,
  Drafts,
  KeyRow,
  KeyRows,
  Lease,
  LeaseResult,
  MatchRow,
  MatchRows,
  MemoryRows,
  PromptTexts,
} from "../store.ts";
import type { Connection, SqliteRow } from "./connection.ts";
import { findThread, integerAt, NUM, type ThreadRow, textAt, textOrNull, type UserConnection } from "./rows.ts";

// Leases: who may append, by the database's own clock. The epoch outlives its lease and only ever grows, which is how a
// late writer is told apart. Taking one doesn't wait for the disk: the next append brings it there.

const NOW = "CAST(unixepoch('subsec') * 1000 AS INTEGER)";
/** One that was taken in the future says that the clock was ahead; it would last until that time comes. */
const LIVE = `leases.expires > ${NOW} AND leases.taken <= ${NOW} + 1000`;

export function acquireLease(connection: UserConnection, threadId: string, owner: string, ttlMs: number): LeaseResult {
  return connection.unhurried(() => takeLease(connection, { threadId, owner, ttlMs }));
}

interface AskedLease {
  readonly threadId: string;
  readonly owner: string;
  readonly ttlMs: number;
}

/** Its commit waits for the disk as its caller's does. */
export function takeLease(connection: UserConnection, asked: AskedLease): LeaseResult {
  const { threadId } = asked;
  const taken = take(connection, asked, null);
  if (taken !== null) return taken;
  const row = connection.get(`SELECT ${LEASE_COLUMNS} FROM leases WHERE num = ${NUM}`, connection.userId, threadId);
  if (!row) return { kind: "missing" };
  const dead = holderGone(connection, row);
  const takenOver = dead === null ? null : take(connection, asked, { holder: dead, epoch: integerAt(row, "epoch") });
  if (takenOver !== null) return takenOver;
  return {
    kind: "busy",
    owner: textAt(row, "owner"),
    renewedAt: new Date(integerAt(row, "taken")).toISOString(),
    expiresAt: new Date(integerAt(row, "expires")).toISOString(),
  };
}

const LEASE_COLUMNS = "owner, epoch, taken, expires, holder, holder_epoch";

/** `dead`: a lease that is free although its time has not passed. Null: somebody else holds it, or there is no thread. */
function take(
  connection: UserConnection,
  { threadId, owner, ttlMs }: AskedLease,
  dead: { readonly holder: string; readonly epoch: number } | null,
): LeaseResult | null {
  // `all` runs it to its end, so that a commit that fails is told.
  const [taken] = connection.all(
    `INSERT INTO leases (num, owner, epoch, taken, expires, holder, holder_epoch)
       SELECT num, ?, 1, ${NOW}, ${NOW} + ?, ?, 1 FROM threads WHERE user = ? AND id = ?
       ON CONFLICT (num) DO UPDATE
       SET owner = excluded.owner, epoch = leases.epoch + 1, taken = excluded.taken, expires = excluded.expires,
         holder = excluded.holder, holder_epoch = leases.epoch + 1
       WHERE leases.owner = excluded.owner OR NOT coalesce(${LIVE}, FALSE) OR (leases.holder = ? AND leases.epoch = ?)
       RETURNING epoch`,
    ...[owner, ttlMs, connection.owners.own(), connection.userId, threadId],
    ...[dead?.holder ?? null, dead?.epoch ?? null],
  );
  return taken ? { kind: "acquired", lease: { threadId, owner, epoch: integerAt(taken, "epoch") } } : null;
}

/** The lock of a lease whose owner is proven to be gone; null: there is no proof. */
function holderGone({ owners }: Connection, { holder, epoch, holder_epoch: since }: SqliteRow): string | null {
  if (typeof holder !== "string" || since !== epoch) return null;
  return owners.isGone(holder) ? holder : null;
}

export function renewLease(connection: UserConnection, lease: Lease, ttlMs: number): "renewed" | "lost" {
  const set = `taken = ${NOW}, expires = ${NOW} + ${Math.trunc(ttlMs)}`;
  return change(connection, lease, set, "AND expires > 0") ? "renewed" : "lost";
}

export function releaseLease(connection: UserConnection, lease: Lease): void {
  change(connection, lease, "expires = 0");
}

/** In the transaction of an append that has shown that it holds the lease. */
export function endLease(connection: Connection, num: number): void {
  connection.run("UPDATE leases SET expires = 0 WHERE num = ?", num);
}

/** A lease that ran out but was not taken since still counts: no one else can have written. One given back is never renewed. */
export function holdsLease(connection: Connection, num: number, lease: Lease): boolean {
  const row = connection.get("SELECT owner, epoch FROM leases WHERE num = ?", num);
  return row?.["owner"] === lease.owner && row["epoch"] === lease.epoch;
}

/** Whether anyone holds the thread right now. */
export function isLeased(connection: Connection, num: number): boolean {
  const row = connection.get(`SELECT ${LEASE_COLUMNS} FROM leases WHERE num = ? AND ${LIVE}`, num);
  return row !== undefined && holderGone(connection, row) === null;
}

function change(connection: UserConnection, { threadId, owner, epoch }: Lease, set: string, where = ""): boolean {
  const sql = `UPDATE leases SET ${set} WHERE num = ${NUM} AND owner = ? AND epoch = ? ${where}`;
  return connection.unhurried(() => connection.run(sql, connection.userId, threadId, owner, epoch)).changes === 1;
}

// Drafts: a small cache beside a thread, for summaries that are being prepared. Losing one costs work, never data.

export function drafts(connection: UserConnection): Drafts {
  return {
    get: (threadId, key) =>
      connection.guard(() => {
        const row = connection.get(
          `SELECT value, created FROM drafts WHERE num = ${NUM} AND key = ?`,
          ...[connection.userId, threadId, key],
        );
        return row && { value: textAt(row, "value"), created: textAt(row, "created") };
      }),
    put: (threadId, key, value, created) =>
      connection.guard(() =>
        connection.transaction("IMMEDIATE", () => {
          const row = findThread(connection, threadId);
          if (!row) return "missing";
          connection.run(
            `INSERT INTO drafts (num, key, value, created) VALUES (?, ?, ?, ?)
             ON CONFLICT (num, key) DO UPDATE SET value = excluded.value, created = excluded.created`,
            row.num,
            key,
            value,
            created,
          );
          return "put";
        }),
      ),
    drop: (threadId, key) =>
      connection.guard(() => {
        const own = `DELETE FROM drafts WHERE num = ${NUM}`;
        if (key === undefined) connection.run(own, connection.userId, threadId);
        else connection.run(`${own} AND key = ?`, connection.userId, threadId, key);
      }),
  };
}

// Texts that requests repeat, in SQLite: one row for each user and hash, and one for each thread that names it.

export function promptTexts(connection: UserConnection): PromptTexts {
  const { guard, userId } = connection;
  return {
    get: (hash) =>
      guard(() => {
        const row = connection.get("SELECT text FROM prompts WHERE user = ? AND hash = ?", userId, hash);
        return row && textAt(row, "text");
      }),
    list: () =>
      guard(() => {
        const rows = connection.all("SELECT hash, text FROM prompts WHERE user = ? ORDER BY hash", userId);
        return rows.map((row) => ({ hash: textAt(row, "hash"), text: textAt(row, "text") }));
      }),
    drop: (hashes) =>
      guard(() => {
        const sql = "DELETE FROM prompts WHERE user = ? AND hash IN (SELECT value FROM json_each(?))";
        connection.run(sql, userId, JSON.stringify(hashes));
      }),
  };
}

/** Inside the append's transaction. */
export function keepPrompts(connection: UserConnection, num: number, { expect, prompts = [] }: AppendBatch): void {
  for (const { hash, text } of prompts) {
    const sql = "INSERT INTO prompts (user, hash, text) VALUES (?, ?, ?) ON CONFLICT DO NOTHING";
    connection.run(sql, connection.userId, hash, text);
    nameFrom(connection, num, hash, expect + 1);
  }
}

function nameFrom(connection: UserConnection, num: number, hash: string, seq: number): void {
  connection.run("INSERT INTO prompt_uses (num, hash, seq) VALUES (?, ?, ?) ON CONFLICT DO NOTHING", num, hash, seq);
}

/** A fork whose parent goes names what the records that it takes over name. */
export function inheritPrompts(connection: UserConnection, parent: ThreadRow, fork: ThreadRow): void {
  const sql = "SELECT hash, seq FROM prompt_uses WHERE num = ? AND seq <= ?";
  for (const row of connection.all(sql, parent.num, fork.baseSeq))
    nameFrom(connection, fork.num, textAt(row, "hash"), integerAt(row, "seq"));
  const kept = "INSERT OR IGNORE INTO usage_prompts (num, hash) SELECT ?, hash FROM usage_prompts WHERE num = ?";
  connection.run(kept, fork.num, parent.num);
}

/** With a thread go the texts that no other thread of its user names. */
export function forgetPrompts(connection: UserConnection, num: number): void {
  connection.run(
    `DELETE FROM prompts WHERE user = ? AND hash IN (SELECT hash FROM prompt_uses WHERE num = ?) AND NOT EXISTS (
       SELECT 1 FROM prompt_uses u JOIN threads t USING (num)
       WHERE u.hash = prompts.hash AND t.user = prompts.user AND u.num <> ?)`,
    ...[connection.userId, num, num],
  );
  for (const table of ["prompt_uses", "usage_prompts"]) connection.run(`DELETE FROM ${table} WHERE num = ?`, num);
}

// Hashes of whole prompts, which usage records repeat: a thread keeps a few, and its records their beginnings.

/** A shorter thread would not win by it. */
const LONG_THREAD = 32;
/** Prompts that change all the time don't repeat. */
const MOST_KEPT = 16;

/** Whether the beginning of the hash is enough to find it among those of the thread, where it may be added now. */
export function keepsPrompt(connection: Connection, num: number, seq: number, hash: string): boolean {
  const digest = Buffer.from(hash, "hex");
  const start = digest.subarray(0, PROMPT_BYTES);
  const sql = "SELECT hash FROM usage_prompts WHERE num = ? AND hash >= ? ORDER BY hash LIMIT 1";
  const kept = connection.get(sql, num, start)?.["hash"];
  if (kept instanceof Uint8Array && start.equals(kept.subarray(0, PROMPT_BYTES))) return digest.equals(kept);
  if (seq < LONG_THREAD) return false;
  const { changes } = connection.run(
    "INSERT INTO usage_prompts (num, hash) SELECT ?, ? WHERE (SELECT count(*) FROM usage_prompts WHERE num = ?) < ?",
    ...[num, digest, num, MOST_KEPT],
  );
  return changes === 1;
}

// What conversations are known by, in SQLite: one row for each answer, under its thread and its place.

const MATCH_COLUMNS = "t.id, m.seq, m.hash, m.answer, m.grp, m.fixed, h.version, h.updated";
const FROM = "matches m JOIN threads t USING (num) JOIN heads h USING (num)";

export function matchRows(connection: UserConnection): MatchRows {
  const { guard, userId } = connection;
  return {
    find: (hashes) =>
      guard(() =>
        connection
          .all(
            `SELECT ${MATCH_COLUMNS} FROM json_each(?) g CROSS JOIN ${FROM} WHERE m.user = ? AND m.hash = g.value
             ORDER BY g.key, h.updated DESC, m.num DESC LIMIT ${MOST}`,
            ...[JSON.stringify(hashes), userId],
          )
          .map(matchOf),
      ),
    answers: (within, answers) =>
      guard(() => {
        const [where, name] = "group" in within ? ["m.grp = ?", within.group] : ["t.id = ?", within.threadId];
        const sql = `SELECT ${MATCH_COLUMNS} FROM ${FROM} WHERE m.user = ? AND t.user = m.user AND ${where}
          AND m.answer IN (SELECT value FROM json_each(?)) ORDER BY m.num, m.seq LIMIT ${MOST}`;
        return connection.all(sql, userId, name, JSON.stringify(answers)).map(matchOf);
      }),
    newest: (group) =>
      guard(() => {
        const sql = `SELECT ${MATCH_COLUMNS} FROM ${FROM} WHERE m.user = ? AND m.grp = ?
          ORDER BY h.updated DESC, m.num DESC, m.seq DESC LIMIT 1`;
        const row = connection.get(sql, userId, group);
        return row && matchOf(row);
      }),
    within: (threadId, [first, last]) =>
      guard(() => {
        const sql = `SELECT ${MATCH_COLUMNS} FROM ${FROM} WHERE t.user = ? AND t.id = ? AND m.seq BETWEEN ? AND ? ORDER BY m.seq`;
        return connection.all(sql, userId, threadId, first, last).map(matchOf);
      }),
  };
}

/** Of one read: more conversations alike than this are no help in telling which is meant. */
const MOST = 500;

function matchOf(row: SqliteRow): MatchRow {
  return {
    threadId: textAt(row, "id"),
    seq: integerAt(row, "seq"),
    hash: textAt(row, "hash"),
    answer: textAt(row, "answer"),
    group: textOrNull(row, "grp"),
    fixed: textOrNull(row, "fixed"),
    version: integerAt(row, "version"),
    updatedAt: textAt(row, "updated"),
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

// Keys to a gateway in SQLite.

export function keyRows(connection: Connection): KeyRows {
  const { guard } = connection;
  return {
    put: (key) =>
      guard(() => {
        const { id, hash, prefix, user, role, createdAt, expiresAt, revokedAt } = key;
        const { changes } = connection.run(
          `INSERT INTO keys (id, hash, prefix, user, role, created, expires, revoked)
          VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`,
          ...[id, hash, prefix, user, role, createdAt],
          expiresAt,
          revokedAt,
        );
        return changes === 1 ? "put" : "exists";
      }),
    find: (hash) =>
      guard(() => {
        const row = connection.get(`SELECT ${KEY_COLUMNS} FROM keys WHERE hash = ?`, hash);
        return row && keyOf(row);
      }),
    any: () => guard(() => connection.get("SELECT 1 FROM keys LIMIT 1") !== undefined),
    list: (after = "") =>
      guard(() =>
        connection
          .all(`SELECT ${KEY_COLUMNS} FROM keys WHERE id > ? ORDER BY id LIMIT 500`, after)
          .map((row) => keyOf(row)),
      ),
    revoke: (id, at) =>
      guard(() => {
        const { changes } = connection.run("UPDATE keys SET revoked = coalesce(revoked, ?) WHERE id = ?", at, id);
        return changes === 1 ? "revoked" : "missing";
      }),
  };
}

const KEY_COLUMNS = "id, hash, prefix, user, role, created, expires, revoked";

function keyOf(row: SqliteRow): KeyRow {
  const role = textAt(row, "role");
  return {
    id: textAt(row, "id"),
    hash: textAt(row, "hash"),
    prefix: textAt(row, "prefix"),
    user: textAt(row, "user"),
    role: role === "admin" || role === "delegate" ? role : "user",
    createdAt: textAt(row, "created"),
    expiresAt: textOrNull(row, "expires"),
    revokedAt: textOrNull(row, "revoked"),
  };
}

// Memory documents in SQLite: one row each, written by compare-and-set on the revision.

export function memoryRows(connection: Connection): MemoryRows {
  return {
    get: (userId, agentName) =>
      connection.guard(() => {
        const row = connection.get(
          "SELECT revision, document FROM memories WHERE user = ? AND agent = ?",
          userId,
          agentName,
        );
        return row && { revision: Number(row["revision"]), document: textAt(row, "document") };
      }),
    revision: (userId, agentName) =>
      connection.guard(() => {
        const row = connection.get("SELECT revision FROM memories WHERE user = ? AND agent = ?", userId, agentName);
        return Number(row?.["revision"] ?? 0);
      }),
    put: (userId, agentName, { revision, document }, expect) =>
      connection.guard(() => {
        const { changes } =
          expect === 0
            ? connection.run(
                "INSERT INTO memories (user, agent, revision, document) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING",
                ...[userId, agentName, revision, document],
              )
            : connection.run(
                "UPDATE memories SET revision = ?, document = ? WHERE user = ? AND agent = ? AND revision = ?",
                ...[revision, document, userId, agentName, expect],
              );
        return changes === 1 ? "saved" : "conflict";
      }),
    list: (after) =>
      connection.guard(() => {
        const beyond = after === undefined ? "" : "WHERE (user, agent) > (?, ?)";
        const sql = `SELECT user, agent FROM memories ${beyond} ORDER BY user, agent LIMIT 500`;
        return connection
          .all(sql, ...(after === undefined ? [] : [after.userId, after.agentName]))
          .map((row) => ({ userId: textAt(row, "user"), agentName: textAt(row, "agent") }));
      }),
  };
}
