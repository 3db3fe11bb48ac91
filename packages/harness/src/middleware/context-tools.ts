/**
 * Tools by which the model keeps its own context: notes that outlive a window, a fresh window, how much room is left, and
 * checkpoints whose finished stretch is folded into a report. What they write is in the log, where people see and undo it.
 */

import { describeTool } from "@palimpsest/core/internal/message";
import { tool } from "ai";
import type { Middleware, Run } from "../agent/run.ts";
import {
  foldSince,
  freshWindows,
  keepNotes,
  ROLLOVER,
  remaining,
  setCheckpoint,
  TOOL_SPECS,
  type ToolDecision,
  type ToolPlace,
} from "../thread/thread-tools.ts";

const FRESH = { cause: "manual", ...ROLLOVER } as const;

/** Internal: `policy: rollover` of the deep agent brings it. */
export function contextTools(): Middleware {
  const windows = new Map<string, ReturnType<typeof freshWindows>>();
  const metadata = describeTool({ act: "none" });
  /** The tools of a run are made anew after each compaction; what it asked for stays. */
  const windowsOf = ({ runId }: Run) => {
    const known = windows.get(runId) ?? freshWindows();
    windows.set(runId, known);
    return known;
  };
  return {
    name: "context-tools",
    brings: ["notes", "new_context", "context_remaining", "checkpoint", "fold"],
    tools(run) {
      const { notes, new_context, context_remaining, checkpoint, fold } = TOOL_SPECS;
      return {
        notes: tool({
          description: notes.description,
          metadata,
          inputSchema: notes.input,
          execute: (given) => decided(run, () => keepNotes(placeOf(run), given)),
        }),
        new_context: tool({
          description: new_context.description,
          metadata,
          inputSchema: new_context.input,
          execute: () =>
            windowsOf(run).ask(run.step, () => run.compact({ ...FRESH, dryRun: "quiet", signal: run.signal })),
        }),
        context_remaining: tool({
          description: context_remaining.description,
          metadata,
          inputSchema: context_remaining.input,
          execute: () => remaining(run.prompt().count.tokens, run.window()),
        }),
        checkpoint: tool({
          description: checkpoint.description,
          metadata,
          inputSchema: checkpoint.input,
          execute: (given) => decided(run, () => setCheckpoint(placeOf(run), given)),
        }),
        fold: tool({
          description: fold.description,
          metadata,
          inputSchema: fold.input,
          execute: (given) =>
            decided(run, () => foldSince(run.thread, given, { prompt: run.prompt(), at: placeOf(run).at })),
        }),
      };
    },
    async beforeModel(run) {
      if (windows.get(run.runId)?.take() === true) await run.compact({ ...FRESH, signal: run.signal });
    },
    writesLast: () => false,
    afterAgent: ({ runId }) => void windows.delete(runId),
  };
}

function placeOf({ thread, deps }: Run): ToolPlace {
  return { head: thread.head(), at: deps.clock().toISOString() };
}

/** Decides when the call's turn to write has come: another call of the same answer may have written before it. */
async function decided(run: Run, decide: () => ToolDecision): Promise<string> {
  let said = "";
  await run.commit(() => {
    const decision = decide();
    said = decision.said;
    return decision.records;
  });
  return said;
}
