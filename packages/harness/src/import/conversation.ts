/** What an import reads before it writes anything: conversations of messages with their exact text, and what is wrong. */
import type { Usage } from "../models/facts.ts";

export interface ImportedConversation {
  /** Where it stands in its file, for people: `line 3`, or empty when the file is one conversation. */
  readonly place: string;
  /** What the file calls it. */
  readonly title: string | null;
  readonly messages: readonly ImportedMessage[];
  /** How many messages a branch shares with another conversation; null if it isn't a branch. */
  readonly shared: number | null;
  /** Compactions of the program that wrote the file: after how many messages, and what it showed instead. */
  readonly marks: readonly { readonly after: number; readonly summary: string }[];
  readonly source: ThreadSource | null;
  /** What was sent beside the messages, where the file says so. */
  readonly request: { readonly system?: unknown; readonly tools?: unknown } | null;
  /** What stands as `questions` beside the messages: read by the lab, not imported. */
  readonly questions: readonly unknown[];
}

export interface ImportedMessage {
  readonly place: string;
  /** The message's JSON text as it stands in the file, on one line. */
  readonly body: string;
  readonly value: Readonly<Record<string, unknown>>;
  /** ISO 8601; null where the file doesn't say. */
  readonly at: string | null;
  readonly model: string | null;
  readonly usage: Usage | null;
}

/** What the program that wrote the file says about the conversation. */
export interface ThreadSource {
  readonly program: string;
  /** The program's name for the conversation. */
  readonly session: string;
  /** The directory it was about. */
  readonly project: string | null;
  /** For a sub-agent whose parent is in another file: the parent's session. */
  readonly parent: string | null;
}

export interface Problem {
  readonly place: string;
  readonly message: string;
}
