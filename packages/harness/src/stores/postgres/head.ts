/** How a head lies in its thread's row, and back. The state has a column of its own, written only when it changes. */

import type { Head } from "@palimpsest/core/internal/log";
import { readState, readStoredHead, titleOf } from "../driver-rules.ts";

export const HEAD_COLUMNS = "version, messages, updated_at, head, state";

/** So many characters of a time say its minute. The order by minute and time is the order by time. */
export const MINUTE = "2026-01-01T00:00".length;

export interface HeadRow {
  readonly version: number;
  readonly messages: number;
  readonly updated_at: string;
  readonly head: string;
  readonly state: string;
}

export function readHead(row: HeadRow): Head {
  const { hash, ...rest } = readStoredHead(row.head);
  const { version, messages } = row;
  return { version, hash, messages, updatedAt: row.updated_at, ...rest, state: readState(row.state) };
}

/** In the order of `HEAD_COLUMNS`, without the state. */
export function headValues(head: Head): readonly [number, number, string, string] {
  const { version, messages, updatedAt, state: _, ...rest } = head;
  return [version, messages, updatedAt, JSON.stringify(rest)];
}

export function stateValues(head: Head): readonly [state: string, title: string | null] {
  return [JSON.stringify(head.state), titleOf(head)];
}
