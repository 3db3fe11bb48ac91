import { readFile, stat } from "node:fs/promises";
import { setFlagsFromString } from "node:v8";
import {
  type FolderOutcome,
  type ImportOutcome,
  type ImportProgress,
  importFile,
  importFolder,
  type Problem,
} from "palimpsest/import";
import { folderDocument, importDocument } from "palimpsest/internal/documents";
import { beginsZip, isZip } from "palimpsest/internal/import";
import type { CommandRun, Context, Printing, Remote } from "../command/command.ts";
import { Failure, UsageError } from "../command/failure.ts";
import { threadPath } from "../command/server.ts";
import { busy, requireThreadId, withHome } from "../home/home.ts";
import { readStdin } from "../home/talk.ts";
import { counted, printable, throttled } from "../terminal/output.ts";

interface ImportCommandOptions {
  readonly thread?: string;
  readonly learn?: boolean;
  readonly "skip-invalid"?: boolean;
  readonly agent?: string;
}

export const run: CommandRun<ImportCommandOptions> = async ({ positionals, options }, context) => {
  const isPiped = positionals[0] === "-";
  const path = isPiped ? "standard input" : positionals[0]!;
  const { thread, agent } = options;
  if (thread === undefined) throw new UsageError("--thread is missing. Usage: palimpsest import FILE|DIR --thread T");
  requireThreadId(thread);
  const { title } = await context.located.settings();
  const isFolder = !isPiped && ((await stat(path).catch(() => null))?.isDirectory() === true || (await isZip(path)));
  const bytes = isPiped ? await readStdin(context.signal) : null;
  collectEarly();
  const outcome = await withHome(
    context,
    (deps): Promise<ImportOutcome | FolderOutcome> =>
      (isFolder ? importFolder : importFile)(deps, path, {
        bytes: bytes ?? undefined,
        threadId: thread,
        title: title.enabled ? { maxWords: title.max_words } : null,
        agentName: agent,
        onInvalid: options["skip-invalid"] ? "skip" : "refuse",
        memory: options.learn ? "learn" : "skip",
        onProgress: reporter(context),
        signal: context.signal,
      }),
  );
  if (outcome.kind === "folder") return reportFolder(path, thread, outcome, context);
  return report(path, thread, outcome, context);
};

/**
 * Nearly all that an import makes is garbage soon. The heap would still grow by hundreds of megabytes before it is searched for it:
 * how far it may grow is looked up each time it does, so it can be said now.
 */
function collectEarly(): void {
  setFlagsFromString("--heap-growing-percent=30");
  setFlagsFromString("--semi-space-growth-factor=1");
}

export const remote: Remote<ImportCommandOptions> = async ({ positionals, options }, context) => {
  const path = positionals[0]!;
  const { thread, agent } = options;
  if (thread === undefined) throw new UsageError("--thread is missing. Usage: palimpsest import FILE --thread T");
  requireThreadId(thread);
  if ((await stat(path).catch(() => null))?.isDirectory() === true)
    throw new UsageError("With --server one file is imported at a time.");
  const bytes = path === "-" ? await readStdin(context.signal) : await readFile(path);
  const query = {
    agent,
    learn: options.learn === true ? "true" : undefined,
    skipInvalid: options["skip-invalid"] === true ? "true" : undefined,
  };
  const isArchive = beginsZip(bytes);
  const response = await context.server.open(threadPath(thread, "/import"), {
    method: "POST",
    query,
    body: new Uint8Array(bytes),
    contentType: isArchive ? "application/zip" : "application/jsonl",
  });
  const document: unknown = await response.json();
  if (isArchive) return showFolder(document as FolderDocument, 0, context);
  return showImported(path, document as ReturnType<typeof importDocument>, context);
};

type FolderDocument = Pick<ReturnType<typeof folderDocument>, "thread" | "imported" | "threads" | "files">;

/** A file that wasn't imported is a note; only a folder without any that was, or was before, is a failure. */
async function reportFolder(
  path: string,
  threadId: string,
  { files }: FolderOutcome,
  context: Context,
): Promise<number> {
  const document = folderDocument(threadId, { kind: "folder", files });
  const known = files.filter(({ outcome }) => outcome.kind === "exists").length;
  if (document.imported > 0 || known > 0) return showFolder(document, known, context);
  noteProblems(document, context);
  const looked =
    files.length === 0
      ? "no .json or .jsonl file"
      : `${counted(files.length, "file")}, none of which could be imported`;
  throw new Failure("empty", `${path} holds ${looked}. Nothing was imported.`);
}

/** `known`: files that an earlier import had brought. */
async function showFolder(document: FolderDocument, known: number, context: Printing): Promise<number> {
  const { thread, imported, threads, files } = document;
  const { output } = context;
  noteProblems(document, context);
  if (context.format === "json") await output.json({ thread, imported, threads, files });
  else {
    const before = known > 0 ? `; ${known} had been imported before` : "";
    await output.line(
      `Imported ${counted(imported, "message")} into ${counted(threads.length, "thread")} from ${counted(files.length, "file")}${before}.`,
    );
  }
  return 0;
}

function noteProblems({ files }: FolderDocument, { output }: Printing): void {
  for (const { file, problem } of files) if (problem !== null) output.note(printable(`${file}: ${problem}`));
}

async function report(path: string, threadId: string, outcome: ImportOutcome, context: Context): Promise<number> {
  const { output } = context;
  switch (outcome.kind) {
    case "imported":
      return showImported(path, importDocument(threadId, outcome), context);
    case "invalid": {
      for (const problem of outcome.problems.slice(1, SHOWN)) output.note(located(path, problem));
      if (outcome.problems.length > SHOWN) output.note(`... and ${outcome.problems.length - SHOWN} more`);
      const rest = outcome.problems.length > 1 ? ` (${outcome.problems.length} problems in all)` : "";
      const next = outcome.seen === undefined ? ": repair the file, or pass --skip-invalid." : `. ${outcome.seen}`;
      throw new Failure("invalid", `${located(path, outcome.problems[0]!)}${rest}. Nothing was imported${next}`);
    }
    case "empty":
      throw new Failure(
        "empty",
        `${path} holds no message (${counted(outcome.skipped, "line")} skipped). Nothing was imported. ${outcome.seen}`,
      );
    case "bad-thread-id":
      throw new UsageError(`Not a thread id: ${outcome.problem}.`);
    case "unreadable":
      throw new Failure("unreadable", `${outcome.problem}. Nothing was imported.`);
    case "exists":
      throw new Failure(
        "exists",
        `Thread "${outcome.threadId}" exists already. Nothing was imported: choose another --thread, or "palimpsest threads delete ${outcome.threadId}".`,
      );
    case "busy":
      throw busy(outcome.threadId);
  }
}

async function showImported(
  path: string,
  document: ReturnType<typeof importDocument>,
  context: Printing,
): Promise<number> {
  const { output } = context;
  const { thread, threads, imported, skipped, dialect, format, invalid, warnings } = document;
  for (const problem of invalid) output.note(`skipped: ${located(path, problem)}`);
  for (const warning of warnings) output.note(`warning: ${located(path, warning)}`);
  if (context.format === "json") await output.json(document);
  else {
    const into =
      threads.length === 1 ? thread : `${threads.length} threads, ${threads[0]!.thread} to ${threads.at(-1)!.thread}`;
    const from = format === null ? "" : ` from a file of the kind "${format}"`;
    const messages = counted(imported, `${dialect} message`);
    await output.line(`Imported ${messages}${from} into ${into}; ${counted(skipped, "line")} skipped.`);
  }
  return 0;
}

const SHOWN = 20;

function located(path: string, { place, message }: Problem): string {
  return `${path}${place === "" ? "" : `, ${place}`}: ${message}`;
}

/** Writing a large thread is one piece of work, so its beginning is said. */
function reporter({ output }: Context): (progress: ImportProgress) => void {
  const told = throttled(output, ({ phase, done }: ImportProgress) => `${phase} ${Math.round(done * 100)} %`);
  return (progress) => {
    if (progress.phase === "writing" && progress.done === 0 && process.stderr.isTTY) output.progress("writing ...");
    else if (progress.done < 1) told(progress);
  };
}
