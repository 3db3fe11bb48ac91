/** A session's log as the SDK's items, and where in it an item ends: what a pop, a rewind and a retry are decided on. */
import {
  type AgentInputItem,
  applySessionHistoryMutations,
  type SessionHistoryMutation,
  UserError,
} from "@openai/agents-core";
import type { MessageRecord } from "@palimpsest/core/internal/log";
import type { ResponsesMessage } from "@palimpsest/core/internal/message";
import { readMessage, responsesItems, responsesTurns, shapeOf } from "@palimpsest/core/internal/message";
import type { Continuation } from "palimpsest/internal/threads";
import type { RecordInput } from "palimpsest/session";
import type { Store } from "palimpsest/stores";
import { fromResponsesItem, toResponsesItem } from "./items.ts";

export const turnsOf = (items: readonly AgentInputItem[]): readonly ResponsesMessage[] =>
  responsesTurns(items.map(toResponsesItem));

export const itemsOf = (turns: readonly ResponsesMessage[]): readonly AgentInputItem[] =>
  responsesItems(turns).map(fromResponsesItem);

/** From the newest message back. */
async function* messagesBack(store: Store, threadId: string): AsyncGenerator<MessageRecord> {
  for await (const { record } of store.records(threadId, { kinds: ["message"], order: "descending" })) {
    if (record.kind === "message") yield record;
  }
}

export const itemsIn = ({ body }: MessageRecord): readonly AgentInputItem[] => itemsOf([JSON.parse(body)]);

export interface HistoryCut {
  /** The items that were cut off, oldest first: fewer than asked for where there were no more. */
  readonly items: readonly AgentInputItem[];
  readonly continuation: Continuation;
}

/** The last `count` items taken off; null in a session where nothing was said. */
export async function cutEnd(store: Store, threadId: string, count: number): Promise<HistoryCut | null> {
  let items: readonly AgentInputItem[] = [];
  for await (const message of messagesBack(store, threadId)) {
    const own = itemsIn(message);
    const missing = count - items.length;
    items = [...own.slice(Math.max(0, own.length - missing)), ...items];
    if (items.length < count) continue;
    const say = messageInputs(own.slice(0, Math.max(0, own.length - missing)), (at) => `${message.id}:${at}`);
    return { items, continuation: { keep: message.seq - 1, say } };
  }
  return items.length === 0 ? null : { items, continuation: { keep: 0, say: [] } };
}

/** The calls spelled anew, and everything after the first of them said again; null where none of them was said. */
export async function replaceCalls(
  store: Store,
  threadId: string,
  mutations: SessionHistoryMutation[],
): Promise<Continuation | null> {
  const wanted = new Set(mutations.map(({ callId }) => callId));
  const first = { keep: 0, name: "", hasCalls: false };
  let items: readonly AgentInputItem[] = [];
  for await (const message of messagesBack(store, threadId)) {
    const own = itemsIn(message);
    items = [...own, ...items];
    const calls = own.filter((item) => item.type === "function_call" && wanted.delete(item.callId));
    Object.assign(first, { name: message.id, hasCalls: first.hasCalls || calls.length > 0 });
    if (wanted.size > 0) continue;
    first.keep = message.seq - 1;
    break;
  }
  if (!first.hasCalls) return null;
  const said = applySessionHistoryMutations([...items], mutations);
  return { keep: first.keep, say: messageInputs(said, (at) => `${first.name}:${at}`) };
}

/** Messages for the log, each with its id. Throws a `UserError` if an item can't be read back later. */
export function messageInputs(
  items: readonly AgentInputItem[],
  name: (at: number) => string,
): readonly Extract<RecordInput, { readonly kind: "message" }>[] {
  const shape = shapeOf("openai-responses");
  return turnsOf(items).map((turn, at) => {
    const body = JSON.stringify(turn);
    const read = readMessage("openai-responses", JSON.parse(body));
    if (read.kind === "problem") throw new UserError(`nothing was added, an item can't be read: ${read.detail}`);
    return { kind: "message", id: name(at), dialect: "openai-responses", origin: ORIGINS[shape.role(turn)], body };
  });
}

const ORIGINS = { user: "user", assistant: "model", tool: "tool", system: "injected" } as const;
