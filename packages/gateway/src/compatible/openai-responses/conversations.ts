/** The Conversations API: a conversation is a thread of the log under an id of its own. */

import type { MessageRecord, ThreadHeader } from "@palimpsest/core/internal/log";
import {
  parseMessage,
  type ResponsesItem,
  readMessage,
  readStoredAs,
  responsesItems,
  responsesTurns,
} from "@palimpsest/core/internal/message";
import { isRecord } from "@palimpsest/core/internal/text";
import { deleteInHome } from "palimpsest/internal/assistant";
import {
  commit,
  continuations,
  continueThread,
  createThread,
  currentThread,
  withWriter,
  writeWhereItStands,
} from "palimpsest/internal/threads";
import { appendMessages, type RecordInput } from "palimpsest/session";
import type { Store, StoredRecord } from "palimpsest/stores";
import { fieldsOf, type JsonFields } from "../../http/read-json.ts";
import { isItemReference } from "../account-ids.ts";
import type { ServerThreadPlace } from "../answer.ts";
import { chainStateAt, keyed, type Secret } from "../match.ts";
import { withOwnCalls } from "../own-tools/stitch.ts";
import {
  bodyOf,
  conversationLocked,
  noConversation,
  noItem,
  type ResourceCall,
  refusal,
  responsesShape,
} from "./params.ts";

export async function createConversation(held: ResourceCall): Promise<unknown> {
  const { call } = held;
  const body = await bodyOf(call);
  const metadata = metadataIn(body);
  const items = readItems(body["items"] ?? []);
  const id = conversationId(call.threads.ids());
  await createThread(call.threads, { id });
  await patched(held, id, metadata);
  if (items.length > 0) await addItems(held, id, items);
  return conversationOf(held, id);
}

export async function updateConversation(held: ResourceCall, id: string): Promise<unknown> {
  await conversationOf(held, id);
  await patched(held, id, metadataIn(await bodyOf(held.call)));
  return conversationOf(held, id);
}

/** With its threads: nothing is left that its ids could point to. */
export async function deleteConversation(held: ResourceCall, id: string): Promise<unknown> {
  const { threads } = held.call;
  await conversationOf(held, id);
  for (const threadId of (await continuations({ store: threads.store, name: id })).toReversed())
    if ((await deleteInHome(threads, threadId)).kind === "busy") throw conversationLocked();
  return { id, object: "conversation.deleted", deleted: true };
}

/** In the thread that it began in, wherever it stands by now. */
async function patched({ call }: ResourceCall, id: string, metadata: JsonFields): Promise<void> {
  const patch = { [METADATA]: metadata };
  const written = await withWriter(call.threads, id, (writer) => commit(writer, [{ kind: "state", patch }]));
  if (written.kind === "busy") throw conversationLocked();
}

const MOST_PAIRS = 16;
const MOST_NAME = 64;
const MOST_TEXT = 512;

function metadataIn({ metadata }: JsonFields): JsonFields {
  if (metadata == null) return {};
  const pairs = Object.entries(fieldsOf(metadata));
  const isFine =
    isRecord(metadata) &&
    pairs.length <= MOST_PAIRS &&
    pairs.every(([name, text]) => name.length <= MOST_NAME && typeof text === "string" && text.length <= MOST_TEXT);
  if (isFine) return metadata;
  const message = `Invalid 'metadata': expected at most ${MOST_PAIRS} pairs of texts, names up to ${MOST_NAME} and values up to ${MOST_TEXT} characters.`;
  throw refusal(400, { code: "invalid_value", message, param: "metadata" });
}

/* Items of a conversation: added, listed, and taken out. What is taken out stays in the thread that is left. */

export async function createItems(held: ResourceCall, id: string): Promise<unknown> {
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
function readItems(given: unknown): readonly ResponsesItem[] {
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
async function addItems(held: ResourceCall, id: string, items: readonly ResponsesItem[]): Promise<unknown> {
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

export async function listItems(held: ResourceCall, id: string): Promise<unknown> {
  const { call, secret, query } = held;
  return pageOf(await itemPage(call.threads.store, { ...(await threadOf(held, id)), ...pageIn(query) }, secret));
}

export async function retrieveItem(held: ResourceCall, id: string, itemId: string): Promise<unknown> {
  return (await ownItem(held, id, itemId)).item;
}

async function ownItem(held: ResourceCall, id: string, itemId: string): Promise<ListedItem> {
  const { call, secret } = held;
  const item = await findItem(call.threads.store, await threadOf(held, id), { id: itemId, secret });
  if (item === null) throw noItem(itemId);
  return item;
}

/** How long it waits for a request that writes. */
const WAIT_MS = 1000;

/** The conversation goes on without it in a fork; the thread that is left still has it. */
export async function deleteItem(held: ResourceCall, id: string, itemId: string): Promise<unknown> {
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
async function sayAgain({ call }: ResourceCall, threadId: string, { seq, index }: ListedItem): Promise<RecordInput[]> {
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
  const rest = responsesItems([parseMessage("openai-responses", body)]).filter((_, at) => at !== index);
  return rest.length === 0 ? null : JSON.stringify(rest.length === 1 ? rest[0] : rest);
}

/* Conversations of OpenAI's API as threads: the id is the thread's, unguessable, and only its user's. */

const PREFIX = "conv_pal";

const conversationId = (unique: string): string => `${PREFIX}${unique.replaceAll("-", "")}`;

/** Of ours, as far as one can see. */
export const isConversationId = (id: string): boolean => /^conv_pal[0-9a-z]{16,64}$/i.test(id);

/** Its end: a conversation is one line, and never forked. Null: there is none of this id. */
export async function conversationPlace(
  store: Store,
  id: string,
  { secret, locked }: { readonly secret: Secret; readonly locked: Error },
): Promise<ServerThreadPlace | null> {
  if ((await store.header(id)) === undefined) return null;
  const threadId = await currentThread(store, id);
  const seq = await lastAnswered(store, threadId);
  const hash = keyed(secret, `conversation\n${threadId}\n${seq}`);
  return { threadId, seq, state: chainStateAt(hash), otherwise: locked };
}

/** Words behind it were asked and never answered: asked again they are the same question. */
async function lastAnswered(store: Store, threadId: string): Promise<number> {
  const query = { kinds: ["message"], order: "descending" } as const;
  for await (const { record } of store.records(threadId, query))
    if (record.kind === "message" && record.origin !== "user" && record.origin !== "tool") return record.seq;
  return 0;
}

/* A conversation of the caller's: what it is, and the thread in which it stands. */

/** Throws where the caller has none of this id. */
export async function conversationOf({ call }: ResourceCall, id: string): Promise<JsonFields> {
  const { store } = call.threads;
  const header = isConversationId(id) ? await store.header(id) : undefined;
  const state = header === undefined ? undefined : (await store.head(id))?.state;
  if (header === undefined || state === undefined) throw noConversation(id);
  const created = Math.floor(Date.parse(header.createdAt) / 1000);
  return { id, object: "conversation", created_at: created, metadata: state[METADATA] ?? {} };
}

/** Where the state of its first thread has what its client says of it. */
const METADATA = "conversationMetadata";

/** The thread in which it stands now. */
async function threadOf(held: ResourceCall, id: string): Promise<{ readonly threadId: string; readonly to: number }> {
  await conversationOf(held, id);
  const { store } = held.call.threads;
  const threadId = await currentThread(store, id);
  return { threadId, to: (await store.head(threadId))?.version ?? 0 };
}

/* Pages as OpenAI has them: by the id of the last item, forwards or back. */

interface PageQuery {
  readonly after: string | null;
  readonly limit: number;
  readonly order: "asc" | "desc";
}

const MOST = 100;
const USUAL = 20;

export function pageIn(query: URLSearchParams): PageQuery {
  const limit = Number(query.get("limit") ?? USUAL);
  if (!Number.isInteger(limit) || limit < 1 || limit > MOST) {
    const code = limit > MOST ? "integer_above_max_value" : "integer_below_min_value";
    throw refusal(400, { code, message: `Invalid 'limit': expected 1 to ${MOST}.`, param: "limit" });
  }
  const order = query.get("order") ?? "desc";
  if (order !== "asc" && order !== "desc")
    throw refusal(400, {
      code: "invalid_value",
      message: "Invalid 'order': expected 'asc' or 'desc'.",
      param: "order",
    });
  return { after: query.get("after"), limit, order };
}

export function pageOf({ items, more }: ItemPage) {
  return {
    object: "list",
    data: items.map(({ item }) => item),
    first_id: items[0]?.id ?? null,
    last_id: items.at(-1)?.id ?? null,
    has_more: more,
  };
}

/* The items of a thread as OpenAI lists them: each with an id, page by page. */

interface ListedItem {
  readonly id: string;
  readonly item: ResponsesItem;
  /** The record it stands in, and its place among the record's items. */
  readonly seq: number;
  readonly index: number;
}

interface ItemQuery {
  readonly threadId: string;
  /** The last record that counts. */
  readonly to: number;
  readonly order: "asc" | "desc";
  readonly after: string | null;
  readonly limit: number;
}

interface ItemPage {
  readonly items: readonly ListedItem[];
  readonly more: boolean;
}

type ItemScope = Pick<ItemQuery, "threadId" | "to" | "order">;

/** Items in order, as the log streams them. */
async function* itemsOf(store: Store, { threadId, to, order }: ItemScope, secret: Secret): AsyncGenerator<ListedItem> {
  const header = await store.header(threadId);
  if (header === undefined || to < 1) return;
  const query = { range: [1, to], kinds: ["message"], order: order === "asc" ? "ascending" : "descending" } as const;
  for await (const { stored, ours } of withOwnCalls(store.records(threadId, query))) {
    const items = listed(stored, header, secret).filter(({ item }) => !ours.has(item["call_id"]));
    yield* order === "asc" ? items : items.toReversed();
  }
}

/** Throws for an `after` that isn't there. */
export async function itemPage(store: Store, query: ItemQuery, secret: Secret): Promise<ItemPage> {
  const { after, limit } = query;
  const items: ListedItem[] = [];
  let begun = after === null;
  for await (const one of itemsOf(store, query, secret)) {
    if (begun && items.length === limit) return { items, more: true };
    if (begun) items.push(one);
    else if (one.id === after) begun = true;
  }
  if (!begun) throw noItem(after!, "after");
  return { items, more: false };
}

async function findItem(
  store: Store,
  scope: Omit<ItemScope, "order">,
  { id, secret }: { readonly id: string; readonly secret: Secret },
) {
  for await (const one of itemsOf(store, { ...scope, order: "desc" }, secret)) if (one.id === id) return one;
  return null;
}

function listed({ record }: StoredRecord, header: ThreadHeader, secret: Secret): ListedItem[] {
  if (record.kind !== "message") return [];
  const { seq } = record;
  return responsesItems(readStoredAs(record, responsesShape)).map((item, index) => {
    const id = item.id ?? madeId(item, keyed(secret, JSON.stringify(["item", header.user, record.id, index])));
    return { id, item: { ...whole(item), id }, seq, index };
  });
}

/** Of an item that came without one. */
function madeId({ type = "message" }: ResponsesItem, hash: string): string {
  return `${PREFIXES[type] ?? "item"}_${hash.replaceAll(/[-_]/g, "0")}`;
}

const PREFIXES: Readonly<Record<string, string>> = {
  message: "msg",
  function_call: "fc",
  function_call_output: "fco",
  reasoning: "rs",
};

/** As their types have it: content is a list, and everything has a status. */
function whole(item: ResponsesItem): ResponsesItem {
  const { type = "message" } = item;
  const status = item["status"] ?? "completed";
  if (type !== "message") return type === "reasoning" || type === "compaction" ? item : { ...item, type, status };
  const { content } = item;
  const kind = item["role"] === "assistant" ? { type: "output_text", annotations: [] } : { type: "input_text" };
  return { ...item, type, status, content: typeof content === "string" ? [{ ...kind, text: content }] : content };
}

/** Items that are only named are those of the thread itself: they are in it already. Throws for one that isn't. */
export async function withoutReferences(
  store: Store,
  threadId: string,
  items: readonly ResponsesItem[],
): Promise<readonly ResponsesItem[]> {
  const missing = new Set(items.filter(isItemReference).map(({ id }) => String(id)));
  if (missing.size === 0) return items;
  const query = { kinds: ["message"], order: "descending" } as const;
  for await (const { record } of store.records(threadId, query)) {
    if (record.kind !== "message") continue;
    for (const { id } of responsesItems([parseMessage("openai-responses", record.body)])) missing.delete(id ?? "");
    if (missing.size === 0) break;
  }
  const [unknown] = missing;
  if (unknown !== undefined) throw noItem(unknown, "input");
  return items.filter((item) => !isItemReference(item));
}
