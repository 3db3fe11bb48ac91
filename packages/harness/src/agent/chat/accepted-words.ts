/**
 * What of a browser's words a thread takes, decided while the thread is held and before anything is written: outputs only
 * of calls that wait for the browser, and nothing that the log has already.
 */
import type { AiSdkMessage } from "@palimpsest/core/message";
import type { ToolSet } from "ai";
import { bodyOf } from "../../thread/body.ts";
import type { Conversation } from "../../thread/conversation.ts";
import { type ApprovalAnswer, pendingIn } from "../approval/pending.ts";
import { AgentError } from "../errors.ts";
import { answerState, lastCalls } from "./answer-state.ts";
import { type BrowserWords, notAllowed } from "./browser-words.ts";

export interface AcceptedWords {
  readonly message: AiSdkMessage;
  readonly id?: string;
}

interface OpenThread {
  readonly conversation: Pick<Conversation<AiSdkMessage>, "header" | "live" | "original" | "head">;
  readonly tools: ToolSet;
}

/**
 * Nothing, where the thread has these words and no answer to them yet: the run goes on from there. Throws an `AgentError`:
 * `not-allowed`, or `already-said` where there is an answer.
 */
export function acceptedWords(
  { said, answers, outputs }: BrowserWords,
  { conversation, tools }: OpenThread,
): { readonly said: readonly AcceptedWords[]; readonly answers: readonly ApprovalAnswer[] } {
  const { tail } = conversation.live();
  const logged = tail.map((record) => ({ message: conversation.original(record), origin: record.origin }));
  const pending = new Set(pendingIn(conversation.head().state, conversation.header.id).map(({ id }) => id));
  const isClients = (name: string) => Object.hasOwn(tools, name) && tools[name]!.execute === undefined;
  const goOn = (from: number, what: string): ReturnType<typeof acceptedWords> => {
    const state = answerState(logged.slice(from), (id, name) => pending.has(id) || isClients(name));
    if (state !== "unanswered") throw alreadySaid(what);
    return { said: [], answers: [] };
  };
  if (said !== null) {
    const at = tail.findLastIndex(({ id }) => id === said.id);
    if (at === -1) return { said: [said], answers };
    if (tail[at]!.body !== bodyOf(said.message)) throw alreadySaid(`message ${said.id} is, with other words,`);
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
