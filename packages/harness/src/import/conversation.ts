/** What an import reads before it writes anything: conversations of messages with their exact text, and what is wrong. */

export interface ImportedConversation {
  /** Where it stands in its file, for people: `line 3`, or empty when the file is one conversation. */
  readonly place: string;
  /** What the file calls it. */
  readonly title?: string;
  readonly messages: readonly ImportedMessage[];
  /** Of a branch: how many of its messages are another conversation's too. */
  readonly shared?: number;
  /** Compactions of the program that wrote the file: after how many messages, and what it showed instead. */
  readonly marks?: readonly { readonly after: number; readonly summary: string }[];
  /** What the program says of it, such as the directory it was about. */
  readonly source?: { readonly program: string; readonly session: string; readonly project?: string };
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
  readonly usage: ImportedUsage | null;
}

/** `input` is the whole prompt, cached part included. */
export interface ImportedUsage {
  readonly input: number;
  readonly output: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
}

export interface Problem {
  readonly place: string;
  readonly message: string;
}
