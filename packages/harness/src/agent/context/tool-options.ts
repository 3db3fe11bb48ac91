/** What a tool is given beside its arguments: the run it serves, and the context that its `contextSchema` asks for. */
import { asSchema, type FlexibleSchema, type ToolExecutionOptions, type ToolSet } from "ai";
import { messageOf } from "../errors.ts";
import type { Run } from "../run.ts";
import type { ToolCall } from "../tools.ts";

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
export type ToolOptions = ToolExecutionOptions<never> & { readonly run: ToolRun };

/** The run that `execute` serves, out of its second argument. */
export function runOf(options: object): ToolRun {
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
    messages: run.conversation.view().map(({ message }) => message) as never,
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
