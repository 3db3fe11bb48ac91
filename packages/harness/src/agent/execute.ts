/**
 * One run from its first word to its last event: take the thread, log what was said, loop, let middleware finish, give
 * the thread back. Whatever goes wrong comes back as the run's end.
 */
import { checkThreadId, checkUser } from "@palimpsest/core/internal/log";
import { aiSdkShape } from "@palimpsest/core/internal/message";
import { FloorError } from "../compaction/summarization.ts";
import { pace } from "../long-work.ts";
import { addUsage, costOf, knownPrices, NO_USAGE, type Usage } from "../models/facts.ts";
import type { Leased } from "../stores/leases.ts";
import { StoreError } from "../stores/store-error.ts";
import { createThread } from "../thread/writer.ts";
import { refuseOpen, resumeCalls, takeAnswers } from "./approval.ts";
import { AgentError, factsOf, messageOf } from "./errors.ts";
import type { AgentEvent, Emit, RunEnd, RunResult } from "./events.ts";
import {
  emptyPrompt,
  type HeardInput,
  heardOn,
  type Incoming,
  type OutputSpec,
  outputReader,
  readIncoming,
} from "./input.ts";
import { type LoopOptions, type Progress, runLoop } from "./loop.ts";
import type { ModelSetup, RunModel } from "./model.ts";
import type { ActiveRun, RunBudget } from "./run.ts";
import { type AgentSetup, depsOf, withRun } from "./session.ts";
import type { RunContext } from "./tools.ts";

export interface RunInput<O = never> extends Incoming, RunContext, RunModel {
  /** Answers with data: a schema, or the AI SDK's `Output.object`, `array`, `choice`; then `result.output` is that. */
  readonly output?: OutputSpec<O> | undefined;
  /** What the run may spend at most; it ends as `budget` before the call that would go beyond. */
  readonly budget?: RunBudget | undefined;
  /** A new thread when it isn't given. */
  readonly threadId?: string | undefined;
  readonly agentName?: string | undefined;
  /** Whose thread it is: a user sees only threads of their own. By default the store's user. */
  readonly userId?: string | undefined;
  readonly signal?: AbortSignal | undefined;
  /** The run's own name, for who has to know it before it starts; made up when not given. */
  readonly runId?: string | undefined;
  /** How long to wait for a thread that another run holds; without it the run ends `busy` at once. */
  readonly waitMs?: number | undefined;
}

type StartedRun = RunInput<unknown> & {
  /** Makes the thread, as a fork of another, before the run takes it. */
  readonly fork: ForkMaker | null;
  /** The thread is held, and what was said is in the log. */
  readonly onStart: () => void;
  readonly threadId: string;
  readonly userId: string;
  readonly runId: string;
};

export async function executeRun(setup: AgentSetup, input: StartedRun, tell: Emit): Promise<RunResult> {
  const { threadId, runId, userId } = input;
  const { provider, modelId } = setup.model.settings.languageModel;
  const emit: Emit = (event) => {
    setup.chain.hear(event, { threadId, runId, userId, provider, modelId });
    tell(event);
  };
  const progress: Progress = { text: "", output: null, steps: 0, usage: NO_USAGE, error: null };
  emit({ type: "run-start", threadId, runId });
  const end = await runOn(setup, input, { emit, progress }).catch((error: unknown): RunEnd => {
    return isAbort(error, setup.lifetime.over) ? { kind: "aborted" } : failed(error, progress);
  });
  emit({ type: "run-end", end });
  return { threadId, runId, end, ...progress, error: end.kind === "failed" ? progress.error : null };
}

async function runOn(
  setup: AgentSetup,
  input: StartedRun,
  { emit: tell, progress }: { readonly emit: Emit; readonly progress: Progress },
): Promise<RunEnd> {
  const { threadId, runId, userId, agentName } = input;
  if (setup.lifetime.closing.aborted) throw new AgentError("closed", CLOSED);
  const signal = setup.lifetime.signalWith(input.signal);
  const id = checkThreadId(threadId);
  if (id.kind === "invalid") throw new AgentError("bad-thread-id", id.problem);
  const user = checkUser(userId);
  if (user.kind === "invalid") throw new AgentError("bad-user-id", user.problem);
  const heard = saidAs(readIncoming(input), input.fork?.said);
  const { runtimeContext, toolsContext } = input;
  const context = { runtimeContext, toolsContext, asked: wordsIn(heard) };
  const output = await outputReader(input.output);
  const limits = input.budget ?? setup.budget;
  const budget = limits === null ? null : openBudget(limits, setup.model.settings.languageModel.modelId);
  const emit: Emit = (event) => {
    budget?.hear(event);
    tell(event);
  };
  const waiting = { setup, signal, waitMs: input.waitMs ?? 0, emit };
  if (input.fork !== null) {
    const { from, make } = input.fork;
    const forked = await whenFree(make, waiting);
    if (forked.kind === "missing") throw new AgentError("no-message", `there is no thread ${from}`);
    if (forked.kind === "busy") return busyEnd(forked, signal);
  }
  const place = { threadId, userId, runId };
  const attempt = () =>
    withRun(setup, { ...place, signal, emit, context, begin: "by-first-write" }, (run) =>
      runIn(run, { setup, heard, progress, output, budget, onStart: input.onStart }),
    );
  let leased = await whenFree(attempt, waiting);
  if (leased.kind === "missing" && (heard.said.length > 0 || heard.words?.said != null)) {
    await createThread(depsOf(setup, userId), { id: threadId, agentName });
    leased = await whenFree(attempt, waiting);
  }
  if (leased.kind === "busy") return busyEnd(leased, signal);
  if (leased.kind === "missing") throw nothingToAnswer(threadId);
  return leased.value;
}

/** How a run in a fork gets its thread. */
interface ForkMaker {
  readonly from: string;
  /** The message that is said anew: it keeps its name. */
  readonly said: string | undefined;
  make(): Promise<Leased<void>>;
}

function saidAs(heard: HeardInput, id: string | undefined): HeardInput {
  if (id === undefined) return heard;
  if (heard.words?.said != null) return { ...heard, words: { ...heard.words, said: { ...heard.words.said, id } } };
  const last = heard.said.at(-1);
  if (last?.message.role !== "user") throw emptyPrompt();
  return { ...heard, said: [...heard.said.slice(0, -1), { ...last, id }] };
}

function wordsIn({ said, words }: HeardInput): string {
  const message = words?.said?.message ?? said.at(-1)?.message;
  if (message === undefined || message.role !== "user") return "";
  return aiSdkShape
    .parts(message)
    .map((part) => (part.kind === "text" ? part.text : ""))
    .join("\n");
}

function busyEnd({ renewedAt, expiresAt }: Leased<unknown> & { kind: "busy" }, { aborted }: AbortSignal): RunEnd {
  return aborted ? { kind: "aborted" } : { kind: "busy", renewedAt, expiresAt };
}

interface ThreadWaiting {
  readonly setup: AgentSetup;
  readonly signal: AbortSignal;
  readonly waitMs: number;
  readonly emit: Emit;
}

/** A run that was killed may hold its thread until its lease ends: not every store can tell it from one that is at work. */
async function whenFree<T>(attempt: () => Promise<Leased<T>>, waiting: ThreadWaiting): Promise<Leased<T>> {
  const { setup, signal, waitMs, emit } = waiting;
  const { clock } = setup.deps;
  const until = clock().getTime() + waitMs;
  for (let told = false; ; told = true) {
    const leased = await attempt();
    const left = until - clock().getTime();
    if (leased.kind !== "busy" || left <= 0 || signal.aborted) return leased;
    if (!told) emit({ type: "thread-wait", renewedAt: leased.renewedAt, expiresAt: leased.expiresAt, waitMs });
    await setup.sleep(Math.min(left, LOOK_AGAIN_MS), signal).catch(() => {});
  }
}

const LOOK_AGAIN_MS = 250;

interface RunPlan extends Pick<LoopOptions, "output" | "budget"> {
  readonly setup: AgentSetup;
  readonly heard: HeardInput;
  readonly progress: Progress;
  readonly onStart: () => void;
}

async function runIn(run: ActiveRun, plan: RunPlan): Promise<RunEnd> {
  const { setup, heard, progress } = plan;
  const steps = pace();
  const { said, answers } = heardOn(heard, { log: run.thread, tools: run.tools() });
  if (said.length === 0 && run.thread.view().length === 0) throw nothingToAnswer(run.threadId);
  await run.thread.fix();
  // What was said may be of many megabytes: reading it is enough for a turn.
  if (steps.isDue()) await steps.turn();
  await takeAnswers(run, answers);
  if (said.some(({ message }) => message.role === "user")) await refuseOpen(run);
  run.question = openQuestion(run.thread);
  for (const { message, origin, id } of said) run.question = await run.say(message, origin, { id });
  await run.hold();
  plan.onStart();
  const { chain } = setup;
  let end: RunEnd;
  try {
    await chain.beforeAgent(run);
    const waiting = await resumeCalls(run, { tools: run.tools(), chain, timeoutMs: setup.toolTimeoutMs });
    end = waiting ?? (await runLoop(run, loopOptions(run, plan), progress));
  } catch (error) {
    // Code that waits on the run's signal throws when it is stopped; a thread that was taken over is told apart below.
    end = isAbort(error, run.signal) ? { kind: "aborted" } : failed(error, progress);
  }
  run.assertHeld();
  await chain.afterAgent(run, end);
  return end;
}

/** What was asked and has no answer yet: a run that goes on without a new message answers that. */
function openQuestion({ live, original }: ActiveRun["thread"]): number | null {
  const last = live().tail.at(-1);
  return last !== undefined && original(last).role === "user" ? last.seq : null;
}

/** While another model is left to ask, a failed one is not waited for. */
function loopOptions(run: ActiveRun, { setup, output, budget }: RunPlan): LoopOptions {
  const common = { ...setup, output, budget };
  const from = (model: ModelSetup, left: readonly ModelSetup[]): LoopOptions => {
    const [next, ...others] = left;
    const turn = async (other: ModelSetup): Promise<LoopOptions> => {
      await run.turnTo(other);
      return from(other, others);
    };
    const nextModel = next === undefined ? null : () => turn(next);
    const retry = next === undefined ? setup.retry : { ...setup.retry, maxRetries: 0 };
    return { ...common, ...model, retry, nextModel };
  };
  const { model, modelWindow, counting } = setup;
  return from({ model, modelWindow, counting }, setup.fallbacks);
}

function isAbort(error: unknown, { aborted, reason }: AbortSignal): boolean {
  return aborted && (error === reason || (error instanceof Error && error.name === "AbortError"));
}

function nothingToAnswer(threadId: string): AgentError {
  return new AgentError("nothing-to-answer", `thread ${threadId} has no message to answer: give a prompt`);
}

/** The error itself goes with the result, so that its cause is there; the end says what can be written down. */
function failed(thrown: unknown, progress: Progress): RunEnd {
  const error = agentError(thrown);
  progress.error = error;
  return { kind: "failed", code: error.code, message: error.message, ...factsOf(error) };
}

/** Whatever ended a run, as the one error type. */
function agentError(thrown: unknown): AgentError {
  if (thrown instanceof AgentError) return thrown;
  if (thrown instanceof StoreError)
    return new AgentError("store", thrown.message, { cause: thrown, storeCode: thrown.code });
  return new AgentError(thrown instanceof FloorError ? thrown.code : "failed", messageOf(thrown), { cause: thrown });
}

interface OpenBudget {
  /** What the run tells also says what was spent beside its own calls. */
  hear(event: AgentEvent): void;
  spend(usage: Usage | null): void;
  /** The end, if the next call has no room: its prompt alone, read without a cache, would go beyond. */
  endBefore(promptTokens: number): RunEnd | null;
}

/** Throws an `AgentError` for a budget that can't be kept. */
export function openBudget({ tokens, cost, prices: given }: RunBudget, model: string): OpenBudget {
  for (const [name, limit] of Object.entries({ tokens, cost })) {
    if (limit !== undefined && !(limit > 0))
      throw new AgentError("bad-budget", `budget.${name} must be above 0, it is ${limit}`);
  }
  const prices = given ?? knownPrices(model);
  if (cost !== undefined && prices === null) {
    throw new AgentError("bad-budget", `no price is known for ${model}: give budget.prices, or a budget in tokens`);
  }
  let spent: Usage = NO_USAGE;
  let money = 0;
  const spend = (usage: Usage | null, at = prices): void => {
    spent = addUsage(spent, usage);
    if (usage !== null && at !== null) money += costOf(usage, at).spent;
  };
  return {
    spend: (usage) => spend(usage),
    hear(event) {
      if (event.type === "summary-usage") spend({ ...NO_USAGE, input: event.input, output: event.output });
      if (event.type === "subagent-end") spend(event.usage, given ?? knownPrices(event.model) ?? prices);
    },
    endBefore(promptTokens) {
      const total = spent.input + spent.output;
      const next = prices === null ? 0 : costOf({ ...NO_USAGE, input: promptTokens }, prices).spent;
      const over =
        (tokens !== undefined && total + promptTokens > tokens) || (cost !== undefined && money + next > cost);
      return over ? { kind: "budget", tokens: total, cost: prices === null ? null : money } : null;
    },
  };
}

// An agent's working life: what is under way on its threads, and how all of it is brought to an end. Closing first
// asks everything to stop and waits; what doesn't stop in time loses its thread, which is then free for the next
// process.

export interface Lifetime {
  /** Aborted once the agent is being closed: what is under way stops, nothing new begins. */
  readonly closing: AbortSignal;
  /** Aborted when the time for that has passed: leases are given back even if work goes on under them. */
  readonly over: AbortSignal;
  /** The caller's signal together with `closing`. */
  signalWith(given: AbortSignal | undefined): AbortSignal;
  /** Keeps work in mind until it has ended, so that closing can wait for it. */
  track<T>(work: Promise<T>): Promise<T>;
  /** Stops everything and waits for it and for `others`, so long at most. Once: a second call waits for the first. */
  end(withinMs: number, others: () => readonly Promise<unknown>[]): Promise<void>;
}

export function createLifetime(): Lifetime {
  const closing = new AbortController();
  const over = new AbortController();
  const active = new Set<Promise<unknown>>();
  let ending: Promise<void> | undefined;
  const end = async (withinMs: number, others: readonly Promise<unknown>[]): Promise<void> => {
    closing.abort(new AgentError("closed", CLOSED));
    if ((await settled([...active, ...others], withinMs)) === "settled") return;
    over.abort(new AgentError("closed", CLOSED));
    await settled([...active], GIVING_BACK_MS);
  };
  return {
    closing: closing.signal,
    over: over.signal,
    signalWith: (given) => (given === undefined ? closing.signal : AbortSignal.any([given, closing.signal])),
    track(work) {
      active.add(work);
      const forget = (): boolean => active.delete(work);
      work.then(forget, forget);
      return work;
    },
    end(withinMs, others) {
      ending ??= end(withinMs, others());
      return ending;
    },
  };
}

/** For a store to take a lease back. */
const GIVING_BACK_MS = 1_000;

async function settled(work: readonly Promise<unknown>[], withinMs: number): Promise<"settled" | "late"> {
  const { promise: late, resolve } = Promise.withResolvers<"late">();
  const timer = setTimeout(resolve, withinMs, "late");
  const all = Promise.allSettled(work).then(() => "settled" as const);
  return Promise.race([all, late]).finally(() => clearTimeout(timer));
}

const CLOSED = "this agent was closed: make another one to go on";
