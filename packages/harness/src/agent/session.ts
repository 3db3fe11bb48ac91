/**
 * A thread that is held: its lease, its open conversation, a run on it and what builds its requests. Runs and
 * manual compactions both work inside one, so that they can never meet on the same thread.
 */
import { withToolFacts } from "@palimpsest/core/internal/message";
import { type AiSdkMessage, shapeOf } from "@palimpsest/core/message";
import type { Meter } from "@palimpsest/core/tokens";
import type { ToolSet } from "ai";
import type { Compactor } from "../compaction/compactor.ts";
import type { ModelCounter } from "../models/tokenizers.ts";
import type { Leased } from "../stores/leases.ts";
import { asUser } from "../stores/users.ts";
import { withWriter } from "../threads/acts.ts";
import { type Conversation, openConversation } from "../threads/conversation.ts";
import type { ThreadDeps } from "../threads/writer.ts";
import type { ToolRegistry } from "../tool-facts.ts";
import type { ToolApproval } from "./approval/sort-calls.ts";
import type { Asking } from "./ask.ts";
import type { RunContext } from "./context/tool-options.ts";
import { LeaseLostError } from "./errors.ts";
import type { Emit } from "./events.ts";
import { parametersOf } from "./kept-request.ts";
import type { Lifetime } from "./lifetime.ts";
import type { Chain, CompactionSetup, Middleware } from "./middleware.ts";
import type { OpenSizer } from "./open-sizer.ts";
import { openRequests, type RequestBuilder } from "./request.ts";
import { type ActiveRun, startRun } from "./run.ts";

/** An agent's options, resolved. */
export interface AgentSetup extends Omit<Asking, "requests"> {
  readonly deps: ThreadDeps;
  readonly base: string;
  readonly tools: ToolSet;
  readonly middleware: readonly Middleware[];
  /** What the tools of its runs have said of themselves. */
  readonly registry: ToolRegistry;
  readonly chain: Chain;
  readonly compaction: CompactionSetup;
  readonly counting: () => Promise<{ readonly counter: ModelCounter; readonly meter: Meter<AiSdkMessage> }>;
  readonly maxSteps: number;
  readonly toolTimeoutMs: number | null;
  readonly toolApproval: ToolApproval | null;
  readonly history: ((threadId: string, userId: string) => string) | null;
  readonly lifetime: Lifetime;
  /** By user and thread: who is still drafting a summary after its run has ended. */
  readonly drafting: Map<string, Compactor<AiSdkMessage>>;
  /** By user and thread: what the last runs left open, so that the next one reads only what is new. */
  readonly open: Map<string, OpenThread>;
}

interface OpenThread {
  readonly conversation: Conversation<AiSdkMessage>;
  readonly sized: OpenSizer;
}

export interface Session {
  readonly run: ActiveRun;
  readonly requests: RequestBuilder;
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
  work: (session: Session) => Promise<T>,
): Promise<Leased<T>> {
  const deps = depsOf(setup, userId);
  const key = JSON.stringify([userId, threadId]);
  return withWriter(
    deps,
    threadId,
    async (writer, lost) => {
      const before = setup.open.get(key);
      setup.open.delete(key);
      const { middleware, compaction, base, tools, registry, book } = setup;
      // The same table as before, so that what was read through it still counts. The conversation outlives the run: no
      // function of this scope may go into it.
      const shape = before?.conversation.shape ?? withToolFacts(shapeOf("ai-sdk"), deps.tools ?? registry.find);
      const conversation = await openConversation(writer, shape, before?.conversation);
      if (conversation === null) throw new LeaseLostError(threadId);
      const signal = stop === undefined ? lost : AbortSignal.any([stop, lost]);
      const { bindsReasoning } = setup.model;
      const window = (): number => book.window().size;
      const common = {
        runId,
        deps,
        conversation,
        signal,
        emit,
        window,
        bindsReasoning,
      };
      const run: ActiveRun = startRun({
        ...common,
        ...context,
        prompt: () => requests.prompt(),
        compact: (request) => requests.compactor.compact(request),
      });
      const requests = await openRequests(run, {
        middleware,
        compaction,
        base,
        tools,
        registry,
        book,
        model: setup.model.settings.languageModel,
        providerOptions: setup.model.settings.providerOptions,
        parameters: parametersOf(setup.model),
        ahead: setup.drafting.has(key) ? "no" : "yes",
        ...(await setup.counting()),
        before: before?.conversation.live() === conversation.live() ? before.sized : null,
        history: setup.history?.(threadId, userId) ?? null,
      });
      const assertHeld = (): void => {
        if (lost.aborted) throw new LeaseLostError(threadId);
      };
      try {
        const result = await work({ run, requests, assertHeld });
        keepOpen(setup, key, { conversation, sized: requests.opened() });
        return result;
      } finally {
        if (setup.lifetime.closing.aborted) await requests.compactor.close();
        else letDraft(setup, key, requests.compactor);
      }
    },
    { runId, abandon: setup.lifetime.over },
  );
}

/** The agent's deps, on the threads of one user. */
export function depsOf({ deps }: Pick<AgentSetup, "deps">, userId: string): ThreadDeps {
  return { ...deps, store: asUser(deps.store, userId) };
}

/** Whatever the number of threads, only so many stay in memory. */
const MOST_OPEN = 8;

function keepOpen({ open }: AgentSetup, key: string, thread: OpenThread): void {
  open.set(key, thread);
  const [oldest] = open.keys();
  if (open.size > MOST_OPEN && oldest !== undefined) open.delete(oldest);
}

/** A draft never touches the thread, so it may go on without the lease; the next run finds it in the table. */
function letDraft({ drafting }: AgentSetup, key: string, compactor: Compactor<AiSdkMessage>): void {
  if (drafting.has(key)) return;
  drafting.set(key, compactor);
  void compactor.settled().finally(() => drafting.delete(key));
}
