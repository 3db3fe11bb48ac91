/**
 * What a reader makes of a file while it comes in: threads that are opened, what is said in them, and what is left out.
 * The same file always gives the same pieces, and a file that has grown gives the old ones first: so code that writes them
 * down can stop after any of them and go on there.
 */
import type { Usage } from "../models/facts.ts";
import type { ImportedConversation, ImportedMessage, Problem } from "./conversation.ts";

export type ImportPiece = ImportedThread | ThreadPiece | Omission;

/** The first of a thread's pieces. */
export interface ImportedThread
  extends Pick<ImportedConversation, "place" | "title" | "request" | "questions" | "source"> {
  readonly kind: "thread";
  /** Names it among the threads of its file. */
  readonly key: string;
  /** Which thread it leaves, and after how many of its messages: what came before is shared. */
  readonly fork: { readonly of: string; readonly after: number } | null;
  /** The thread whose sub-agent it is. */
  readonly childOf: string | null;
}

/** A thread's first piece, with what the file says about it. */
export function openedThread(key: string, facts: Partial<Omit<ImportedThread, "kind" | "key">> = {}): ImportedThread {
  const unknown = { place: "", title: null, request: null, questions: [], source: null };
  return { kind: "thread", key, fork: null, childOf: null, ...unknown, ...facts };
}

export type ThreadPiece =
  | {
      readonly kind: "message";
      readonly key: string;
      readonly message: ImportedMessage;
      /** Of how many messages of the file it is made, where that is more than one. */
      readonly of?: number;
    }
  /** Of the message before it. */
  | { readonly kind: "usage"; readonly key: string; readonly usage: Usage; readonly model: string | null }
  /** What the other program did to the conversation, such as a compaction; kept as an event. */
  | { readonly kind: "mark"; readonly key: string; readonly event: PieceMark }
  | { readonly kind: "title"; readonly key: string; readonly title: string }
  /** Nothing more is said in it, in its forks and by its sub-agents. */
  | { readonly kind: "end"; readonly key: string };

export interface PieceMark {
  readonly type: "source-compacted";
  readonly program: string;
  readonly [detail: string]: unknown;
}

type Omission =
  /** Something of a conversation that can't be carried over: by its kind, counted. */
  | { readonly kind: "left"; readonly place: string; readonly what: string }
  /** A value without a message. */
  | { readonly kind: "skipped" }
  | ({ readonly kind: "problem" } & Problem);
