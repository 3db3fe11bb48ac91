/**
 * The server's side of `useChat` on a thread: what the page sent is said, once; an answer asked for again and a message said
 * anew are forks under the chat's own id; and a page that is loaded again gets the thread as its messages.
 */
import {
  createUIMessageStreamResponse,
  type ModelMessage,
  type TextStreamPart,
  type ToolSet,
  toUIMessageStream,
  type UIMessage,
} from "ai";
import { questionSeq, saidSeq } from "../agent/fork/fork-point.ts";
import { newInUi } from "../agent/ui/read-ui-messages.ts";
import { uiMessagesOf } from "../agent/ui/thread-messages.ts";
import type { IdentifiedMessage } from "../session/given-message.ts";
import type { Store } from "../stores/store.ts";
import { asUser } from "../stores/users.ts";
import { replay } from "../threads/audit.ts";
import {
  continuations,
  continueThread,
  type NamedConversation,
  writeWhereItStands,
} from "../threads/continue-thread.ts";
import { threadDeps } from "../threads/writer.ts";
import { type PalimpsestOptions, type StepSettings, threadSteps } from "./steps.ts";

/** As `useChat` sends it; all messages or only the last one. */
export interface ChatRequest {
  readonly id: string;
  readonly messages: readonly UIMessage[];
  readonly trigger?: "submit-message" | "regenerate-message" | undefined;
  readonly messageId?: string | undefined;
}

export interface OpenChat {
  /** For `streamText`: `streamText({ model, ...chat.settings })`. */
  readonly settings: StepSettings & { readonly messages: ModelMessage[] };
  /** Where the chat stands now. */
  readonly threadId: string;
  /** The run as the page's stream. The run goes on when the page goes away, so that its answer is there when it comes back. */
  respond(result: Streamed): Response;
}

/** What is needed of `streamText`'s result. */
interface Streamed {
  readonly stream: ReadableStream<TextStreamPart<ToolSet>>;
  consumeStream(): PromiseLike<void>;
}

export type ChatOptions = Omit<PalimpsestOptions, "threadId" | "requestId">;

const WAIT_MS = 5_000;

/** Throws for what can't be said: an empty request, a message that can't be read, a thread that somebody else holds. */
export async function openChat(request: ChatRequest, options: ChatOptions): Promise<OpenChat> {
  const conversation = chatConversation(request.id, options);
  const said = request.trigger === "regenerate-message" ? [] : await newMessages(request);
  await rewind(conversation, request);
  const threadId = (await continuations(conversation)).at(-1)!;
  const steps = threadSteps({ ...options, threadId }, "heard");
  await (await steps.thread()).append(said);
  return {
    threadId,
    // The SDK wants some; each step is sent the thread's prompt.
    settings: { ...steps.settings, messages: said.length > 0 ? said.map(({ message }) => message) : [GO_ON] },
    respond(result) {
      void result.consumeStream();
      const originalMessages = [...request.messages];
      const generateMessageId = steps.answerId;
      const stream = toUIMessageStream({ stream: result.stream, originalMessages, generateMessageId });
      return createUIMessageStreamResponse({ stream });
    },
  };
}

const GO_ON: ModelMessage = { role: "user", content: "Go on." };

async function newMessages({ messages }: ChatRequest): Promise<readonly IdentifiedMessage<ModelMessage>[]> {
  const last = messages.at(-1);
  const { messages: said, answers } = await newInUi(messages);
  if (answers.length > 0)
    throw new TypeError("approvals are answered by an agent's thread, not here: see docs/approvals.md");
  const id = last?.role === "user" && said.length === 1 ? last.id : undefined;
  return said.map((message) => ({ id, message }));
}

/** A chat as its page shows it, for a page that is loaded again. */
export async function chatMessages(id: string, options: Pick<ChatOptions, "store" | "userId">): Promise<UIMessage[]> {
  const conversation = chatConversation(id, options);
  const threadId = (await continuations(conversation)).at(-1)!;
  return uiMessagesOf(replay(conversation, threadId), { pending: [] });
}

function chatConversation(
  name: string,
  { store, userId = store.userId, waitMs = WAIT_MS, deps }: Pick<ChatOptions, "store" | "userId" | "waitMs" | "deps">,
): NamedConversation {
  return { ...threadDeps(asUser(store, userId), deps), name, waitMs };
}

/** An answer again: back to its question. A message anew: back to before it. */
async function rewind(conversation: NamedConversation, request: ChatRequest): Promise<void> {
  for (;;) {
    const threadId = (await continuations(conversation)).at(-1)!;
    const keep = await keptBy(conversation.store, threadId, request);
    if (keep === null) return;
    const written = await writeWhereItStands(conversation, threadId, (writer) =>
      continueThread(conversation, writer, { keep, say: [] }),
    );
    if (written.kind === "busy") throw new TypeError(`chat ${request.id} is busy with another answer: try again later`);
    if (written.kind === "written") return;
  }
}

async function keptBy(store: Store, threadId: string, request: ChatRequest): Promise<number | null> {
  if (request.trigger === "regenerate-message") return questionSeq(store, threadId, request.messageId);
  const last = request.messages.at(-1);
  if (request.messageId === undefined || last?.role !== "user") return null;
  const seq = await saidSeq(store, threadId, request.messageId);
  return seq === null ? null : seq - 1;
}
