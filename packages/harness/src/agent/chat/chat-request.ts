/** One request of a chat as `useChat` sends it, read at the boundary. Pure: throws an `AgentError` with a code. */
import { checkThreadId } from "@palimpsest/core/log";
import type { UIMessage } from "ai";
import { AgentError } from "../errors.ts";
import { type BrowserWords, browserWords } from "./browser-words.ts";

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
