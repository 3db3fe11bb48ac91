/**
 * Tools by which the model keeps its own context: notes that outlive a window, a fresh window, how much room is left, and
 * checkpoints whose finished stretch is folded into a report. What they write is in the log, where people see and undo it.
 */
import { planFold, readNotes, writeNote } from "@palimpsest/core/internal/log";
import type { Note } from "@palimpsest/core/log";
import { tool } from "ai";
import { z } from "zod/v4";
import type { Middleware } from "../agent/middleware.ts";
import type { Run } from "../agent/run.ts";
import { figuresOf } from "../thread/chosen.ts";
import { toolFacts } from "../tool-facts.ts";

const NAME = z.string().min(1).max(40);
const NOTES = z.object({
  act: z.enum(["read", "write"]),
  name: NAME.optional().describe("Of the note to write; without it all notes are read"),
  text: z.string().max(16_384).optional().describe("The whole new text; empty deletes the note"),
  revision: z.int().min(0).default(0).describe("The revision you have read; 0 for a new note"),
  cites: z.array(z.int()).max(8).default([]).describe("Numbers of the messages it rests on"),
});

/** Steps between two fresh windows, so that a model that asks in every step is stopped. */
const STEPS_BETWEEN = 3;

/** Internal: `policy: rollover` of the deep agent brings it. */
export function contextTools(): Middleware {
  const wanted = new Set<string>();
  const started = new Map<string, number>();
  return {
    name: "context-tools",
    brings: ["notes", "new_context", "context_remaining", "checkpoint", "fold"],
    tools: (run) => ({
      notes: tool({
        description:
          "Your notebook for this task: up to 8 named notes, 16 kB together. They stand at the start of every new context window. Write what you would need to go on: goal, decisions, open points. They are your own reports.",
        metadata: toolFacts({ act: "none" }),
        inputSchema: NOTES,
        execute: (given) => (given.act === "read" ? notesText(notesOf(run)) : written(run, given)),
      }),
      new_context: tool({
        description:
          "Start a fresh context window: notes, standing rules, known state and the last request stay, the rest is hidden and stays searchable. Write your notes first. It happens before your next step.",
        metadata: toolFacts({ act: "none" }),
        inputSchema: z.object({}),
        execute: () => {
          const since = run.step - (started.get(run.runId) ?? Number.NEGATIVE_INFINITY);
          if (since < STEPS_BETWEEN)
            return `Refused: a fresh window was started ${since} steps ago. At most one in ${STEPS_BETWEEN} steps; go on with the task.`;
          wanted.add(run.runId);
          started.set(run.runId, run.step);
          return "A fresh window starts before your next step.";
        },
      }),
      context_remaining: tool({
        description: "How many tokens of the context window are used and left.",
        metadata: toolFacts({ act: "none" }),
        inputSchema: z.object({}),
        execute: () => {
          const [used, window] = [run.prompt().count.tokens, run.window()];
          return `${used} of ${window} tokens are used, ${Math.max(0, window - used)} are left.`;
        },
      }),
      checkpoint: tool({
        description: "Mark this place before a stretch of work that you may fold into a report when it is finished.",
        metadata: toolFacts({ act: "none" }),
        inputSchema: z.object({ name: NAME }),
        execute: async ({ name }) => {
          const at = run.conversation.live().tail.at(-1)?.seq ?? 0;
          await run.commit(() => [{ kind: "state", patch: { checkpoints: { ...checkpointsOf(run), [name]: at } } }]);
          return `Checkpoint ${name} is set.`;
        },
      }),
      fold: tool({
        description:
          "Replace everything since a checkpoint by your report of it: what came of it, exact names and numbers, what is still open. The messages stay in the history.",
        metadata: toolFacts({ act: "none" }),
        inputSchema: z.object({ name: NAME, report: z.string().min(1).max(12_000) }),
        execute: (given) => folded(run, given),
      }),
    }),
    async beforeModel(run) {
      if (wanted.delete(run.runId)) await run.compact({ cause: "manual", style: "rollover", signal: run.signal });
    },
    afterAgent({ runId }) {
      wanted.delete(runId);
      started.delete(runId);
    },
  };
}

function notesOf({ conversation }: Run): readonly Note[] {
  return readNotes(conversation.head().state);
}

function notesText(notes: readonly Note[]): string {
  if (notes.length === 0) return "There are no notes yet.";
  return notes.map(({ name, text, revision }) => `### ${name} (revision ${revision})\n${text}`).join("\n\n");
}

async function written(run: Run, { name, text, revision, cites }: z.output<typeof NOTES>): Promise<string> {
  if (name === undefined || text === undefined) return "Refused: writing takes a name and a text.";
  const at = run.deps.clock().toISOString();
  const change = writeNote(
    notesOf(run),
    { name, text, revision, cites },
    { by: "model", at, last: run.conversation.head().version },
  );
  if (change.kind === "refused") return `Refused, nothing changed: ${change.problem}.`;
  await run.commit([{ kind: "state", patch: { notes: change.notes.length === 0 ? null : change.notes } }]);
  return change.note === null ? `Note ${name} is deleted.` : `Note ${name} is at revision ${change.note.revision}.`;
}

function checkpointsOf({ conversation }: Run): Readonly<Record<string, number>> {
  const stored = conversation.head().state["checkpoints"];
  return typeof stored === "object" && stored !== null ? (stored as Record<string, number>) : {};
}

async function folded(run: Run, { name, report }: { readonly name: string; readonly report: string }): Promise<string> {
  const { conversation } = run;
  const since = checkpointsOf(run)[name];
  if (since === undefined) return `Refused: there is no checkpoint ${name}.`;
  const { shape, original: read } = conversation;
  const { tail } = conversation.live();
  // The stretch begins with the first answer after the checkpoint's own, and ends before the one that folds it.
  const answers = tail.filter((record) => record.seq > since && shape.role(read(record)) === "assistant");
  const [first, last] = [answers[0], answers.at(-1)];
  if (first === undefined || last === undefined || first === last)
    return `Refused: nothing was done since checkpoint ${name}.`;
  const cut = planFold(conversation.live(), [first.seq, last.seq - 1], report, { shape, read });
  if (cut.kind === "refused") return `Refused, nothing changed: ${cut.problem}.`;
  const { tokensBefore, tokensAfter } = figuresOf(conversation, cut.entries, run.prompt());
  if (tokensAfter >= tokensBefore) return "Refused: the report is as long as what it would stand for.";
  await run.commit([{ kind: "prune", entries: cut.entries, tokensBefore, tokensAfter }]);
  return `Messages ${cut.range[0]} to ${cut.range[1]} are folded: ${tokensBefore} -> ${tokensAfter} tokens.`;
}
