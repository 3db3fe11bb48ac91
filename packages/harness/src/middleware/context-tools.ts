/**
 * Tools by which the model keeps its own context: notes that outlive a window, a fresh window, how much room is left, and
 * checkpoints whose finished stretch is folded into a report. What they write is in the log, where people see and undo it.
 */
import { readFile } from "node:fs/promises";
import { copyRules, readRules } from "@palimpsest/core/internal/log";
import { mayBecomeRule } from "@palimpsest/core/internal/memory";
import { standingSentences } from "@palimpsest/core/internal/recall";
import { tool } from "ai";
import type { Middleware, Run } from "../agent/run.ts";
import {
  foldSince,
  freshWindows,
  keepNotes,
  remaining,
  setCheckpoint,
  TOOL_SPECS,
  type ToolDecision,
  type ToolPlace,
} from "../thread/thread-tools.ts";
import { toolFacts } from "../tool-facts.ts";

/** Internal: `policy: rollover` of the deep agent brings it. */
export function contextTools(): Middleware {
  const windows = new Map<string, ReturnType<typeof freshWindows>>();
  const metadata = toolFacts({ act: "none" });
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
          execute: () => windowsOf(run).ask(run.step),
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
          execute: (given) => decided(run, () => foldSince(run.conversation, run.prompt(), given)),
        }),
      };
    },
    async beforeModel(run) {
      if (windows.get(run.runId)?.take() === true)
        await run.compact({ cause: "manual", style: "rollover", signal: run.signal });
    },
    writesLast: () => false,
    afterAgent: ({ runId }) => void windows.delete(runId),
  };
}

function placeOf({ conversation, deps }: Run): ToolPlace {
  return { head: conversation.head(), at: deps.clock().toISOString() };
}

/** Decides when the call's turn to write has come: another call of the same answer may have written before it. */
async function decided(run: Run, decide: () => ToolDecision): Promise<string> {
  let said = "";
  await run.commit(() => {
    const decision = decide();
    said = decision.said;
    return decision.record === null ? [] : [decision.record];
  });
  return said;
}

/** Rules that hold in every thread of an agent; files are read anew for each run. */
export interface StandingRulesOptions {
  readonly agent?: readonly string[] | undefined;
  readonly user?: ((userId: string) => readonly string[]) | undefined;
  /** Paths of files such as AGENTS.md, of which standing instructions are taken. Whoever names one trusts its words. */
  readonly files?: readonly string[] | undefined;
}

/** Internal: `rules` of the deep agent. Copies the rules of the agent, the user and files into the thread's log, so that replay and `verify` need nothing else. */
export function standingRules({ agent = [], user = () => [], files = [] }: StandingRulesOptions): Middleware {
  return {
    name: "rules",
    async beforeAgent({ conversation, deps, commit }) {
      const { header, head } = conversation;
      const sources = { agent, user: user(header.user), file: (await Promise.all(files.map(rulesIn))).flat() };
      const rules = readRules(head().state);
      const now = copyRules(rules, sources, deps.clock().toISOString());
      if (now !== rules) await commit([{ kind: "state", patch: { rules: now } }]);
    },
  };
}

/** Longer files are read as far as this. */
const MOST_FILE_CHARACTERS = 50_000;

/** The standing instructions of a file, line by line and without its code; none where there is no such file. */
async function rulesIn(path: string): Promise<string[]> {
  const text = await readFile(path, "utf8").catch(() => "");
  const outside = text.slice(0, MOST_FILE_CHARACTERS).split(/^ {0,3}(?:```|~~~).*$/m);
  const lines = outside.filter((_, index) => index % 2 === 0).flatMap((block) => block.split("\n"));
  const bare = lines.map((line) => line.replace(/^\s*(?:[-*+]|\d{1,3}[.)])\s+/, "").trim());
  return bare
    .flatMap((line) => (BINDING.test(line) ? [line] : standingSentences(line).map((one) => one.text)))
    .filter(mayBecomeRule);
}

/** In a file that holds rules such a line is one, whatever follows. */
const BINDING = /^(?:always|never|do not|don't|must not|you must|avoid)\b/i;
