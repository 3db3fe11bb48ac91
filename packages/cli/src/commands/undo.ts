import { takeBackInHome } from "palimpsest/internal/assistant";
import { undoneDocument } from "palimpsest/internal/documents";
import { redo, type Undone, undo } from "palimpsest/threads";
import { wholeNumber } from "../command/arguments.ts";
import type { Context, Run } from "../command/command.ts";
import { Failure, UsageError } from "../command/failure.ts";
import { busy, missingThread, withThread } from "../home/home.ts";

export const run: Run<{ readonly redo?: boolean }> = async ({ positionals, options }, context) => {
  const [thread, seq] = positionals as [string, string?];
  const target = seq === undefined ? undefined : wholeNumber(seq, "SEQ", 1);
  if (!options.redo) return takeBack(context, thread, (writer) => undo(writer, target));
  if (target !== undefined) throw new UsageError("--redo takes back the newest undo and needs no SEQ.");
  return takeBack(context, thread, redo);
};

/** Undo and redo: the record, the part files, the report. */
export async function takeBack(context: Context, thread: string, act: typeof redo): Promise<number> {
  const result = await withThread(context, thread, (home) =>
    takeBackInHome(home, thread, act, (error) =>
      context.output.note(`part files: ${String(error)}; "palimpsest doctor --rebuild" makes them.`),
    ),
  );
  if (result.kind === "busy") throw busy(thread, result.expiresAt);
  if (result.kind === "missing") throw missingThread(context, thread);
  return report(context, thread, result.value);
}

async function report(context: Context, thread: string, undone: Undone): Promise<number> {
  switch (undone.kind) {
    case "undone":
      if (context.format === "json") await context.output.json(undoneDocument(thread, undone));
      else
        await context.output.line(
          `Took back record ${undone.of} of ${thread}. "palimpsest redo ${thread}" brings it back.`,
        );
      return 0;
    case "redone":
      if (context.format === "json") await context.output.json(undoneDocument(thread, undone));
      else await context.output.line(`Took back the undo (record ${undone.of}) of ${thread}.`);
      return 0;
    case "refused":
      throw new Failure(undone.reason, refusal(thread, undone));
    case "missing":
      throw missingThread(context, thread);
    case "lease-lost":
    case "conflict":
      throw busy(thread);
  }
}

function refusal(thread: string, refused: Extract<Undone, { kind: "refused" }>): string {
  switch (refused.reason) {
    case "nothing-to-undo":
      return `Nothing to undo: no compaction and no prune of "${thread}" stands.`;
    case "nothing-to-redo":
      return `Nothing to redo: no undo of "${thread}" stands.`;
    case "not-undoable":
      return `Record ${refused.target} of "${thread}" can't be taken back: only compactions, prunes and undos can.`;
    case "already-undone":
      return `Record ${refused.target} of "${thread}" is taken back already.`;
    case "folded-by":
      return `Record ${refused.target} of "${thread}" is folded into compaction ${refused.by}: take that back first.`;
  }
}
