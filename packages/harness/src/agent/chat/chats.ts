/**
 * A chat of `useChat` on an agent's threads: a chat has the id of its first thread and goes on in the forks that
 * `regenerate` and `edit` make. What `respond` and the gateway stand on.
 */
import type { UIMessage } from "ai";
import type { Store } from "../../stores/store.ts";
import { replay } from "../../thread/audit.ts";
import { currentThread } from "../../thread/current-thread.ts";
import type { AgentStream } from "../agent-stream.ts";
import { pendingIn } from "../approval/pending.ts";
import type { Agent } from "../create-agent.ts";
import type { RunInput } from "../execute.ts";
import type { Incoming } from "../incoming.ts";
import { uiMessagesOf } from "../ui/thread-messages.ts";
import type { UIStreamOptions } from "../ui/ui-stream.ts";
import type { ChatRequest } from "./chat-request.ts";
import { type ChatLog, type RequestInLog, requestInLog } from "./request-in-log.ts";

export type ChatRunInput = Omit<RunInput, keyof Incoming | "threadId" | "output">;

export interface MessagesOptions extends Pick<UIStreamOptions, "onError"> {
  /** Whose chat it is; by default the store's user's. */
  readonly userId?: string | undefined;
}

export interface Chats {
  /** Whether the log has the request already, and its answer. */
  find(request: ChatRequest, options: MessagesOptions): Promise<RequestInLog>;
  /** Starts the run that the request asks for. `unanswered`: what it says is in the log. */
  start(request: ChatRequest, said: "new" | "unanswered", input: ChatRunInput): Promise<AgentStream>;
  /** The run under way that was not asked for here. */
  running(request: ChatRequest, options: MessagesOptions): Promise<AgentStream | null>;
  messages(chatId: string, options?: MessagesOptions): Promise<UIMessage[]>;
}

export type RunStarter = Pick<Agent, "stream" | "regenerate" | "edit" | "running">;

interface ChatDeps extends Pick<ChatLog, "isClients"> {
  readonly runs: RunStarter;
  /** A user's view of it; by default the store's own user. */
  readonly store: (userId: string | undefined) => Store;
}

export function createChats({ runs, store, isClients }: ChatDeps): Chats {
  return {
    async find(request, { userId, onError }) {
      const own = store(userId);
      const threadId = await currentThread(own, request.id);
      return requestInLog({ store: own, threadId, isClients }, request, { onError });
    },
    async start({ act, id, messageId, last }, said, input) {
      const threadId = await currentThread(store(input.userId), id);
      if (act === "regenerate") return runs.regenerate({ ...input, threadId, messageId });
      if (last === null) throw new TypeError(`a request that says nothing starts no run: ${act}`);
      if (act !== "edit") return runs.stream({ ...input, threadId, uiMessages: [last] });
      const edit = { ...input, messageId: messageId!, threadId, uiMessages: [{ ...last, id: messageId! }] };
      return said === "new" ? runs.edit(edit) : runs.stream(edit);
    },
    async running({ id }, { userId }) {
      const own = store(userId);
      return runs.running(await currentThread(own, id), { userId: own.userId });
    },
    async messages(chatId, { userId, onError } = {}) {
      const own = store(userId);
      const threadId = await currentThread(own, chatId);
      const pending = pendingIn((await own.head(threadId))?.state ?? {}, threadId);
      return uiMessagesOf(replay({ store: own }, threadId), { pending, onError });
    },
  };
}

/** For our own packages, which answer in another way than `respond`. */
export const CHATS = Symbol("chats");

export interface ChatAgent extends Agent {
  readonly [CHATS]: Chats;
}

export function chatsOf(agent: Agent): Chats {
  // Every agent is made by `createAgent`.
  return (agent as ChatAgent)[CHATS];
}
