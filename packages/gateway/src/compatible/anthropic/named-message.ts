/** The answer to a request that is held: its id, what is done to its prompt before, and what its client is told of that. */
import type { AnthropicMessage } from "@palimpsest/core/message";
import type { PromptRequest, ThreadPrompt } from "palimpsest/session";
import type { Exchange } from "../exchange.ts";
import type { Begun, HeldCompaction, NamedAnswer, Prepared, Preparing } from "../held.ts";
import type { Secret } from "../matching/chain.ts";
import { bindsThoughts } from "../models.ts";
import { summaryText } from "../threads/summary.ts";
import type { Fields } from "../vendor.ts";
import type { UpstreamAnswer } from "../wire/upstream.ts";
import type { Asked, Edit } from "./asked.ts";
import { type Cleared, clearThinking } from "./clearing.ts";
import { type BlockKind, compactionBlock } from "./compaction-block.ts";
import { counterOf, pruneToolUses } from "./edited-prompt.ts";
import { type IdKind, messageId } from "./message-ids.ts";
import { refused } from "./refusals.ts";
import { blockAnswer, rewritten } from "./rewritten.ts";
import type { SystemOutline } from "./system-outline.ts";
import { OUTLINE_EVENT } from "./thread-request.ts";
import { wordForWord } from "./word-for-word.ts";

type Messages = Exchange<AnthropicMessage>;

interface Naming {
  readonly asked: Asked;
  readonly secret: Secret;
  readonly begun: Begun;
  readonly toolChanges: readonly unknown[];
  readonly outline: SystemOutline;
  /** The thread that it goes on with; null: the messages say which. */
  readonly from: string | null;
}

export async function namedMessage(exchange: Messages, naming: Naming): Promise<NamedAnswer<AnthropicMessage>> {
  const { asked, secret, begun, toolChanges, outline, from } = naming;
  const { call, request } = exchange;
  const { ids, store } = call.threads;
  const header = await store.header(begun.threadId);
  // It was deleted just now.
  if (header === undefined) throw refused("thread_not_found");
  const { hash } = begun;
  const isThread = asked.thread !== null;
  const named = (kind: IdKind, seq: number) => messageId(header, { seq, hash }, { kind, secret, unique: ids() });
  const id = isThread ? named("answer", begun.seq) : ids();
  const pauses = editOf(asked, "compact_20260112")?.pause === true;
  const edits: Applied = new Map();
  const applied = () => (asked.edits === null ? null : [...edits.values()]);
  const blockOf = (kind: BlockKind, { seq, text }: HeldCompaction) =>
    compactionBlock(header, { seq, hash, text, toolChanges }, { kind, secret });
  const alone = (kind: BlockKind, compaction: HeldCompaction): UpstreamAnswer =>
    blockAnswer({
      id: isThread ? named("place", compaction.seq) : `msg_${ids().replaceAll("-", "")}`,
      model: request.model,
      block: blockOf(kind, compaction),
      edits: applied(),
      form: request.stream ? "stream" : "whole",
    });
  let summary: HeldCompaction | null = null;
  // A prompt may be made several times before it is sent; what was done for the first is still what was done.
  let outcome: ThreadPrompt<AnthropicMessage>["outcome"] = null;
  return {
    id,
    client: "now",
    tells: editOf(asked, "compact_20260112") !== null,
    async prepare(given) {
      if (asked.summarize === null) {
        const counted = await shortened(exchange, asked, { edits, given });
        if (counted.outcome?.kind === "compacted") outcome = counted.outcome;
        return withoutThinking(exchange, asked, {
          edits,
          counted: outcome === null ? counted : { ...counted, outcome },
        });
      }
      const done = await summarized(asked.summarize.instructions, given);
      summary = { text: wordForWord(await summaryText(store, begun.threadId), done), seq: done.version };
      return { counted: done, messages: null };
    },
    async instead({ counted }) {
      if (summary !== null) return alone("summary", summary);
      if (!pauses || counted.outcome?.kind !== "compacted") return null;
      const text = await summaryText(store, begun.threadId);
      return text === null ? null : alone("edit", { text, seq: counted.version });
    },
    rewrite(answer, compaction) {
      const first = compaction === null ? null : blockOf("edit", compaction);
      if (!isThread && first === null && asked.edits === null) return answer;
      return rewritten(answer, { id: isThread ? id : null, first, edits: applied() });
    },
    // A thread that goes on has it from its beginning; a fork begins anew.
    receipt: () => (outline === null || begun.threadId === from ? null : { type: OUTLINE_EVENT, outline }),
    end() {},
  };
}

function editOf<T extends Edit["type"]>({ edits }: Asked, type: T): Extract<Edit, { readonly type: T }> | null {
  return (edits?.find((edit) => edit.type === type) as Extract<Edit, { readonly type: T }> | undefined) ?? null;
}

/** All of it is asked for: what stays verbatim is the least that can. */
const LEAST_KEPT = { type: "messages", value: 1 } as const;

/** Reasons for which there may be a summary later. */
const UNREADY: readonly string[] = ["aborted", "conflict", "busy"];

async function summarized(
  instructions: string | null,
  { claimed: { thread }, request }: Preparing<AnthropicMessage>,
): Promise<ThreadPrompt<AnthropicMessage>> {
  const focus = instructions === null ? {} : { focus: instructions };
  const outcome = await thread.compact({ keep: LEAST_KEPT, ...focus, ...signalOf(request) }).catch(() => null);
  if (outcome === null || (outcome.kind === "unchanged" && UNREADY.includes(outcome.reason)))
    throw refused("compaction_unavailable");
  return thread.prompt(request);
}

const signalOf = ({ signal }: PromptRequest) => (signal === undefined ? {} : { signal });

/** What was done, by its type. */
type Applied = Map<string, Fields & { readonly cleared_input_tokens: number }>;

interface Editing {
  /** What is done is added to it. */
  readonly edits: Applied;
}

/** Old tool results go first; at the client's trigger what is left is compacted, where our own has not done it. */
async function shortened(
  exchange: Messages,
  asked: Asked,
  { given, edits }: Editing & { readonly given: Preparing<AnthropicMessage> },
): Promise<ThreadPrompt<AnthropicMessage>> {
  const { claimed, request } = given;
  const uses = editOf(asked, "clear_tool_uses_20250919");
  const freed = uses === null ? null : await pruneToolUses(exchange, uses, given);
  if (freed !== null) addCleared(edits, freed);
  const { outcome } = given.counted;
  const counted = freed === null ? given.counted : { ...(await claimed.thread.prompt(request)), outcome };
  const compact = editOf(asked, "compact_20260112");
  if (compact === null || counted.count.tokens <= compact.trigger || outcome?.kind === "compacted") return counted;
  const focus = compact.instructions === null ? {} : { focus: compact.instructions };
  const done = await claimed.thread.compact({ ...focus, ...signalOf(request) });
  return done.kind === "compacted" ? { ...(await claimed.thread.prompt(request)), outcome: done } : counted;
}

function addCleared(edits: Applied, { uses, tokens }: Pick<Cleared, "uses" | "tokens">): void {
  const type = "clear_tool_uses_20250919";
  const before = edits.get(type);
  edits.set(type, {
    type,
    cleared_tool_uses: Number(before?.["cleared_tool_uses"] ?? 0) + uses,
    cleared_input_tokens: (before?.cleared_input_tokens ?? 0) + tokens,
  });
}

function withoutThinking(
  { target }: Messages,
  asked: Asked,
  { counted, edits }: Editing & { readonly counted: ThreadPrompt<AnthropicMessage> },
): Prepared<AnthropicMessage> {
  const edit = editOf(asked, "clear_thinking_20251015");
  if (edit === null) return { counted, messages: null };
  const binds = bindsThoughts(target);
  const { messages, turns, tokens } = clearThinking(counted.messages, edit, { binds, count: counterOf(target) });
  if (turns === 0) return { counted, messages: null };
  edits.set(edit.type, { type: edit.type, cleared_thinking_turns: turns, cleared_input_tokens: tokens });
  return { counted, messages };
}
