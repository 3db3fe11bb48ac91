/**
 * The tools by which a model keeps its own context, for any loop on `openThread`: notes, a fresh window, how much room is
 * left, and checkpoints whose finished stretch is folded into a report. Owns what the tools are called, take and say; the
 * agent brings the same ones (`middleware/context-tools.ts`).
 */
import { readNotes } from "@palimpsest/core/internal/log";
import type { Note, NoteWrite, Range } from "@palimpsest/core/log";
import { z } from "zod/v4";
import { changeNote, cutThread } from "./chosen.ts";
import type { Conversation } from "./conversation.ts";
import type { OpenThread, PromptRequest, ThreadPrompt } from "./open-thread.ts";
import { sizedThread } from "./sized-thread.ts";
import { commit, type Writer } from "./writer.ts";

const NAME = z.string().min(1).max(40);

export const TOOL_SPECS = {
  notes: {
    description:
      "Your notebook for this task: up to 8 named notes, 16 kB together. They stand at the start of every new context window. Write what you would need to go on: goal, decisions, open points. They are your own reports.",
    input: z.object({
      act: z.enum(["read", "write"]),
      name: NAME.optional().describe("Of the note to write; without it all notes are read"),
      text: z.string().max(16_384).optional().describe("The whole new text; empty deletes the note"),
      revision: z.int().min(0).default(0).describe("The revision you have read; 0 for a new note"),
      cites: z.array(z.int()).max(8).default([]).describe("Numbers of the messages it rests on"),
    }),
  },
  new_context: {
    description:
      "Start a fresh context window: notes, standing rules, known state and the last request stay, the rest is hidden and stays searchable. Write your notes first. It happens before your next step.",
    input: z.object({}),
  },
  context_remaining: { description: "How many tokens of the context window are used and left.", input: z.object({}) },
  checkpoint: {
    description: "Mark this place before a stretch of work that you may fold into a report when it is finished.",
    input: z.object({ name: NAME }),
  },
  fold: {
    description:
      "Replace everything since a checkpoint by your report of it: what came of it, exact names and numbers, what is still open. The messages stay in the history.",
    input: z.object({ name: NAME, report: z.string().min(1).max(12_000) }),
  },
} as const;

/** Steps between two fresh windows, so that a model that asks in every step is stopped. */
const STEPS_BETWEEN = 3;

/** Null if a fresh window may start; else what the model is told. */
export function freshRefusal(step: number, last: number | undefined): string | null {
  const since = step - (last ?? Number.NEGATIVE_INFINITY);
  if (since >= STEPS_BETWEEN) return null;
  return `Refused: a fresh window was started ${since} steps ago. At most one in ${STEPS_BETWEEN} steps; go on with the task.`;
}

export const FRESH_WINDOW = "A fresh window starts before your next step.";

export interface ThreadTool {
  readonly name: keyof typeof TOOL_SPECS;
  readonly description: string;
  /** JSON Schema of the input. */
  readonly inputSchema: object;
  /** The result for the model; what is refused is said in it, and changes nothing. */
  execute(input: unknown): Promise<string>;
}

export interface ThreadTools<M> {
  readonly tools: readonly ThreadTool[];
  /** As the thread's own, after the fresh window that `new_context` asked for: ask here before each call of the model. */
  prompt(request?: PromptRequest): Promise<ThreadPrompt<M>>;
}

/** What the tools are, without a thread to act on. */
export function toolDefinitions(): readonly Omit<ThreadTool, "execute">[] {
  return (Object.keys(TOOL_SPECS) as (keyof typeof TOOL_SPECS)[]).map(definitionOf);
}

function definitionOf(name: keyof typeof TOOL_SPECS): Omit<ThreadTool, "execute"> {
  const { description, input } = TOOL_SPECS[name];
  return { name, description, inputSchema: z.toJSONSchema(input, { io: "input" }) };
}

/** `window`: the model's, for `context_remaining`. Append the answer that calls a tool before you run it. */
export function threadTools<M>(thread: OpenThread<M>, { window }: { readonly window: number }): ThreadTools<M> {
  let [step, wanted] = [0, false];
  let started: number | undefined;
  let used: number | null = null;
  const runs: {
    [N in keyof typeof TOOL_SPECS]: (input: z.output<(typeof TOOL_SPECS)[N]["input"]>) => Promise<string>;
  } = {
    notes: (given) => thread.act((writer) => keepNotes(writer, given)),
    async new_context() {
      const refused = freshRefusal(step, started);
      if (refused !== null) return refused;
      [wanted, started] = [true, step];
      return FRESH_WINDOW;
    },
    async context_remaining() {
      if (used === null) return `Nothing was sent yet; the window has ${window} tokens.`;
      return remaining(used, window);
    },
    checkpoint: ({ name }) => thread.act((writer) => mark(writer, name)),
    fold: (given) => thread.act((writer) => foldSince(writer, given)),
  };
  const tools = toolDefinitions().map((definition): ThreadTool => {
    const { name } = definition;
    return {
      ...definition,
      async execute(input) {
        const parsed = TOOL_SPECS[name].input.safeParse(input ?? {});
        if (!parsed.success) return `Refused, nothing changed: ${z.prettifyError(parsed.error)}`;
        return runs[name](parsed.data as never);
      },
    };
  });
  return {
    tools,
    async prompt(request) {
      const stop = request?.signal === undefined ? {} : { signal: request.signal };
      if (wanted) await thread.compact({ style: "rollover", ...stop });
      wanted = false;
      step += 1;
      const prompt = await thread.prompt(request);
      used = prompt.count.tokens;
      return prompt;
    },
  };
}

export function remaining(used: number, window: number): string {
  return `${used} of ${window} tokens are used, ${Math.max(0, window - used)} are left.`;
}

type NotesInput = z.output<typeof TOOL_SPECS.notes.input>;

/** Null if the call doesn't say what to write. */
export function noteWrite({ name, text, revision, cites }: NotesInput): NoteWrite | null {
  return name === undefined || text === undefined ? null : { name, text, revision, cites };
}

export const NO_NOTE = "Refused: writing takes a name and a text.";

export function notesText(notes: readonly Note[]): string {
  if (notes.length === 0) return "There are no notes yet.";
  return notes.map(({ name, text, revision }) => `### ${name} (revision ${revision})\n${text}`).join("\n\n");
}

async function keepNotes(writer: Writer, given: NotesInput): Promise<string> {
  if (given.act === "read") return notesText(readNotes((await writer.store.head(writer.lease.threadId))?.state ?? {}));
  const write = noteWrite(given);
  if (write === null) return NO_NOTE;
  const change = await changeNote(writer, write, "model");
  if (change.kind === "refused") return `Refused, nothing changed: ${change.problem}.`;
  if (change.kind !== "written") return NOT_WRITTEN;
  return change.note === null
    ? `Note ${write.name} is deleted.`
    : `Note ${write.name} is at revision ${change.note.revision}.`;
}

const NOT_WRITTEN = "Refused, nothing changed: the thread was changed by somebody else, try again.";

export function checkpointsIn(state: Readonly<Record<string, unknown>>): Readonly<Record<string, number>> {
  const stored = state["checkpoints"];
  return typeof stored === "object" && stored !== null ? (stored as Record<string, number>) : {};
}

async function mark(writer: Writer, name: string): Promise<string> {
  const load = await writer.store.load(writer.lease.threadId);
  if (load === undefined) return NOT_WRITTEN;
  const { conversation } = await sizedThread(writer.store, load);
  const checkpoints = { ...checkpointsIn(load.head.state), [name]: conversation.live().tail.at(-1)?.seq ?? 0 };
  const result = await commit(writer, [{ kind: "state", patch: { checkpoints } }], { head: load.head, structure: [] });
  return result.kind === "committed" ? `Checkpoint ${name} is set.` : NOT_WRITTEN;
}

/**
 * The stretch since a checkpoint: from the first answer after the checkpoint's own to what stands before the answer that
 * folds it. Null if nothing was done since.
 */
export function stretchSince<M>(
  { shape, original, live }: Pick<Conversation<M>, "shape" | "original" | "live">,
  since: number,
): Range | null {
  const answers = live().tail.filter((record) => record.seq > since && shape.role(original(record)) === "assistant");
  const [first, last] = [answers[0], answers.at(-1)];
  return first === undefined || last === undefined || first === last ? null : [first.seq, last.seq - 1];
}

async function foldSince(writer: Writer, { name, report }: { readonly name: string; readonly report: string }) {
  const load = await writer.store.load(writer.lease.threadId);
  if (load === undefined) return NOT_WRITTEN;
  const since = checkpointsIn(load.head.state)[name];
  if (since === undefined) return `Refused: there is no checkpoint ${name}.`;
  const { conversation } = await sizedThread(writer.store, load);
  const range = stretchSince(conversation, since);
  if (range === null) return `Refused: nothing was done since checkpoint ${name}.`;
  const cut = await cutThread(writer, { kind: "fold", range, report }, "act");
  if (cut.kind === "refused") return `Refused, nothing changed: ${cut.problem}.`;
  if (cut.kind !== "cut") return NOT_WRITTEN;
  return `Messages ${cut.range[0]} to ${cut.range[1]} are folded: ${cut.tokensBefore} -> ${cut.tokensAfter} tokens.`;
}
