/**
 * Imports a file into new threads: reads and checks all of it first, then writes each thread in one transaction. A file
 * with one bad line writes nothing, unless told to skip. An import that was killed can be run again: threads it finished
 * are recognized by their receipt, and those it began are gone on with. The file is never held whole.
 */
import { basename } from "node:path";
import { checkThreadId } from "@palimpsest/core/internal/log";
import type { Dialect } from "@palimpsest/core/internal/message";
import { threadState } from "../thread/thread-view.ts";
import type { TitleLimits } from "../thread/title.ts";
import type { ThreadDeps } from "../thread/writer.ts";
import { type ByteSource, bytesSource, fileSource } from "./byte-source.ts";
import { type Checked, type CheckedThread, checkFile } from "./check-file.ts";
import type { Problem } from "./conversation.ts";
import { progressOf } from "./import-progress.ts";
import { type Receipt, type ThreadJob, writeThreads } from "./write-threads.ts";

export interface ImportOptions {
  readonly threadId: string;
  /** The file's content, where it is known already: the path is then only its name. */
  readonly bytes?: Buffer | undefined;
  readonly agentName?: string | undefined;
  readonly onInvalid: "refuse" | "skip";
  /**
   * `learn`: the conversations are the user's own, and memory may learn from them; else nothing is learned. `off`: nor from
   * what is said in them later, and they are no evidence in other threads.
   */
  readonly memory?: "learn" | "skip" | "off";
  /** How threads are named by their first words; null: not at all. */
  readonly title?: TitleLimits | null;
  readonly onProgress?: (progress: ImportProgress) => void;
  /** Most records of one transaction, for a server that does other work as well; unless told, a conversation is written in one. */
  readonly recordsAtOnce?: number | undefined;
  /** While the file is read, with its messages so far, 0 first. It may throw: then nothing of the file is written. */
  readonly onMessages?: ((messages: number) => void) | undefined;
  readonly signal?: AbortSignal;
}

export interface ImportProgress {
  readonly phase: "reading" | "writing";
  /** Of the file's bytes, or of the threads to write: from 0 to 1. */
  readonly done: number;
}

export type ImportOutcome =
  | {
      readonly kind: "imported";
      readonly dialect: Dialect;
      /** Whose file it is, where that is more than a list of messages: `ChatGPT export`. */
      readonly format: string | null;
      /** A fork's messages are its own. */
      readonly threads: readonly { readonly thread: string; readonly messages: number }[];
      /** Messages in all. */
      readonly imported: number;
      /** Lines without a message, and invalid ones. */
      readonly skipped: number;
      readonly invalid: readonly Problem[];
      readonly warnings: readonly Problem[];
    }
  /** `seen`: what could be read instead; only if nothing in the file is JSON. */
  | { readonly kind: "invalid"; readonly problems: readonly Problem[]; readonly seen?: string }
  /** `seen`: what the file has, and what could be read. */
  | { readonly kind: "empty"; readonly skipped: number; readonly seen: string }
  | { readonly kind: "bad-thread-id"; readonly problem: string }
  | { readonly kind: "unreadable"; readonly problem: string }
  | { readonly kind: "exists" | "busy"; readonly threadId: string };

export async function importFile(deps: ThreadDeps, path: string, options: ImportOptions): Promise<ImportOutcome> {
  const { bytes } = options;
  if (bytes?.length === 0) return { kind: "unreadable", problem: `${path} is empty` };
  const source = bytes === undefined ? await fileSource(path) : bytesSource(path, bytes);
  if (typeof source === "string") return { kind: "unreadable", problem: source };
  return importSource(deps, source, options);
}

/** Characters of messages that are in memory at a time. */
const HELD = 4 * 1024 * 1024;

export async function importSource(
  deps: ThreadDeps,
  source: ByteSource,
  options: ImportOptions,
  held = HELD,
): Promise<ImportOutcome> {
  const id = checkThreadId(options.threadId);
  if (id.kind === "invalid") return { kind: "bad-thread-id", problem: id.problem };
  const progress = progressOf(source.size, options);
  const checked = await checkFile(source, held, { onBytes: progress.read, onMessages: options.onMessages });
  const { invalid, skipped, seen } = checked;
  if (invalid.length > 0 && options.onInvalid === "refuse")
    return { kind: "invalid", problems: invalid, ...(!checked.holdsJson && { seen }) };
  if (checked.threads.length === 0) return { kind: "empty", skipped, seen };
  const jobs = await jobsFor(deps, checked, { ...options, file: basename(source.name), pause: progress.pause });
  if ("kind" in jobs) return jobs;
  const missing = jobs.filter(({ before }) => before.kind !== "done").length;
  await progress.writes(missing);
  const written = await writeThreads(deps, jobs, checked.pieces(progress.readAgain), {
    dialect: checked.dialect,
    title: options.title === undefined ? {} : options.title,
    agentName: options.agentName,
    memory: options.memory === "off" ? "off" : "on",
    waiting: held,
    recordsAtOnce: options.recordsAtOnce ?? Number.POSITIVE_INFINITY,
    pause: progress.pause,
    onThread: progress.wrote,
  });
  return written.kind === "written" ? importedOf(checked, jobs) : written;
}

function importedOf(checked: Checked, jobs: readonly ThreadJob[]): ImportOutcome {
  const { dialect, format, skipped, invalid, warnings } = checked;
  const threads = jobs.map(({ threadId }, index) => ({
    thread: threadId,
    messages: checked.threads[index]!.messages,
  }));
  const imported = threads.reduce((sum, { messages }) => sum + messages, 0);
  return {
    kind: "imported",
    dialect,
    format,
    threads,
    imported,
    skipped,
    invalid,
    warnings,
  };
}

/** What each thread is called, and how far an earlier run has come with it; or why nothing can be written. */
async function jobsFor(
  deps: ThreadDeps,
  { threads, digest }: Checked,
  { threadId, memory, file, pause }: ImportOptions & { readonly file: string; readonly pause: () => Promise<void> },
): Promise<readonly ThreadJob[] | ImportOutcome> {
  const names = namesOf(threads, threadId);
  const jobs: ThreadJob[] = [];
  for (const [index, { opened }] of threads.entries()) {
    const name = names[index]!;
    const check = checkThreadId(name);
    if (check.kind === "invalid") return { kind: "bad-thread-id", problem: check.problem };
    const learn = memory === "learn" ? { memory: "learn" } : {};
    const numbered = { part: index + 1, of: threads.length };
    const receipt = { type: "imported" as const, file, digest, ...numbered, ...learn };
    await pause();
    const before = await stateOf(deps, name, receipt);
    if (before === "taken") return { kind: "exists", threadId: name };
    jobs.push({ opened, threadId: name, receipt, before });
  }
  return jobs.every(({ before }) => before.kind === "done") ? { kind: "exists", threadId: jobs[0]!.threadId } : jobs;
}

/** One conversation has the name itself, several are numbered; forks and sub-agents follow the one they belong to. */
function namesOf(threads: readonly CheckedThread[], threadId: string): readonly string[] {
  const isBeside = ({ opened }: CheckedThread) => opened.fork !== null || opened.childOf !== null;
  const several = threads.filter((thread) => !isBeside(thread)).length > 1;
  const names = new Map<string, string>();
  const counts = new Map<string, number>();
  let mains = 0;
  return threads.map((thread) => {
    const { key, fork, childOf } = thread.opened;
    const main = names.get(fork?.of ?? childOf ?? "");
    if (main === undefined || !isBeside(thread)) {
      mains += 1;
      const name = several ? `${threadId}-${mains}` : threadId;
      names.set(key, name);
      return name;
    }
    const word = `${main}-${fork === null ? "agent" : "fork"}`;
    const count = (counts.get(word) ?? 0) + 1;
    counts.set(word, count);
    // A fork of a fork is numbered with the others.
    names.set(key, fork === null ? `${word}-${count}` : main);
    return `${word}-${count}`;
  });
}

async function stateOf(
  { store }: ThreadDeps,
  threadId: string,
  receipt: Receipt,
): Promise<ThreadJob["before"] | "taken"> {
  const head = await store.head(threadId);
  if (head === undefined || head.version === 0) return { kind: "free" };
  const begun = threadState(head).importing;
  const isBegun = begun?.digest === receipt.digest && begun.part === receipt.part;
  let isDone = false;
  for await (const { record } of store.records(threadId, { kinds: ["event"] })) {
    if (record.kind !== "event") continue;
    const { type, digest, part } = record.event;
    isDone ||= type === "imported" && digest === receipt.digest && part === receipt.part;
  }
  if (!isDone && !isBegun) return "taken";
  const pieces = isDone ? Number.MAX_SAFE_INTEGER : (begun?.pieces ?? 0);
  const from = ((await store.header(threadId))?.forkedAt ?? 0) + 1;
  const seqs: number[] = [];
  for await (const { chained } of store.records(threadId, { kinds: ["message"], bodies: "none" }))
    if (chained.seq >= from) seqs.push(chained.seq);
  return { kind: isDone ? "done" : "begun", stored: { version: head.version, seqs, pieces } };
}
