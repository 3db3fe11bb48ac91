/**
 * Decides whose messages a parsed file holds, from marks that only one dialect uses. Plain text messages look the same
 * everywhere; they count as OpenAI's.
 */

import { isRecord } from "../text/is-record.ts";
import { isUiMessage } from "./ai-sdk/ui-messages.ts";
import { DIALECTS, type Dialect, definitionOf } from "./dialects.ts";

export interface Detection {
  readonly dialect: Dialect;
  /** What decided, for the person who imports the file. */
  readonly reason: string;
  /** How many messages have a mark of this dialect. */
  readonly marked: number;
}

/** The dialect with the most marked messages; values that aren't messages are passed over. */
export function detectDialect(messages: Iterable<unknown>): Detection {
  const votes = dialectVotes();
  for (const message of messages) votes.add(message);
  return votes.detection();
}

/** The same for messages that come one after the other. */
export function dialectVotes() {
  const votes = new Map<Dialect, { count: number; reason: string }>();
  let index = 0;
  return {
    add(message: unknown): void {
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
    },
    detection(): Detection {
      const [winner] = [...votes].sort(([, a], [, b]) => b.count - a.count);
      if (winner === undefined)
        return { dialect: "openai", reason: "plain text only, which OpenAI's format covers", marked: 0 };
      const [dialect, { reason, count: marked }] = winner;
      return { dialect, reason, marked };
    },
  };
}

/**
 * A sentence about the first value that no dialect's shape could read, and what it looks like; null when there is none. Reading
 * it anyway would make a message up.
 */
export function unreadable(messages: readonly unknown[]): string | null {
  const index = messages.findIndex((message) => !isReadable(message));
  if (index === -1) return null;
  const message = messages[index];
  const place = `message ${index + 1}`;
  if (isUiMessage(message)) {
    return `${place} looks like an AI SDK UI message: give what readUiMessages of @palimpsest/core/message makes of the list`;
  }
  if (!isRecord(message)) return `${place} is ${message === null ? "null" : `a ${typeof message}`}, not a message`;
  const names = Object.keys(message).slice(0, 8).join(", ");
  return `${place} has the fields ${names}: no dialect has such messages`;
}

/** A list is a turn of several items. */
function isReadable(message: unknown): boolean {
  if (Array.isArray(message)) return message.length > 0;
  if (!isRecord(message) || isUiMessage(message)) return false;
  const isChat = typeof message["role"] === "string" && ("content" in message || "tool_calls" in message);
  return isChat || DIALECTS.some((dialect) => definitionOf(dialect).mark(message) !== null);
}
