/**
 * Imports a file into new threads: reads and checks all of it first, then writes each thread in one transaction. A file
 * with one bad line writes nothing, unless told to skip. An import that was killed can be run again: threads it finished
 * are recognized by their receipt, and the others aren't there.
 */
import { createHash } from "node:crypto";
import { open } from "node:fs/promises";
import { basename } from "node:path";
import { definitionOf } from "@palimpsest/core/internal/message";
import { checkThreadId } from "@palimpsest/core/log";
import { type Dialect, detectDialect } from "@palimpsest/core/message";
import { withWriter } from "../threads/acts.ts";
import type { TitleLimits } from "../threads/title.ts";
import { commit, createThread, type ThreadDeps } from "../threads/writer.ts";
import type { ImportedConversation, ImportedMessage, Problem } from "./conversation.ts";
import { type Reading, readConversations } from "./read-conversations.ts";
import { recordsOf } from "./records.ts";
import { messageProblem, nestingProblem, strayResults } from "./validate.ts";

export interface ImportOptions {
  readonly threadId: string;
  /** The file's content, where it is known already: the path is then only its name. */
  readonly bytes?: Buffer;
  readonly agentName?: string;
  readonly onInvalid: "refuse" | "skip";
  /** `learn`: the conversations are the user's own, and memory may learn from them; else nothing is learned. */
  readonly memory?: "learn" | "skip";
  /** How threads are named by their first words; null: not at all. */
  readonly title?: TitleLimits | null;
  readonly onProgress?: (progress: ImportProgress) => void;
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
      readonly threads: readonly { readonly thread: string; readonly messages: number }[];
      /** Messages in all. */
      readonly imported: number;
      /** Lines without a message, and invalid ones. */
      readonly skipped: number;
      readonly invalid: readonly Problem[];
      readonly warnings: readonly Problem[];
    }
  | { readonly kind: "invalid"; readonly problems: readonly Problem[] }
  /** `seen`: what the file has, and what could be read. */
  | { readonly kind: "empty"; readonly skipped: number; readonly seen: string }
  | { readonly kind: "bad-thread-id"; readonly problem: string }
  | { readonly kind: "unreadable"; readonly problem: string }
  | { readonly kind: "exists" | "busy"; readonly threadId: string };

export async function importFile(deps: ThreadDeps, path: string, options: ImportOptions): Promise<ImportOutcome> {
  const id = checkThreadId(options.threadId);
  if (id.kind === "invalid") return { kind: "bad-thread-id", problem: id.problem };
  const file = options.bytes?.length === 0 ? `${path} is empty` : (options.bytes ?? (await readWhole(path)));
  if (typeof file === "string") return { kind: "unreadable", problem: file };
  const reading = await readConversations(file, {
    onProgress: async (bytes) => {
      options.onProgress?.({ phase: "reading", done: bytes / file.length });
      await breathe(options.signal);
    },
  });
  const checked = check(reading);
  if (checked.invalid.length > 0 && options.onInvalid === "refuse")
    return { kind: "invalid", problems: checked.invalid };
  if (checked.conversations.length === 0) {
    const { skipped, seen } = checked;
    return { kind: "empty", skipped, seen };
  }
  return writeAll(deps, checked, { path, digest: createHash("sha256").update(file).digest("hex"), ...options });
}

interface Checked {
  readonly dialect: Dialect;
  readonly conversations: readonly ImportedConversation[];
  readonly skipped: number;
  readonly invalid: readonly Problem[];
  readonly warnings: readonly Problem[];
  readonly format: string | null;
  readonly seen: string;
}

function check(reading: Reading): Checked {
  const { dialect } = detectDialect(
    reading.conversations.flatMap(({ messages }) => messages.map(({ value }) => value)),
  );
  const invalid = [...reading.problems];
  const conversations = reading.conversations.map((conversation) => {
    const valid = conversation.messages.filter(({ value, body, place }) => {
      const problem = nestingProblem(body) ?? messageProblem(value, dialect);
      if (problem !== null) invalid.push({ place, message: problem });
      return problem === null;
    });
    return { ...conversation, messages: gathered(valid, dialect) };
  });
  const full = conversations.filter(({ messages }) => messages.length > 0);
  return {
    dialect,
    conversations: full,
    skipped:
      reading.skipped + invalid.length + reading.conversations.filter(({ messages }) => messages.length === 0).length,
    invalid,
    warnings: [...reading.notes, ...full.flatMap(({ messages }) => strayResults(messages, dialect))],
    format: reading.format,
    seen: reading.seen,
  };
}

/** Messages that the dialect's own list writes apart, together again; each keeps its text. */
function gathered(messages: readonly ImportedMessage[], dialect: Dialect): readonly ImportedMessage[] {
  const { together } = definitionOf(dialect);
  if (together === undefined) return messages;
  const turns: ImportedMessage[][] = [];
  for (const message of messages) {
    const last = turns.at(-1);
    if (last !== undefined && together(last[0]!.value as never, message.value as never)) last.push(message);
    else turns.push([message]);
  }
  return turns.map((turn) => {
    const [first, ...rest] = turn;
    if (rest.length === 0) return first!;
    const reported = turn.findLast(({ usage }) => usage !== null) ?? first!;
    return {
      ...first!,
      body: `[${turn.map(({ body }) => body).join(",")}]`,
      value: turn.map(({ value }) => value) as never,
      model: reported.model,
      usage: reported.usage,
    };
  });
}

async function writeAll(
  deps: ThreadDeps,
  checked: Checked,
  options: ImportOptions & { readonly path: string; readonly digest: string },
): Promise<ImportOutcome> {
  const { conversations, dialect, skipped, invalid, warnings } = checked;
  const jobs = conversations.map((conversation, index) => ({
    conversation,
    thread: conversations.length === 1 ? options.threadId : `${options.threadId}-${index + 1}`,
    receipt: {
      type: "imported" as const,
      file: basename(options.path),
      digest: options.digest,
      part: index + 1,
      of: conversations.length,
      ...(options.memory === "learn" && { memory: "learn" }),
    },
  }));
  const longest = checkThreadId(jobs.at(-1)!.thread);
  if (longest.kind === "invalid") return { kind: "bad-thread-id", problem: longest.problem };
  const missing: typeof jobs = [];
  for (const job of jobs) {
    const state = await stateOf(deps, job.thread, job.receipt);
    if (state === "taken") return { kind: "exists", threadId: job.thread };
    if (state === "free") missing.push(job);
  }
  if (missing.length === 0) return { kind: "exists", threadId: jobs[0]!.thread };
  options.onProgress?.({ phase: "writing", done: 0 });
  await breathe(options.signal);
  for (const [index, job] of missing.entries()) {
    const { title = {} } = options;
    const inputs = recordsOf(job.conversation, { dialect, ids: deps.ids, title, receipt: job.receipt });
    const written = await writeThread(deps, job.thread, inputs, options);
    if (written !== "written") return { kind: written, threadId: job.thread };
    options.onProgress?.({ phase: "writing", done: (index + 1) / missing.length });
    await breathe(options.signal);
  }
  const threads = jobs.map(({ thread, conversation }) => ({
    thread,
    messages: conversation.messages.length,
  }));
  const imported = threads.reduce((sum, { messages }) => sum + messages, 0);
  return {
    kind: "imported",
    dialect,
    format: checked.format,
    threads,
    imported,
    skipped,
    invalid,
    warnings,
  };
}

/** `done`: an earlier run of this very import has finished the thread. */
async function stateOf(
  { store }: ThreadDeps,
  threadId: string,
  receipt: { readonly digest: string; readonly part: number },
): Promise<"free" | "done" | "taken"> {
  const head = await store.head(threadId);
  if (head === undefined || head.version === 0) return "free";
  for await (const { record } of store.records(threadId, { kinds: ["event"] })) {
    if (record.kind !== "event") continue;
    const { type, digest, part } = record.event;
    if (type === "imported" && digest === receipt.digest && part === receipt.part) return "done";
  }
  return "taken";
}

async function writeThread(
  deps: ThreadDeps,
  threadId: string,
  inputs: Parameters<typeof commit>[1],
  { agentName, digest }: ImportOptions & { readonly digest: string },
): Promise<"written" | "exists" | "busy"> {
  const header = { id: threadId, ...(agentName !== undefined && { agentName }) };
  if ((await createThread(deps, header, inputs)) === "created") return "written";
  // It may be one that nothing was ever said in.
  const result = await withWriter(
    deps,
    threadId,
    async (writer) => {
      const head = await deps.store.head(threadId);
      return head?.version === 0 ? commit(writer, inputs) : null;
    },
    // The same owner when run again: a killed import doesn't keep itself out.
    { owner: `import-${digest}` },
  );
  if (result.kind !== "done") return "busy";
  return result.value?.kind === "committed" ? "written" : "exists";
}

/** The bytes, or what is wrong with the path. */
async function readWhole(path: string): Promise<Buffer | string> {
  try {
    const file = await open(path);
    try {
      if ((await file.stat()).isDirectory()) return `${path} is a directory: importFolder reads it`;
      const bytes = await file.readFile();
      return bytes.length === 0 ? `${path} is empty` : bytes;
    } finally {
      await file.close();
    }
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ENOTDIR") return `${path} does not exist`;
    if (code === "EACCES" || code === "EPERM") return `${path} may not be read: check its permissions`;
    if (code === "ERR_FS_FILE_TOO_LARGE") return `${path} is over 2 GiB: split it`;
    return `${path} can't be read: ${message}`;
  }
}

/** Lets signals and timers in between two blocks of work. */
async function breathe(signal: AbortSignal | undefined): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve));
  signal?.throwIfAborted();
}
