/**
 * Threads: create, list, fork, delete, and the head row as `doctor` sees it. A fork copies nothing; a deletion first
 * copies the records its forks share into each of them.
 */

import type { ChainedRecord, Head, ThreadHeader } from "@palimpsest/core/internal/log";
import { orphaned, type PageMark, readHeader, readMark, writeMark } from "../driver-rules.ts";
import type { ForkRequest, Lease, Store, ThreadPage, ThreadQuery } from "../store.ts";
import type { Connection, SqliteRow } from "./connection.ts";
import { insertRecords, updateHead, writeState } from "./records.ts";
import {
  findHead,
  findThread,
  integerAt,
  integerOrNull,
  segments,
  type ThreadRow,
  textAt,
  textOrNull,
  threadRow,
  type UserConnection,
} from "./rows.ts";
import { forgetIndex } from "./search.ts";
import { forgetPrompts, holdsLease, inheritMatches, inheritPrompts, isLeased } from "./tables.ts";

export function createThread(
  connection: UserConnection,
  header: ThreadHeader,
  head: Head,
  records: readonly ChainedRecord[] = [],
): "created" | "exists" {
  return connection.transaction("IMMEDIATE", () => {
    const result = insertThread(connection, header, head, null, 0);
    const { num } = findThread(connection, header.id)!;
    if (result === "created") insertRecords(connection, num, records);
    return result;
  });
}

export function fork(connection: UserConnection, request: ForkRequest): Awaited<ReturnType<Store["fork"]>> {
  const { from, at, header, head, records = [] } = request;
  return connection.transaction("IMMEDIATE", () => {
    const parent = findThread(connection, from);
    if (!parent) return "missing";
    if (at > (findHead(connection, parent.num)?.version ?? 0)) return "beyond-end";
    const result = insertThread(connection, header, head, parent.num, at);
    const own = findThread(connection, header.id)!;
    if (result === "created") insertRecords(connection, own.num, records);
    return result;
  });
}

function insertThread(
  connection: UserConnection,
  header: ThreadHeader,
  head: Head,
  base: number | null,
  baseSeq: number,
): "created" | "exists" {
  if (findThread(connection, header.id)) return "exists";
  const row = connection.get(
    "INSERT INTO threads (user, id, kind, header, base, base_seq) VALUES (?, ?, ?, ?, ?, ?) RETURNING num",
    connection.userId,
    header.id,
    header.kind,
    JSON.stringify(header),
    base,
    baseSeq,
  );
  const num = integerAt(row, "num");
  updateHead(connection, num, head);
  writeState(connection, num, head);
  return "created";
}

/** The record belongs to one thread of the family; every fork made at or after it shares it. */
export function sharers(connection: UserConnection, threadId: string, seq: number): string[] {
  const row = findThread(connection, threadId);
  const owner = row && segments(connection, row, seq, seq)[0];
  if (!owner) return [];
  return connection
    .all(
      `WITH RECURSIVE shares (num) AS (
         SELECT ? UNION SELECT t.num FROM threads t JOIN shares s ON t.base = s.num WHERE t.base_seq >= ?
       ) SELECT id FROM threads JOIN shares USING (num) ORDER BY num`,
      owner.num,
      seq,
    )
    .map((found) => textAt(found, "id"));
}

export function deleteThread(connection: UserConnection, id: string, lease?: Lease): "deleted" | "missing" | "busy" {
  return connection.transaction("IMMEDIATE", () => {
    const thread = findThread(connection, id);
    if (!thread) return "missing";
    const own = lease !== undefined && holdsLease(connection, thread.num, lease);
    if (!own && isLeased(connection, thread.num)) return "busy";
    for (const child of connection.all("SELECT num, header, base, base_seq FROM threads WHERE base = ?", thread.num))
      inherit(connection, thread, threadRow(child));
    forgetIndex(connection, thread.num);
    forgetPrompts(connection, thread.num);
    for (const table of [
      "records",
      "heads",
      "states",
      "leases",
      "drafts",
      "outbox",
      "matches",
      "recall_late",
      "threads",
    ])
      connection.run(`DELETE FROM ${table} WHERE num = ?`, thread.num);
    return "deleted";
  });
}

/** The fork takes its own copy of the parent's segment and then rests on the grandparent, if there is one. */
function inherit(connection: UserConnection, parent: ThreadRow, child: ThreadRow): void {
  connection.run(
    `INSERT INTO records (num, seq, kind, header, body, body_hash, hash, redacted, shape, packed, zipped)
     SELECT ?, seq, kind, header, body, body_hash, hash, redacted, shape, packed, zipped FROM records WHERE num = ? AND seq <= ? ORDER BY seq`,
    child.num,
    parent.num,
    child.baseSeq,
  );
  inheritPrompts(connection, parent, child);
  inheritMatches(connection, parent, child);
  // What it shared is its own now; its index is made anew with it.
  forgetIndex(connection, child.num);
  const late = "INSERT OR IGNORE INTO recall_late (user, num) VALUES (?, ?)";
  connection.run(late, connection.userId, child.num);
  connection.run(
    "UPDATE threads SET base = ?, base_seq = ?, header = ? WHERE num = ?",
    parent.base,
    Math.min(parent.baseSeq, child.baseSeq),
    JSON.stringify(orphaned(child.header)),
    child.num,
  );
}

export function writeHead(connection: UserConnection, id: string, head: Head): "written" | "conflict" | "missing" {
  return connection.transaction("IMMEDIATE", () => {
    const thread = findThread(connection, id);
    if (!thread) return "missing";
    const own = connection.get("SELECT max(seq) AS last FROM records WHERE num = ?", thread.num);
    const last = integerOrNull(own, "last") ?? thread.baseSeq;
    if (last !== head.version) return "conflict";
    updateHead(connection, thread.num, head);
    writeState(connection, thread.num, head);
    return "written";
  });
}

export function users(connection: Connection, after: string | undefined): string[] {
  const sql = "SELECT DISTINCT user FROM threads WHERE user > ? ORDER BY user LIMIT 500";
  return connection.all(sql, after ?? "").map((row) => textAt(row, "user"));
}

const ORDERS = {
  recent: {
    by: "h.updated DESC, h.num DESC",
    from: "heads h CROSS JOIN threads t USING (num)",
    own: "h.user = ?",
    past: "(h.updated, h.num) < (?, ?)",
  },
  created: { by: "t.num", from: "threads t JOIN heads h USING (num)", own: "t.user = ?", past: "t.num > ?" },
} as const;

export function threads(connection: UserConnection, query: ThreadQuery = {}): ThreadPage {
  const { kind, after, limit = 50, order = "recent" } = query;
  const { by, from, own, past } = ORDERS[order];
  const conditions: [string, ...(string | number)[]][] = [[own, connection.userId]];
  if (kind !== undefined) conditions.push(["t.kind = ?", kind]);
  if (after !== undefined) {
    const { updated, num } = readMark(after);
    conditions.push(order === "recent" ? [past, updated, num] : [past, num]);
  }
  const rows = connection.all(
    `SELECT t.num, t.header, h.messages, h.updated, s.title FROM ${from} LEFT JOIN states s USING (num)
     WHERE ${conditions.map(([sql]) => sql).join(" AND ")} ORDER BY ${by} LIMIT ?`,
    ...conditions.flatMap(([, ...values]) => values),
    limit + 1,
  );
  const page = rows.slice(0, limit);
  const last = page.at(-1);
  return { threads: page.map(summary), next: rows.length > limit && last ? writeMark(markOf(last)) : null };
}

function summary(row: SqliteRow): ThreadPage["threads"][number] {
  return {
    header: readHeader(textAt(row, "header")),
    title: textOrNull(row, "title"),
    messages: integerAt(row, "messages"),
    updatedAt: textAt(row, "updated"),
  };
}

function markOf(row: SqliteRow): PageMark {
  return { num: integerAt(row, "num"), updated: textAt(row, "updated") };
}
