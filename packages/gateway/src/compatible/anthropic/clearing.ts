/**
 * Anthropic's context edits as our log makes them: old tool results become prunes, so that the view stays the same from one
 * request to the next and a person can take them back; old thinking is left out of what is sent. Pure.
 */
import type { PruneEntry } from "@palimpsest/core/log";
import { type AnthropicMessage, anthropicShape } from "@palimpsest/core/message";
import type { ClearThinking, ClearToolUses } from "./asked.ts";

/** A message of the view, as it is shown. */
export interface Shown {
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
interface Use {
  readonly name: string;
  readonly call: { readonly seq: number; readonly part: number; readonly input: string } | null;
  readonly result: { readonly seq: number; readonly part: number; readonly text: string; readonly images: number };
}

export function clearToolUses(
  shown: readonly Shown[],
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

function usesIn(shown: readonly Shown[]): readonly Use[] {
  const calls = new Map<string, { readonly name: string; readonly call: NonNullable<Use["call"]> }>();
  const uses: Use[] = [];
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

function clearsInput({ name }: Use, { inputs }: ClearToolUses): boolean {
  return inputs === "all" || (inputs !== "none" && inputs.includes(name));
}

function entriesFor(use: Use, edit: ClearToolUses): readonly PruneEntry[] {
  const { result, call } = use;
  const cleared: PruneEntry = { target: result.seq, part: result.part, replacement: CLEARED, reason: "stale-output" };
  if (call === null || !clearsInput(use, edit)) return [cleared];
  return [cleared, { target: call.seq, part: call.part, replacement: NO_INPUT, reason: "long-input" }];
}

/** Of an image nobody knows the tokens before it is sent; so many are the usual. */
const IMAGE_TOKENS = 1000;

function freedBy(use: Use, edit: ClearToolUses, count: (text: string) => number): number {
  const { result, call } = use;
  const input = call !== null && clearsInput(use, edit) ? count(call.input) - count(NO_INPUT) : 0;
  return Math.max(0, count(result.text) - count(CLEARED)) + result.images * IMAGE_TOKENS + Math.max(0, input);
}

export interface ClearedThinking {
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
