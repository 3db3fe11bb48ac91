/**
 * The port for files that don't hold a dialect's messages as they are: what apps and tools write for themselves. A format
 * recognizes its values and makes pieces of them; what it leaves out it says.
 */

import type { Dialect } from "@palimpsest/core/internal/message";
import { isRecord } from "@palimpsest/core/internal/text";
import type { ImportedConversation, ImportedMessage, ThreadSource } from "../conversation.ts";
import { type ImportPiece, openedThread } from "../piece.ts";

export interface Format {
  /** As in `--format`: `chatgpt`. */
  readonly id: string;
  /** For people: `ChatGPT export`. */
  readonly name: string;
  /** Of the messages it makes. */
  readonly dialect: Dialect;
  /** Where the program keeps its sessions. */
  readonly folder?: (env: NodeJS.ProcessEnv, home: string) => string;
  /** Whether a value of the file, an element of its array or one of its lines, can only be of this format. */
  readonly recognizes: (value: FormatFields) => boolean;
  readonly open: () => PieceReader;
}

export interface PieceReader {
  read(value: PlacedValue): Iterable<ImportPiece>;
  /** What was held back for as long as more could belong to it. */
  end(): Iterable<ImportPiece>;
}

/** A value, its text, and where it stands in the file. */
export interface PlacedValue {
  readonly value: FormatFields;
  readonly text: string;
  readonly place: string;
}

export type FormatFields = Readonly<Record<string, unknown>>;

/** A conversation that is one value of its file, with its other branches and what was left out of it. */
export interface ReadConversation {
  readonly conversation: Pick<ImportedConversation, "messages"> &
    Partial<Pick<ImportedConversation, "title" | "request" | "source">>;
  /** Other ways it went, each by what it shares with the conversation, or with a branch before it (from 0 on). */
  readonly branches?: Iterable<Branch>;
  /** Read last. */
  readonly left: Iterable<string>;
}

export interface Branch {
  readonly of: number | null;
  readonly after: number;
  readonly messages: readonly ImportedMessage[];
}

/** The reader of a format whose conversations are one value each; null: the value holds none. */
export function oneValueEach(readOne: (value: PlacedValue) => ReadConversation | null): PieceReader {
  return {
    *read(value) {
      const read = readOne(value);
      if (read === null) yield { kind: "skipped" };
      else yield* piecesOf(read, value.place);
    },
    *end() {},
  };
}

export function* piecesOf(
  { conversation, branches = [], left }: ReadConversation,
  place: string,
): Iterable<ImportPiece> {
  const { messages, ...rest } = conversation;
  const key = place === "" ? "conversation" : place;
  yield openedThread(key, { place, ...rest });
  for (const message of messages) yield { kind: "message", key, message };
  let count = 0;
  for (const { of, after, messages: own } of branches) {
    count += 1;
    const branch = `${key} fork ${count}`;
    const fork = { of: of === null ? key : `${key} fork ${of + 1}`, after };
    yield openedThread(branch, { place, fork });
    for (const message of own) yield { kind: "message", key: branch, message };
  }
  for (const what of left) yield { kind: "left", place, what };
  yield { kind: "end", key };
}

/** A message built by the format; its body is not text from the file. */
export function madeMessage(
  value: object,
  facts: { readonly place: string } & Partial<Pick<ImportedMessage, "at" | "model" | "usage">>,
): ImportedMessage {
  const { place, at = null, model = null, usage = null } = facts;
  return { place, body: JSON.stringify(value), value: value as ImportedMessage["value"], at, model, usage };
}

/** Null without a session, by which a conversation is known again. */
export function sourceOf(
  program: string,
  session: string | null,
  { project = null, parent = null }: Partial<Pick<ThreadSource, "project" | "parent">> = {},
): ThreadSource | null {
  return session === null ? null : { program, session, project, parent };
}

/** Blocks as turns: one that follows another of its role joins it. */
export function turnsSaid() {
  const turns: { readonly role: "user" | "assistant"; readonly content: FormatFields[] }[] = [];
  return {
    turns,
    say(role: "user" | "assistant", block: FormatFields): void {
      if (turns.at(-1)?.role !== role) turns.push({ role, content: [] });
      turns.at(-1)!.content.push(block);
    },
  };
}

export const listOf = (value: unknown): readonly FormatFields[] => (Array.isArray(value) ? value.filter(isRecord) : []);

/** Null for anything but words. */
export const wordsIn = (value: unknown): string | null => (typeof value === "string" && value !== "" ? value : null);
