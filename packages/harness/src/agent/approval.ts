/**
 * What happens to calls that wait for approval when their thread goes on: a person's new message refuses those nobody
 * has answered, answers are carried out, and the run waits again for what is still open. A call is taken off the list
 * before it is run, so that a crash in the middle can never run it twice.
 */

import type { Head } from "@palimpsest/core/internal/log";
import { aiSdkShape, parseMessage } from "@palimpsest/core/internal/message";
import type { ToolApprovalConfiguration, ToolApprovalStatus, ToolSet } from "ai";
import { readQuotes } from "../compaction/summary.ts";
import type { Store } from "../stores/store.ts";
import { threadState } from "../thread/thread-view.ts";
import { type Committed, commit, type RecordInput, type Writer } from "../thread/writer.ts";
import { AgentError, messageOf } from "./errors.ts";
import type { ClientCall, RunEnd } from "./events.ts";
import type { Run } from "./run.ts";
import {
  isForClient,
  problemWith,
  type RunnableCall,
  resultMessage,
  runCalls,
  type ToolCall,
  type ToolContext,
  tellDenied,
  toolOptions,
} from "./tools.ts";

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

function pendingOf({ thread, threadId }: Run): readonly PendingCall[] {
  return pendingIn(thread.head().state, threadId);
}

const PASSED_OVER = "The user did not approve this call and went on with something else: it was not run.";
const REFUSED = "The user refused this call: it was not run. Don't try it again unless they ask for it.";

// Who carries out the calls of one answer: this run, the client, or this run once a person has approved. Tools say
// so by `needsApproval`, an agent for all of its tools by `toolApproval`, which goes first.

/** As in the AI SDK: by tool, or one function for every call. */
export type ToolApproval = ToolApprovalConfiguration<ToolSet, unknown>;

interface SortedCalls {
  readonly ours: readonly RunnableCall[];
  readonly client: readonly ToolCall[];
  readonly asking: readonly (ToolCall & { readonly reason: string | null })[];
}

export interface Approving {
  readonly tools: ToolSet;
  readonly toolApproval: ToolApproval | null;
}

export async function sortCalls(calls: readonly ToolCall[], run: Run, context: Approving): Promise<SortedCalls> {
  const statuses = await Promise.all(calls.map((call) => statusOf(call, run, context)));
  const sorted = {
    ours: [] as RunnableCall[],
    client: [] as ToolCall[],
    asking: [] as SortedCalls["asking"][number][],
  };
  calls.forEach((call, index) => {
    const { kind, reason = null } = statuses[index]!;
    if (kind === "client") sorted.client.push(call);
    else if (kind === "ask") sorted.asking.push({ ...call, reason });
    else if (kind === "deny") sorted.ours.push({ ...call, denied: reason ?? DENIED });
    else sorted.ours.push(kind === "fail" ? { ...call, invalid: reason } : call);
  });
  return sorted;
}

interface CallStatus {
  readonly kind: "run" | "client" | "ask" | "deny" | "fail";
  readonly reason?: string | null;
}

async function statusOf(call: ToolCall, run: Run, context: Approving): Promise<CallStatus> {
  if (call.invalid !== null) return { kind: "run" };
  if (isForClient(call, context.tools)) return { kind: "client" };
  try {
    const { type, reason = null } = await approvalOf(call, run, context);
    if (type === "denied") return { kind: "deny", reason };
    if (type === "approved" || type === "not-applicable") return { kind: "run" };
    // Written without types, or by a later AI SDK.
    if (type !== "user-approval") throw new Error(`there is no status ${JSON.stringify(type)}`);
    const child = run.thread.header.kind === "subagent";
    return child ? { kind: "deny", reason: NOBODY_TO_ASK } : { kind: "ask", reason };
  } catch (error) {
    // Whether it may run is unknown, so it doesn't.
    return {
      kind: "fail",
      reason: `${call.name} was not run, since its approval could not be decided: ${messageOf(error)}`,
    };
  }
}

type ApprovalStatus = Exclude<ToolApprovalStatus, string | undefined>;

async function approvalOf(call: ToolCall, run: Run, { tools, toolApproval }: Approving): Promise<ApprovalStatus> {
  const tool = tools[call.name];
  if (tool === undefined) return { type: "not-applicable" };
  const { runtimeContext, toolsContext } = run;
  if (typeof toolApproval === "function") {
    const messages = run.thread.view().map(({ message }) => message) as never;
    const toolCall = { type: "tool-call", toolCallId: call.id, toolName: call.name, input: call.input } as never;
    return asStatus(await toolApproval({ toolCall, tools, toolsContext, runtimeContext, messages }));
  }
  const own = toolApproval !== null && Object.hasOwn(toolApproval, call.name) ? toolApproval[call.name] : undefined;
  const asks = own ?? tool.needsApproval;
  if (typeof asks !== "function") return asStatus(asks);
  const options = await toolOptions(call, tool, run, run.signal);
  const given = { ...options, toolContext: options.context, runtimeContext };
  return asStatus(
    await (asks as (input: unknown, options: object) => AskedApproval | Promise<AskedApproval>)(call.input, given),
  );
}

type AskedApproval = ToolApprovalStatus | boolean;

function asStatus(given: AskedApproval): ApprovalStatus {
  if (given === true) return { type: "user-approval" };
  if (given === undefined || given === false) return { type: "not-applicable" };
  return typeof given === "string" ? { type: given } : given;
}

const DENIED = "This agent is not allowed to make this call.";
const NOBODY_TO_ASK =
  "This call needs a person's approval, and a sub-agent has nobody to ask: leave it to the agent that gave you the task.";

// Calls that wait for a person's word, as the thread's state keeps them: which ones, and what was answered so far.
// The arguments stay where they are, in the answer that makes the call, so that erasing it leaves no copy.

export interface PendingCall {
  readonly id: string;
  readonly name: string;
  /** Seq of the answer that makes the call. */
  readonly of: number;
  /** Null: not answered yet. */
  readonly answer: "yes" | "no" | null;
  /** Why it was answered so; before that, why it is asked, where the agent says so. */
  readonly reason: string | null;
  /** Where it was answered. */
  readonly threadId?: string;
}

declare module "../thread/thread-view.ts" {
  interface ThreadState {
    readonly approvals?: readonly PendingCall[];
  }
}

/** An answer holds in its own thread: a fork asks anew, or one yes would run the call in each of them. */
export function pendingIn(state: Head["state"], threadId: string): readonly PendingCall[] {
  const { approvals = [] } = threadState({ state });
  return approvals.map((call) =>
    call.answer === null || call.threadId === threadId ? call : { ...call, answer: null, reason: null },
  );
}

function pendingPatch(list: readonly PendingCall[]): RecordInput {
  return { kind: "state", patch: { approvals: list } };
}

export interface ApprovalAnswer {
  readonly callId: string;
  readonly answer: "yes" | "no";
  readonly reason?: string | undefined;
}

/** Null when no such call of the thread waits. A later answer replaces an earlier one, as long as the call waits. */
function withAnswer(
  list: readonly PendingCall[],
  threadId: string,
  given: ApprovalAnswer,
): readonly PendingCall[] | null {
  const { callId, answer, reason = null } = given;
  if (answer !== "yes" && answer !== "no")
    throw new AgentError("bad-message", `call ${callId} is answered "yes" or "no", not ${JSON.stringify(answer)}`);
  if (!list.some(({ id }) => id === callId)) return null;
  return list.map((call) => (call.id === callId ? { ...call, answer, reason, threadId } : call));
}

export interface WaitingCall extends ClientCall {
  readonly answer: "yes" | "no" | null;
  /** Why it is asked, where the agent says so; once answered, what the person said. */
  readonly reason: string | null;
}

/** The calls of a thread that wait for a person, with what was answered so far. */
export async function waitingCalls(store: Store, threadId: string): Promise<readonly WaitingCall[]> {
  const pending = pendingIn((await store.head(threadId))?.state ?? {}, threadId);
  const calls = await callsOf(store, threadId, pending);
  return calls.map(({ pending: { answer, reason }, ...call }) => ({ ...call, answer, reason }));
}

/** With the arguments the model gave; a call whose message is gone is left out. */
async function callsOf(
  store: Store,
  threadId: string,
  pending: readonly PendingCall[],
): Promise<readonly (ClientCall & { readonly pending: PendingCall })[]> {
  const records = await readQuotes(store, threadId)([...new Set(pending.map(({ of }) => of))]);
  const parts = records.flatMap(({ body }) => aiSdkShape.parts(parseMessage("ai-sdk", body)));
  return pending.flatMap((one) => {
    const part = parts.find((part) => part.kind === "call" && part.id === one.id);
    if (part?.kind !== "call") return [];
    return [{ id: one.id, name: one.name, input: JSON.parse(part.input) as unknown, pending: one }];
  });
}

// A person's word on a call that waits, from any process that can reach the store; the next run acts on it.

export type Approved =
  /** `open`: ids of calls that are not answered yet. */
  | { readonly kind: "recorded"; readonly open: readonly string[] }
  | { readonly kind: "not-pending"; readonly callId: string }
  | Exclude<Committed, { kind: "committed" }>;

export async function approve(writer: Writer, given: ApprovalAnswer): Promise<Approved> {
  const { threadId } = writer.lease;
  const head = await writer.store.head(threadId);
  if (head === undefined) return { kind: "missing" };
  const list = withAnswer(pendingIn(head.state, threadId), threadId, given);
  if (list === null) return { kind: "not-pending", callId: given.callId };
  const committed = await commit(writer, [pendingPatch(list)]);
  if (committed.kind !== "committed") return committed;
  return { kind: "recorded", open: list.flatMap(({ id, answer }) => (answer === null ? [id] : [])) };
}
