import type { Origin } from "@palimpsest/core/internal/log";
import { type AiSdkMessage, type AiSdkOutput, type AiSdkPart, aiSdkShape } from "@palimpsest/core/internal/message";
import type { ToolSet } from "ai";
import { bodyOf } from "../../thread/log.ts";
import type { ThreadLog } from "../../thread/thread.ts";
import { type ApprovalAnswer, pendingIn } from "../approval.ts";
import { AgentError } from "../errors.ts";

export interface BrowserWords {
  /** Under the page's own id; null where the person answered calls instead. */
  readonly said: UserWords | null;
  readonly answers: readonly ApprovalAnswer[];
  readonly outputs: readonly ClientOutput[];
}

export interface UserWords {
  readonly id: string;
  readonly message: AiSdkMessage;
}

/** What a tool without `execute` gave in the browser. */
interface ClientOutput {
  readonly callId: string;
  readonly output: AiSdkOutput;
}

type WordFields = Readonly<Record<string, unknown>>;

/** Throws an `AgentError` with the code of what is wrong. */
export function browserWords(messages: unknown): BrowserWords {
  if (!Array.isArray(messages)) throw new AgentError("bad-body", "messages is not a list of messages");
  const fields = messages.map(checkedMessage);
  const last = fields.at(-1);
  if (last === undefined) throw new AgentError("empty-prompt", "there are no messages: nothing was said");
  const parts = partsOf(last);
  if (last["role"] === "user") return { said: userWords(last["id"], parts), answers: [], outputs: [] };
  const calls = parts.slice(parts.findLastIndex(({ type }) => type === "step-start") + 1).filter(isTool);
  const answers = calls.flatMap(answerIn);
  const outputs = calls.flatMap(outputIn);
  if (answers.length + outputs.length > 0) return { said: null, answers, outputs };
  throw notAllowed("the last message is an answer in which the user has answered no call");
}

function notAllowed(what: string): AgentError {
  const allowed = "a browser may send a user's messages, approvals and outputs of its own tools";
  return new AgentError("not-allowed", `${what}: ${allowed}`);
}

function badMessage(problem: string): AgentError {
  return new AgentError("bad-message", `the last message can't be used: ${problem}`);
}

function checkedMessage(message: unknown, index: number): WordFields {
  if (!isFields(message)) throw new AgentError("bad-message", `message ${index + 1} is no message`);
  const { role } = message;
  if (role !== "user" && role !== "assistant")
    throw notAllowed(`message ${index + 1} has the role ${JSON.stringify(role)?.slice(0, 40)}`);
  return message;
}

function partsOf({ parts }: WordFields): readonly (WordFields & { readonly type: string })[] {
  if (!Array.isArray(parts)) throw badMessage("it has no parts");
  return parts.map((part: unknown) => {
    if (isFields(part) && typeof part["type"] === "string") return part as WordFields & { readonly type: string };
    throw badMessage("one of its parts has no type");
  });
}

const isFields = (value: unknown): value is WordFields =>
  typeof value === "object" && value !== null && !Array.isArray(value);

function userWords(id: unknown, parts: readonly (WordFields & { readonly type: string })[]): UserWords {
  if (typeof id !== "string" || id === "" || id.length > LONGEST_ID)
    throw badMessage(`its id is not a text of 1 to ${LONGEST_ID} characters`);
  const content = parts.flatMap(userPart);
  const isBlank = content.every((part) => part.type === "text" && part.text.trim() === "");
  if (isBlank) throw new AgentError("empty-prompt", "the message is empty: nothing was said");
  return { id, message: { role: "user", content } };
}

const LONGEST_ID = 200;

/** Without the provider's options, which a page could use to name things of other people at the provider. */
function userPart(part: WordFields & { readonly type: string }): readonly AiSdkPart[] {
  const { type, text } = part;
  // For the page alone.
  if (type.startsWith("data-")) return [];
  if (type === "file") return [filePart(part)];
  if (type !== "text") throw notAllowed(`the last message has a part of the type ${JSON.stringify(type.slice(0, 40))}`);
  if (typeof text !== "string") throw badMessage("a text is not a text");
  return text === "" ? [] : [{ type, text }];
}

function filePart({ mediaType, url, filename }: WordFields): AiSdkPart {
  if (typeof mediaType !== "string" || typeof url !== "string") throw badMessage("a file has no mediaType or no url");
  const named = typeof filename === "string" ? { filename } : {};
  const head = /^data:[^,]{0,200},/.exec(url)?.[0];
  if (head === undefined && /^[a-z][a-z0-9+.-]*:/i.test(url.trim()))
    throw new AgentError("no-addresses", `a file is given by its address (${url.slice(0, 100)}): send its content`);
  // Anything else in its place would make every later call of the thread fail.
  if (head === undefined || !head.endsWith(";base64,") || !isBase64(url.slice(head.length)))
    throw badMessage("a file's url is not a data: URL in base64");
  return { type: "file", mediaType, data: url, ...named };
}

function isBase64(text: string): boolean {
  const isWhole = text.endsWith("=") ? text.length % 4 === 0 : text.length % 4 !== 1;
  return isWhole && /^[A-Za-z0-9+/]+={0,2}$/.test(text);
}

const isTool = ({ type, providerExecuted }: WordFields): boolean =>
  (type === "dynamic-tool" || String(type).startsWith("tool-")) && providerExecuted !== true;

function callId({ toolCallId }: WordFields): string {
  if (typeof toolCallId === "string" && toolCallId !== "") return toolCallId;
  throw badMessage("a call has no toolCallId");
}

function answerIn(part: WordFields): readonly ApprovalAnswer[] {
  const { state, approval } = part;
  if (state !== "approval-responded") return [];
  const { approved, reason } = isFields(approval) ? approval : {};
  if (typeof approved !== "boolean" || (reason !== undefined && typeof reason !== "string"))
    throw badMessage("an approval is neither given nor refused");
  return [{ callId: callId(part), answer: approved ? "yes" : "no", reason }];
}

function outputIn(part: WordFields): readonly ClientOutput[] {
  const { state, output = null, errorText, input } = part;
  if (state === "output-available") {
    const value = typeof output === "string" ? { type: "text" as const, value: output } : jsonOutput(output);
    return [{ callId: callId(part), output: value }];
  }
  // Without an input the model has taken the call back.
  if (state !== "output-error" || input == null) return [];
  return [{ callId: callId(part), output: { type: "error-text", value: String(errorText ?? "The tool failed.") } }];
}

const jsonOutput = (value: unknown): AiSdkOutput => ({ type: "json", value });

// What of a browser's words a thread takes, decided while the thread is held and before anything is written:
// outputs only of calls that wait for the browser, and nothing that the log has already.

interface AcceptedWords {
  readonly message: AiSdkMessage;
  readonly id?: string;
}

interface ChatThread {
  readonly log: Pick<ThreadLog<AiSdkMessage>, "header" | "live" | "original" | "head">;
  readonly tools: ToolSet;
}

/**
 * Nothing, where the thread has these words and no answer to them yet: the run goes on from there. Throws an `AgentError`:
 * `not-allowed`, or `already-said` where there is an answer.
 */
export function acceptedWords(
  { said, answers, outputs }: BrowserWords,
  { log, tools }: ChatThread,
): { readonly said: readonly AcceptedWords[]; readonly answers: readonly ApprovalAnswer[] } {
  const { tail } = log.live();
  const logged = tail.map((record) => ({ message: log.original(record), origin: record.origin }));
  const pending = new Set(pendingIn(log.head().state, log.header.id).map(({ id }) => id));
  const isClients = (name: string) => Object.hasOwn(tools, name) && tools[name]?.execute === undefined;
  const goOn = (from: number, what: string): ReturnType<typeof acceptedWords> => {
    const state = answerState(logged.slice(from), (id, name) => pending.has(id) || isClients(name));
    if (state !== "unanswered") throw alreadySaid(what);
    return { said: [], answers: [] };
  };
  if (said !== null) {
    const at = tail.findLastIndex(({ id }) => id === said.id);
    if (at === -1) return { said: [said], answers };
    if (tail[at]?.body !== bodyOf(said.message)) throw alreadySaid(`message ${said.id} is, with other words,`);
    return goOn(at, `message ${said.id} is`);
  }
  const { calls, answered } = lastCalls(logged.map(({ message }) => message));
  const isNew = ({ callId }: { readonly callId: string }) => !answered.has(callId);
  const fresh = { answers: answers.filter(isNew), outputs: outputs.filter(isNew) };
  if (fresh.answers.length + fresh.outputs.length === 0) return goOn(0, "the answers to these calls are");
  for (const { callId } of fresh.answers)
    if (!pending.has(callId)) throw notAllowed(`call ${callId.slice(0, 100)} doesn't wait for approval`);
  const content = fresh.outputs.map(({ callId, output }) => {
    const toolName = calls.get(callId);
    if (toolName === undefined || !isClients(toolName) || pending.has(callId))
      throw notAllowed(`call ${callId.slice(0, 100)} doesn't wait for an output of the browser`);
    return { type: "tool-result" as const, toolCallId: callId, toolName, output };
  });
  return { said: content.length === 0 ? [] : [{ message: { role: "tool", content } }], answers: fresh.answers };
}

export function alreadySaid(what: string): AgentError {
  return new AgentError("already-said", `${what} in the thread already`);
}

// How far something said has been answered, by what follows it in the log.

export interface LoggedMessage {
  readonly message: AiSdkMessage;
  readonly origin: Origin;
}

/**
 * `messages`: a question and what follows it. An answer whose calls wait for a person is one; with other calls that have no result,
 * as after a crash, it is not. `waits` says which calls do.
 */
export function answerState(
  messages: readonly LoggedMessage[],
  waits: (callId: string, toolName: string) => boolean,
): "unanswered" | "answered" | "aborted" {
  const last = messages.at(-1);
  if (last?.origin === "aborted") return "aborted";
  const { calls, answered } = lastCalls(messages.map(({ message }) => message));
  const open = [...calls].filter(([id]) => !answered.has(id));
  const isWhole = open.length === 0 && last?.message.role === "assistant";
  return isWhole || open.some(([id, name]) => waits(id, name)) ? "answered" : "unanswered";
}

/** Names of the calls in the last answer that makes any, and which of them have a result. Ids are unique within an answer only. */
export function lastCalls(messages: readonly AiSdkMessage[]): {
  readonly calls: ReadonlyMap<string, string>;
  readonly answered: ReadonlySet<string>;
} {
  const at = messages.findLastIndex((message) => aiSdkShape.calls(message).length > 0);
  const parts = at === -1 ? [] : aiSdkShape.parts(messages[at]!);
  const calls = new Map(parts.flatMap((part) => (part.kind === "call" ? [[part.id, part.name] as const] : [])));
  const answered = new Set(messages.slice(at + 1).flatMap((message) => aiSdkShape.answers(message)));
  return { calls, answered };
}
