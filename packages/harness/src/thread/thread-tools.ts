/**
 * The tools by which a model keeps its own context, for any loop on `openThread`: notes, a fresh window, how much room is
 * left, and checkpoints whose finished stretch is folded into a report. Owns what the tools are called, take, write and
 * say; the agent brings the same ones (`middleware/context-tools.ts`).
 */

import type { CompactionOutcome } from "@palimpsest/core/internal/compaction";
import { type Head, isRequest, type Note, type Range, readNotes, writeNote } from "@palimpsest/core/internal/log";
import type { Prompt } from "@palimpsest/core/internal/prompt";
import { isRecord } from "@palimpsest/core/internal/text";
import { z } from "zod/v4";
import { planCut } from "./chosen.ts";
import type { OpenThread, PromptRequest, ThreadPrompt } from "./open-thread.ts";
import { sizedThread } from "./sized-thread.ts";
import type { ThreadView } from "./thread.ts";
import { commit, type RecordInput, type Writer } from "./writer.ts";

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
      "Replace everything since a checkpoint by your report of it: what came of it, exact names and numbers, what is still open. The current request and what follows it stay. The messages stay in the history.",
    input: z.object({ name: NAME, report: z.string().min(1).max(12_000) }),
  },
} as const;

export const ROLLOVER = { style: "rollover" } as const;

/** Steps between two fresh windows, so that a model that asks in every step is stopped. */
const STEPS_BETWEEN = 3;

/** The fresh windows that one run of a model asks for. */
export function freshWindows() {
  let wanted = false;
  let started = Number.NEGATIVE_INFINITY;
  return {
    /** What the model is told. `tryOut` says what a fresh window would come to now, and writes nothing. */
    async ask(step: number, tryOut: () => Promise<CompactionOutcome>): Promise<string> {
      const since = step - started;
      if (since < STEPS_BETWEEN)
        return `Refused: a fresh window was started ${since === 1 ? "one step" : `${since} steps`} ago. At most one in ${STEPS_BETWEEN} steps; go on with the task.`;
      const outcome = await tryOut();
      if (outcome.kind === "unchanged")
        return `Refused: a fresh window would hide nothing now (${outcome.detail}). Go on with the task.`;
      [wanted, started] = [true, step];
      return "A fresh window starts before your next step.";
    },
    /** Whether one was asked for and is due now. */
    take(): boolean {
      const due = wanted;
      wanted = false;
      return due;
    },
  };
}

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
  const fresh = freshWindows();
  let step = 0;
  let used: number | null = null;
  const runs: {
    [N in keyof typeof TOOL_SPECS]: (input: z.output<(typeof TOOL_SPECS)[N]["input"]>) => Promise<string>;
  } = {
    notes: (given) => thread.act((writer) => onHead(writer, (place) => keepNotes(place, given))),
    new_context: () => fresh.ask(step, () => thread.compact({ ...ROLLOVER, dryRun: true })),
    context_remaining: async () =>
      used === null ? `Nothing was sent yet; the window has ${window} tokens.` : remaining(used, window),
    checkpoint: (given) => thread.act((writer) => onHead(writer, (place) => setCheckpoint(place, given))),
    fold: (given) => thread.act((writer) => foldStored(writer, given)),
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
      const started = fresh.take() ? await thread.compact({ ...ROLLOVER, ...stop }) : null;
      step += 1;
      const prompt = await thread.prompt(request);
      used = prompt.count.tokens;
      return started?.kind === "compacted" && prompt.outcome?.kind !== "compacted"
        ? { ...prompt, outcome: started }
        : prompt;
    },
  };
}

export function remaining(used: number, window: number): string {
  return `${used} of ${window} tokens are used, ${Math.max(0, window - used)} are left.`;
}

/** What a call of a tool writes, and what the model is told. Without records nothing changed. */
export interface ToolDecision {
  readonly records: readonly RecordInput[];
  readonly said: string;
}

/** The thread as it stands when a tool acts on it. */
export interface ToolPlace {
  readonly head: Pick<Head, "state" | "version">;
  /** ISO 8601. */
  readonly at: string;
}

type ToolInput<N extends keyof typeof TOOL_SPECS> = z.output<(typeof TOOL_SPECS)[N]["input"]>;

export function keepNotes({ head, at }: ToolPlace, given: ToolInput<"notes">): ToolDecision {
  const { act, name, text, revision, cites } = given;
  const notes = readNotes(head.state);
  if (act === "read") return told(notesText(notes));
  if (name === undefined || text === undefined) return told("Refused: writing takes a name and a text.");
  const change = writeNote(notes, { name, text, revision, cites }, { by: "model", at, last: head.version });
  if (change.kind === "refused") return told(`Refused, nothing changed: ${change.problem}.`);
  return {
    records: [{ kind: "state", patch: { notes: change.notes.length === 0 ? null : change.notes } }],
    said: change.note === null ? `Note ${name} is deleted.` : `Note ${name} is at revision ${change.note.revision}.`,
  };
}

function told(said: string): ToolDecision {
  return { records: [], said };
}

function notesText(notes: readonly Note[]): string {
  if (notes.length === 0) return "There are no notes yet.";
  return notes.map(({ name, text, revision }) => `### ${name} (revision ${revision})\n${text}`).join("\n\n");
}

export function setCheckpoint({ head }: ToolPlace, { name }: ToolInput<"checkpoint">): ToolDecision {
  const checkpoints = { ...checkpointsIn(head.state), [name]: head.version };
  return { records: [{ kind: "state", patch: { checkpoints } }], said: `Checkpoint ${name} is set.` };
}

function checkpointsIn(state: Readonly<Record<string, unknown>>): Readonly<Record<string, number>> {
  const stored = state["checkpoints"];
  return isRecord(stored) ? Object.fromEntries(Object.entries(stored).filter(isPlace)) : {};
}

function isPlace(entry: readonly [string, unknown]): entry is [string, number] {
  return typeof entry[1] === "number";
}

export function foldSince<M>(
  thread: ThreadView<M>,
  { name, report }: ToolInput<"fold">,
  { prompt, at }: { readonly prompt: Prompt<M>; readonly at: string },
): ToolDecision {
  const since = checkpointsIn(thread.head().state)[name];
  if (since === undefined) return told(`Refused: there is no checkpoint ${name}.`);
  const stretch = stretchSince(thread, since);
  if (stretch === null) return told(`Refused: nothing was done since checkpoint ${name}.`);
  const cut = planCut(thread, { kind: "fold", range: stretch.range, report }, { prompt, at });
  if (cut.kind === "refused") return told(`Refused, nothing changed: ${cut.problem}.`);
  const { tokensBefore, tokensAfter } = cut.figures;
  const [first, last] = cut.range;
  const stays = stretch.until === "request" ? " The current request and what you did for it stay." : "";
  return {
    records: cut.records,
    said: `Messages ${first} to ${last} are folded: ${tokensBefore} -> ${tokensAfter} tokens.${stays}`,
  };
}

/**
 * The stretch since a checkpoint: from the first answer after the checkpoint's own to what stands before the answer that
 * folds it, or before the current request if that came since. Null if nothing was done until there.
 */
function stretchSince<M>(
  { shape, original, live }: Pick<ThreadView<M>, "shape" | "original" | "live">,
  since: number,
): { readonly range: Range; readonly until: "now" | "request" } | null {
  const done = live().tail.filter(({ seq }) => seq > since);
  const answers = done.filter((record) => shape.role(original(record)) === "assistant");
  const request = done.findLast((record) => isRequest(original(record), shape));
  const [first, last] = [answers[0]?.seq ?? Number.POSITIVE_INFINITY, answers.at(-1)?.seq ?? 0];
  if (request !== undefined && first < request.seq) return { range: [first, request.seq - 1], until: "request" };
  return first < last ? { range: [first, last - 1], until: "now" } : null;
}

async function onHead(writer: Writer, decide: (place: ToolPlace) => ToolDecision): Promise<string> {
  const head = await writer.store.head(writer.lease.threadId);
  return head === undefined ? NOT_WRITTEN : written(writer, head, decide({ head, at: writer.clock().toISOString() }));
}

async function foldStored(writer: Writer, given: ToolInput<"fold">): Promise<string> {
  const load = await writer.store.load(writer.lease.threadId);
  if (load === undefined) return NOT_WRITTEN;
  const { thread, prompt } = await sizedThread(writer.store, load);
  return written(writer, load.head, foldSince(thread, given, { prompt: prompt(), at: writer.clock().toISOString() }));
}

const NOT_WRITTEN = "Refused, nothing changed: the thread was changed by somebody else, try again.";

async function written(writer: Writer, head: Head, { records, said }: ToolDecision): Promise<string> {
  if (records.length === 0) return said;
  const result = await commit(writer, records, { head, structure: [] });
  return result.kind === "committed" ? said : NOT_WRITTEN;
}
