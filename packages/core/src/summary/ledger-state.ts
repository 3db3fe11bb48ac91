/**
 * The artifact ledger as data: which files a conversation touched, which commands failed and how, tests, commits.
 * Compact JSON inside the summary state. Complete for what can't be found again (files changed, failing commands,
 * commits); of commands that succeeded and files only read it keeps the newest and counts the rest.
 */

export interface Ledger {
  readonly files: readonly FileEntry[];
  readonly commands: readonly CommandEntry[];
  readonly commits: readonly CommitEntry[];
  /** Entries that were let go: only files merely read and commands that succeeded. */
  readonly dropped: { readonly reads: number; readonly commands: number };
}

export interface FileEntry {
  readonly path: string;
  /** What was done to it, in order of first occurrence: r read, w written, e edited, d deleted, m moved away. */
  readonly did: string;
  readonly times: number;
  /** First and last message that touched it. */
  readonly seqs: readonly number[];
  readonly movedTo?: string;
}

/** A command or another tool call that can fail. Reruns of the same text are one entry. */
export interface CommandEntry {
  readonly what: string;
  readonly kind: "command" | "test" | "call";
  readonly times: number;
  readonly fails: number;
  /** Of the last run; null when the tool didn't say. */
  readonly exit: number | null;
  readonly last: "passed" | "failed" | "unknown";
  /** First and last message. */
  readonly seqs: readonly number[];
  /** Failing lines of the last failing run. */
  readonly lines?: readonly string[];
  /** Of a test run, where the output says. */
  readonly passed?: number;
  readonly failed?: number;
}

export interface CommitEntry {
  readonly message: string;
  readonly hash: string | null;
  readonly seq: number;
}

export function emptyLedger(): Ledger {
  return { files: [], commands: [], commits: [], dropped: { reads: 0, commands: 0 } };
}

/** Whether the file's content changed, so that its entry is never let go. */
export function isChanged(file: FileEntry): boolean {
  return /[wedm]/.test(file.did);
}

/** A stored ledger; anything unreadable is left out rather than refused. */
export function readLedger(stored: unknown): Ledger {
  if (typeof stored !== "object" || stored === null) return emptyLedger();
  const from = stored as Partial<Record<keyof Ledger, unknown>>;
  const dropped = (from.dropped ?? {}) as Partial<Ledger["dropped"]>;
  return {
    files: entries<FileEntry>(from.files, (file) => typeof file.path === "string" && typeof file.did === "string"),
    commands: entries<CommandEntry>(from.commands, (command) => typeof command.what === "string"),
    commits: entries<CommitEntry>(from.commits, (commit) => typeof commit.message === "string"),
    dropped: { reads: Number(dropped.reads) || 0, commands: Number(dropped.commands) || 0 },
  };
}

function entries<T>(list: unknown, isEntry: (entry: T) => boolean): T[] {
  return Array.isArray(list)
    ? list.filter((entry): entry is T => typeof entry === "object" && entry !== null && isEntry(entry))
    : [];
}
