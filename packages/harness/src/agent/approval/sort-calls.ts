/**
 * Who carries out the calls of one answer: this run, the client, or this run once a person has approved. Tools say so by
 * `needsApproval`, an agent for all of its tools by `toolApproval`, which goes first.
 */
import type { ToolApprovalConfiguration, ToolApprovalStatus, ToolSet } from "ai";
import { toolOptions } from "../context/tool-options.ts";
import { messageOf } from "../errors.ts";
import type { Run } from "../run.ts";
import { isForClient, type RunnableCall, type ToolCall } from "../tools.ts";

/** As in the AI SDK: by tool, or one function for every call. */
export type ToolApproval = ToolApprovalConfiguration<ToolSet, unknown>;

export interface SortedCalls {
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
    const child = run.conversation.header.kind === "subagent";
    return child ? { kind: "deny", reason: NOBODY_TO_ASK } : { kind: "ask", reason };
  } catch (error) {
    // Nobody knows whether it may run, so it doesn't.
    return {
      kind: "fail",
      reason: `${call.name} was not run, since its approval could not be decided: ${messageOf(error)}`,
    };
  }
}

type Status = Exclude<ToolApprovalStatus, string | undefined>;

async function approvalOf(call: ToolCall, run: Run, { tools, toolApproval }: Approving): Promise<Status> {
  const tool = tools[call.name];
  if (tool === undefined) return { type: "not-applicable" };
  const { runtimeContext, toolsContext } = run;
  if (typeof toolApproval === "function") {
    const messages = run.conversation.view().map(({ message }) => message) as never;
    const toolCall = { type: "tool-call", toolCallId: call.id, toolName: call.name, input: call.input } as never;
    return asStatus(await toolApproval({ toolCall, tools, toolsContext, runtimeContext, messages }));
  }
  const own = toolApproval !== null && Object.hasOwn(toolApproval, call.name) ? toolApproval[call.name] : undefined;
  const asks = own ?? tool.needsApproval;
  if (typeof asks !== "function") return asStatus(asks);
  const options = await toolOptions(call, tool, run, run.signal);
  const given = { ...options, toolContext: options.context, runtimeContext };
  return asStatus(await (asks as (input: unknown, options: object) => Asked | Promise<Asked>)(call.input, given));
}

type Asked = ToolApprovalStatus | boolean;

function asStatus(given: Asked): Status {
  if (given === true) return { type: "user-approval" };
  if (given === undefined || given === false) return { type: "not-applicable" };
  return typeof given === "string" ? { type: given } : given;
}

const DENIED = "This agent is not allowed to make this call.";
const NOBODY_TO_ASK =
  "This call needs a person's approval, and a sub-agent has nobody to ask: leave it to the agent that gave you the task.";
