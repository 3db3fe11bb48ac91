/**
 * Marks for the prompt cache on a prompt of ours. Clients move their mark with every request, and each message was kept
 * with the one it had then: all of them together would be more than the API takes. The client's marks of this request stay
 * where they are, and behind the last prunings come ours, from where the next one writes anew. Pure.
 */

import type { AnthropicBlock, AnthropicMessage } from "@palimpsest/core/internal/message";
import type { PromptCache } from "palimpsest/session";
import { fieldsOf, type JsonFields, listIn } from "../../http/read-json.ts";
import type { VendorRequest, WrittenPrompt } from "../vendor.ts";

/** The API takes so many. */
const MOST_MARKS = 4;
/** Behind the last pruning, where the next one begins, and behind the one before, where the last one could read. */
const OURS = 2;

type MarkedRequest = Pick<VendorRequest<AnthropicMessage>, "leading" | "messages">;

/** By the marks that a prompt of ours will carry. */
export function markedCache(
  body: JsonFields,
  request: MarkedRequest,
): { readonly promptCache: PromptCache; readonly ttl: "1h" | null } {
  const { atEnd, room } = marksOf(body, request);
  if (atEnd === null) return { promptCache: "none", ttl: null };
  const ttl = fieldsOf(atEnd)["ttl"] === "1h" ? "1h" : null;
  return { promptCache: room >= OURS ? "marks" : "end", ttl };
}

export function withMarks({
  body,
  request,
  messages,
  cuts = [],
}: WrittenPrompt<AnthropicMessage>): readonly AnthropicMessage[] {
  const { atEnd, room, isAutomatic } = marksOf(body, request);
  const bare = messages.map(withoutMarks);
  if (atEnd === null) return bare;
  const last = bare.length - 1;
  const marked = keptMarks(bare, request.messages);
  const newest = request.messages.findLast((message) => marksIn(message).length > 0);
  const isKept = isAutomatic || [...marked.values()].includes(newest!);
  if (!isKept && last >= 0) marked.set(last, markedAtEnd(bare[last]!, atEnd));
  for (const cut of room >= OURS ? cuts : []) {
    const index = messages.indexOf(cut);
    // One of an hour comes before those of five minutes: ours is as the first of the client's behind it.
    if (index !== -1 && !marked.has(index))
      marked.set(index, markedAtEnd(bare[index]!, nextMark(marked, index) ?? atEnd));
  }
  return bare.map((message, index) => marked.get(index) ?? message);
}

interface ClientMarks {
  /** The last mark of the messages, or the one that the API sets at their end; null: they aren't kept in the cache. */
  readonly atEnd: unknown;
  readonly isAutomatic: boolean;
  /** How many more the API takes. */
  readonly room: number;
}

function marksOf(body: JsonFields, { leading, messages }: MarkedRequest): ClientMarks {
  const automatic = body["cache_control"] ?? null;
  const own = messages.flatMap(marksIn);
  const told = leading.flatMap((message) => listIn(fieldsOf(message)["content"]));
  const beside = [...listIn(body["tools"]), ...listIn(body["system"]), ...told];
  const taken = beside.filter((one) => fieldsOf(one)["cache_control"] != null).length;
  const isAutomatic = automatic !== null;
  return { atEnd: own.at(-1) ?? automatic, isAutomatic, room: MOST_MARKS - taken - own.length - (isAutomatic ? 1 : 0) };
}

/** The client's marks on those of its messages that are shown as it wrote them, by their place in the prompt. */
function keptMarks(
  bare: readonly AnthropicMessage[],
  asked: readonly AnthropicMessage[],
): Map<number, AnthropicMessage> {
  const kept = new Map<number, AnthropicMessage>();
  for (const [index, message] of asked.entries()) {
    if (marksIn(message).length === 0) continue;
    const place = bare.length - (asked.length - index);
    // What was added to a question may stand behind it.
    const found = [place, place - 1].find((at) => at >= 0 && !kept.has(at) && isSame(bare[at]!, message));
    if (found !== undefined) kept.set(found, message);
  }
  return kept;
}

function isSame(one: AnthropicMessage, other: AnthropicMessage): boolean {
  const words = (message: AnthropicMessage): string => JSON.stringify(blocksOf(withoutMarks(message)));
  return one.role === other.role && words(one) === words(other);
}

function nextMark(marked: ReadonlyMap<number, AnthropicMessage>, index: number): unknown {
  const behind = [...marked.keys()].filter((at) => at > index);
  return behind.length === 0 ? undefined : marksIn(marked.get(Math.min(...behind))!)[0];
}

function blocksOf({ content }: AnthropicMessage): readonly AnthropicBlock[] {
  return typeof content === "string" ? [{ type: "text", text: content }] : content;
}

function marksIn({ content }: AnthropicMessage): unknown[] {
  if (typeof content === "string") return [];
  return content.flatMap(({ cache_control: mark }) => (mark == null ? [] : [mark]));
}

function withoutMarks(message: AnthropicMessage): AnthropicMessage {
  if (typeof message.content === "string" || marksIn(message).length === 0) return message;
  return { ...message, content: message.content.map(({ cache_control: _, ...block }) => block as AnthropicBlock) };
}

/** Thinking takes no mark. */
function markedAtEnd(message: AnthropicMessage, mark: unknown): AnthropicMessage {
  const blocks = blocksOf(message);
  const at = blocks.findLastIndex(({ type }) => type !== "thinking" && type !== "redacted_thinking");
  return {
    ...message,
    content: blocks.map((block, index) => (index === at ? { ...block, cache_control: mark } : block)),
  };
}
