/**
 * What happens to calls that wait for approval when their thread goes on: a person's new message refuses those nobody
 * has answered, answers are carried out, and the run waits again for what is still open. A call is taken off the list
 * before it is run, so that a crash in the middle can never run it twice.
 */

import { problemWith } from "../context/tool-options.ts";
import { AgentError } from "../errors.ts";
import type { ClientCall, RunEnd } from "../events.ts";
import type { Run } from "../run.ts";
import { type RunnableCall, resultMessage, runCalls, type ToolCall, type ToolContext, tellDenied } from "../tools.ts";
import { type ApprovalAnswer, callsOf, type PendingCall, pendingIn, pendingPatch, withAnswer } from "./pending.ts";

/** The answers that came with the run's input. Throws when a call isn't waiting: nothing is written then. */
export async function takeAnswers(run: Run, answers: readonly ApprovalAnswer[]): Promise<void> {
  if (answers.length === 0) return;
  let list = pendingOf(run);
  for (const given of answers) {
    const next = withAnswer(list, run.threadId, given);
    if (next === null) {
      const detail = `no call ${given.callId} of thread ${run.threadId} waits for approval: look at thread(id).approvals()`;
      throw new AgentError("bad-message", detail);
    }
    list = next;
  }
  await run.commit([pendingPatch(list)]);
}

/** Somebody says something else instead: what is open is refused, and the model reads that before the new message. */
export async function refuseOpen(run: Run): Promise<void> {
  const list = pendingOf(run);
  const open = list.filter(({ answer }) => answer === null);
  if (open.length === 0) return;
  const left = list.filter((one) => !open.includes(one));
  const outcome = { output: { type: "execution-denied", reason: PASSED_OVER }, isError: true } as const;
  const refused = open.map(({ id, name }) => ({ id, name, outcome }));
  await run.say(resultMessage(refused), "tool", { inputs: () => [pendingPatch(left)] });
  for (const call of open) tellDenied(call, PASSED_OVER, run);
}

/** Carries out what was answered. The end says what still waits; null: the run can go on. */
export async function resumeCalls(run: Run, context: ToolContext): Promise<RunEnd | null> {
  const list = pendingOf(run);
  if (list.length === 0) return null;
  const open = list.filter(({ answer }) => answer === null);
  const answered = list.filter(({ answer }) => answer !== null);
  if (answered.length > 0) {
    const calls = await callsOf(run.deps.store, run.threadId, answered);
    const runnable = await Promise.all(calls.map((call) => answeredCall(call, context)));
    await run.commit([pendingPatch(open)]);
    if (runnable.length > 0) await run.say(await runCalls(runnable, run, context), "tool");
  }
  if (open.length === 0) return null;
  return approvalEnd(await callsOf(run.deps.store, run.threadId, open), []);
}

/** The log may be older than the tool: its arguments are read once more. */
async function answeredCall(
  { id, name, input, pending }: ClientCall & { readonly pending: PendingCall },
  { tools }: ToolContext,
): Promise<RunnableCall> {
  const call = { id, name, input, invalid: null };
  if (pending.answer !== "yes") return { ...call, denied: pending.reason ?? REFUSED };
  const tool = Object.hasOwn(tools, name) ? tools[name] : undefined;
  if (tool === undefined) return { ...call, invalid: `there is no tool ${name} any more: it was not run` };
  const read = await problemWith(tool.inputSchema, input);
  return "value" in read ? { ...call, input: read.value } : { ...call, invalid: read.problem };
}

export function approvalEnd(asking: readonly ClientCall[], client: readonly ToolCall[]): RunEnd {
  return { kind: "approval", calls: asking.map(bare), clientCalls: client.map(bare) };
}

function bare({ id, name, input }: ClientCall): ClientCall {
  return { id, name, input };
}

/** For a run whose answer makes such calls: in the log before anything else of the answer is carried out. */
export async function keepPending(
  run: Run,
  asking: readonly (ToolCall & { readonly reason: string | null })[],
  of: number,
): Promise<void> {
  const list = asking.map(({ id, name, reason }) => ({ id, name, of, answer: null, reason }));
  await run.commit(() => [pendingPatch([...pendingOf(run), ...list])]);
  for (const { id: callId, name, input, reason } of asking) {
    run.emit({ type: "approval-ask", callId, name, input, reason });
  }
}

function pendingOf({ conversation, threadId }: Run): readonly PendingCall[] {
  return pendingIn(conversation.head().state, threadId);
}

const PASSED_OVER = "The user did not approve this call and went on with something else: it was not run.";
const REFUSED = "The user refused this call: it was not run. Don't try it again unless they ask for it.";
