/** The items of a thread as OpenAI lists them: each with an id, page by page. */
import type { ThreadHeader } from "@palimpsest/core/log";
import { convert, type ResponsesItem, type ResponsesMessage, responsesItems } from "@palimpsest/core/message";
import type { Store, StoredRecord } from "palimpsest/stores";
import { keyed, type Secret } from "../matching/chain.ts";
import type { Fields } from "../vendor.ts";
import { noItem } from "./refusals.ts";

export interface ListedItem {
  readonly id: string;
  readonly item: ResponsesItem;
  /** The record it stands in, and its place among the record's items. */
  readonly seq: number;
  readonly index: number;
}

export interface ItemQuery {
  readonly threadId: string;
  /** The last record that counts. */
  readonly to: number;
  readonly order: "asc" | "desc";
  readonly after: string | null;
  readonly limit: number;
}

export interface ItemPage {
  readonly items: readonly ListedItem[];
  readonly more: boolean;
}

type Scope = Pick<ItemQuery, "threadId" | "to" | "order">;

/** Items in order, as the log streams them. */
async function* itemsOf(store: Store, { threadId, to, order }: Scope, secret: Secret): AsyncGenerator<ListedItem> {
  const header = await store.header(threadId);
  if (header === undefined || to < 1) return;
  const query = { range: [1, to], kinds: ["message"], order: order === "asc" ? "ascending" : "descending" } as const;
  for await (const stored of store.records(threadId, query)) {
    const items = listed(stored, header, secret);
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

export async function findItem(
  store: Store,
  scope: Omit<Scope, "order">,
  { id, secret }: { readonly id: string; readonly secret: Secret },
) {
  for await (const one of itemsOf(store, { ...scope, order: "desc" }, secret)) if (one.id === id) return one;
  return null;
}

function listed({ record }: StoredRecord, header: ThreadHeader, secret: Secret): ListedItem[] {
  if (record.kind !== "message") return [];
  const { seq, dialect, body } = record;
  const value = JSON.parse(body) as ResponsesMessage;
  const messages = dialect === "openai-responses" ? [value] : convert([value as never], dialect, "openai-responses");
  return responsesItems(messages as readonly ResponsesMessage[]).map((item, index) => {
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
  const isReference = (item: Fields) => item["type"] === "item_reference";
  const missing = new Set(items.filter(isReference).map(({ id }) => String(id)));
  if (missing.size === 0) return items;
  const query = { kinds: ["message"], order: "descending" } as const;
  for await (const { record } of store.records(threadId, query)) {
    if (record.kind !== "message") continue;
    for (const { id } of responsesItems([JSON.parse(record.body) as ResponsesMessage])) missing.delete(id ?? "");
    if (missing.size === 0) break;
  }
  const [unknown] = missing;
  if (unknown !== undefined) throw noItem(unknown, "input");
  return items.filter((item) => !isReference(item));
}
