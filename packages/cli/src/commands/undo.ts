import { takeBackInHome } from "palimpsest/internal/assistant";
import { undoneDocument } from "palimpsest/internal/documents";
import { redo, type Undone, undo } from "palimpsest/threads";
import { wholeNumber } from "../command/arguments.ts";
import type { Context, Printing, Remote, RemoteContext, Run } from "../command/command.ts";
import { Failure, UsageError } from "../command/failure.ts";
import { threadPath } from "../command/server.ts";
import { busy, missingThread, withThread } from "../home/home.ts";

export const run: Run<{ readonly redo?: boolean }> = async ({ positionals, options }, context) => {
  const [threadId, seq] = positionals as [string, string?];
  const target = seq === undefined ? undefined : wholeNumber(seq, "SEQ", 1);
  if (!options.redo) return takeBack(context, threadId, (writer) => undo(writer, target));
  if (target !== undefined) throw new UsageError("--redo takes back the newest undo and needs no SEQ.");
  return takeBack(context, threadId, redo);
};

export const remote: Remote<{ readonly redo?: boolean }> = async ({ positionals, options }, context) => {
  const [threadId, seq] = positionals as [string, string?];
  if (options.redo === true) return remoteRedo(threadId, context);
  const body = seq === undefined ? {} : { seq: wholeNumber(seq, "SEQ", 1) };
  return show(await context.server.send("POST", threadPath(threadId, "/undo"), body), context);
};

export async function remoteRedo(threadId: string, context: RemoteContext): Promise<number> {
  return show(await context.server.send("POST", threadPath(threadId, "/redo")), context);
}

async function show(document: UndoneDocument, { format, output }: Printing): Promise<number> {
  const { thread, undone, redone } = document;
  if (format === "json") await output.json(document);
  else if (undone !== undefined)
    await output.line(`Took back record ${undone} of ${thread}. "palimpsest redo ${thread}" brings it back.`);
  else await output.line(`Took back the undo (record ${redone}) of ${thread}.`);
  return 0;
}

interface UndoneDocument {
  readonly thread: string;
  readonly undone?: number;
  readonly redone?: number;
  readonly seq: number;
}

/** Undo and redo: the record, the part files, the report. */
export async function takeBack(context: Context, threadId: string, act: typeof redo): Promise<number> {
  const result = await withThread(context, threadId, (home) =>
    takeBackInHome(home, threadId, act, (error) =>
      context.output.note(`part files: ${String(error)}; "palimpsest doctor --rebuild" makes them.`),
    ),
  );
  if (result.kind === "busy") throw busy(threadId, result.expiresAt);
  if (result.kind === "missing") throw missingThread(context, threadId);
  return report(context, threadId, result.value);
}

async function report(context: Context, threadId: string, undone: Undone): Promise<number> {
  switch (undone.kind) {
    case "undone":
    case "redone":
      return show(undoneDocument(threadId, undone), context);
    case "refused":
      throw new Failure(undone.reason, refusal(threadId, undone));
    case "missing":
      throw missingThread(context, threadId);
    case "lease-lost":
    case "conflict":
      throw busy(threadId);
  }
}

function refusal(threadId: string, refused: Extract<Undone, { kind: "refused" }>): string {
  switch (refused.reason) {
    case "nothing-to-undo":
      return `Nothing to undo: no compaction and no prune of "${threadId}" stands.`;
    case "nothing-to-redo":
      return `Nothing to redo: no undo of "${threadId}" stands.`;
    case "not-undoable":
      return `Record ${refused.target} of "${threadId}" can't be taken back: only compactions, prunes and undos can.`;
    case "already-undone":
      return `Record ${refused.target} of "${threadId}" is taken back already.`;
    case "folded-by":
      return `Record ${refused.target} of "${threadId}" is folded into compaction ${refused.by}: take that back first.`;
  }
}
