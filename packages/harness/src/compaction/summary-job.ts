/**
 * The job of writing a summary for one cut: the hidden messages as they were given, the summary so far, what is quoted,
 * the state that is frozen into it, and how long it may be. The same at the trigger and for a draft ahead of it.
 */
import type { Cut, Policy, StateLines, SummaryInput } from "@palimpsest/core/compaction";
import { behindSummary, coveredBy, quote } from "@palimpsest/core/internal/compaction";
import { sizesOf } from "@palimpsest/core/internal/prompt";
import { NOWHERE, wordRoom } from "@palimpsest/core/internal/summary";
import type { MessageRecord } from "@palimpsest/core/log";
import type { Prompt } from "@palimpsest/core/prompt";
import type { Originals, Pin } from "@palimpsest/core/summary";
import type { Store } from "../stores/store.ts";
import type { Conversation } from "../threads/conversation.ts";
import type { DraftTable } from "./draft-table.ts";
import type { OnCompactionEvent } from "./events.ts";
import type { SummaryJob } from "./summary-writer.ts";

export interface SummaryJobOptions<M> {
  readonly conversation: Conversation<M>;
  readonly policy: Policy;
  readonly quotes: QuoteSource;
  readonly originals?: () => Originals;
  readonly background?: { readonly table: DraftTable } | null;
  readonly on: OnCompactionEvent;
}

export async function summaryJob<M>(
  cut: Cut,
  { conversation, policy, quotes, originals, background, on }: SummaryJobOptions<M>,
  prompt: Prompt<M>,
  focus: string | null,
): Promise<SummaryJob<M>> {
  const { shape, original } = conversation;
  const sizes = sizesOf(prompt);
  const covered = coveredBy(conversation.live(), cut, { shape, original, state: await conversation.state() });
  const pins = await gatherPins(covered, conversation, quotes);
  const lines = stateLines(conversation.head().state);
  const input = { ...covered, pins, lines, originals: originals?.() ?? NOWHERE };
  const format = policy.summaryFormat;
  const maxTokens = roomFor(cut, behindSummary(format, shape, sizes)) - sizes.message(shape.turn("user", ""));
  const count = sizes.text;
  return {
    input,
    shape,
    maxTokens,
    count,
    focus,
    hiddenTokens: cut.hiddenTokens,
    drafts: background?.table ?? null,
    wordTokens: wordRoom({ maxTokens, count, through: cut.covers[1], originals: input.originals, format }),
    onProgress: (done, of) => on({ type: "summary-progress", done, of }),
  };
}

/** As much as the plan allows, and less than what it stands for: a summary that saves nothing is thrown away. */
function roomFor({ summaryTokens, hiddenTokens }: Cut, behind: number): number {
  return Math.min(summaryTokens, hiddenTokens - behind - 1);
}

/** Reads single message records of the thread by seq. */
export type QuoteSource = (seqs: readonly number[]) => Promise<readonly MessageRecord[]>;

/**
 * What stands verbatim in a summary: messages a person pinned, then the user's own words, newest first. Read anew from the
 * log at every compaction, so that they can't drift.
 */
async function gatherPins<M>(
  covered: Pick<SummaryInput<M>, "entries" | "userTurns">,
  conversation: Conversation<M>,
  read: QuoteSource,
): Promise<readonly Pin[]> {
  const last = covered.entries.at(-1)?.seq ?? 0;
  const pinned = conversation.head().pins.filter((seq) => seq <= last);
  const wanted = [...new Set([...pinned, ...covered.userTurns.toReversed()])];
  const loaded = new Map(covered.entries.map(({ seq, message }) => [seq, message]));
  for (const record of await read(wanted.filter((seq) => !loaded.has(seq)))) {
    loaded.set(record.seq, conversation.original(record));
  }
  return wanted.flatMap((seq) => {
    const message = loaded.get(seq);
    return message === undefined ? [] : [quote(seq, message, conversation.shape)];
  });
}

/** Reads them from a store. */
export function readQuotes(store: Store, threadId: string): QuoteSource {
  return async (seqs) => {
    const messages: MessageRecord[] = [];
    for (const seq of seqs)
      for await (const { record } of store.records(threadId, { range: [seq, seq], kinds: ["message"] }))
        if (record.kind === "message") messages.push(record);
    return messages;
  };
}

/**
 * The parts of a thread's state that a summary must carry, as lines: todos, delegations, loaded skills. They are state,
 * not messages, so that a compaction can't lose them.
 */
export function stateLines(state: Readonly<Record<string, unknown>>): StateLines {
  return {
    todos: listOf(state["todos"], (todo) => `[${text(todo, "status") || "open"}] ${text(todo, "content")}`),
    delegations: listOf(byNeed(state["delegations"]), delegation),
    skills: listOf(state["skills"], (skill) => (typeof skill === "string" ? skill : text(skill, "name"))),
  };
}

/** Where there isn't room for all: what isn't finished first, then the newest. */
function byNeed(value: unknown): unknown {
  if (!Array.isArray(value)) return value;
  const newest = value.toReversed();
  const open = (task: unknown): boolean => text(task, "status") !== "completed";
  return [...newest.filter(open), ...newest.filter((task) => !open(task))];
}

function delegation(task: unknown): string {
  const [status, threadId, answer] = [text(task, "status"), text(task, "threadId"), text(task, "answer")];
  // An answer's file is named after its thread, and every line has to be paid for in each prompt.
  const deleted = text(task, "deletedAt").slice(0, 10);
  const place = deleted === "" ? `thread ${threadId}` : `its thread was deleted on ${deleted}`;
  const where = answer.includes(threadId) ? `answer in ${answer}` : place;
  const open = status === "interrupted" && deleted === "";
  const next = open ? "; not finished: continue it with task and resume" : "";
  return `${status}: ${text(task, "description")} (${where}${next})`;
}

function listOf(value: unknown, line: (item: unknown) => string): string[] {
  const items = Array.isArray(value) ? value : typeof value === "object" && value !== null ? Object.values(value) : [];
  return items.map(line).filter((one) => one.trim() !== "");
}

function text(item: unknown, key: string): string {
  const value = typeof item === "object" && item !== null ? (item as Record<string, unknown>)[key] : undefined;
  return typeof value === "string" ? value : "";
}
