/**
 * A thread that is held: its lease, its open conversation, a run on it and what builds its requests. Runs and
 * manual compactions both work inside one, so that they can never meet on the same thread.
 */
import { checkUser } from "@palimpsest/core/log";
import type { AiSdkMessage, Shape } from "@palimpsest/core/message";
import type { ToolSet } from "ai";
import { withHold } from "../session/hold.ts";
import { type OpenLog, openLog } from "../session/open-log.ts";
import type { OpenSizer } from "../session/prompting.ts";
import type { Session } from "../session/session.ts";
import type { Leased } from "../stores/leases.ts";
import { asUser } from "../stores/users.ts";
import { openConversation } from "../threads/conversation.ts";
import type { ThreadDeps } from "../threads/writer.ts";
import type { ToolRegistry } from "../tool-facts.ts";
import type { ToolApproval } from "./approval/sort-calls.ts";
import type { Asking } from "./ask.ts";
import type { RunBudget } from "./budget/budget.ts";
import type { RunContext } from "./context/tool-options.ts";
import { AgentError, LeaseLostError } from "./errors.ts";
import type { Emit } from "./events.ts";
import type { Lifetime } from "./lifetime.ts";
import type { Chain, CompactionSetup, Middleware } from "./middleware.ts";
import type { ModelSetup } from "./model-setup.ts";
import { openThreads } from "./open-threads.ts";
import { openRequests, type RequestBuilder } from "./request.ts";
import { type ActiveRun, startRun } from "./run.ts";

/** An agent's options, resolved. */
export interface AgentSetup extends Omit<Asking, "requests" | "output">, ModelSetup {
  readonly deps: ThreadDeps;
  /** How it reads messages, with what its tools say of themselves. */
  readonly shape: Shape<AiSdkMessage>;
  readonly base: string;
  readonly tools: ToolSet;
  readonly middleware: readonly Middleware[];
  /** What the tools of its runs have said of themselves. */
  readonly registry: ToolRegistry;
  readonly chain: Chain;
  readonly compaction: CompactionSetup;
  readonly maxSteps: number;
  readonly toolTimeoutMs: number | null;
  readonly toolApproval: ToolApproval | null;
  readonly history: ((threadId: string, userId: string) => string) | null;
  readonly lifetime: Lifetime;
  /** By user and thread: who is still drafting a summary after its run has ended. */
  readonly drafting: Map<string, Session<AiSdkMessage>>;
  /** Asked one after the other where a model fails. */
  readonly fallbacks: readonly ModelSetup[];
  readonly budget: RunBudget | null;
}

export interface RunSession {
  readonly run: ActiveRun;
  /** Of the model that is asked now. */
  readonly requests: RequestBuilder;
  readonly model: ModelSetup;
  /** The same run on the same thread for another model: its own window, count and requests. */
  turnTo(other: ModelSetup): Promise<RequestBuilder>;
  /** Throws once the thread has been taken over. */
  assertHeld(): void;
}

export interface SessionOptions {
  readonly threadId: string;
  readonly userId: string;
  readonly runId: string;
  readonly signal: AbortSignal | undefined;
  readonly emit: Emit;
  readonly context?: RunContext;
}

export function withSession<T>(
  setup: AgentSetup,
  options: SessionOptions,
  work: (session: RunSession) => Promise<T>,
): Promise<Leased<T>> {
  const { threadId, userId, runId } = options;
  const deps = depsOf(setup, userId);
  const key = keyOf(options);
  return withHold(deps, threadId, { runId, abandon: setup.lifetime.over }, async (hold, lost) => {
    const open = openThreads(setup.deps.store);
    // The conversation outlives the run, and may outlive the agent: no function of this scope may go into it.
    const before = open.take(key);
    const conversation = await openConversation(hold.writer, setup.shape, before?.conversation);
    if (conversation === null) throw new LeaseLostError(threadId);
    const moved = before?.conversation.live() !== conversation.live();
    const sized = before === null ? null : { ...before.sized, moved };
    const session = await openRunSession(setup, options, { log: openLog(hold, conversation), deps, lost, sized });
    try {
      const result = await work(session);
      open.leave(key, { conversation, sized: session.requests.session.opened() });
      return result;
    } finally {
      if (setup.lifetime.closing.aborted) await session.requests.session.close();
      else letDraft(setup, key, session.requests.session);
    }
  });
}

interface HeldThread {
  readonly log: OpenLog<AiSdkMessage>;
  readonly deps: ThreadDeps;
  readonly lost: AbortSignal;
  /** What the run before has counted with. */
  readonly sized: OpenSizer<AiSdkMessage> | null;
}

async function openRunSession(
  setup: AgentSetup,
  options: SessionOptions,
  { log, deps, lost, sized }: HeldThread,
): Promise<RunSession> {
  const { threadId, userId, runId, signal: stop, emit, context = {} } = options;
  let model: ModelSetup = setup;
  const run: ActiveRun = startRun({
    runId,
    deps,
    log,
    signal: stop === undefined ? lost : AbortSignal.any([stop, lost]),
    emit,
    ...context,
    window: () => model.modelWindow.window().size,
    get bindsReasoning() {
      return model.model.bindsReasoning;
    },
    prompt: () => requests.session.prompt(),
    compact: (request) => requests.session.compact(request),
  });
  const history = setup.history?.(threadId, userId) ?? null;
  const ahead = setup.drafting.has(keyOf(options)) ? "no" : "yes";
  let requests = await openRequests(run, log, { setup, model, history, ahead, before: sized });
  return {
    run,
    get requests() {
      return requests;
    },
    get model() {
      return model;
    },
    async turnTo(other) {
      await requests.session.close();
      model = other;
      requests = await openRequests(run, log, { setup, model, history, ahead, before: null });
      await requests.record();
      return requests;
    },
    assertHeld() {
      if (lost.aborted) throw new LeaseLostError(threadId);
    },
  };
}

function keyOf({ userId, threadId }: SessionOptions): string {
  return JSON.stringify([userId, threadId]);
}

/** The agent's deps, on the threads of one user. */
export function depsOf({ deps }: Pick<AgentSetup, "deps">, userId: string): ThreadDeps {
  const user = checkUser(userId);
  if (user.kind === "invalid") throw new AgentError("bad-user-id", user.problem);
  return { ...deps, store: asUser(deps.store, userId) };
}

/** A draft never touches the thread, so it may go on without the lease; the next run finds it in the table. */
function letDraft({ drafting }: AgentSetup, key: string, session: Session<AiSdkMessage>): void {
  if (drafting.has(key)) return;
  drafting.set(key, session);
  void session.settled().finally(() => drafting.delete(key));
}
