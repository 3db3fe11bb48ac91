/** The Conversations API: a conversation is a thread of the log under an id of its own. */
import { deleteInHome } from "palimpsest/internal/assistant";
import { commit, continuations, withWriter } from "palimpsest/internal/threads";
import { createThread } from "palimpsest/threads";
import type { Fields } from "../vendor.ts";
import { addItems, readItems } from "./conversation-items.ts";
import { conversationId } from "./conversation-threads.ts";
import { bodyOf, type HeldCall } from "./held-call.ts";
import { conversationOf, METADATA } from "./own-conversation.ts";
import { conversationLocked, refusal } from "./refusals.ts";

export async function createConversation(held: HeldCall): Promise<unknown> {
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

export async function retrieveConversation(held: HeldCall, id: string): Promise<unknown> {
  return conversationOf(held, id);
}

export async function updateConversation(held: HeldCall, id: string): Promise<unknown> {
  await conversationOf(held, id);
  await patched(held, id, metadataIn(await bodyOf(held.call)));
  return conversationOf(held, id);
}

/** With its threads: nothing is left that its ids could point to. */
export async function deleteConversation(held: HeldCall, id: string): Promise<unknown> {
  const { home, threads } = held.call;
  await conversationOf(held, id);
  for (const threadId of (await continuations({ store: threads.store, name: id })).toReversed())
    if ((await deleteInHome(home, threadId)).kind === "busy") throw conversationLocked();
  return { id, object: "conversation.deleted", deleted: true };
}

/** In the thread that it began in, wherever it stands by now. */
async function patched({ call }: HeldCall, id: string, metadata: Fields): Promise<void> {
  const patch = { [METADATA]: metadata };
  const written = await withWriter(call.threads, id, (writer) => commit(writer, [{ kind: "state", patch }]));
  if (written.kind === "busy") throw conversationLocked();
}

const MOST_PAIRS = 16;
const MOST_NAME = 64;
const MOST_TEXT = 512;

function metadataIn({ metadata }: Fields): Fields {
  if (metadata == null) return {};
  const pairs = typeof metadata === "object" && !Array.isArray(metadata) ? Object.entries(metadata) : null;
  const isFine =
    pairs !== null &&
    pairs.length <= MOST_PAIRS &&
    pairs.every(([name, text]) => name.length <= MOST_NAME && typeof text === "string" && text.length <= MOST_TEXT);
  if (isFine) return metadata as Fields;
  const message = `Invalid 'metadata': expected at most ${MOST_PAIRS} pairs of texts, names up to ${MOST_NAME} and values up to ${MOST_TEXT} characters.`;
  throw refusal(400, { code: "invalid_value", message, param: "metadata" });
}
