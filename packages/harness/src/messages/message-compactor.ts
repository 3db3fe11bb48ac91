/** A compactor of messages that keeps its state itself: the same as `compactMessages`, with nothing to pass along or to mix up. */
import { indexableText, indexEntry, MemoryIndex, search } from "@palimpsest/core/internal/recall";
import { type CompactedMessages, compactMessages } from "./compact-messages.ts";
import { type CompactMessagesOptions, formOf } from "./options.ts";
import { EMPTY_STATE, type MessagesState, type MessagesUsage, recognize } from "./state.ts";

/** `state`: one of an earlier compactor, to go on from. `onMismatch` is `reset` unless told. */
export type MessageCompactorOptions<M extends object = object> = Omit<CompactMessagesOptions<M>, "usage" | "signal">;

export interface MessageCompactor<M extends object> {
  /** What to send of all that was said. One call at a time. An array that goes on from what this gave back is known, too. */
  prompt(messages: readonly M[], signal?: AbortSignal): Promise<CompactedMessages<M>>;
  /** What the provider reported for the prompt made last: the next count goes on from it. */
  report(usage: MessagesUsage): void;
  /** Finds messages among all that were said, also hidden ones, best first. */
  search(query: string, options?: { readonly limit?: number }): Promise<MessageSearch<M>>;
  /** Plain JSON; for a compactor in another process. */
  readonly state: MessagesState;
}

/** As a thread's `search` says it. */
export type MessageSearch<M> =
  | { readonly kind: "found"; readonly hits: readonly FoundMessage<M>[] }
  | { readonly kind: "nothing"; readonly reason: "no-terms" | "no-match" };

interface FoundMessage<M> {
  readonly message: M;
  /** Its place, from 1, in all that was said. */
  readonly place: number;
  readonly score: number;
}

export function createMessageCompactor<M extends object>(options: MessageCompactorOptions<M>): MessageCompactor<M> {
  let state = options.state ?? EMPTY_STATE;
  let said: readonly M[] = [];
  let given: readonly M[] = [];
  return {
    get state() {
      return state;
    },
    async prompt(messages, signal) {
      const all = wholeOf(messages);
      const result = await compactMessages<M>(all, { onMismatch: "reset", ...options, state, signal });
      state = result.state;
      said = all;
      given = result.messages;
      return result;
    },
    report({ input, output }) {
      const { count, hash } = state.said;
      if (count > 0) state = { ...state, report: { input, output, of: count + 1, hash } };
    },
    async search(query, { limit = 20 } = {}) {
      const result = await search(indexOf(said, options), { kind: "thread", threadId: THREAD }, query, { limit });
      if (result.kind === "nothing") return { kind: "nothing", reason: result.reason };
      const hits = result.hits.map(({ doc, score }) => ({ message: said[doc.seq - 1]!, place: doc.seq, score }));
      return { kind: "found", hits };
    },
  };

  /** Of an array that goes on from what was given back, the hidden messages are still known here. */
  function wholeOf(messages: readonly M[]): readonly M[] {
    if (said.length === 0 || messages.length < given.length) return messages;
    const form = formOf<M>(messages, options);
    const recognized = recognize(state, { messages, turns: form.turns(messages) }, form.shape);
    return recognized === "compacted" ? [...said, ...messages.slice(given.length)] : messages;
  }
}

const THREAD = "messages";

function indexOf<M extends object>(said: readonly M[], options: MessageCompactorOptions<M>): MemoryIndex {
  const { shape } = formOf<M>(said, options);
  const index = new MemoryIndex();
  const at = "1970-01-01T00:00:00.000Z";
  for (const [place, message] of said.entries()) {
    const text = indexableText(message, shape, { origin: "import" });
    if (text !== null) index.put({ threadId: THREAD, seq: place + 1 }, indexEntry({ ...text, at }));
  }
  return index;
}
