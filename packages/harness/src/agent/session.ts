/**
 * A thread that is held: its lease, its open conversation, a run on it and what builds its requests. Runs and
 * manual compactions both work inside one, so that they can never meet on the same thread.
 */
import { withToolFacts } from "@palimpsest/core/internal/message";
import { type AiSdkMessage, shapeOf } from "@palimpsest/core/message";
import type { ToolSet } from "ai";
import { withHold } from "../session/hold.ts";
import { openLog } from "../session/open-log.ts";
import type { OpenSizer } from "../session/prompting.ts";
import type { Session } from "../session/session.ts";
import type { Leased } from "../stores/leases.ts";
import { asUser } from "../stores/users.ts";
import { type Conversation, openConversation } from "../threads/conversation.ts";
import type { ThreadDeps } from "../threads/writer.ts";
import type { ToolRegistry } from "../tool-facts.ts";
import type { ToolApproval } from "./approval/sort-calls.ts";
import type { Asking } from "./ask.ts";
import type { RunBudget } from "./budget/budget.ts";
import type { RunContext } from "./context/tool-options.ts";
import { LeaseLostError } from "./errors.ts";
import type { Emit } from "./events.ts";
import type { Lifetime } from "./lifetime.ts";
import type { Chain, CompactionSetup, Middleware } from "./middleware.ts";
import { parametersOf } from "./model.ts";
import type { ModelSetup } from "./model-setup.ts";
import { openRequests, type RequestBuilder } from "./request.ts";
import { type ActiveRun, startRun } from "./run.ts";

/** An agent's options, resolved. */
export interface AgentSetup extends Omit<Asking, "requests" | "output">, ModelSetup {
  readonly deps: ThreadDeps;
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

export interface LeftOpen {
  readonly conversation: Conversation<AiSdkMessage>;
  readonly sized: OpenSizer<AiSdkMessage>;
}

export interface RunSession {
  readonly run: ActiveRun;
  readonly requests: RequestBuilder;
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
  { threadId, userId, runId, signal: stop, emit, context = {} }: SessionOptions,
  work: (session: RunSession) => Promise<T>,
): Promise<Leased<T>> {
  const deps = depsOf(setup, userId);
  const key = JSON.stringify([userId, threadId]);
  return withHold(deps, threadId, { runId, abandon: setup.lifetime.over }, async (hold, lost) => {
    const before = setup.open.get(key);
    setup.open.delete(key);
    const { middleware, compaction, base, tools, registry } = setup;
    let asked: ModelSetup = setup;
    // The same table as before, so that what was read through it still counts. The conversation outlives the run: no
    // function of this scope may go into it.
    const shape = before?.conversation.shape ?? withToolFacts(shapeOf("ai-sdk"), deps.tools ?? registry.find);
    const conversation = await openConversation(hold.writer, shape, before?.conversation);
    if (conversation === null) throw new LeaseLostError(threadId);
    const signal = stop === undefined ? lost : AbortSignal.any([stop, lost]);
    const log = openLog(hold, conversation);
    const run: ActiveRun = startRun({
      runId,
      deps,
      log,
      signal,
      emit,
      ...context,
      window: () => asked.book.window().size,
      get bindsReasoning() {
        return asked.model.bindsReasoning;
      },
      prompt: () => requests.session.prompt(),
      compact: (request) => requests.session.compact(request),
    });
    const requestsOf = async ({ model, book, counting }: ModelSetup, sized: OpenSizer<AiSdkMessage> | null) =>
      openRequests(run, log, {
        middleware,
        compaction,
        base,
        tools,
        registry,
        book,
        model: model.settings.languageModel,
        providerOptions: model.settings.providerOptions,
        parameters: parametersOf(model),
        ahead: setup.drafting.has(key) ? "no" : "yes",
        ...(await counting()),
        before: sized,
        history: setup.history?.(threadId, userId) ?? null,
      });
    let requests = await requestsOf(setup, before?.conversation.live() === conversation.live() ? before.sized : null);
    const turnTo = async (other: ModelSetup): Promise<RequestBuilder> => {
      await requests.session.close();
      asked = other;
      requests = await requestsOf(other, null);
      const { inputs, prompts } = requests.changes();
      if (inputs.length > 0) await run.commit(inputs, { prompts });
      return requests;
    };
    const assertHeld = (): void => {
      if (lost.aborted) throw new LeaseLostError(threadId);
    };
    try {
      const result = await work({ run, requests, turnTo, assertHeld });
      keepOpen(asked, key, { conversation, sized: requests.session.opened() });
      return result;
    } finally {
      if (setup.lifetime.closing.aborted) await requests.session.close();
      else letDraft(setup, key, requests.session);
    }
  });
}

/** The agent's deps, on the threads of one user. */
export function depsOf({ deps }: Pick<AgentSetup, "deps">, userId: string): ThreadDeps {
  return { ...deps, store: asUser(deps.store, userId) };
}

/** Whatever the number of threads, only so many stay in memory. */
const MOST_OPEN = 8;

function keepOpen({ open }: ModelSetup, key: string, thread: LeftOpen): void {
  open.set(key, thread);
  const [oldest] = open.keys();
  if (open.size > MOST_OPEN && oldest !== undefined) open.delete(oldest);
}

/** A draft never touches the thread, so it may go on without the lease; the next run finds it in the table. */
function letDraft({ drafting }: AgentSetup, key: string, session: Session<AiSdkMessage>): void {
  if (drafting.has(key)) return;
  drafting.set(key, session);
  void session.settled().finally(() => drafting.delete(key));
}
