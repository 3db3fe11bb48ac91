/**
 * Decides whose messages a parsed file holds, from marks that only one dialect uses. Plain text messages look the same
 * everywhere; they count as OpenAI's.
 */

import { isRecord } from "../text/is-record.ts";
import { DIALECTS, type Dialect, definitionOf } from "./dialects.ts";

export interface Detection {
  readonly dialect: Dialect;
  /** What decided, for the person who imports the file. */
  readonly reason: string;
}

/** The dialect with the most marked messages; values that aren't messages are passed over. */
export function detectDialect(messages: Iterable<unknown>): Detection {
  const votes = new Map<Dialect, { count: number; reason: string }>();
  let index = 0;
  for (const message of messages) {
    for (const dialect of DIALECTS) {
      const mark = isRecord(message) ? definitionOf(dialect).mark(message) : null;
      if (mark === null) continue;
      const before = votes.get(dialect);
      votes.set(dialect, {
        count: (before?.count ?? 0) + 1,
        reason: before?.reason ?? `message ${index} has ${mark}`,
      });
    }
    index++;
  }
  const [winner] = [...votes].sort(([, a], [, b]) => b.count - a.count);
  if (winner === undefined) return { dialect: "openai", reason: "plain text only, which OpenAI's format covers" };
  return { dialect: winner[0], reason: winner[1].reason };
}
