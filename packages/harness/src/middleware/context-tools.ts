/**
 * Tools by which the model keeps its own context: notes that outlive a window, a fresh window, how much room is left, and
 * checkpoints whose finished stretch is folded into a report. What they write is in the log, where people see and undo it.
 */
import { readFile } from "node:fs/promises";
import { copyRules, planFold, readNotes, readRules, writeNote } from "@palimpsest/core/internal/log";
import { mayBecomeRule } from "@palimpsest/core/internal/memory";
import { standingSentences } from "@palimpsest/core/internal/recall";
import type { Note } from "@palimpsest/core/log";
import { tool } from "ai";
import type { Middleware, Run } from "../agent/run.ts";
import { figuresOf } from "../thread/chosen.ts";
import {
  checkpointsIn,
  FRESH_WINDOW,
  freshRefusal,
  NO_NOTE,
  notesText,
  noteWrite,
  remaining,
  stretchSince,
  TOOL_SPECS,
} from "../thread/thread-tools.ts";
import { toolFacts } from "../tool-facts.ts";

/** Internal: `policy: rollover` of the deep agent brings it. */
export function contextTools(): Middleware {
  const wanted = new Set<string>();
  const started = new Map<string, number>();
  return {
    name: "context-tools",
    brings: ["notes", "new_context", "context_remaining", "checkpoint", "fold"],
    tools: (run) => ({
      notes: tool({
        description: TOOL_SPECS.notes.description,
        metadata: toolFacts({ act: "none" }),
        inputSchema: TOOL_SPECS.notes.input,
        execute: (given) => (given.act === "read" ? notesText(notesOf(run)) : written(run, given)),
      }),
      new_context: tool({
        description: TOOL_SPECS.new_context.description,
        metadata: toolFacts({ act: "none" }),
        inputSchema: TOOL_SPECS.new_context.input,
        execute: () => {
          const refused = freshRefusal(run.step, started.get(run.runId));
          if (refused !== null) return refused;
          wanted.add(run.runId);
          started.set(run.runId, run.step);
          return FRESH_WINDOW;
        },
      }),
      context_remaining: tool({
        description: TOOL_SPECS.context_remaining.description,
        metadata: toolFacts({ act: "none" }),
        inputSchema: TOOL_SPECS.context_remaining.input,
        execute: () => remaining(run.prompt().count.tokens, run.window()),
      }),
      checkpoint: tool({
        description: TOOL_SPECS.checkpoint.description,
        metadata: toolFacts({ act: "none" }),
        inputSchema: TOOL_SPECS.checkpoint.input,
        execute: async ({ name }) => {
          const at = run.conversation.live().tail.at(-1)?.seq ?? 0;
          await run.commit(() => [
            { kind: "state", patch: { checkpoints: { ...checkpointsIn(run.conversation.head().state), [name]: at } } },
          ]);
          return `Checkpoint ${name} is set.`;
        },
      }),
      fold: tool({
        description: TOOL_SPECS.fold.description,
        metadata: toolFacts({ act: "none" }),
        inputSchema: TOOL_SPECS.fold.input,
        execute: (given) => folded(run, given),
      }),
    }),
    async beforeModel(run) {
      if (wanted.delete(run.runId)) await run.compact({ cause: "manual", style: "rollover", signal: run.signal });
    },
    writesLast: () => false,
    afterAgent({ runId }) {
      wanted.delete(runId);
      started.delete(runId);
    },
  };
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

function notesOf({ conversation }: Run): readonly Note[] {
  return readNotes(conversation.head().state);
}

async function written(run: Run, given: Parameters<typeof noteWrite>[0]): Promise<string> {
  const write = noteWrite(given);
  if (write === null) return NO_NOTE;
  const { name } = write;
  const at = run.deps.clock().toISOString();
  const change = writeNote(notesOf(run), write, { by: "model", at, last: run.conversation.head().version });
  if (change.kind === "refused") return `Refused, nothing changed: ${change.problem}.`;
  await run.commit([{ kind: "state", patch: { notes: change.notes.length === 0 ? null : change.notes } }]);
  return change.note === null ? `Note ${name} is deleted.` : `Note ${name} is at revision ${change.note.revision}.`;
}

async function folded(run: Run, { name, report }: { readonly name: string; readonly report: string }): Promise<string> {
  const { conversation } = run;
  const since = checkpointsIn(run.conversation.head().state)[name];
  if (since === undefined) return `Refused: there is no checkpoint ${name}.`;
  const { shape, original: read } = conversation;
  const range = stretchSince(conversation, since);
  if (range === null) return `Refused: nothing was done since checkpoint ${name}.`;
  const cut = planFold(conversation.live(), range, report, { shape, read });
  if (cut.kind === "refused") return `Refused, nothing changed: ${cut.problem}.`;
  const { tokensBefore, tokensAfter } = figuresOf(conversation, cut.entries, run.prompt());
  if (tokensAfter >= tokensBefore) return "Refused: the report is as long as what it would stand for.";
  await run.commit([{ kind: "prune", entries: cut.entries, tokensBefore, tokensAfter }]);
  return `Messages ${cut.range[0]} to ${cut.range[1]} are folded: ${tokensBefore} -> ${tokensAfter} tokens.`;
}
