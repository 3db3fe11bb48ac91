/**
 * A compaction as OpenAI's clients carry it: an item whose content they hand back unread. Ours is the summary as readable
 * text, behind a signed pointer to the place in the thread that it stands for: whoever sends it back goes on there, and
 * nothing of what it stands for is lost. One that we did not make is somebody else's and passes.
 */
import type { ThreadHeader } from "@palimpsest/core/log";
import type { Store } from "palimpsest/stores";
import type { HeldPlace } from "../held.ts";
import type { Secret } from "../matching/chain.ts";
import { findPointed, signPointer } from "../pointers/pointer.ts";
import type { Fields } from "../vendor.ts";

const MARK = "palimpsest ";
const KIND = "compaction";

export interface CompactionPlace {
  readonly seq: number;
  /** What the conversation is known by there. */
  readonly hash: string;
  readonly text: string;
}

export function compactionItem(
  header: ThreadHeader,
  { seq, hash, text }: CompactionPlace,
  { secret, id }: { readonly secret: Secret; readonly id: string },
): Fields {
  const token = signPointer(header, { seq, salt: hash }, { secret, kind: KIND, about: text });
  return { type: "compaction", id: `cmp_${id}`, encrypted_content: `${MARK}${token}\n${text}` };
}

/** Whether we made it, or somebody who wants to look like us. */
export function isOurs(item: Fields): boolean {
  const { type, encrypted_content: content } = item;
  return type === "compaction" && typeof content === "string" && content.startsWith(MARK);
}

/** Null: it was edited, is another user's, or its thread is gone. */
export async function compactedPlace(
  store: Pick<Store, "header" | "head">,
  item: Fields,
  secret: Secret,
): Promise<HeldPlace | null> {
  const content = String(item["encrypted_content"]).slice(MARK.length);
  const end = content.indexOf("\n");
  if (end === -1) return null;
  const signing = { secret, kind: KIND, about: content.slice(end + 1) };
  const pointed = await findPointed(store, content.slice(0, end), signing);
  if (pointed.kind === "not-found") return null;
  const { threadId, seq, salt } = pointed.pointer;
  return { threadId, seq, state: { hash: salt, pending: [], calls: [] }, otherwise: "fork" };
}
