/**
 * Records: the compare-and-set append, ranges as a stream, the load of a view, redaction. Everything that must hold
 * together happens in one transaction.
 */
import { type ChainedRecord, type Head, STRUCTURAL_KINDS } from "@palimpsest/core/internal/log";
import { pace } from "../../long-work.ts";
import { assertInOrder, hiddenButShown, titleOf } from "../driver-rules.ts";
import { packRecord } from "../pack-record.ts";
import { isLongZipped, letterOf, type PackedRecord, unzipLong } from "../packed-record.ts";
import type {
  AppendBatch,
  AppendResult,
  FirstAppendResult,
  LeaseClaim,
  RecordQuery,
  RedactRequest,
  StoredRecord,
  ThreadLoad,
} from "../store.ts";
import type { Connection, SqliteRow } from "./connection.ts";
import { queueJob } from "./outbox.ts";
import {
  findHead,
  findThread,
  HEADER_COLUMNS,
  headNamed,
  headText,
  integerAt,
  integerOrNull,
  markLate,
  namesOf,
  RECORD_COLUMNS,
  recordOf,
  type Segment,
  segments,
  type ThreadRow,
  textOf,
  type UserConnection,
} from "./rows.ts";
import { forgetEntry } from "./search.ts";
import { endLease, keepMatches, keepPrompts, keepsPrompt, takeLease } from "./tables.ts";

export function append(connection: UserConnection, threadId: string, batch: AppendBatch): AppendResult {
  const work = (): AppendResult =>
    connection.transaction("IMMEDIATE", () => {
      const place = placeOf(connection, threadId, batch);
      if (place.kind !== "open") return place;
      write(connection, place.num, batch);
      return { kind: "appended", version: batch.head.version };
    });
  return batch.flush === "later" ? connection.unhurried(work) : work();
}

/** The lease and the records in one transaction. */
export function appendFirst(
  connection: UserConnection,
  threadId: string,
  batch: AppendBatch,
  { ttlMs, after }: LeaseClaim,
): FirstAppendResult {
  return connection.transaction("IMMEDIATE", (): FirstAppendResult => {
    const taken = takeLease(connection, { threadId, owner: batch.lease.owner, ttlMs });
    if (taken.kind !== "acquired") return taken;
    const { lease } = taken;
    const place = placeOf(connection, threadId, { ...batch, lease });
    if (place.kind !== "open" || headNamed(connection, threadId)?.hash !== after) return { kind: "moved", lease };
    write(connection, place.num, { ...batch, lease });
    return { kind: "appended", lease };
  });
}

export function redact(connection: UserConnection, { bodies, headers = [], batches }: RedactRequest): AppendResult {
  return connection.transaction("IMMEDIATE", (): AppendResult => {
    const places: { readonly num: number; readonly batch: AppendBatch }[] = [];
    for (const { threadId, batch } of batches) {
      const place = placeOf(connection, threadId, batch);
      if (place.kind !== "open") return place;
      places.push({ num: place.num, batch });
    }
    // Records first: a copy brings bodies that were erased where they came from.
    for (const { num, batch } of places) write(connection, num, batch);
    const owner = (threadId: string, seq: number) =>
      segments(connection, findThread(connection, threadId)!, seq, seq)[0]!;
    for (const { threadId, seq, body } of bodies) {
      const { num } = owner(threadId, seq);
      rewrite(connection, num, seq, { body });
      forgetEntry(connection, num, seq);
    }
    for (const { threadId, seq, header } of headers) {
      const { num } = owner(threadId, seq);
      rewrite(connection, num, seq, { header });
    }
    return { kind: "appended", version: batches[0]?.batch.head.version ?? 0 };
  });
}

/** What stands in its place is kept as text, beside the hashes of what was there. */
function rewrite(connection: Connection, num: number, seq: number, now: { body?: string; header?: string }): void {
  const sql = `SELECT ${RECORD_COLUMNS} FROM records WHERE num = ? AND seq = ?`;
  const [row, next] = [connection.get(sql, num, seq), connection.get(sql, num, seq + 1)];
  if (row === undefined) return;
  // What leans on it stands by itself from now on.
  if (next !== undefined && next["before"] !== null) writeText(connection, num, next, textOf(next));
  const { header, body, bodyHash, hash } = textOf(row);
  writeText(connection, num, row, { header, body, bodyHash, hash, ...now });
  connection.run("UPDATE records SET redacted = 1 WHERE num = ? AND seq = ?", num, seq);
}

function writeText(connection: Connection, num: number, row: SqliteRow, text: ReturnType<typeof textOf>): void {
  const { header, body, bodyHash, hash } = text;
  connection.run(
    `UPDATE records SET header = ?, body = ?, body_hash = ?, hash = ?, shape = NULL, packed = NULL, zipped = NULL
     WHERE num = ? AND seq = ?`,
    ...[header, body, bodyHash, hash, num, row["seq"]!],
  );
}

/** Bounds what one step of a stream holds in memory: rows, or the bytes of their bodies, whichever ends first. */
const PAGE = { rows: 256, characters: 1_000_000 };

export async function* records(
  connection: UserConnection,
  threadId: string,
  query: RecordQuery = {},
): AsyncGenerator<StoredRecord> {
  const { range = [1, Number.MAX_SAFE_INTEGER], order = "ascending" } = query;
  const parts = await connection.guard(() => {
    const row = findThread(connection, threadId);
    return row ? segments(connection, row, range[0], range[1]) : [];
  });
  const steps = pace();
  for (const segment of order === "ascending" ? parts : parts.reverse()) {
    let rest: Segment | undefined = segment;
    while (rest && rest.first <= rest.last) {
      const page: SqliteRow[] = await connection.guard(() => readPage(connection, rest!, query));
      // One record may be of many megabytes: reading it is enough for a turn.
      if (steps.isDue()) await steps.turn();
      for (const row of page) {
        const body = isLongZipped(row["zipped"]) ? await unzipLong(row["zipped"]) : null;
        yield recordOf(body === null ? row : { ...row, body, zipped: null });
        if (steps.isDue()) await steps.turn();
      }
      const end = page.at(-1);
      if (end === undefined) break;
      const last = integerAt(end, "seq");
      rest = order === "ascending" ? { ...rest, first: last + 1 } : { ...rest, last: last - 1 };
    }
  }
}

function readPage(connection: Connection, segment: Segment, { kinds, seqs, bodies, order = "ascending" }: RecordQuery) {
  const names = kinds?.flatMap(namesOf);
  const filter = names ? `AND kind IN (${names.map(() => "?").join(", ")})` : "";
  const listed = seqs ? "AND seq IN (SELECT value FROM json_each(?))" : "";
  const sql = `SELECT ${bodies === "none" ? HEADER_COLUMNS : RECORD_COLUMNS} FROM records ${structureOnly(kinds) ?? "WHERE TRUE"} AND num = ? AND seq BETWEEN ? AND ?
    ${filter} ${listed} ORDER BY seq ${order === "ascending" ? "ASC" : "DESC"} LIMIT ${PAGE.rows}`;
  const values = [segment.num, segment.first, segment.last, ...(names ?? []), ...(seqs ? [JSON.stringify(seqs)] : [])];
  const page: SqliteRow[] = [];
  let characters = 0;
  for (const row of connection.each(sql, ...values)) {
    page.push(row);
    characters += lengthOf(row["body"]) + lengthOf(row["zipped"]);
    if (characters >= PAGE.characters) break;
  }
  return page;
}

function lengthOf(value: unknown): number {
  return typeof value === "string" || value instanceof Uint8Array ? value.length : 0;
}

/** The few structural records have an index of their own; its condition must be repeated word for word to be used. */
function structureOnly(kinds: RecordQuery["kinds"]): string | null {
  const structural: readonly string[] = STRUCTURAL_KINDS;
  if (!kinds?.every((kind) => structural.includes(kind))) return null;
  return "INDEXED BY records_structure WHERE kind IN ('compaction', 'prune', 'undo', 'evidence')";
}

/** One consistent read: the head, all records after the hidden range, and the few before it that still show. */
export function load(connection: UserConnection, id: string): ThreadLoad | undefined {
  return connection.transaction("DEFERRED", () => {
    const thread = findThread(connection, id);
    const head = thread && findHead(connection, thread.num);
    if (!thread || !head) return undefined;
    const tail = segments(connection, thread, head.hiddenThrough + 1, head.version).flatMap(({ num, first, last }) =>
      connection
        .all(
          `SELECT ${RECORD_COLUMNS} FROM records WHERE num = ? AND seq BETWEEN ? AND ? ORDER BY seq`,
          num,
          first,
          last,
        )
        .map(recordOf),
    );
    const hidden = hiddenButShown(head, tail).flatMap((seq) => one(connection, thread, seq) ?? []);
    return { header: thread.header, head, records: [...hidden, ...tail] };
  });
}

function one(connection: Connection, thread: ThreadRow, seq: number): StoredRecord | undefined {
  const [segment] = segments(connection, thread, seq, seq);
  if (!segment) return undefined;
  const row: SqliteRow | undefined = connection.get(
    `SELECT ${RECORD_COLUMNS} FROM records WHERE num = ? AND seq = ?`,
    segment.num,
    seq,
  );
  return row && recordOf(row);
}

type RecordRowPlace = { readonly kind: "open"; readonly num: number } | Exclude<AppendResult, { kind: "appended" }>;

/** Where a batch goes, or why it may not: whether the thread is there, whose it is and how far it has come, in one read. */
function placeOf({ get, userId }: UserConnection, threadId: string, { lease, expect }: AppendBatch): RecordRowPlace {
  const row = get(
    `SELECT t.num, h.version, l.owner, l.epoch FROM threads t LEFT JOIN heads h USING (num) LEFT JOIN leases l USING (num)
     WHERE t.user = ? AND t.id = ?`,
    userId,
    threadId,
  );
  if (!row) return { kind: "missing" };
  const isOwn = row["owner"] === lease.owner && row["epoch"] === lease.epoch;
  if (lease.threadId !== threadId || !isOwn) return { kind: "lease-lost" };
  const version = Number(row["version"] ?? 0);
  return version === expect ? { kind: "open", num: integerAt(row, "num") } : { kind: "conflict", version };
}

function write(connection: UserConnection, num: number, batch: AppendBatch): void {
  assertInOrder(batch);
  insertRecords(connection, num, batch.records);
  updateHead(connection, num, batch.head);
  if (batch.records.some((record) => record.kind === "state")) writeState(connection, num, batch.head);
  for (const job of batch.jobs ?? []) queueJob(connection, num, job);
  keepPrompts(connection, num, batch);
  keepMatches(connection, num, batch);
  if (batch.leaseAfter === "released") endLease(connection, num);
}

/** In the order of the log, without a gap. */
export function insertRecords(connection: Connection, num: number, records: readonly ChainedRecord[]): void {
  let before: PackedRecord | null = null;
  for (const record of records) before = insertRecord(connection, num, record, before);
}

/** What it is packed as, where it is. */
function insertRecord(
  connection: Connection,
  num: number,
  record: ChainedRecord,
  before: PackedRecord | null,
): PackedRecord | null {
  const { seq } = record;
  const kind = letterOf(record.kind);
  const packed = packRecord(record, before, (hash) => keepsPrompt(connection, num, seq, hash));
  const shape = packed === null || packed.shape === null ? null : shapeId(connection, packed.shape);
  if (packed === null) {
    connection.run(INSERT, num, seq, kind, record.header, record.body, record.bodyHash, record.hash, null, null, null);
    return null;
  }
  // Where no more shapes are kept, the header is text.
  const header = shape === null ? record.header : packed.header;
  connection.run(INSERT, num, seq, kind, header, packed.body, null, "", shape, packed.packed, packed.zipped);
  return packed;
}

const INSERT = `INSERT INTO records (num, seq, kind, header, body, body_hash, hash, shape, packed, zipped)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`;

/** A thread has a handful of them. If somebody's don't repeat, they are not worth keeping beyond this. */
const MOST_SHAPES = 4096;

function shapeId(connection: Connection, text: string): number | null {
  const known = connection.get("SELECT id FROM shapes WHERE text = ?", text);
  if (known !== undefined) return integerAt(known, "id");
  const sql = `INSERT INTO shapes (text) SELECT ? WHERE (SELECT coalesce(max(id), 0) FROM shapes) < ${MOST_SHAPES} RETURNING id`;
  return integerOrNull(connection.get(sql, text), "id");
}

export function updateHead(connection: Connection, num: number, head: Head): void {
  connection.run(
    `INSERT INTO heads (num, version, messages, updated, head, user)
     VALUES (?, ?, ?, ?, ?, (SELECT user FROM threads WHERE num = ?))
     ON CONFLICT (num) DO UPDATE
     SET version = excluded.version, messages = excluded.messages, updated = excluded.updated, head = excluded.head`,
    num,
    head.version,
    head.messages,
    head.updatedAt,
    headText(head),
    // Node 22 binds no numbered parameter twice.
    num,
  );
  markLate(connection, num);
}

export function writeState(connection: Connection, num: number, head: Head): void {
  connection.run(
    `INSERT INTO states (num, state, title) VALUES (?, ?, ?)
     ON CONFLICT (num) DO UPDATE SET state = excluded.state, title = excluded.title`,
    num,
    JSON.stringify(head.state),
    titleOf(head),
  );
}
