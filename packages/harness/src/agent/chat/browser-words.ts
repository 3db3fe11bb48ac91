/**
 * What a browser may say to a thread: a user's message, answers to calls that wait for approval, and outputs of tools that
 * the browser runs. `useChat` sends all its messages each time; the thread has everything but what the person did last. So
 * only the last message is read, and what a user can't say is refused. Whether a call waits for an output is decided on
 * the thread (`accepted-words.ts`). Pure.
 */
import type { AiSdkMessage, AiSdkOutput, AiSdkPart } from "@palimpsest/core/message";
import type { ApprovalAnswer } from "../approval/pending.ts";
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

type Fields = Readonly<Record<string, unknown>>;

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

export function notAllowed(what: string): AgentError {
  const allowed = "a browser may send a user's messages, approvals and outputs of its own tools";
  return new AgentError("not-allowed", `${what}: ${allowed}`);
}

function badMessage(problem: string): AgentError {
  return new AgentError("bad-message", `the last message can't be used: ${problem}`);
}

function checkedMessage(message: unknown, index: number): Fields {
  if (!isFields(message)) throw new AgentError("bad-message", `message ${index + 1} is no message`);
  const { role } = message;
  if (role !== "user" && role !== "assistant")
    throw notAllowed(`message ${index + 1} has the role ${JSON.stringify(role)?.slice(0, 40)}`);
  return message;
}

function partsOf({ parts }: Fields): readonly (Fields & { readonly type: string })[] {
  if (!Array.isArray(parts)) throw badMessage("it has no parts");
  return parts.map((part: unknown) => {
    if (isFields(part) && typeof part["type"] === "string") return part as Fields & { readonly type: string };
    throw badMessage("one of its parts has no type");
  });
}

const isFields = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value);

function userWords(id: unknown, parts: readonly (Fields & { readonly type: string })[]): UserWords {
  if (typeof id !== "string" || id === "" || id.length > LONGEST_ID)
    throw badMessage(`its id is not a text of 1 to ${LONGEST_ID} characters`);
  const content = parts.flatMap(userPart);
  const isBlank = content.every((part) => part.type === "text" && part.text.trim() === "");
  if (isBlank) throw new AgentError("empty-prompt", "the message is empty: nothing was said");
  return { id, message: { role: "user", content } };
}

const LONGEST_ID = 200;

/** Without the provider's options, which a page could use to name things of other people at the provider. */
function userPart(part: Fields & { readonly type: string }): readonly AiSdkPart[] {
  const { type, text } = part;
  // For the page alone.
  if (type.startsWith("data-")) return [];
  if (type === "file") return [filePart(part)];
  if (type !== "text") throw notAllowed(`the last message has a part of the type ${JSON.stringify(type.slice(0, 40))}`);
  if (typeof text !== "string") throw badMessage("a text is not a text");
  return text === "" ? [] : [{ type, text }];
}

function filePart({ mediaType, url, filename }: Fields): AiSdkPart {
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

const isTool = ({ type, providerExecuted }: Fields): boolean =>
  (type === "dynamic-tool" || String(type).startsWith("tool-")) && providerExecuted !== true;

function callId({ toolCallId }: Fields): string {
  if (typeof toolCallId === "string" && toolCallId !== "") return toolCallId;
  throw badMessage("a call has no toolCallId");
}

function answerIn(part: Fields): readonly ApprovalAnswer[] {
  const { state, approval } = part;
  if (state !== "approval-responded") return [];
  const { approved, reason } = isFields(approval) ? approval : {};
  if (typeof approved !== "boolean" || (reason !== undefined && typeof reason !== "string"))
    throw badMessage("an approval is neither given nor refused");
  return [{ callId: callId(part), answer: approved ? "yes" : "no", reason }];
}

function outputIn(part: Fields): readonly ClientOutput[] {
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
