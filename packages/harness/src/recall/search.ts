/**
 * Search over what was ever said, in one thread or in all of a user's: brings the index up to date, lets core rank, and
 * shows the messages found. Compactions and undos hide nothing here; a fork finds what it shares.
 */
import type { MessageRecord } from "@palimpsest/core/log";
import { type Role, shapeOf } from "@palimpsest/core/message";
import { indexableText, type Scope, search, snippet } from "@palimpsest/core/recall";
import type { Stretch } from "../stores/recall-tables.ts";
import type { Store } from "../stores/store.ts";
import { catchUp } from "./catch-up.ts";
import { storedIndex } from "./stored-index.ts";

export interface SearchHit {
  readonly thread: string;
  readonly seq: number;
  readonly score: number;
  readonly at: string;
  readonly role: Role;
  /** Who spoke: a name where the message has one, else the role. */
  readonly speaker: string;
  /** Messages of one sitting share a number, within their thread. */
  readonly session: number;
  readonly text: string;
  /** The message, or the part of it that answers best, with the words that matched marked. */
  readonly snippet: string;
}

export type SearchOutcome =
  | { readonly kind: "found"; readonly hits: readonly SearchHit[] }
  /** `no-terms`: the question is empty or holds only words that stand in every text. */
  | { readonly kind: "nothing"; readonly reason: "no-terms" | "no-match" | "missing" };

export interface SearchSettings {
  /** How many hits at most; 20 unless told. */
  readonly k?: number;
  /** `whole`: each snippet is the message itself, for a caller that shortens by its own rules. */
  readonly snippets?: "marked" | "whole";
}

export async function searchThread(
  store: Store,
  thread: string,
  question: string,
  settings: SearchSettings = {},
): Promise<SearchOutcome> {
  const stretches = await catchUp(store, thread);
  if (stretches.length === 0) return { kind: "nothing", reason: "missing" };
  return run(store, { kind: "thread", thread }, stretches, question, settings);
}

export async function searchAll(
  store: Store,
  user: string,
  question: string,
  settings: SearchSettings = {},
): Promise<SearchOutcome> {
  let stretches = await store.recall.ofUser(user);
  const behind = stretches.filter(({ indexed, through, stale }) => indexed < through || stale.length > 0);
  for (const { thread } of behind) await catchUp(store, thread);
  if (behind.length > 0) stretches = await store.recall.ofUser(user);
  return run(store, { kind: "user", user }, stretches, question, settings);
}

async function run(
  store: Store,
  scope: Scope,
  stretches: readonly Stretch[],
  question: string,
  { k = 20, snippets = "marked" }: SearchSettings,
): Promise<SearchOutcome> {
  const result = await search(storedIndex(store.recall, stretches), scope, question, { limit: k });
  if (result.kind === "nothing") return result;
  const hits = await Promise.all(
    result.hits.map(async ({ doc, score }): Promise<SearchHit | null> => {
      const { thread, seq, at, speaker, session } = doc;
      const shown = await readMessage(store, thread, seq);
      if (shown === null) return null;
      const part = snippets === "whole" ? shown.text : snippet(shown.text, question);
      return { thread, seq, score, speaker, session, ...shown, at, snippet: part };
    }),
  );
  return { kind: "found", hits: hits.filter((hit) => hit !== null) };
}

type Shown = Pick<SearchHit, "role" | "text" | "at">;

/** The words of a message as they were indexed. */
async function readMessage(store: Store, thread: string, seq: number): Promise<Shown | null> {
  for await (const { record } of store.records(thread, { range: [seq, seq], kinds: ["message"] })) {
    const { dialect, body, origin, at } = record as MessageRecord;
    const shape = shapeOf(dialect);
    const message = JSON.parse(body) as never;
    return { role: shape.role(message), at, text: indexableText(message, shape as never, { origin })?.text ?? "" };
  }
  return null;
}

/** Messages by address (`thread#seq`), as hits that no search found; those that aren't there are left out. */
export async function readTurns(store: Store, refs: readonly string[]): Promise<SearchHit[]> {
  const found: SearchHit[] = [];
  for (const ref of refs) {
    const [thread = "", seq = ""] = ref.split("#");
    if (!/^\d+$/.test(seq)) continue;
    const shown = await readMessage(store, thread, Number(seq));
    // Its sitting isn't known without the index; the day stands for it.
    const session = shown === null ? 0 : -Math.floor(Date.parse(shown.at) / 86_400_000);
    const hit = { thread, seq: Number(seq), score: 0, session };
    if (shown !== null) found.push({ ...hit, ...shown, speaker: shown.role, snippet: shown.text });
  }
  return found;
}
