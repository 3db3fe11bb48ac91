/**
 * Builds the artifact ledger from the tool calls themselves: no model, nothing guessed. Incremental: a later block
 * extends the ledger of an earlier one, and the result is the same as if both had been read at once (a call and its
 * results are never parted by a compaction).
 */
import type { CallPart, ResultPart, Shape } from "../message/shape.ts";
import { clip, exitCode, failingLines } from "../text/names.ts";
import { type CommandEntry, type CommitEntry, type FileEntry, isChanged, type Ledger } from "./ledger-lines.ts";
import type { FileAct } from "./shell.ts";
import { commandEffects, readCall } from "./tool-calls.ts";

/** A message and its place in the log. */
export interface NumberedMessage<M> {
  readonly seq: number;
  readonly message: M;
}

/** The newest so many stay; what changed something or failed stays longest. */
export const KEPT = { reads: 200, commands: 100, failures: 50, changes: 300, commits: 100 } as const;
/** Summaries show about half of this, of a command and of a line. */
const MAX_COMMAND_CHARS = 300;
const MAX_LINE_CHARS = 200;
const MAX_FAILING_LINES = 4;

export function extendLedger<M>(ledger: Ledger, entries: readonly NumberedMessage<M>[], shape: Shape<M>): Ledger {
  const builder = openBuilder(ledger);
  // A call id may be used again after it was answered, so a result belongs to the newest open call of its id.
  const open = new Map<string, { call: CallPart; seq: number }>();
  for (const { seq, message } of entries) {
    for (const part of shape.parts(message)) {
      if (part.kind === "call") {
        const unanswered = open.get(part.id);
        if (unanswered !== undefined) record(builder, unanswered.call, unanswered.seq, null, unanswered.seq);
        open.set(part.id, { call: part, seq });
      } else if (part.kind === "result") {
        const openCall = open.get(part.id);
        if (openCall === undefined) continue;
        open.delete(part.id);
        record(builder, openCall.call, openCall.seq, part, seq);
      }
    }
  }
  for (const { call, seq } of open.values()) record(builder, call, seq, null, seq);
  return buildLedger(builder);
}

interface LedgerBuilder {
  readonly files: Map<string, FileEntry>;
  readonly commands: Map<string, CommandEntry>;
  readonly commits: CommitEntry[];
  dropped: Ledger["dropped"];
}

/** Merged commands have their own keys: running the same text again adds a new entry. */
function keyOf({ what, alike }: CommandEntry): string {
  return alike === undefined ? what : `alike ${what}`;
}

function openBuilder(ledger: Ledger): LedgerBuilder {
  return {
    files: new Map(ledger.files.map((file) => [file.path, file])),
    commands: new Map(ledger.commands.map((command) => [keyOf(command), command])),
    commits: [...ledger.commits],
    dropped: ledger.dropped,
  };
}

/** Maps keep the order of last use, so the oldest entries are the first ones. */
function buildLedger(builder: LedgerBuilder): Ledger {
  const files = [...builder.files.values()];
  const commands = mergeFailures([...builder.commands.values()], KEPT.failures);
  const gone = {
    reads: oldest(
      files.filter((file) => !isChanged(file)),
      KEPT.reads,
    ),
    changes: oldest(files.filter(isChanged), KEPT.changes),
    commands: oldest(
      commands.filter(({ fails }) => fails === 0),
      KEPT.commands,
    ),
    // Those that stand for many are as many again.
    failures: oldest(
      commands.filter(({ fails }) => fails > 0),
      2 * KEPT.failures,
    ),
    commits: oldest(builder.commits, KEPT.commits),
  };
  const all = new Set<FileEntry | CommandEntry | CommitEntry>(Object.values(gone).flat());
  const count = (what: keyof typeof gone): number =>
    gone[what].reduce((sum, entry) => sum + 1 + ("alike" in entry ? (entry.alike ?? 0) : 0), builder.dropped[what]);
  return {
    files: files.filter((file) => !all.has(file)),
    commands: commands.filter((command) => !all.has(command)),
    commits: builder.commits.filter((commit) => !all.has(commit)),
    dropped: {
      reads: count("reads"),
      commands: count("commands"),
      failures: count("failures"),
      changes: count("changes"),
      commits: count("commits"),
    },
  };
}

function oldest<T>(entries: readonly T[], count: number): readonly T[] {
  return entries.slice(0, Math.max(0, entries.length - count));
}

function record(
  builder: LedgerBuilder,
  call: CallPart,
  seq: number,
  result: ResultPart | null,
  answered: number,
): void {
  const meaning = readCall(call);
  if (meaning.kind === "shell") {
    recordCommand(builder, meaning.command, result, seq, answered);
    return;
  }
  const failed = result !== null && hasFailed(result);
  if (failed) {
    const paths = meaning.kind === "files" ? meaning.acts.map((act) => act.path).join(" ") : "";
    noteCommand(
      builder,
      { what: `${call.name} ${paths === "" ? clip(call.input, 200) : paths}`, kind: "call", seqs: [seq, answered] },
      result,
    );
  } else if (meaning.kind === "files") {
    for (const act of meaning.acts) recordFile(builder, act, seq);
  }
}

function recordCommand(
  builder: LedgerBuilder,
  command: string,
  result: ResultPart | null,
  seq: number,
  answered: number,
): void {
  const effects = commandEffects(command);
  for (const act of effects.files) recordFile(builder, act, seq);
  const failed = result !== null && (result.isError || (exitCode(result.text) ?? 0) !== 0);
  for (const message of failed ? [] : effects.commits) {
    const hash = /^\[[^\]\n]*?\b([0-9a-f]{7,40})\]/m.exec(result?.text.slice(0, 4000) ?? "")?.[1] ?? null;
    builder.commits.push({ message: clip(message, 300), hash, seq });
  }
  noteCommand(builder, { what: command, kind: effects.isTest ? "test" : "command", seqs: [seq, answered] }, result);
}

function noteCommand(
  builder: LedgerBuilder,
  run: { what: string; kind: CommandEntry["kind"]; seqs: [number, number] },
  result: ResultPart | null,
): void {
  const what = clip(run.what.trim(), MAX_COMMAND_CHARS);
  const text = result?.text ?? "";
  const counts = run.kind === "test" ? testCounts(text) : {};
  const exit = result === null ? null : exitCode(text);
  const failed =
    result !== null && (result.isError || (exit ?? 0) !== 0 || (counts.failed ?? 0) > 0 || run.kind === "call");
  // A pipe hides the exit code (`npm test | head`), so without one the output itself is asked.
  const silent = result !== null && exit === null && !failed && counts.passed === undefined;
  const suspect = silent && (run.kind === "test" || endsInFailure(text));
  const lines = failed || suspect ? failingLines(text, MAX_FAILING_LINES) : [];
  const bad = failed || lines.length > 0;
  if (bad && lines.length === 0) lines.push(...lastLines(text, 2));
  const old = builder.commands.get(what);
  builder.commands.delete(what);
  builder.commands.set(what, {
    what,
    kind: run.kind,
    times: (old?.times ?? 0) + 1,
    fails: (old?.fails ?? 0) + (bad ? 1 : 0),
    exit,
    last: result === null ? "unknown" : bad ? "failed" : "passed",
    seqs: span(old?.seqs, run.seqs),
    ...(bad
      ? { lines: lines.map((line) => clip(line, MAX_LINE_CHARS)) }
      : old?.lines === undefined
        ? {}
        : { lines: old.lines }),
    ...counts,
  });
}

const DID = { read: "r", write: "w", edit: "e", delete: "d", move: "m" } as const;

function recordFile(builder: LedgerBuilder, act: FileAct, seq: number): void {
  const old = builder.files.get(act.path);
  const letter = DID[act.act];
  builder.files.delete(act.path);
  builder.files.set(act.path, {
    path: act.path,
    // The order of acts says how the file stands: "wd" was written, then deleted; "dw" is there again.
    did: `${(old?.did ?? "").replaceAll(letter, "")}${letter}`,
    times: (old?.times ?? 0) + 1,
    seqs: span(old?.seqs, [seq, seq]),
    ...(act.act === "move" ? { movedTo: act.to } : {}),
  });
  if (act.act === "move") recordFile(builder, { act: "write", path: act.to }, seq);
}

function span(old: readonly number[] | undefined, now: readonly [number, number]): number[] {
  const first = Math.min(old?.[0] ?? now[0], now[0]);
  const last = Math.max(old?.at(-1) ?? now[1], now[1]);
  return first === last ? [first] : [first, last];
}

/** Other tools say in words that they failed: briefly, and at the very start. A file that was read may say anything. */
function hasFailed(result: ResultPart): boolean {
  const complains =
    /^\s*(?:<[a-z_]+>\s*)?(?:error\b|failed\b|could not\b|cannot\b|no such file|ENOENT|file not found)/i;
  return result.isError || (result.text.length < 2000 && complains.test(result.text));
}

/** A shell's or a program's own complaint among the last lines; matches inside printed source code don't count. */
function endsInFailure(text: string): boolean {
  return lastLines(text, 3).some((line) =>
    /^(?:fatal: |error: |Error: |npm (?:ERR!|error) |(?:\S*\/)?(?:ba|z|da)?sh: )|: command not found$|: No such file or directory$/.test(
      line,
    ),
  );
}

function testCounts(text: string): { passed?: number; failed?: number } {
  const tail = text.length > 8000 ? text.slice(-8000) : text;
  const number = (patterns: readonly RegExp[]) => {
    for (const pattern of patterns) {
      const last = [...tail.matchAll(pattern)].at(-1);
      if (last !== undefined) return Number(last[1]);
    }
    return undefined;
  };
  const passed = number([
    /^(?:#|ℹ) pass (\d+)/gm,
    /Tests:?.{0,200}?(\d{1,9}) passed/g,
    /(?<!\d)(\d+) (?:passed|passing)\b/g,
  ]);
  const failed = number([
    /^(?:#|ℹ) fail (\d+)/gm,
    /Tests:?.{0,200}?(\d{1,9}) failed/g,
    /(?<!\d)(\d+) (?:failed|failing)\b/g,
  ]);
  return { ...(passed === undefined ? {} : { passed }), ...(failed === undefined ? {} : { failed }) };
}

function lastLines(text: string, count: number): string[] {
  const tail = text.length > 2000 ? text.slice(-2000) : text;
  const lines = tail.split("\n").map((line) => line.trim());
  return lines
    .filter((line) => line !== "")
    .slice(-count)
    .map((line) => clip(line, 300));
}

/** In their order, in which entries that stand for many come first. */
function mergeFailures(commands: readonly CommandEntry[], limit: number): readonly CommandEntry[] {
  const failing = commands.filter(({ fails, alike }) => fails > 0 && alike === undefined);
  if (failing.length <= limit) return commands;
  const older = new Set(failing.slice(0, failing.length - limit));
  const groups = new Map<string, CommandEntry>();
  for (const command of commands) {
    if (command.alike === undefined && !older.has(command)) continue;
    const key = likeness(command);
    const group = groups.get(key);
    groups.delete(key);
    groups.set(key, group === undefined ? command : joined(group, command));
  }
  return [...groups.values(), ...commands.filter((command) => command.alike === undefined && !older.has(command))];
}

/** The newer entry, with the counts of both. */
function joined(older: CommandEntry, newer: CommandEntry): CommandEntry {
  return {
    ...newer,
    times: older.times + newer.times,
    fails: older.fails + newer.fails,
    seqs: [Math.min(older.seqs[0]!, newer.seqs[0]!), Math.max(older.seqs.at(-1)!, newer.seqs.at(-1)!)],
    alike: (older.alike ?? 0) + (newer.alike ?? 0) + 1,
  };
}

function likeness({ kind, what, lines }: CommandEntry): string {
  const program = what.replace(/^cd [^&;\n]+(?:&&|;)\s*/, "").split(/\s/, 1)[0];
  const words = (lines?.[0] ?? "").replaceAll(/"[^"]*"|'[^']*'|`[^`]*`/g, "#").split(/\s+/);
  return [kind, program, ...words.map((word) => (/\d/.test(word) ? "#" : word))].join(" ");
}
