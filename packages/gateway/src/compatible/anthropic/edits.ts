/** What a request asks of Anthropic's own server beside an answer: to hold its thread, to clear or summarize what is old. Pure. */

import { applyPrunes, type PruneEntry } from "@palimpsest/core/internal/log";
import { type AnthropicMessage, anthropicShape, parseMessage } from "@palimpsest/core/internal/message";
import { isRecord } from "@palimpsest/core/internal/text";
import { commit } from "palimpsest/internal/threads";
import { counterFor } from "palimpsest/models";
import type { Store } from "palimpsest/stores";
import { fieldsOf, type JsonFields, listIn } from "../../http/read-json.ts";
import type { PromptToPrepare } from "../answer.ts";
import { bindsThoughts, lengthRule, type ProviderTarget } from "../policy.ts";
import type { ParsedRequest } from "../request.ts";

export interface RequestedEdits {
  readonly thread: ThreadAsked | null;
  /** Null: `context_management` isn't there. */
  readonly edits: readonly ContextEdit[] | null;
  /** A summary is asked for instead of an answer. */
  readonly summarize: { readonly instructions: string | null } | null;
}

type ThreadAsked = { readonly type: "create" } | { readonly type: "continue"; readonly previousId: string };

export type ContextEdit = ClearToolUses | ClearThinking | Compact;

export interface ClearToolUses {
  readonly type: "clear_tool_uses_20250919";
  readonly trigger: { readonly type: "input_tokens" | "tool_uses"; readonly value: number };
  /** Newest tool uses that stay. */
  readonly keep: number;
  readonly clearAtLeast: number;
  readonly excluded: readonly string[];
  /** Whose inputs go as well. */
  readonly inputs: "none" | "all" | readonly string[];
}

interface ClearThinking {
  readonly type: "clear_thinking_20251015";
  /** Newest turns that keep theirs. */
  readonly keep: number;
}

interface Compact {
  readonly type: "compact_20260112";
  readonly trigger: number;
  readonly instructions: string | null;
  readonly pause: boolean;
}

type ReadAsked =
  | { readonly kind: "asked"; readonly asked: RequestedEdits }
  | { readonly kind: "problem"; readonly message: string };

/** Throws nothing: what can't be meant is a problem in words. */
export function readAsked(body: JsonFields): ReadAsked {
  try {
    const thread = threadIn(body["thread"]);
    const edits = editsIn(body["context_management"]);
    const summarize = summarizeIn(body["compaction"]);
    if (summarize !== null && edits !== null)
      throw new BadParameter("compaction: cannot be combined with `context_management`");
    return { kind: "asked", asked: { thread, edits, summarize } };
  } catch (error) {
    if (error instanceof BadParameter) return { kind: "problem", message: error.message };
    throw error;
  }
}

class BadParameter extends Error {}

function threadIn(value: unknown): ThreadAsked | null {
  if (value == null) return null;
  const { type, previous_message_id: previousId } = objectIn(value, "thread");
  if (type === "create") return { type };
  if (type !== "continue") throw new BadParameter("thread.type: must be `create` or `continue`");
  if (typeof previousId !== "string" || previousId === "")
    throw new BadParameter("thread.previous_message_id: Field required");
  return { type, previousId };
}

function summarizeIn(value: unknown): RequestedEdits["summarize"] {
  if (value == null) return null;
  const { type, instructions } = objectIn(value, "compaction");
  if (type !== "summarize") throw new BadParameter("compaction.type: must be `summarize`");
  return { instructions: textIn(instructions, "compaction.instructions") };
}

function editsIn(value: unknown): readonly ContextEdit[] | null {
  if (value == null) return null;
  const { edits } = objectIn(value, "context_management");
  if (edits != null && !Array.isArray(edits)) throw new BadParameter("context_management.edits: must be a list");
  const read = listIn(edits).map((edit, index) => editIn(edit, `context_management.edits.${index}`));
  const types = read.map(({ type }) => type);
  const twice = types.find((type, index) => types.indexOf(type) !== index);
  if (twice !== undefined) throw new BadParameter(`context_management.edits: \`${twice}\` is there more than once`);
  return read;
}

function editIn(value: unknown, at: string): ContextEdit {
  const fields = objectIn(value, at);
  switch (fields["type"]) {
    case "clear_tool_uses_20250919":
      return toolUsesIn(fields, at);
    case "clear_thinking_20251015":
      return { type: "clear_thinking_20251015", keep: thinkingKept(fields["keep"], `${at}.keep`) };
    case "compact_20260112":
      return {
        type: "compact_20260112",
        trigger:
          numberOf(fields["trigger"], { at: `${at}.trigger`, types: ["input_tokens"], least: 1 })?.value ?? 150_000,
        instructions: textIn(fields["instructions"], `${at}.instructions`),
        pause: fields["pause_after_compaction"] === true,
      };
    default:
      throw new BadParameter(
        `${at}.type: ${JSON.stringify(fields["type"])} is not carried out here; X-Palimpsest-Compaction: native leaves it to the vendor`,
      );
  }
}

function toolUsesIn(fields: JsonFields, at: string): ClearToolUses {
  const trigger = numberOf(fields["trigger"], {
    at: `${at}.trigger`,
    types: ["input_tokens", "tool_uses"],
    least: 0,
  });
  const { clear_tool_inputs: inputs, exclude_tools: excluded } = fields;
  return {
    type: "clear_tool_uses_20250919",
    trigger: trigger ?? { type: "input_tokens", value: 100_000 },
    keep: numberOf(fields["keep"], { at: `${at}.keep`, types: ["tool_uses"], least: 0 })?.value ?? 3,
    clearAtLeast:
      numberOf(fields["clear_at_least"], { at: `${at}.clear_at_least`, types: ["input_tokens"], least: 0 })?.value ?? 0,
    excluded: namesIn(excluded ?? [], `${at}.exclude_tools`),
    inputs:
      inputs == null || inputs === false
        ? "none"
        : inputs === true
          ? "all"
          : namesIn(inputs, `${at}.clear_tool_inputs`),
  };
}

function thinkingKept(value: unknown, at: string): number {
  if (value === "all" || fieldsOf(value)["type"] === "all") return Number.POSITIVE_INFINITY;
  return numberOf(value, { at, types: ["thinking_turns"], least: 1 })?.value ?? 1;
}

interface ExpectedKind<T extends string> {
  readonly at: string;
  readonly types: readonly T[];
  readonly least: number;
}

function numberOf<T extends string>(value: unknown, { at, types, least }: ExpectedKind<T>) {
  if (value == null) return null;
  const { type, value: given } = objectIn(value, at);
  const known = types.find((one) => one === type);
  if (known === undefined)
    throw new BadParameter(`${at}.type: must be ${types.map((one) => `\`${one}\``).join(" or ")}`);
  if (typeof given !== "number" || !Number.isInteger(given) || given < least)
    throw new BadParameter(`${at}.value: must be a whole number of at least ${least}`);
  return { type: known, value: given };
}

function namesIn(value: unknown, at: string): readonly string[] {
  if (!Array.isArray(value) || value.some((name) => typeof name !== "string"))
    throw new BadParameter(`${at}: must be a list of tool names`);
  return value;
}

/** White space alone counts as absent. */
function textIn(value: unknown, at: string): string | null {
  if (value == null) return null;
  if (typeof value !== "string") throw new BadParameter(`${at}: must be a text`);
  return value.trim() === "" ? null : value;
}

function objectIn(value: unknown, at: string): JsonFields {
  if (!isRecord(value)) throw new BadParameter(`${at}: must be an object`);
  return value;
}

/*
 * Anthropic's context edits as our log makes them: old tool results become prunes, so that the view stays the same from one
 * request to the next and a person can take them back; old thinking is left out of what is sent. Pure.
 */

/** A message of the view, as it is shown. */
export interface ShownMessage {
  readonly seq: number;
  readonly message: AnthropicMessage;
}

export interface Cleared {
  readonly entries: readonly PruneEntry[];
  readonly uses: number;
  readonly tokens: number;
}

const NOTHING: Cleared = { entries: [], uses: 0, tokens: 0 };

/** What stands for a result that was cleared. */
export const CLEARED = "[cleared: an old tool result that was taken out of the prompt]";
const NO_INPUT = "{}";

/** One call with its result, by where they stand. */
interface ToolUseFacts {
  readonly name: string;
  readonly call: { readonly seq: number; readonly part: number; readonly input: string } | null;
  readonly result: { readonly seq: number; readonly part: number; readonly text: string; readonly images: number };
}

export function clearToolUses(
  shown: readonly ShownMessage[],
  edit: ClearToolUses,
  { tokens, count }: { readonly tokens: number; readonly count: (text: string) => number },
): Cleared {
  const uses = usesIn(shown);
  const left = uses.filter(({ result }) => result.text !== CLEARED);
  const reached = edit.trigger.type === "input_tokens" ? tokens : left.length;
  if (reached <= edit.trigger.value) return NOTHING;
  const mayGo = left.filter(({ name }) => !edit.excluded.includes(name));
  const going = mayGo.slice(0, Math.max(0, mayGo.length - edit.keep));
  const entries = going.flatMap((use) => entriesFor(use, edit));
  const freed = going.reduce((sum, use) => sum + freedBy(use, edit, count), 0);
  if (going.length === 0 || freed < edit.clearAtLeast) return NOTHING;
  return { entries, uses: going.length, tokens: freed };
}

function usesIn(shown: readonly ShownMessage[]): readonly ToolUseFacts[] {
  const calls = new Map<string, { readonly name: string; readonly call: NonNullable<ToolUseFacts["call"]> }>();
  const uses: ToolUseFacts[] = [];
  for (const { seq, message } of shown)
    for (const [part, one] of anthropicShape.parts(message).entries()) {
      if (one.kind === "call") calls.set(one.id, { name: one.name, call: { seq, part, input: one.input } });
      if (one.kind !== "result") continue;
      const made = calls.get(one.id);
      const result = { seq, part, text: one.text, images: one.images.length };
      uses.push({ name: made?.name ?? one.name ?? "", call: made?.call ?? null, result });
    }
  return uses;
}

function clearsInput({ name }: ToolUseFacts, { inputs }: ClearToolUses): boolean {
  return inputs === "all" || (inputs !== "none" && inputs.includes(name));
}

function entriesFor(use: ToolUseFacts, edit: ClearToolUses): readonly PruneEntry[] {
  const { result, call } = use;
  const cleared: PruneEntry = { target: result.seq, part: result.part, replacement: CLEARED, reason: "stale-output" };
  if (call === null || !clearsInput(use, edit)) return [cleared];
  return [cleared, { target: call.seq, part: call.part, replacement: NO_INPUT, reason: "long-input" }];
}

/** Assumed tokens of an image: the real number is unknown before it is sent. */
const IMAGE_TOKENS = 1000;

function freedBy(use: ToolUseFacts, edit: ClearToolUses, count: (text: string) => number): number {
  const { result, call } = use;
  const input = call !== null && clearsInput(use, edit) ? count(call.input) - count(NO_INPUT) : 0;
  return Math.max(0, count(result.text) - count(CLEARED)) + result.images * IMAGE_TOKENS + Math.max(0, input);
}

interface ClearedThinking {
  readonly messages: readonly AnthropicMessage[];
  readonly turns: number;
  readonly tokens: number;
}

/**
 * `binds`: the model takes a thought back only behind the prompt it was made under, so where an earlier one goes the later
 * ones go as well.
 */
export function clearThinking(
  messages: readonly AnthropicMessage[],
  { keep }: ClearThinking,
  { binds, count }: { readonly binds: boolean; readonly count: (text: string) => number },
): ClearedThinking {
  const turns = turnsOf(messages);
  const thinking = [
    ...new Set(messages.flatMap((message, index) => (thoughtsIn(message) === "" ? [] : [turns[index]!]))),
  ];
  const kept = binds && thinking.length > keep ? [] : thinking.slice(-Math.min(keep, thinking.length));
  const goes = (message: AnthropicMessage, index: number) =>
    thoughtsIn(message) !== "" && !kept.includes(turns[index]!);
  const going = messages.filter(goes);
  if (going.length === 0) return { messages, turns: 0, tokens: 0 };
  return {
    messages: messages.flatMap((message, index) => (goes(message, index) ? withoutThoughts(message) : [message])),
    turns: thinking.length - kept.length,
    tokens: going.reduce((sum, message) => sum + count(thoughtsIn(message)), 0),
  };
}

/** Which turn each message belongs to: one begins with every message of a person. */
function turnsOf(messages: readonly AnthropicMessage[]): readonly number[] {
  let turn = 0;
  return messages.map((message) => {
    if (anthropicShape.role(message) === "user") turn += 1;
    return turn;
  });
}

const isThought = ({ type }: { readonly type: string }) => type === "thinking" || type === "redacted_thinking";

function thoughtsIn({ role, content }: AnthropicMessage): string {
  if (role !== "assistant" || typeof content === "string") return "";
  return content
    .filter(isThought)
    .map((block) => JSON.stringify(block))
    .join("");
}

/** A message of nothing but thoughts goes whole. */
function withoutThoughts(message: AnthropicMessage): readonly AnthropicMessage[] {
  if (typeof message.content === "string") return [message];
  const content = message.content.filter((block) => !isThought(block));
  return content.length === 0 ? [] : [{ ...message, content }];
}

/* Takes old tool results out of a thread's view: reads what is shown, plans, and appends one prune. */

export function counterOf({ model }: ProviderTarget): (text: string) => number {
  const { count, prior } = counterFor({ model });
  return (text) => Math.ceil(count(text) * prior);
}

/** Null: the trigger isn't reached, or too little would go. */
export async function pruneToolUses(
  { call, target }: ParsedRequest<AnthropicMessage>,
  edit: ClearToolUses,
  { claimed, counted }: PromptToPrepare<AnthropicMessage>,
): Promise<Cleared | null> {
  const { tokens } = counted.count;
  if (edit.trigger.type === "input_tokens" && tokens <= edit.trigger.value) return null;
  const shown = await shownIn(call.threads.store, claimed.thread.id);
  const cleared = clearToolUses(shown, edit, { tokens, count: counterOf(target) });
  if (cleared.entries.length === 0) return null;
  const prune = {
    kind: "prune",
    entries: cleared.entries,
    tokensBefore: tokens,
    tokensAfter: Math.max(0, tokens - cleared.tokens),
  } as const;
  const written = await claimed.thread.act((writer) => commit(writer, [prune]));
  return written.kind === "committed" ? cleared : null;
}

/** What the request's edits would leave, worked out on the messages alone. */
export function editedMessages(
  { body, policy, target }: ParsedRequest<AnthropicMessage>,
  messages: readonly AnthropicMessage[],
): readonly AnthropicMessage[] | null {
  const read = readAsked({ context_management: body["context_management"] });
  if (lengthRule(policy).vendors === "leave" || read.kind === "problem" || read.asked.edits === null) return null;
  const count = counterOf(target);
  const binds = bindsThoughts(target);
  return read.asked.edits.reduce<readonly AnthropicMessage[]>((left, edit) => {
    if (edit.type === "clear_thinking_20251015") return clearThinking(left, edit, { binds, count }).messages;
    if (edit.type !== "clear_tool_uses_20250919") return left;
    const tokens = left.reduce((sum, message) => sum + count(JSON.stringify(message)), 0);
    const shown = left.map((message, seq) => ({ seq, message }));
    const { entries } = clearToolUses(shown, edit, { tokens, count });
    const byTarget = Map.groupBy(entries, (entry) => entry.target);
    return left.map((message, seq) => applyPrunes(message, byTarget.get(seq) ?? [], anthropicShape));
  }, messages);
}

/** The messages after what is hidden, as the view has them; those that came in another protocol are left as they are. */
async function shownIn(store: Store, threadId: string): Promise<readonly ShownMessage[]> {
  const head = await store.head(threadId);
  if (head === undefined) return [];
  const entries: PruneEntry[] = [];
  for (const seq of head.prunes)
    for await (const { record } of store.records(threadId, { range: [seq, seq], kinds: ["prune"] }))
      if (record.kind === "prune") entries.push(...record.entries);
  const byTarget = Map.groupBy(entries, ({ target }) => target);
  const shown: ShownMessage[] = [];
  const query = { range: [head.hiddenThrough + 1, head.version], kinds: ["message"] } as const;
  for await (const { record } of store.records(threadId, query)) {
    if (record.kind !== "message" || record.dialect !== "anthropic") continue;
    const said = parseMessage("anthropic", record.body);
    const message = applyPrunes(said, byTarget.get(record.seq) ?? [], anthropicShape);
    shown.push({ seq: record.seq, message });
  }
  return shown;
}
