/**
 * One run on one thread, as middleware and tools see it: where it stands, how to write to the log, how to compact, how to
 * end it. Everything written goes through `commit`, under the run's lease; once that is lost nothing can be written.
 */
import type { CompactionOutcome } from "@palimpsest/core/internal/compaction";
import type { MessageRecord } from "@palimpsest/core/internal/log";
import type { AiSdkMessage } from "@palimpsest/core/internal/message";
import type { Prompt } from "@palimpsest/core/internal/prompt";
import type { ToolSet } from "ai";
import type { CompactRequest } from "../compaction/compactor.ts";
import type { Summarization } from "../compaction/summarization.ts";
import { pace } from "../long-work.ts";
import { retryAfterMs, worthAnotherTry } from "../models/call-error.ts";
import type { TokenPrices } from "../models/facts.ts";
import type { FindCorrected } from "../recall/answers.ts";
import type { SearchHit } from "../recall/search.ts";
import type { NewJob } from "../stores/outbox.ts";
import type { AppendBatch } from "../stores/store.ts";
import { type Batch, bodyOf } from "../thread/log.ts";
import type { Thread, ThreadLog, ThreadView } from "../thread/thread.ts";
import { type LearnedWindow, overflowOf } from "../thread/window.ts";
import { type RecordInput, type ThreadDeps, ThreadError } from "../thread/writer.ts";
import { AgentError, LeaseLostError, modelError } from "./errors.ts";
import type { AgentEvent, Emit, RunEnd } from "./events.ts";
import type { BoundRequest, ModelRequest, PromptSection } from "./fixed-part.ts";
import type { OutputReader } from "./input.ts";
import { type AgentModel, type ModelSetup, type Summarizer, settingsAt } from "./model.ts";
import { type Answered, type CallLimits, callModel, type StepOutcome } from "./step.ts";
import type { CallOutcome, RunContext, ToolCall } from "./tools.ts";

export interface Run {
  readonly threadId: string;
  readonly runId: string;
  readonly userId: string;
  readonly agentName: string;
  readonly deps: ThreadDeps;
  /** Its thread as it stands, to be read: `commit` writes to it. */
  readonly thread: ThreadView<AiSdkMessage>;
  /** Aborted by the caller, or when the lease is lost. */
  readonly signal: AbortSignal;
  readonly emit: Emit;
  /** Seq of the message this run answers; null when it goes on from something else, such as a tool's result. */
  readonly question: number | null;
  /** The words of the message that this run was given, also before it is in the log; empty when it goes on without one. */
  readonly asked: string;
  /** What the caller gave this run beside its messages. */
  readonly runtimeContext: unknown;
  readonly toolsContext: Readonly<Record<string, unknown>>;
  /** The step that is under way, from 1; 0 before the first. */
  readonly step: number;
  /**
   * All of them or none, with the jobs they ask for; returns their seqs. Throws when the thread is no longer this run's.
   * Commits of tools that run side by side take turns; as a function, the inputs are made when their turn has come. With
   * `erase`, bodies that this run has written are replaced for good.
   */
  commit(inputs: Inputs, also?: Pick<Batch, "jobs" | "prompts" | "erase">): Promise<readonly number[]>;
  say(message: AiSdkMessage, origin: MessageRecord["origin"], beside?: SaidBeside): Promise<number>;
  /** What would be sent now, before anything hooks into it. */
  prompt(): Prompt<AiSdkMessage>;
  compact(request: CompactRequest): Promise<CompactionOutcome<AiSdkMessage>>;
  /** The model refuses a thought of its own once anything before it has changed: system prompt and tools stay as they are. */
  readonly bindsReasoning: boolean;
  /** How many tokens the model takes, as far as is known now. */
  window(): number;
  /** The run ends after the step that is under way. */
  finish(end: RunEnd): void;
}

/** What goes into the log together with a message. */
interface SaidBeside {
  /** The message's own; a new one unless given. */
  readonly id?: string | undefined;
  readonly inputs?: (seq: number) => readonly RecordInput[];
  readonly jobs?: (throughSeq: number) => readonly NewJob[];
  /** `released`: nothing is written after it in this run. */
  readonly leaseAfter?: AppendBatch["leaseAfter"];
  /** The hash of the request it answers, where its reasoning is bound to it. */
  readonly prefix?: string | null;
}

type Inputs = readonly RecordInput[] | (() => readonly RecordInput[]);

export interface RunOptions
  extends RunContext,
    Pick<Run, "runId" | "deps" | "signal" | "emit" | "prompt" | "compact" | "window" | "bindsReasoning"> {
  readonly thread: ThreadLog<AiSdkMessage> & Pick<Thread<AiSdkMessage>, "write">;
  readonly asked?: string | undefined;
}

interface WritingRun extends Run {
  step: number;
  question: number | null;
  readonly ending: RunEnd | null;
}

/** A run as its loop sees it: on its thread, with the requests it sends. */
export interface ActiveRun extends WritingRun {
  /** As the model that is asked now sees it. */
  readonly thread: Thread<AiSdkMessage>;
  tools(): ToolSet;
  /** Renders system prompt and tools anew, and writes them where they differ from what the thread last sent. */
  refresh(): Promise<void>;
  request(): Promise<ModelRequest>;
  /** The last thing that happens to a request before it is sent. */
  bind(request: ModelRequest): BoundRequest;
  /** Goes on with another model: its own window, count and requests. */
  turnTo(other: ModelSetup): Promise<void>;
  /** Takes the lease if no write has taken it yet: from here on the run does what can't be done twice. */
  hold(): Promise<void>;
  /** Throws once the thread has been taken over. */
  assertHeld(): void;
}

export function startRun(options: RunOptions): WritingRun {
  const { thread, emit, deps, ...others } = options;
  const { id: threadId, user: userId, agent: agentName } = thread.header;
  let ending: RunEnd | null = null;
  /** For a run it is all the same why the thread is no longer its own. */
  const lost = (error: unknown): never => {
    const ours = !(error instanceof ThreadError) || (error.code !== "lease-lost" && error.code !== "missing");
    throw ours ? error : new LeaseLostError(threadId);
  };
  return {
    ...others,
    deps,
    emit,
    thread,
    get bindsReasoning() {
      return options.bindsReasoning;
    },
    threadId,
    userId,
    agentName,
    commit: (inputs, also) =>
      thread.write(() => ({ inputs: typeof inputs === "function" ? inputs() : inputs, ...also })).catch(lost),
    asked: options.asked ?? "",
    runtimeContext: options.runtimeContext,
    toolsContext: options.toolsContext ?? {},
    step: 0,
    question: null,
    get ending() {
      return ending;
    },
    async say(
      message,
      origin,
      { id = deps.ids(), inputs = () => [], jobs = () => [], prefix = null, leaseAfter = "kept" } = {},
    ) {
      const steps = pace();
      const body = { kind: "message", id, dialect: "ai-sdk", origin, body: bodyOf(message) } as const;
      if (steps.isDue()) await steps.turn();
      const first: RecordInput = prefix === null ? body : { ...body, prefix };
      const make = () => {
        const seq = thread.head().version + 1;
        return { inputs: [first, ...inputs(seq)], jobs: jobs(seq), leaseAfter };
      };
      const [seq] = await thread.write(make).catch(lost);
      emit({ type: "message-append", seq: seq!, role: message.role });
      return seq!;
    },
    finish(end) {
      ending ??= end;
    },
  };
}

// What a middleware is, and how a list of them becomes one. `before` hooks run in the list's order, `after` hooks in
// reverse, and the first in the list wraps all others. A middleware adds to a run; the loop itself stays as it is.

export interface Middleware {
  readonly name: string;
  /** Tools it brings; as a function, made anew for each run. */
  readonly tools?: ToolSet | ((run: Run) => ToolSet | Promise<ToolSet>);
  /** Names of the tools that a function makes, so that a clash shows when the agent is made and not in its first run. */
  readonly brings?: readonly string[];
  /** Its sections of the system prompt, asked for when a run starts and after each compaction. */
  readonly prompt?: (run: Run) => readonly PromptSection[] | Promise<readonly PromptSection[]>;
  /**
   * How every compaction of this agent is done; the last one in the list holds. It is data, not a hook, since it also holds
   * where no hook runs: for a manual compaction, and for a draft that outlives its run.
   */
  readonly compaction?: CompactionSetup;
  /** Which hits of a search state something that was corrected since; it is data, like `compaction`: recall's tool asks it. */
  readonly corrected?: (hits: readonly SearchHit[], run: Run) => ReturnType<FindCorrected>;
  /** Once per run, after the user's message is in the log. */
  readonly beforeAgent?: (run: Run) => void | Promise<void>;
  /** Before every step; what it commits is in the prompt. */
  readonly beforeModel?: (run: Run) => void | Promise<void>;
  /** Around every attempt of a model call. */
  readonly wrapModel?: (request: ModelRequest, next: AskModel, run: Run) => Promise<StepOutcome>;
  /** Around every tool call that can be carried out; what it throws becomes the call's error result. */
  readonly wrapTool?: (call: ToolCall, next: CarryOut, run: Run) => Promise<CallOutcome>;
  /** After every answered step, when the answer and its results are in the log. */
  readonly afterModel?: (run: Run, answer: Answered) => void | Promise<void>;
  /** Work that the turn's last answer asks for, queued in the transaction that writes it. Must be quick: it waits. */
  readonly jobs?: (run: Run, throughSeq: number) => readonly NewJob[];
  /** Once per run, however it ended, while the thread is still held, unless `writesLast` says that this one needn't be. */
  readonly afterAgent?: (run: Run, end: RunEnd) => void | Promise<void>;
  /**
   * Whether `afterModel` of the last answer or `afterAgent` may write to the thread. Yes unless it is said: then the thread is held
   * until they are done, else it is given back with the last answer, which saves a round trip.
   */
  readonly writesLast?: (run: Run) => boolean;
  /** Hears every event of every run, from the first to the last, also of one that never got its thread. Must be quick. */
  readonly onEvent?: (event: AgentEvent, of: RunFacts) => void;
  /** When the agent is closed: ends what this one has running beside the runs. */
  readonly close?: () => void | Promise<void>;
}

/** What is known of a run before it has its thread. */
export interface RunFacts {
  readonly threadId: string;
  readonly runId: string;
  readonly userId: string;
  readonly provider: string;
  readonly modelId: string;
}

export interface CompactionSetup {
  readonly settings: Summarization;
  readonly summarizer: Summarizer;
}

export type AskModel = (request: ModelRequest) => Promise<StepOutcome>;
export type CarryOut = (call: ToolCall) => Promise<CallOutcome>;

/** All middleware of an agent as one. */
export interface Chain {
  beforeAgent(run: Run): Promise<void>;
  beforeModel(run: Run): Promise<void>;
  model(request: ModelRequest, call: AskModel, run: Run): Promise<StepOutcome>;
  tool(call: ToolCall, carryOut: CarryOut, run: Run): Promise<CallOutcome>;
  afterModel(run: Run, answer: Answered): Promise<void>;
  jobs(run: Run, throughSeq: number): readonly NewJob[];
  afterAgent(run: Run, end: RunEnd): Promise<void>;
  writesLast(run: Run): boolean;
  hear(event: AgentEvent, of: RunFacts): void;
  close(): Promise<void>;
}

export function compose(list: readonly Middleware[]): Chain {
  const inner = list.toReversed();
  return {
    async beforeAgent(run) {
      for (const one of list) await one.beforeAgent?.(run);
    },
    async beforeModel(run) {
      for (const one of list) await one.beforeModel?.(run);
    },
    model(request, call, run) {
      const whole = inner.reduce<AskModel>((next, { wrapModel }) => {
        return wrapModel === undefined ? next : (given) => wrapModel(given, next, run);
      }, call);
      return whole(request);
    },
    tool(call, carryOut, run) {
      const whole = inner.reduce<CarryOut>((next, { wrapTool }) => {
        return wrapTool === undefined ? next : (given) => wrapTool(given, next, run);
      }, carryOut);
      return whole(call);
    },
    async afterModel(run, answer) {
      for (const one of inner) await one.afterModel?.(run, answer);
    },
    jobs: (run, throughSeq) => list.flatMap((one) => one.jobs?.(run, throughSeq) ?? []),
    async afterAgent(run, end) {
      for (const one of inner) await one.afterAgent?.(run, end);
    },
    writesLast: (run) =>
      list.some(({ afterModel, afterAgent, writesLast }) => {
        return (afterModel !== undefined || afterAgent !== undefined) && (writesLast?.(run) ?? true);
      }),
    hear(event, of) {
      for (const one of list) one.onEvent?.(event, of);
    },
    async close() {
      await Promise.allSettled(list.map(async (one) => one.close?.()));
    },
  };
}

// What one run may spend, in tokens or money: its own calls, its summaries and its children together. It is looked
// at before each model call, so that a run ends between two steps, with everything in the log.

export interface RunBudget {
  /** Input and output of all calls together; what is read from a cache counts in full. */
  readonly tokens?: number;
  /** In US dollars. */
  readonly cost?: number;
  /** Per million tokens; without them the table of known models, in US dollars. */
  readonly prices?: TokenPrices;
}

// One step's question to the model, with as many attempts as it takes: a refused prompt is made to fit and sent once
// more, a rate limit or a lost connection is waited out. Only while nothing was shown: what a person has read stands.

export interface AskingModel {
  readonly chain: Chain;
  readonly model: AgentModel;
  readonly modelWindow: LearnedWindow;
  readonly retry: RetryPolicy;
  readonly callLimits: CallLimits;
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>;
  readonly random: () => number;
  readonly output?: OutputReader | null;
}

/** The first model of the list that answers, or has shown something; the run stays with it. */
export async function askOneOf<A extends AskingModel & { readonly nextModel: (() => Promise<A>) | null }>(
  run: ActiveRun,
  given: A,
): Promise<{ readonly outcome: StepOutcome; readonly options: A }> {
  let options = given;
  for (;;) {
    const outcome = await ask(run, options);
    const failed = outcome.kind === "failed" && !outcome.shown && !run.signal.aborted;
    if (!failed || options.nextModel === null) return { outcome, options };
    const from = options.model.settings.languageModel.modelId;
    options = await options.nextModel();
    const to = options.model.settings.languageModel.modelId;
    const { message: reason } = modelError(outcome.error, run.deps.clock().getTime());
    run.emit({ type: "model-fallback", from, to, reason });
    // Its window may be smaller.
    await options.chain.beforeModel(run);
  }
}

async function ask(run: ActiveRun, asking: AskingModel): Promise<StepOutcome> {
  const { chain, model, callLimits: limits } = asking;
  const settings = settingsAt(model.settings, run.step);
  const { step, signal, emit, deps } = run;
  const context = { step, signal, emit, limits, clock: deps.clock, format: asking.output?.format };
  let recovered = false;
  for (let attempt = 1; ; ) {
    const call = (given: ModelRequest): Promise<StepOutcome> => {
      const { request, prefix } = run.bind(given);
      return callModel(request, { ...context, settings, prefix });
    };
    const outcome = await chain.model(await run.request(), call, run);
    if (outcome.kind !== "failed" || outcome.shown || run.signal.aborted) return outcome;
    if (overflowOf(outcome.error) !== null) {
      if (recovered || !(await run.thread.recover(outcome.error, run))) return outcome;
      recovered = true;
      continue;
    }
    const now = run.deps.clock().getTime();
    const delayMs = retryDelay(outcome.error, attempt, { policy: asking.retry, now, random: asking.random() });
    if (delayMs === null) return outcome;
    run.emit({ type: "model-retry", attempt, delayMs, reason: modelError(outcome.error, now).message });
    await asking.sleep(delayMs, run.signal).catch(() => {});
    if (run.signal.aborted) return { kind: "aborted", text: "" };
    attempt++;
  }
}

// Which failed model calls are worth another try, and after how long: rate limits, overload and lost connections,
// with growing pauses, or the one the provider asks for. Pure; who waits is the caller, so that every wait is an
// event.

export interface RetryPolicy {
  /** Attempts after the first. */
  readonly maxRetries: number;
  readonly firstDelayMs: number;
  /** A provider that asks for a longer pause than this gets no second try: the run fails and says so. */
  readonly longestDelayMs: number;
}

export const RETRY_DEFAULTS: RetryPolicy = { maxRetries: 4, firstDelayMs: 1_000, longestDelayMs: 60_000 };

/** Null: not worth a try, or no tries left. `attempt` counts from 1; `random` in [0, 1) spreads callers apart. */
export function retryDelay(
  thrown: unknown,
  attempt: number,
  { policy, now, random }: { readonly policy: RetryPolicy; readonly now: number; readonly random: number },
): number | null {
  if (attempt > policy.maxRetries) return null;
  // It has cost minutes: once more at once, and no third time.
  if (thrown instanceof AgentError && thrown.code === "timed-out") return attempt === 1 ? 0 : null;
  if (!worthAnotherTry(thrown)) return null;
  const asked = retryAfterMs(thrown, now);
  if (asked !== null) return asked > policy.longestDelayMs ? null : asked;
  const delay = Math.min(policy.longestDelayMs, policy.firstDelayMs * 2 ** (attempt - 1));
  return Math.round(delay * (0.75 + 0.5 * random));
}
