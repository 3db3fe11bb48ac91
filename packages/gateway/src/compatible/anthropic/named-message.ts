/** The answer to a request that is held: its id, what is done to its prompt before, and what its client is told of that. */

import type { AnthropicMessage } from "@palimpsest/core/internal/message";
import type { PromptRequest, ThreadPrompt } from "palimpsest/session";
import { eventText, typedEvent } from "../../http/event-stream.ts";
import { fieldsOf, type JsonFields, listIn, parseFields } from "../../http/read-json.ts";
import type { AnswerStart, NamedAnswer, PreparedPrompt, PromptToPrepare, ServerCompaction } from "../answer.ts";
import type { Secret } from "../match.ts";
import { eventParser, type UpstreamEvent } from "../passage.ts";
import { bindsThoughts } from "../policy.ts";
import { summaryText } from "../prompt.ts";
import type { ParsedRequest } from "../request.ts";
import type { UpstreamAnswer } from "../upstream.ts";
import { rewrittenAnswer, writtenAnswer } from "../written-answer.ts";
import {
  type Cleared,
  type ContextEdit,
  clearThinking,
  counterOf,
  pruneToolUses,
  type RequestedEdits,
} from "./edits.ts";
import {
  type BlockKind,
  compactionBlock,
  type IdKind,
  messageId,
  OUTLINE_EVENT,
  refused,
  type SystemOutline,
  wordForWord,
} from "./server-state.ts";

type NamedMessages = ParsedRequest<AnthropicMessage>;

interface MessageNaming {
  readonly asked: RequestedEdits;
  readonly secret: Secret;
  readonly begun: AnswerStart;
  readonly toolChanges: readonly unknown[];
  readonly outline: SystemOutline;
  /** The thread that it goes on with; null: the messages say which. */
  readonly from: string | null;
}

export async function namedMessage(
  parsed: NamedMessages,
  naming: MessageNaming,
): Promise<NamedAnswer<AnthropicMessage>> {
  const { asked, secret, begun, toolChanges, outline, from } = naming;
  const { call, request } = parsed;
  const { ids, store } = call.threads;
  const header = await store.header(begun.threadId);
  // It was deleted just now.
  if (header === undefined) throw refused("thread_not_found");
  const { hash } = begun;
  const isThread = asked.thread !== null;
  const named = (kind: IdKind, seq: number) => messageId(header, { seq, hash }, { kind, secret, unique: ids() });
  const id = isThread ? named("answer", begun.seq) : ids();
  const pauses = editOf(asked, "compact_20260112")?.pause === true;
  const edits: AppliedEdits = new Map();
  const applied = () => (asked.edits === null ? null : [...edits.values()]);
  const blockOf = (kind: BlockKind, { seq, text }: ServerCompaction) =>
    compactionBlock(header, { seq, hash, text, toolChanges }, { kind, secret });
  const alone = (kind: BlockKind, compaction: ServerCompaction): UpstreamAnswer =>
    blockAnswer({
      id: isThread ? named("place", compaction.seq) : `msg_${ids().replaceAll("-", "")}`,
      model: request.model,
      block: blockOf(kind, compaction),
      edits: applied(),
      form: request.stream ? "stream" : "whole",
    });
  let summary: ServerCompaction | null = null;
  // A prompt may be made several times before it is sent; what was done for the first is still what was done.
  let outcome: ThreadPrompt<AnthropicMessage>["outcome"] = null;
  return {
    id,
    client: "now",
    tells: editOf(asked, "compact_20260112") !== null,
    async prepare(given) {
      if (asked.summarize === null) {
        const counted = await shortened(parsed, asked, { edits, given });
        if (counted.outcome?.kind === "compacted") outcome = counted.outcome;
        return withoutThinking(parsed, asked, {
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
      return renamedMessage(answer, { id: isThread ? id : null, first, edits: applied() });
    },
    // A thread that goes on has it from its beginning; a fork begins anew.
    receipt: () => (outline === null || begun.threadId === from ? null : { type: OUTLINE_EVENT, outline }),
    end() {},
  };
}

function editOf<T extends ContextEdit["type"]>(
  { edits }: RequestedEdits,
  type: T,
): Extract<ContextEdit, { readonly type: T }> | null {
  return (edits?.find((edit) => edit.type === type) as Extract<ContextEdit, { readonly type: T }> | undefined) ?? null;
}

/** All of it is asked for: what stays verbatim is the least that can. */
const LEAST_KEPT = { type: "messages", value: 1 } as const;

/** Reasons for which there may be a summary later. */
const UNREADY: readonly string[] = ["aborted", "conflict", "busy"];

async function summarized(
  instructions: string | null,
  { claimed: { thread }, request }: PromptToPrepare<AnthropicMessage>,
): Promise<ThreadPrompt<AnthropicMessage>> {
  const focus = instructions === null ? {} : { focus: instructions };
  const outcome = await thread.compact({ keep: LEAST_KEPT, ...focus, ...signalOf(request) }).catch(() => null);
  if (outcome === null || (outcome.kind === "unchanged" && UNREADY.includes(outcome.reason)))
    throw refused("compaction_unavailable");
  return thread.prompt(request);
}

const signalOf = ({ signal }: PromptRequest) => (signal === undefined ? {} : { signal });

type AppliedEdits = Map<string, JsonFields & { readonly cleared_input_tokens: number }>;

interface Editing {
  /** What is done is added to it. */
  readonly edits: AppliedEdits;
}

/** Old tool results go first; at the client's trigger what is left is compacted, where our own has not done it. */
async function shortened(
  parsed: NamedMessages,
  asked: RequestedEdits,
  { given, edits }: Editing & { readonly given: PromptToPrepare<AnthropicMessage> },
): Promise<ThreadPrompt<AnthropicMessage>> {
  const { claimed, request } = given;
  const uses = editOf(asked, "clear_tool_uses_20250919");
  const freed = uses === null ? null : await pruneToolUses(parsed, uses, given);
  if (freed !== null) addCleared(edits, freed);
  const { outcome } = given.counted;
  const counted = freed === null ? given.counted : { ...(await claimed.thread.prompt(request)), outcome };
  const compact = editOf(asked, "compact_20260112");
  if (compact === null || counted.count.tokens <= compact.trigger || outcome?.kind === "compacted") return counted;
  const focus = compact.instructions === null ? {} : { focus: compact.instructions };
  const done = await claimed.thread.compact({ ...focus, ...signalOf(request) });
  return done.kind === "compacted" ? { ...(await claimed.thread.prompt(request)), outcome: done } : counted;
}

function addCleared(edits: AppliedEdits, { uses, tokens }: Pick<Cleared, "uses" | "tokens">): void {
  const type = "clear_tool_uses_20250919";
  const before = edits.get(type);
  edits.set(type, {
    type,
    cleared_tool_uses: Number(before?.["cleared_tool_uses"] ?? 0) + uses,
    cleared_input_tokens: (before?.cleared_input_tokens ?? 0) + tokens,
  });
}

function withoutThinking(
  { target }: NamedMessages,
  asked: RequestedEdits,
  { counted, edits }: Editing & { readonly counted: ThreadPrompt<AnthropicMessage> },
): PreparedPrompt<AnthropicMessage> {
  const edit = editOf(asked, "clear_thinking_20251015");
  if (edit === null) return { counted, messages: null };
  const binds = bindsThoughts(target);
  const { messages, turns, tokens } = clearThinking(counted.messages, edit, { binds, count: counterOf(target) });
  if (turns === 0) return { counted, messages: null };
  edits.set(edit.type, { type: edit.type, cleared_thinking_turns: turns, cleared_input_tokens: tokens });
  return { counted, messages };
}

/*
 * An answer of the Messages API under a name of ours: its id, what was edited for it, and a compaction that was made for it
 * as its first block. Everything else passes as it came. And an answer that is nothing but such a block.
 */

interface MessageRewriting {
  /** Null: as the provider calls it. */
  readonly id: string | null;
  readonly first: JsonFields | null;
  /** What `context_management` says in the answer; null: it wasn't asked for. */
  readonly edits: readonly JsonFields[] | null;
}

function renamedMessage(answer: UpstreamAnswer, rewriting: MessageRewriting): UpstreamAnswer {
  const { id, first, edits } = rewriting;
  return rewrittenAnswer(answer, {
    events: (body) => events(body, rewriting),
    whole: (message) => ({
      ...message,
      ...(id !== null && { id }),
      ...(first !== null && { content: [first, ...listIn(message["content"])] }),
      ...managed(edits),
    }),
  });
}

const managed = (edits: readonly JsonFields[] | null) =>
  edits === null ? {} : { context_management: { applied_edits: edits } };

async function* events(body: AsyncIterable<Uint8Array>, rewriting: MessageRewriting): AsyncGenerator<Uint8Array> {
  const parse = eventParser();
  for await (const piece of body) {
    const texts = parse(piece).map((event) => eventOf(event, rewriting));
    if (texts.length > 0) yield Buffer.from(texts.join(""));
  }
}

function eventOf({ name, data }: UpstreamEvent, { id, first, edits }: MessageRewriting): string {
  const fields = parseFields(data);
  if (fields === null) return eventText(data, name === null ? {} : { name });
  switch (fields["type"]) {
    case "message_start": {
      const message = { ...fieldsOf(fields["message"]), ...(id !== null && { id }) };
      return typedEvent({ ...fields, message }) + (first === null ? "" : blockEvents(first));
    }
    case "message_delta":
      return typedEvent({ ...fields, ...managed(edits) });
    default:
      return typedEvent(
        first !== null && typeof fields["index"] === "number" ? { ...fields, index: fields["index"] + 1 } : fields,
      );
  }
}

/** Its text comes in one piece, as theirs does. */
function blockEvents(block: JsonFields): string {
  const { content, encrypted_content: encrypted, ...rest } = block;
  return [
    { type: "content_block_start", index: 0, content_block: { ...rest, content: null, encrypted_content: null } },
    {
      type: "content_block_delta",
      index: 0,
      delta: { type: "compaction_delta", content, encrypted_content: encrypted },
    },
    { type: "content_block_stop", index: 0 },
  ]
    .map(typedEvent)
    .join("");
}

const USAGE = { input_tokens: 0, cache_creation_input_tokens: 0, cache_read_input_tokens: 0, output_tokens: 0 };

/** No provider was asked: nothing is charged for it. */
function blockAnswer(given: {
  readonly id: string;
  readonly model: string;
  readonly block: JsonFields;
  readonly edits: readonly JsonFields[] | null;
  readonly form: "stream" | "whole";
}): UpstreamAnswer {
  const { id, model, block, edits, form } = given;
  const end = { stop_reason: "compaction", stop_sequence: null };
  const message = { id, type: "message", role: "assistant", model, usage: USAGE };
  if (form === "whole")
    return writtenAnswer(200, "whole", [JSON.stringify({ ...message, content: [block], ...end, ...managed(edits) })]);
  const begun = { ...message, content: [], stop_reason: null, stop_sequence: null };
  return writtenAnswer(200, "stream", [
    typedEvent({ type: "message_start", message: begun }),
    blockEvents(block),
    typedEvent({ type: "message_delta", delta: end, usage: USAGE, ...managed(edits) }),
    typedEvent({ type: "message_stop" }),
  ]);
}
