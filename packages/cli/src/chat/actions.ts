/** What the chat's commands do to the thread: compact, undo, redo, look at it, search, pin, fork. */
import { createSnippets } from "@palimpsest/core/recall";
import { freeForkName } from "palimpsest/internal/assistant";
import { coverNote } from "palimpsest/internal/recall";
import { searchThread } from "palimpsest/recall";
import { drawBudget } from "../terminal/budget-bar.ts";
import { inMarkdown, NOTHING_FOUND } from "../terminal/found-words.ts";
import type { ChatSession } from "./session.ts";
import { lastWords } from "./thread-text.ts";

const NOTHING_YET = "Nothing was said in this thread yet.";

export async function compact(session: ChatSession, focus: string): Promise<void> {
  const { assistant, screen, threadId } = session;
  const outcome = await session.interruptible(
    (signal) => assistant.agent.compact(threadId, { signal, ...(focus !== "" && { focus }) }),
    "compacting",
  );
  // What a compaction did is shown where its event is.
  if (outcome.kind === "unchanged") await screen.aside(`Nothing changed (${outcome.reason}): ${outcome.detail}.`);
}

export async function undo({ assistant, screen, threadId }: ChatSession): Promise<void> {
  await takenBack(screen, await assistant.agent.thread(threadId).undo(), "/redo brings it back");
}

export async function redo({ assistant, screen, threadId }: ChatSession): Promise<void> {
  await takenBack(screen, await assistant.agent.thread(threadId).redo(), "/undo takes it back again");
}

async function takenBack(
  screen: ChatSession["screen"],
  done: { readonly kind: string; readonly of?: number; readonly reason?: string },
  next: string,
): Promise<void> {
  if (done.kind === "undone") return screen.aside(`Record ${done.of} is taken back; ${next}.`);
  if (done.kind === "redone")
    return screen.aside(`The undo (record ${done.of}) is taken back: what it undid is in force again; ${next}.`);
  if (done.kind === "missing") return screen.aside(NOTHING_YET);
  if (done.kind !== "refused") return screen.aside("Another run is writing to this thread: try again.");
  const why: Readonly<Record<string, string>> = {
    "nothing-to-undo": "Nothing to undo: no compaction stands.",
    "nothing-to-redo": "Nothing to redo: no undo stands.",
  };
  await screen.aside(why[done.reason ?? ""] ?? `That can't be taken back (${done.reason}).`);
}

export async function context({ assistant, screen, threadId }: ChatSession): Promise<void> {
  const prompt = await assistant.agent.thread(threadId).context();
  if (prompt.kind === "missing") return screen.aside(NOTHING_YET);
  await screen.styled(drawBudget(prompt.breakdown, { title: threadId, color: screen.color, width: screen.width }));
}

export async function search({ deps, screen, threadId }: ChatSession, words: string): Promise<void> {
  if (words === "") return screen.aside("Say what to look for: /search WORDS");
  const result = await searchThread(deps.store, threadId, words, {
    limit: 5,
    only: "holders",
    ...(await deps.embedding()),
  });
  const missing = coverNote(result);
  if (missing !== null) await screen.aside(missing);
  if (result.kind === "nothing") return screen.aside(NOTHING_FOUND[result.reason]);
  const snippetOf = createSnippets(words);
  for (const { seq, role, text } of result.hits) {
    const snippet = snippetOf(text);
    const excerpt = screen.color ? inMarkdown(snippet) : snippet.text;
    await screen.prose(`- #${seq} ${role}: ${excerpt.replaceAll(/\s+/g, " ")}`);
  }
}

/** Without a number: the person's own last words. */
export async function pin(session: ChatSession, argument: string): Promise<void> {
  const { assistant, screen, threadId } = session;
  const seq = argument === "" ? ((await lastWords(session))?.seq ?? null) : number(argument);
  if (seq === null) return screen.aside(argument === "" ? NOTHING_YET : "/pin takes the number of a record: /pin 12");
  const pinned = await assistant.agent.thread(threadId).pin(seq);
  if (pinned.kind === "committed") return screen.aside(`Message ${seq} is pinned: every summary quotes it.`);
  await screen.aside(pinned.kind === "no-message" ? `Record ${seq} is no message.` : `Not pinned (${pinned.kind}).`);
}

/** Without a number: everything up to now. */
export async function fork(session: ChatSession, argument: string): Promise<void> {
  const { assistant, deps, screen, threadId } = session;
  const at = argument === "" ? ((await deps.store.head(threadId))?.version ?? null) : number(argument);
  if (at === null) return screen.aside(argument === "" ? NOTHING_YET : "/fork takes the number of a record: /fork 12");
  const as = await freeForkName(deps.store, threadId, at);
  const forked = await assistant.agent.thread(threadId).fork({ as, at });
  if (forked.kind !== "forked") return screen.aside(`Not forked: ${threadId} has no record ${at}.`);
  session.goTo(as);
  await screen.aside(`This is ${as} now, which shares ${threadId} up to record ${at}. /threads ${threadId} goes back.`);
}

/** In a thread of its own that shares what was before this record; where nothing was, in a new one. */
export async function goBefore(session: ChatSession, seq: number): Promise<void> {
  const { assistant, deps, screen, threadId } = session;
  const as = await freeForkName(deps.store, threadId, seq - 1);
  if (seq > 1) await assistant.agent.thread(threadId).fork({ as, at: seq - 1 });
  session.goTo(as);
  await screen.aside(`This is ${as} now; ${threadId} stays as it is (/threads ${threadId}).`);
}

function number(text: string): number | null {
  return /^#?\d{1,15}$/.test(text) ? Number(text.replace("#", "")) : null;
}
