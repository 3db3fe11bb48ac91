/**
 * The artifact ledger as data: which files a conversation touched, which commands failed and how, tests, commits.
 * Compact JSON inside the summary state. Bounded: of everything it keeps the newest; older failures that were alike are one
 * entry, and what is let go is counted. The log has it all.
 */

export interface Ledger {
  readonly files: readonly FileEntry[];
  readonly commands: readonly CommandEntry[];
  readonly commits: readonly CommitEntry[];
  /** Entries that were let go. */
  readonly dropped: Dropped;
}

/** Files only read, commands that succeeded, failures, files changed, commits. */
export type Dropped = Readonly<Record<"reads" | "commands" | "failures" | "changes" | "commits", number>>;

export interface FileEntry {
  readonly path: string;
  /** What was done to it, in order of first occurrence: r read, w written, e edited, d deleted, m moved away. */
  readonly did: string;
  readonly times: number;
  /** First and last message that touched it. */
  readonly seqs: readonly number[];
  readonly movedTo?: string;
}

/** A command or another tool call that can fail. Reruns of the same text are one entry, and so are older failures alike. */
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
  /** How many other commands failed alike; their runs are counted here. */
  readonly alike?: number;
}

export interface CommitEntry {
  readonly message: string;
  readonly hash: string | null;
  readonly seq: number;
}

const NOTHING_DROPPED: Dropped = { reads: 0, commands: 0, failures: 0, changes: 0, commits: 0 };

export function emptyLedger(): Ledger {
  return { files: [], commands: [], commits: [], dropped: NOTHING_DROPPED };
}

/** Whether the file's content changed: such entries are the last to go. */
export function isChanged(file: FileEntry): boolean {
  return /[wedm]/.test(file.did);
}

/** A stored ledger; anything unreadable is left out rather than refused. */
export function readLedger(stored: unknown): Ledger {
  if (typeof stored !== "object" || stored === null) return emptyLedger();
  const from = stored as Partial<Record<keyof Ledger, unknown>>;
  const dropped = (from.dropped ?? {}) as Partial<Dropped>;
  const counts = Object.keys(NOTHING_DROPPED).map((what) => [what, Number(dropped[what as keyof Dropped]) || 0]);
  return {
    files: entries<FileEntry>(from.files, (file) => typeof file.path === "string" && typeof file.did === "string"),
    commands: entries<CommandEntry>(from.commands, (command) => typeof command.what === "string"),
    commits: entries<CommitEntry>(from.commits, (commit) => typeof commit.message === "string"),
    dropped: Object.fromEntries(counts) as Dropped,
  };
}

function entries<T>(list: unknown, isEntry: (entry: T) => boolean): T[] {
  return Array.isArray(list)
    ? list.filter((entry): entry is T => typeof entry === "object" && entry !== null && isEntry(entry))
    : [];
}
