/**
 * Answers the requests of `useChat` with web responses. One answer at a time in a chat; a request that is sent again follows
 * the answer under way, or gets it from the log. An answer is stopped when every request that reads it was given up.
 */
import { createUIMessageStreamResponse, type UIMessage, type UIMessageChunk } from "ai";
import type { AgentStream } from "../agent-stream.ts";
import { AgentError } from "../errors.ts";
import type { UIStreamOptions } from "../ui/ui-stream.ts";
import { type ChatRequest, nameOf, readChat } from "./chat-request.ts";
import type { ChatRunInput, Chats } from "./chats.ts";
import { refusalResponse } from "./refusal.ts";

/** Options of a run, and what of it the page is shown. `signal`: the request's; without it nothing stops the answer. */
export interface RespondOptions extends ChatRunInput, Omit<UIStreamOptions, "originalMessages"> {}

type Respond = (body: unknown, options?: RespondOptions) => Promise<Response>;

export function createResponder(chats: Chats): Respond {
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
