/**
 * Answers the requests of `useChat` with web responses. One answer at a time in a chat; a request that is sent again follows
 * the answer under way, or gets it from the log. An answer is stopped when every request that reads it was given up.
 */

import { checkThreadId } from "@palimpsest/core/internal/log";
import { createUIMessageStreamResponse, type UIMessage, type UIMessageChunk } from "ai";
import type { Store } from "../../stores/store.ts";
import { replay } from "../../thread/audit.ts";
import { currentThread } from "../../thread/handle.ts";
import type { Agent } from "../agent.ts";
import { pendingIn } from "../approval.ts";
import { AgentError } from "../errors.ts";
import type { RunInput } from "../execute.ts";
import type { Incoming } from "../input.ts";
import type { AgentStream } from "../stream.ts";
import { uiMessagesOf } from "../ui/thread-messages.ts";
import type { UIStreamOptions } from "../ui/ui-stream.ts";
import { type ChatLog, type RequestInLog, requestInLog } from "./answers.ts";
import { type BrowserWords, browserWords } from "./words.ts";

/** Options of a run, and what of it the page is shown. `signal`: the request's; without it nothing stops the answer. */
export interface RespondOptions extends ChatRunInput, Omit<UIStreamOptions, "originalMessages"> {}

type Respond = (body: unknown, options?: RespondOptions) => Promise<Response>;

/** The chats of an agent, and the answer to a request of one. */
export interface AgentChats extends Chats {
  readonly respond: Respond;
}

export function openChats(deps: ResponderDeps): AgentChats {
  const chats = createChats(deps);
  return { ...chats, respond: createResponder(chats) };
}

function createResponder(chats: Chats): Respond {
  const active = new Map<string, ActiveAnswer>();
  const begin = (key: string, request: ChatRequest, options: RespondOptions): ActiveAnswer => {
    const begun = new ActiveAnswer(request, {
      stops: options.signal === undefined ? "never" : "unread",
      start: (signal) => open(chats, request, { ...options, signal }),
    });
    active.set(key, begun);
    void begun.ended.then(() => active.delete(key));
    return begun;
  };
  /** Null: there is nothing to come back to. */
  const read = async (
    request: ChatRequest,
    options: RespondOptions,
  ): Promise<ReadableStream<UIMessageChunk> | null> => {
    const key = JSON.stringify([options.userId ?? null, request.id]);
    const name = nameOf(request);
    for (;;) {
      const other = active.get(key);
      if (request.act === "resume" && other === undefined)
        return (await chats.running(request, options))?.toUIMessageStream(options) ?? null;
      if (other === undefined) return begin(key, request, options).read(options);
      if (request.act === "resume" || (other.name === name && !other.isStopped)) return other.read(options);
      if (!other.isStopped) throw busy(request.id);
      await other.ended;
    }
  };
  return async (body, options = {}) => {
    try {
      const stream = await read(readChat(body), options);
      return stream === null ? new Response(null, { status: 204 }) : createUIMessageStreamResponse({ stream });
    } catch (error) {
      return refusalResponse(error);
    }
  };
}

/** A run, or the answer that the log has. */
type Opened = AgentStream | readonly UIMessageChunk[];

/** Throws where no run has started. */
async function open(chats: Chats, request: ChatRequest, options: RespondOptions): Promise<Opened> {
  const { onError, sendReasoning: _, messageMetadata: __, ...input } = options;
  for (let attempt = 1; ; attempt += 1) {
    const found = await chats.find(request, { userId: input.userId, onError });
    if (found.kind === "answered") return found.chunks;
    const stream = await chats.start(request, found.kind, input);
    const { kind } = await stream.started;
    if (kind === "busy") throw busy(request.id);
    if (kind !== "failed") return stream;
    const { error } = await stream.result;
    // Another process was faster: the log has the answer by now.
    if (error?.code !== "already-said" || attempt === ATTEMPTS) throw error;
  }
}

const ATTEMPTS = 2;

function busy(chat: string): AgentError {
  return new AgentError("busy", `chat ${chat} is being answered: wait for the answer, or stop it`);
}

interface AnswerOrder {
  /** `unread`: when every request that reads it was given up. */
  readonly stops: "never" | "unread";
  readonly start: (signal: AbortSignal) => Promise<Opened>;
}

class ActiveAnswer {
  readonly name: string;
  readonly ended: Promise<unknown>;
  readonly #opened: Promise<Opened>;
  readonly #original: readonly UIMessage[];
  readonly #stop = new AbortController();
  /** Requests that can be given up. */
  #readers: number;

  constructor(request: ChatRequest, { stops, start }: AnswerOrder) {
    this.name = nameOf(request);
    this.#original = request.last === null ? [] : [request.last];
    this.#readers = stops === "never" ? Number.POSITIVE_INFINITY : 0;
    this.#opened = start(this.#stop.signal);
    this.ended = this.#opened.then(
      (opened) => ("result" in opened ? opened.result : null),
      () => null,
    );
  }

  get isStopped(): boolean {
    return this.#stop.signal.aborted;
  }

  async read({ signal, ...options }: RespondOptions): Promise<ReadableStream<UIMessageChunk>> {
    if (signal !== undefined) this.#attend(signal);
    const opened = await this.#opened;
    if ("result" in opened) return opened.toUIMessageStream({ ...options, originalMessages: this.#original });
    return ReadableStream.from(opened) as ReadableStream<UIMessageChunk>;
  }

  #attend(signal: AbortSignal): void {
    this.#readers += 1;
    const leave = (): void => {
      this.#readers -= 1;
      if (this.#readers === 0) this.#stop.abort(signal.reason);
    };
    if (signal.aborted) leave();
    else signal.addEventListener("abort", leave, { once: true });
  }
}

// A chat of `useChat` on an agent's threads: a chat has the id of its first thread and goes on in the forks that
// `regenerate` and `edit` make. What `respond` and the gateway stand on.

type ChatRunInput = Omit<RunInput, keyof Incoming | "threadId" | "output">;

export interface MessagesOptions extends Pick<UIStreamOptions, "onError"> {
  /** Whose chat it is; by default the store's user's. */
  readonly userId?: string | undefined;
}

interface Chats {
  /** Whether the log has the request already, and its answer. */
  find(request: ChatRequest, options: MessagesOptions): Promise<RequestInLog>;
  /** Starts the run that the request asks for. `unanswered`: what it says is in the log. */
  start(request: ChatRequest, said: "new" | "unanswered", input: ChatRunInput): Promise<AgentStream>;
  /** The run under way that was not asked for here. */
  running(request: ChatRequest, options: MessagesOptions): Promise<AgentStream | null>;
  messages(chatId: string, options?: MessagesOptions): Promise<UIMessage[]>;
}

export type RunStarter = Pick<Agent, "stream" | "regenerate" | "edit" | "running">;

interface ResponderDeps extends Pick<ChatLog, "isClients"> {
  readonly runs: RunStarter;
  /** A user's view of it; by default the store's own user. */
  readonly store: (userId: string | undefined) => Store;
}

function createChats({ runs, store, isClients }: ResponderDeps): Chats {
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
  /** Opened when they are first asked for: most agents answer no page. */
  readonly [CHATS]: () => AgentChats;
}

export function chatsOf(agent: Agent): Chats {
  // Every agent is made by `createAgent`.
  return (agent as ChatAgent)[CHATS]();
}

// One request of a chat as `useChat` sends it, read at the boundary. Pure: throws an `AgentError` with a code.

export interface ChatRequest {
  /** The chat's id: that of its first thread. */
  readonly id: string;
  /** `resume`: read the answer under way. */
  readonly act: "say" | "edit" | "regenerate" | "resume";
  /** The message to answer again or to say anew. */
  readonly messageId: string | undefined;
  /** Null where nothing is said: `regenerate` and `resume`. */
  readonly words: BrowserWords | null;
  /** The page's last message: where it is an answer, the run goes on in it. */
  readonly last: UIMessage | null;
}

/** The body of a `POST`, or `{ id, trigger: "resume-stream" }` for the `GET` by which a page comes back to an answer. */
export function readChat(body: unknown): ChatRequest {
  if (typeof body !== "object" || body === null || Array.isArray(body)) throw badBody("it is not an object");
  const { id, messages, trigger = "submit-message", messageId } = body as Readonly<Record<string, unknown>>;
  if (typeof id !== "string") throw badBody("it has no id");
  const checked = checkThreadId(id);
  if (checked.kind === "invalid") throw new AgentError("bad-thread-id", checked.problem);
  if (messageId !== undefined && (typeof messageId !== "string" || messageId.length > LONGEST_ID))
    throw badBody(`messageId is not a text of up to ${LONGEST_ID} characters`);
  const request = { id, messageId, words: null };
  if (trigger === "resume-stream") return { ...request, act: "resume", last: null };
  if (trigger === "regenerate-message") return { ...request, act: "regenerate", last: null };
  if (trigger !== "submit-message") throw badBody(`its trigger ${JSON.stringify(trigger)?.slice(0, 40)} is unknown`);
  const words = browserWords(messages);
  const act = messageId !== undefined && words.said !== null ? "edit" : "say";
  // Every message was found to be one.
  return { ...request, act, words, last: (messages as UIMessage[]).at(-1)! };
}

const LONGEST_ID = 200;

function badBody(problem: string): AgentError {
  return new AgentError("bad-body", `this is no request of a chat: ${problem}`);
}

/** Equal for a request that is sent again. */
export function nameOf({ act, messageId, words }: ChatRequest): string {
  return JSON.stringify([act, messageId ?? null, words]);
}

// The statuses of what a request of a chat is refused for.

export const REFUSAL_STATUS: Readonly<Record<string, number>> = {
  "bad-body": 400,
  "bad-thread-id": 400,
  "bad-message": 400,
  "empty-prompt": 400,
  "no-addresses": 400,
  "not-allowed": 403,
  busy: 409,
  "already-said": 409,
  "no-message": 422,
  "nothing-to-answer": 422,
  closed: 503,
};

/** As JSON with the code. Rethrows what is no fault of the request. */
function refusalResponse(error: unknown): Response {
  const status = error instanceof AgentError ? REFUSAL_STATUS[error.code] : undefined;
  if (status === undefined) throw error;
  const { code, message } = error as AgentError;
  return Response.json({ error: { code, message } }, { status });
}
