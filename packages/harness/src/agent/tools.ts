/**
 * Carries out the tool calls of one answer, all at once, and makes one message of their results, in the order of the
 * calls. Every call gets a result: one that is invalid, throws, hangs or can't be written down gets an error that says
 * so. Nothing a tool does can end the run, and an abort waits for no tool.
 */
import type { AiSdkMessage, AiSdkOutput } from "@palimpsest/core/internal/message";
import { factsOfTool } from "@palimpsest/core/internal/message";
import { asSchema, type FlexibleSchema, type Tool, type ToolExecutionOptions, type ToolSet } from "ai";
import { within } from "../long-work.ts";
import { bodyOf, jsonOf } from "../thread/log.ts";
import { messageOf } from "./errors.ts";
import type { RunEnd } from "./events.ts";
import type { Chain, Run } from "./run.ts";

export interface ToolCall {
  readonly id: string;
  readonly name: string;
  readonly input: unknown;
  /** Why it can't be carried out (unknown tool, wrong arguments), as the SDK says it. */
  readonly invalid: string | null;
}

/** A call whose fate may be known before it is run. */
export interface RunnableCall extends ToolCall {
  /** Why it must not be run, as the model is told. */
  readonly denied?: string;
}

export interface CallOutcome {
  readonly output: AiSdkOutput;
  readonly isError: boolean;
}

export interface ToolContext {
  readonly tools: ToolSet;
  readonly chain: Chain;
  /** Null: no limit. */
  readonly timeoutMs: number | null;
}

/** A tool without `execute` is the client's to run: its result is the next message. */
export function isForClient({ name, invalid }: ToolCall, tools: ToolSet): boolean {
  const tool = Object.hasOwn(tools, name) ? tools[name] : undefined;
  return invalid === null && tool !== undefined && tool.execute === undefined;
}

/** The run ends with calls that its caller carries out. */
export function clientCalls(calls: readonly ToolCall[]): RunEnd {
  return { kind: "client-calls", calls: calls.map(({ id, name, input }) => ({ id, name, input })) };
}

export function announceCall({ id: callId, name, input }: ToolCall, run: Run): void {
  run.emit({ type: "tool-start", callId, name, input: shown(input) });
}

export async function runCalls(calls: readonly RunnableCall[], run: Run, context: ToolContext): Promise<AiSdkMessage> {
  const settled = calls.map(async (call) => ({ ...call, outcome: await runCall(call, run, context) }));
  return resultMessage(await Promise.all(settled));
}

interface SettledCall extends Pick<ToolCall, "id" | "name"> {
  readonly outcome: CallOutcome;
}

export function resultMessage(calls: readonly SettledCall[]): AiSdkMessage {
  return {
    role: "tool",
    content: calls.map(({ id, name, outcome }) => ({
      type: "tool-result",
      toolCallId: id,
      toolName: name,
      output: outcome.output,
    })),
  };
}

/** Told as its end, though it never began. */
export function tellDenied({ id: callId, name }: Pick<ToolCall, "id" | "name">, output: string, run: Run): void {
  const how = { isError: true, denied: true, ms: 0 } as const;
  run.emit({ type: "tool-end", callId, name, output, ...how });
}

async function runCall(call: RunnableCall, run: Run, context: ToolContext): Promise<CallOutcome> {
  const { id: callId, name, denied } = call;
  const started = run.deps.clock().getTime();
  announceCall(call, run);
  if (denied !== undefined) {
    tellDenied(call, denied, run);
    return { output: { type: "execution-denied", reason: denied }, isError: true };
  }
  const outcome = await settle(call, run, context);
  const ms = run.deps.clock().getTime() - started;
  const output = "value" in outcome.output ? outcome.output.value : null;
  run.emit({ type: "tool-end", callId, name, output, isError: outcome.isError, ms });
  return outcome;
}

async function settle(call: ToolCall, run: Run, context: ToolContext): Promise<CallOutcome> {
  if (call.invalid !== null) return failed(call.invalid);
  if (run.signal.aborted) return failed(STOPPED);
  const ms = factsOfTool(context.tools[call.name])?.timeLimit === "own" ? null : context.timeoutMs;
  const tooLong = (): SlowTool => new SlowTool(tooSlow(call.name, ms ?? 0));
  try {
    // A tool that ignores its signal goes on alone: its late result has no place in the log any more.
    return await within({ ms, signal: run.signal, tooLong }, (signal) =>
      context.chain.tool(call, (given) => execute(given, run, { tools: context.tools, signal }), run),
    );
  } catch (error) {
    if (run.signal.aborted) return failed(STOPPED);
    if (error instanceof SlowTool) return failed(error.message);
    return failed(`${call.name} failed: ${messageOf(error)}`);
  }
}

class SlowTool extends Error {}

interface Execution {
  readonly tools: ToolSet;
  readonly signal: AbortSignal;
}

async function execute(call: ToolCall, run: Run, { tools, signal }: Execution): Promise<CallOutcome> {
  const tool = tools[call.name];
  if (tool?.execute === undefined) return failed(`there is no tool ${call.name} that can be run here`);
  const made: unknown = await tool.execute(call.input as never, await toolOptions(call, tool, run, signal));
  const value = isStream(made) ? await lastOf(made, call, run) : made;
  return { output: await outputOf(value, call, tool), isError: false };
}

async function outputOf(value: unknown, { id, input }: ToolCall, tool: Tool): Promise<AiSdkOutput> {
  if (tool.toModelOutput !== undefined) {
    return jsonOf(await tool.toModelOutput({ toolCallId: id, input, output: value } as never)) as AiSdkOutput;
  }
  if (typeof value === "string") return { type: "text", value };
  return { type: "json", value: jsonOf(value) };
}

/** A tool that yields shows its progress; its last word is the result. */
async function lastOf(stream: AsyncIterable<unknown>, call: ToolCall, run: Run): Promise<unknown> {
  let last: unknown;
  for await (const value of stream) {
    last = value;
    run.emit({ type: "tool-progress", callId: call.id, name: call.name, output: shown(value) });
  }
  return last;
}

function isStream(value: unknown): value is AsyncIterable<unknown> {
  return typeof value === "object" && value !== null && Symbol.asyncIterator in value;
}

function failed(text: string): CallOutcome {
  return { output: { type: "error-text", value: text }, isError: true };
}

const STOPPED = "The run was stopped before this tool had finished.";

function tooSlow(name: string, ms: number): string {
  return `${name} did not finish within ${Math.round(ms / 1000)} seconds and was left alone.`;
}

/** As JSON would have it, since an event can be written down. */
export function shown(value: unknown): unknown {
  try {
    return JSON.parse(bodyOf(value));
  } catch (error) {
    return messageOf(error);
  }
}

// What a tool is given beside its arguments: the run it serves, and the context that its `contextSchema` asks for.

/** As a caller gives it to one run. */
export interface RunContext {
  /** Whatever the application wants its tools and middleware to know in this run; never logged, never sent to a model. */
  readonly runtimeContext?: unknown;
  /** By tool: what its `contextSchema` asks for. */
  readonly toolsContext?: Readonly<Record<string, unknown>> | undefined;
}

/** The run as a tool sees it, in `options.run`. */
export interface ToolRun {
  readonly threadId: string;
  readonly runId: string;
  readonly userId: string;
  readonly agentName: string;
  readonly signal: AbortSignal;
  readonly runtimeContext: unknown;
}

/** The SDK's options for a tool's functions, and `run`, which the SDK doesn't know. */
type ToolOptions = ToolExecutionOptions<never> & { readonly run: ToolRun };

/** The run that `execute` serves, out of its second argument. */
export function getRun(options: object): ToolRun {
  if ("run" in options) return options.run as ToolRun;
  throw new TypeError("these are no options of a tool that an agent of palimpsest runs: they have no `run`");
}

/** Throws when the context doesn't suit the tool's schema: the call's result says so. */
export async function toolOptions(
  call: ToolCall,
  tool: ToolSet[string],
  run: Run,
  signal: AbortSignal,
): Promise<ToolOptions> {
  const { threadId, runId, userId, agentName, runtimeContext } = run;
  return {
    toolCallId: call.id,
    messages: run.thread.view().map(({ message }) => message) as never,
    abortSignal: signal,
    context: (await toolContext(call.name, tool, run)) as never,
    run: { threadId, runId, userId, agentName, signal, runtimeContext },
  };
}

async function toolContext(name: string, { contextSchema }: ToolSet[string], { toolsContext }: Run): Promise<unknown> {
  const given = Object.hasOwn(toolsContext, name) ? toolsContext[name] : undefined;
  if (contextSchema == null) return given;
  const problem = await problemWith(contextSchema, given);
  if ("value" in problem) return problem.value;
  throw new Error(`its context is missing or wrong (toolsContext.${name}): ${problem.problem}`);
}

/** The value as the schema reads it, or what is wrong with it. */
export async function problemWith(
  schema: FlexibleSchema<unknown>,
  given: unknown,
): Promise<{ readonly value: unknown } | { readonly problem: string }> {
  const checked = await asSchema(schema).validate?.(given);
  if (checked === undefined) return { value: given };
  return checked.success ? { value: checked.value } : { problem: messageOf(checked.error) };
}

// A list in the thread's state that tools add to, each item once. State survives compaction, undo and fork, which
// messages don't. Tools of one step may add at the same time: what a run has added is kept beside the state it
// read.

interface StateList<T> {
  of(run: Run): readonly T[];
  /** The newest of the same id replaces the older. */
  add(run: Run, item: T): Promise<void>;
}

export function stateList<T>(key: string, idOf: (item: T) => string): StateList<T> {
  const known = new WeakMap<Run, Map<string, T>>();
  const listOf = (run: Run): Map<string, T> => {
    const stored = run.thread.head().state[key];
    const list =
      known.get(run) ?? new Map((Array.isArray(stored) ? (stored as T[]) : []).map((item) => [idOf(item), item]));
    known.set(run, list);
    return list;
  };
  return {
    of: (run) => [...listOf(run).values()],
    async add(run, item) {
      const list = listOf(run);
      list.delete(idOf(item));
      list.set(idOf(item), item);
      await run.commit([{ kind: "state", patch: { [key]: [...list.values()] } }]);
    },
  };
}
