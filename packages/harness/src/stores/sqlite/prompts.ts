/** Texts that requests repeat, in SQLite: one row for each user and hash, and one for each thread that names it. */
import type { AppendBatch, PromptTexts } from "../store.ts";
import type { Connection } from "./connection.ts";
import { PROMPT_BYTES } from "./packed-record.ts";
import type { ThreadRow, UserConnection } from "./rows.ts";

export function promptTexts(connection: UserConnection): PromptTexts {
  const { guard, userId } = connection;
  return {
    get: (hash) =>
      guard(() => {
        const row = connection.get("SELECT text FROM prompts WHERE user = ? AND hash = ?", userId, hash);
        return row?.["text"] as string | undefined;
      }),
    list: () =>
      guard(() => {
        const rows = connection.all("SELECT hash, text FROM prompts WHERE user = ? ORDER BY hash", userId);
        return rows.map(({ hash, text }) => ({ hash: hash as string, text: text as string }));
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
  for (const { hash, seq } of connection.all(sql, parent.num, fork.baseSeq))
    nameFrom(connection, fork.num, hash as string, seq as number);
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
  const kept = connection.get(sql, num, start)?.["hash"] as Uint8Array | undefined;
  if (kept !== undefined && start.equals(kept.subarray(0, PROMPT_BYTES))) return digest.equals(kept);
  if (seq < LONG_THREAD) return false;
  const { changes } = connection.run(
    "INSERT INTO usage_prompts (num, hash) SELECT ?, ? WHERE (SELECT count(*) FROM usage_prompts WHERE num = ?) < ?",
    ...[num, digest, num, MOST_KEPT],
  );
  return changes === 1;
}
