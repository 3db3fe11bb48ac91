/**
 * The load of a view: the head, all records after the hidden range, and the few before it that still show. It is
 * consistent without a transaction, because a record that the head counts never moves or changes its place; only a
 * thread deleted in between can leave a gap, and then the load starts over.
 */

import type { Head } from "@palimpsest/core/internal/log";
import { hiddenButShown, readHeader } from "../driver-rules.ts";
import type { ThreadLoad } from "../store.ts";
import type { SqlQuery } from "./connection.ts";
import { HEAD_COLUMNS, type HeadRow, readHead } from "./head.ts";
import { NAMED, type PostgresUserConnection, type ThreadRowName } from "./lineage.ts";
import { fromRow } from "./record-row.ts";
import { readPage, readSome } from "./records.ts";

export function load(connection: PostgresUserConnection, id: string): Promise<ThreadLoad | undefined> {
  const thread = [connection.userId, id] as const;
  return connection.run(async (query) => {
    for (let before: Top | undefined; ; ) {
      const top = await readTop(query, connection.schema, thread);
      if (!top) return undefined;
      const head = readHead(top);
      const { found, whole } = await readRecords(query, connection.schema, thread, head);
      // A gap under the same head is damage, for `verify` to name; a load shows what there is.
      if (whole || (before?.num === top.num && before.version === top.version)) {
        return { header: readHeader(top.header), head, records: found };
      }
      before = top;
    }
  });
}

type Top = HeadRow & { readonly header: string; readonly num: number };

async function readTop(query: SqlQuery, schema: string, thread: ThreadRowName): Promise<Top | undefined> {
  const sql = `SELECT num, header, ${HEAD_COLUMNS} FROM ${schema}.threads WHERE ${NAMED}`;
  return (await query<Top>(sql, thread))[0];
}

async function readRecords(query: SqlQuery, schema: string, thread: ThreadRowName, head: Head) {
  const first = head.hiddenThrough + 1;
  const range = [first, head.version] as const;
  const tail = (await readPage(query, schema, thread, { range, size: null })).map(fromRow);
  const seqs = hiddenButShown(head, tail);
  const hidden = seqs.length === 0 ? [] : (await readSome(query, schema, thread, seqs)).map(fromRow);
  const whole = tail.length === Math.max(0, head.version - head.hiddenThrough) && hidden.length === seqs.length;
  return { found: [...hidden, ...tail], whole };
}
