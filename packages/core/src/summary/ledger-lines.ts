/**
 * The ledger as lines, most important first, so that rendering may stop anywhere. Paths are shown below their
 * common directory, which is named once.
 */
import { clip, lastStep } from "../text/names.ts";

interface LedgerLines {
  /** "" or the directory all shown paths lie under. */
  readonly root: string;
  readonly changed: readonly string[];
  readonly failing: readonly string[];
  readonly tests: readonly string[];
  readonly commits: readonly string[];
  readonly read: readonly string[];
  readonly commands: readonly string[];
}

export function ledgerLines(ledger: Ledger): LedgerLines {
  const newestFirst = <T extends { seqs: readonly number[] }>(list: readonly T[]) =>
    [...list].sort((a, b) => (b.seqs.at(-1) ?? 0) - (a.seqs.at(-1) ?? 0));
  const root = commonDirectory(ledger.files.map((file) => file.path));
  const files = newestFirst(ledger.files);
  const commands = newestFirst(ledger.commands);
  // Still failing before failed once.
  const failing = commands
    .filter((command) => command.fails > 0)
    .sort((a, b) => Number(b.last === "failed") - Number(a.last === "failed"));
  const passed = commands.filter((command) => command.fails === 0);
  return {
    root,
    changed: changedLines(files, root),
    failing: failing.map((command) => commandLine(command, root)),
    tests: passed.filter((command) => command.kind === "test").map((command) => commandLine(command, root)),
    commits: ledger.commits
      .map(({ message, hash, seq }) => `${hash === null ? "" : `${hash} `}${clip(message, 160)} ${formatSeqs([seq])}`)
      .reverse(),
    read: files
      .filter((file) => !isChanged(file))
      .map((file) => `${below(file.path, root)} ${formatSeqs(file.seqs.slice(-1))}`),
    commands: passed.filter((command) => command.kind !== "test").map((command) => commandLine(command, root)),
  };
}

/** Where the whole ledger stands, in the directory of the originals. */
export const LEDGER_FILE = "ledger.txt";

/** The whole ledger as text: what a summary had no room for is one read away. */
export function ledgerText(ledger: Ledger): string {
  const { root, ...blocks } = ledgerLines(ledger);
  const titles: Record<keyof typeof blocks, string> = {
    failing: "Commands that failed",
    changed: "Files changed",
    commits: "Commits",
    tests: "Tests that passed",
    read: "Files read",
    commands: "Commands that passed",
  };
  const sections = (Object.keys(titles) as (keyof typeof blocks)[])
    .filter((name) => blocks[name].length > 0)
    .map((name) => [`## ${titles[name]}`, ...blocks[name].map((line) => `- ${line}`)].join("\n"));
  return [...(root === "" ? [] : [`Paths below ${root}`]), ...sections, ...olderLine(ledger)].join("\n\n");
}

function olderLine({ dropped }: Ledger): string[] {
  const names: Record<keyof Dropped, string> = {
    failures: "commands that failed",
    changes: "files changed",
    commits: "commits",
    reads: "files read",
    commands: "commands that passed",
  };
  const counts = (Object.keys(names) as (keyof Dropped)[])
    .filter((what) => dropped[what] > 0)
    .map((what) => `${dropped[what]} ${names[what]}`);
  return counts.length === 0 ? [] : [`Older, only in the messages themselves: ${counts.join(", ")}`];
}

const ACTS: Readonly<Record<string, string>> = { r: "read", w: "written", e: "edited", d: "deleted", m: "moved" };

/** Files of one directory to which the same happened at the same time share a line. */
function changedLines(files: readonly FileEntry[], root: string): string[] {
  const arrivals = new Set(
    files.flatMap((file) => (file.movedTo === undefined ? [] : [`${file.movedTo} ${file.seqs.at(-1)}`])),
  );
  const groups = new Map<string, { directory: string; names: string[]; tail: string }>();
  for (const file of files) {
    // The target of a move is named by the move.
    if (!isChanged(file) || (file.did === "w" && file.times === 1 && arrivals.has(`${file.path} ${file.seqs[0]}`)))
      continue;
    const directory = file.path.slice(0, file.path.lastIndexOf("/") + 1);
    const target = file.movedTo === undefined ? "" : ` to ${below(file.movedTo, root)}`;
    const keepsName = file.movedTo?.endsWith(`/${lastStep(file.path)}`) ?? false;
    const to = keepsName ? target.slice(0, target.lastIndexOf("/") + 1) : target;
    const did = [...file.did].filter((letter) => letter !== "r").map((letter) => ACTS[letter]);
    const tail = `${did.join(", ")}${to} ${formatSeqs(file.seqs)}`;
    const key = `${directory}\n${tail}`;
    const group = groups.get(key);
    if (group === undefined) groups.set(key, { directory: below(directory, root), names: [lastStep(file.path)], tail });
    else group.names.push(lastStep(file.path));
  }
  return [...groups.values()].map(({ directory, names, tail }) =>
    names.length === 1 ? `${directory}${names[0]}: ${tail}` : `${directory}{${names.join(", ")}}: ${tail}`,
  );
}

function commandLine(command: CommandEntry, root: string): string {
  const commandText = clip(command.what.replace(/^cd [^&;\n]+(?:&&|;)\s*/, "").replaceAll(/\s+/g, " "), 160);
  const notes: string[] = [];
  if (command.exit !== null) notes.push(`exit ${command.exit}`);
  if (command.passed !== undefined) notes.push(`${command.passed} passed`);
  if (command.failed !== undefined) notes.push(`${command.failed} failed`);
  if (command.fails > 0)
    notes.push(
      command.last === "failed" || command.alike !== undefined
        ? "failed"
        : `failed ${command.fails} of ${command.times}, last run passed`,
    );
  if (command.alike !== undefined) notes.push(`and ${command.alike} more like it`);
  const lines =
    command.lines === undefined
      ? ""
      : `: ${command.lines
          .slice(0, 3)
          .map((line) => below(clip(line, 160), root))
          .join(" | ")}`;
  return `\`${below(commandText, root)}\`${notes.length === 0 ? "" : ` (${notes.join(", ")})`} ${formatSeqs(command.seqs)}${lines}`;
}

function below(text: string, root: string): string {
  return root === "" ? text : text.replaceAll(root, () => "");
}

/** The longest directory most absolute paths share; "" when there are fewer than three. */
function commonDirectory(paths: readonly string[]): string {
  const absolute = paths.filter((path) => path.startsWith("/"));
  if (absolute.length < 3) return "";
  let root = "/";
  for (;;) {
    const votes = new Map<string, number>();
    for (const path of absolute) {
      const end = path.startsWith(root) ? path.indexOf("/", root.length) : -1;
      if (end !== -1) votes.set(path.slice(0, end + 1), (votes.get(path.slice(0, end + 1)) ?? 0) + 1);
    }
    const [best] = [...votes].sort((a, b) => b[1] - a[1]);
    if (best === undefined || best[1] < absolute.length * 0.9) return root === "/" ? "" : root;
    root = best[0];
  }
}

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
type Dropped = Readonly<Record<"reads" | "commands" | "failures" | "changes" | "commits", number>>;

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

/** Message numbers as a person reads them: `[12, 40-44]`. */
export function formatSeqs(seqs: readonly number[]): string {
  if (seqs.length === 0) return "[no source]";
  const sorted = [...new Set(seqs)].sort((a, b) => a - b);
  const runs: string[] = [];
  for (let at = 0; at < sorted.length; ) {
    let end = at;
    while (sorted[end + 1] === sorted[end]! + 1) end++;
    runs.push(end === at ? `${sorted[at]}` : `${sorted[at]}-${sorted[end]}`);
    at = end + 1;
  }
  return `[${runs.join(", ")}]`;
}
