/**
 * An agent: the loop with the middleware you give it, on a store. Nothing is wired here that wasn't asked for; the
 * defaults of a whole assistant are in `create-deep-agent.ts`.
 */
import { setTimeout as wait } from "node:timers/promises";
import type { CompactionOutcome, Keep } from "@palimpsest/core/compaction";
import { type AiSdkMessage, shapeOf } from "@palimpsest/core/message";
import { createMeter } from "@palimpsest/core/tokens";
import type { ToolSet } from "ai";
import { summarizationFromOptions } from "../config/summarization.ts";
import { bindsReasoning } from "../models/binds-reasoning.ts";
import { knownWindow } from "../models/known-windows.ts";
import type { LimitsShelf } from "../models/learned-limits.ts";
import { type GivenCounter, type ModelCounter, modelCounter } from "../models/tokenizers.ts";
import { openSqlite } from "../stores/sqlite.ts";
import type { Store } from "../stores/store.ts";
import type { FileCopier } from "../threads/fork-files.ts";
import { type ThreadDeps, threadDeps } from "../threads/writer.ts";
import { toolRegistry } from "../tool-facts.ts";
import { type AgentStream, startStream } from "./agent-stream.ts";
import type { ToolApproval } from "./approval/sort-calls.ts";
import { askerOf } from "./asker.ts";
import { CALL_LIMITS, type CallLimits } from "./call-limits.ts";
import { AgentError } from "./errors.ts";
import type { AgentEvent, RunResult } from "./events.ts";
import { executeRun, type RunInput } from "./execute.ts";
import { createLifetime } from "./lifetime.ts";
import { compose, type Middleware } from "./middleware.ts";
import { assertModel, assertWindow, type ModelObject, type ModelSettings, settingsFor, windowBook } from "./model.ts";
import { rememberCounts } from "./remember-counts.ts";
import { RETRY_DEFAULTS, type RetryPolicy } from "./retry.ts";
import { type AgentSetup, depsOf, withSession } from "./session.ts";
import { assertSummarizer } from "./summarizer.ts";
import { BASE_PROMPT } from "./system-prompt.ts";
import { type ThreadHandle, threadHandle } from "./thread-handle.ts";

export interface AgentOptions extends Partial<Omit<ModelSettings, "languageModel">> {
  readonly model: ModelObject;
  readonly tools?: ToolSet;
  readonly middleware?: readonly Middleware[];
  /** Without one the threads live in memory, as long as the agent. */
  readonly store?: Store;
  /** Replaces the base of the system prompt. */
  readonly instructions?: string;
  /** The model's input window in tokens; without it the table of known models, else the summarization's fallback. */
  readonly contextWindow?: number;
  /** Tells providers apart that serve a model of the same name, for limits learned from them. */
  readonly baseUrl?: string;
  /** Whether the model takes its thoughts back only behind the prompt they were made under; by default told by its name. */
  readonly bindsReasoning?: boolean;
  /** Keeps limits that the provider states for the next process; without it they are known as long as the agent. */
  readonly limits?: LimitsShelf;
  /** Model calls of one run. */
  readonly maxSteps?: number;
  /** A tool that takes longer is left alone and the model is told; null: no limit. */
  readonly toolTimeoutMs?: number | null;
  /** Which calls a person must approve, as in the AI SDK: by tool or by a function; goes before a tool's own `needsApproval`. */
  readonly toolApproval?: ToolApproval;
  readonly retry?: Partial<RetryPolicy>;
  /** How long a model call may say nothing, and how much it may say. */
  readonly modelLimits?: Partial<CallLimits>;
  /** Counts tokens, any function of a text; by default the best counter known for the model. */
  readonly counter?: GivenCounter;
  /** Folder of a thread's part files. */
  readonly history?: (threadId: string, userId: string) => string;
  /** Gives a fork its own copy of its parent's files, as they are now. */
  readonly copyFiles?: FileCopier;
  readonly onEvent?: (event: AgentEvent, threadId: string, userId: string) => void;
  /** Clock, ids and hash, for tests. */
  readonly deps?: Partial<Omit<ThreadDeps, "store">>;
  readonly sleep?: (ms: number, signal: AbortSignal) => Promise<void>;
  readonly random?: () => number;
}

export interface CompactOptions {
  /** What the summary should keep in view. */
  readonly focus?: string;
  readonly keep?: Keep;
  /** Says what would happen, without a model, and writes nothing. */
  readonly dryRun?: boolean;
  readonly signal?: AbortSignal;
  /** Whose thread it is; by default the store's user's. */
  readonly userId?: string;
}

export interface Agent {
  readonly store: Store;
  /** Starts a run at once. */
  stream(input: RunInput): AgentStream;
  /** The same run, collected. Throws an `AgentError` when it failed or the thread is busy. */
  generate(input: RunInput): Promise<RunResult>;
  /** Compacts whatever the size. */
  compact(threadId: string, options?: CompactOptions): Promise<CompactionOutcome<AiSdkMessage>>;
  /** Of this user, by default the store's; another's thread is not there. */
  thread(id: string, options?: { readonly userId?: string }): ThreadHandle;
  /**
   * Refuses new runs and stops those under way: they end `aborted`, with what was said so far in the log. Stops drafts and
   * the memory queue it was given. Whatever hasn't stopped within the time (5 s) loses its thread. Closes the store only
   * if the agent opened it.
   */
  close(options?: { readonly withinMs?: number }): Promise<void>;
}

export function createAgent(options: AgentOptions): Agent {
  const setup = resolve(options);
  const { lifetime } = setup;
  const { store, ids } = setup.deps;
  const { onEvent: tell = () => {} } = options;
  const stream = (input: RunInput): AgentStream => {
    const { threadId = `thread-${ids()}`, userId = store.user } = input;
    return startStream(threadId, (emit) => {
      const run = executeRun(setup, { ...input, threadId, userId, runId: ids() }, (event) => {
        emit(event);
        tell(event, threadId, userId);
      });
      return lifetime.track(run);
    });
  };
  return {
    store,
    stream,
    async generate(input) {
      const result = await stream(input).result;
      const { end, error } = result;
      if (error !== null) throw error;
      if (end.kind === "busy")
        throw new AgentError("busy", `thread ${result.threadId} is held by another run: try again when it has ended`);
      return result;
    },
    async compact(threadId, { signal, userId = store.user, ...request } = {}) {
      lifetime.closing.throwIfAborted();
      const emit = (event: AgentEvent): void => tell(event, threadId, userId);
      const session = { threadId, userId, runId: ids(), signal: lifetime.signalWith(signal), emit };
      const leased = await lifetime.track(
        withSession(setup, session, ({ run }) => run.compact({ cause: "manual", ...request, signal: run.signal })),
      );
      return leased.kind === "done" ? leased.value : unchanged(leased.kind);
    },
    thread: (id, { userId = store.user } = {}) => {
      const { copyFiles: files = null } = options;
      const window = () => setup.book.window();
      return threadHandle(id, { deps: depsOf(setup, userId), window, asker: () => askerOf(setup), files });
    },
    async close({ withinMs = CLOSING_MS } = {}) {
      await lifetime.end(withinMs, () => [
        ...[...setup.drafting.values()].map((compactor) => compactor.close()),
        setup.chain.close(),
      ]);
      if (options.store === undefined) await store.close();
    },
  };
}

function resolve(options: AgentOptions): AgentSetup {
  assertModel(options.model, "model");
  assertWindow(options.contextWindow);
  const { model: languageModel, middleware = [], temperature, maxOutputTokens, providerOptions } = options;
  const store = options.store ?? openSqlite({ path: ":memory:" });
  const registry = toolRegistry();
  registry.learn(options.tools ?? {});
  const kit = threadDeps(store, {
    ...options.deps,
    tools: (name) => registry.find(name) ?? options.deps?.tools?.(name),
  });
  const given = middleware.findLast(({ compaction }) => compaction !== undefined)?.compaction;
  const compaction = given ?? { settings: summarizationFromOptions(), summarizer: "agent" as const };
  assertSummarizer(compaction.summarizer);
  const settings = settingsFor(languageModel, {
    ...(temperature === undefined ? {} : { temperature }),
    ...(maxOutputTokens === undefined ? {} : { maxOutputTokens }),
    ...(providerOptions === undefined ? {} : { providerOptions }),
  });
  const known = options.contextWindow ?? knownWindow(languageModel.modelId);
  const contextWindow = known ?? compaction.settings.fallbackContextWindow;
  const model = {
    settings,
    contextWindow,
    baseUrl: options.baseUrl ?? null,
    bindsReasoning: options.bindsReasoning ?? bindsReasoning(languageModel.modelId),
  };
  let counting: ReturnType<AgentSetup["counting"]> | undefined;
  return {
    deps: kit,
    model,
    book: windowBook(model, { clock: kit.clock, shelf: options.limits ?? null }),
    base: options.instructions ?? BASE_PROMPT,
    tools: options.tools ?? {},
    middleware,
    registry,
    chain: compose(middleware),
    drafting: new Map(),
    open: new Map(),
    compaction,
    counting: () => {
      const { provider, modelId } = languageModel;
      counting ??= countingWith(modelCounter(options.counter, { provider, model: modelId }));
      return counting;
    },
    maxSteps: options.maxSteps ?? 100,
    toolTimeoutMs: options.toolTimeoutMs === undefined ? TOOL_TIMEOUT_MS : options.toolTimeoutMs,
    toolApproval: options.toolApproval ?? null,
    retry: { ...RETRY_DEFAULTS, ...options.retry },
    callLimits: { ...CALL_LIMITS, ...options.modelLimits },
    history: options.history ?? null,
    lifetime: createLifetime(),
    sleep: options.sleep ?? (async (ms, signal) => void (await wait(ms, undefined, { signal }))),
    random: options.random ?? Math.random,
  };
}

async function countingWith(given: ModelCounter | Promise<ModelCounter>): ReturnType<AgentSetup["counting"]> {
  const known = await given;
  const counter = { ...known, count: rememberCounts(known.count) };
  return { counter, meter: createMeter(shapeOf("ai-sdk"), { ...counter, counter: counter.count }) };
}

const CLOSING_MS = 5_000;

/** Long enough for a build or a test run; a tool that says nothing for longer has most likely hung. */
const TOOL_TIMEOUT_MS = 10 * 60_000;

function unchanged(kind: "busy" | "missing"): CompactionOutcome<AiSdkMessage> {
  const [reason, detail] =
    kind === "busy"
      ? (["busy", "another run holds the thread"] as const)
      : (["no-history", "there is no stored history to compact"] as const);
  return { kind: "unchanged", reason, tokens: 0, detail };
}
