/** Items of a conversation: added, listed, and taken out. What is taken out stays in the thread that is left. */
import { readMessage } from "@palimpsest/core/internal/message";
import type { MessageRecord } from "@palimpsest/core/log";
import { type ResponsesItem, type ResponsesMessage, responsesItems, responsesTurns } from "@palimpsest/core/message";
import { continueThread, currentThread, withWriter, writeWhereItStands } from "palimpsest/internal/threads";
import { appendMessages, type RecordInput } from "palimpsest/threads";
import { bodyOf, type HeldCall } from "./held-call.ts";
import { findItem, itemPage, type ListedItem } from "./items.ts";
import { conversationOf, threadOf } from "./own-conversation.ts";
import { pageIn, pageOf } from "./paging.ts";
import { conversationLocked, noItem, refusal } from "./refusals.ts";

export async function createItems(held: HeldCall, id: string): Promise<unknown> {
  await conversationOf(held, id);
  const items = readItems((await bodyOf(held.call))["items"]);
  if (items.length === 0)
    throw refusal(400, {
      code: "missing_required_parameter",
      message: "Missing required parameter: 'items'.",
      param: "items",
    });
  return addItems(held, id, items);
}

const MOST_ITEMS = 20;

/** As they may stand in a request's input. */
export function readItems(given: unknown): readonly ResponsesItem[] {
  const items = Array.isArray(given) ? (given as readonly ResponsesItem[]) : null;
  if (items === null)
    throw refusal(400, { code: "invalid_type", message: "Invalid type for 'items': expected a list.", param: "items" });
  if (items.length > MOST_ITEMS)
    throw refusal(400, {
      code: "array_above_max_length",
      message: `Invalid 'items': expected at most ${MOST_ITEMS}.`,
      param: "items",
    });
  for (const [index, item] of items.entries()) {
    const read = readMessage("openai-responses", item);
    if (read.kind === "problem")
      throw refusal(400, { code: "invalid_value", message: read.detail, param: `items[${index}]` });
  }
  return items;
}

/** The items as they are listed from now on. */
export async function addItems(held: HeldCall, id: string, items: readonly ResponsesItem[]): Promise<unknown> {
  const { call, secret } = held;
  const { threads } = call;
  const threadId = await currentThread(threads.store, id);
  const messages = responsesTurns(items).map(
    (body) => ({ dialect: "openai-responses", origin: "import", body }) as const,
  );
  const written = await withWriter(threads, threadId, (writer) => appendMessages(writer, messages));
  if (written.kind !== "done") throw conversationLocked();
  const { to } = await threadOf(held, id);
  const query = { threadId, to, order: "desc", after: null, limit: items.length } as const;
  const page = await itemPage(threads.store, query, secret);
  return pageOf({ items: page.items.toReversed(), more: false });
}

export async function listItems(held: HeldCall, id: string): Promise<unknown> {
  const { call, secret, query } = held;
  return pageOf(await itemPage(call.threads.store, { ...(await threadOf(held, id)), ...pageIn(query) }, secret));
}

export async function retrieveItem(held: HeldCall, id: string, itemId: string): Promise<unknown> {
  return (await ownItem(held, id, itemId)).item;
}

async function ownItem(held: HeldCall, id: string, itemId: string): Promise<ListedItem> {
  const { call, secret } = held;
  const item = await findItem(call.threads.store, await threadOf(held, id), { id: itemId, secret });
  if (item === null) throw noItem(itemId);
  return item;
}

/** How long it waits for a request that writes. */
const WAIT_MS = 1000;

/** The conversation goes on without it in a fork; the thread that is left still has it. */
export async function deleteItem(held: HeldCall, id: string, itemId: string): Promise<unknown> {
  const { threads } = held.call;
  const found = await ownItem(held, id, itemId);
  const { threadId } = await threadOf(held, id);
  const conversation = { ...threads, name: id, waitMs: WAIT_MS };
  const written = await writeWhereItStands(conversation, threadId, async (writer) => {
    const say = await sayAgain(held, threadId, found);
    return continueThread(conversation, writer, { keep: found.seq - 1, say });
  });
  if (written.kind !== "written" || written.value === "lost") throw conversationLocked();
  return conversationOf(held, id);
}

/** What comes after the item, and what else its record says. */
async function sayAgain({ call }: HeldCall, threadId: string, { seq, index }: ListedItem): Promise<RecordInput[]> {
  const say: RecordInput[] = [];
  const { store } = call.threads;
  const to = (await store.head(threadId))?.version ?? seq;
  for await (const { record } of store.records(threadId, { range: [seq, to], kinds: ["message"] })) {
    if (record.kind !== "message") continue;
    const body = record.seq === seq ? without(record, index) : record.body;
    const { kind, id, dialect, origin } = record;
    if (body !== null) say.push({ kind, id, dialect, origin, body });
  }
  return say;
}

function without({ body }: MessageRecord, index: number): string | null {
  const rest = responsesItems([JSON.parse(body) as ResponsesMessage]).filter((_, at) => at !== index);
  return rest.length === 0 ? null : JSON.stringify(rest.length === 1 ? rest[0] : rest);
}
