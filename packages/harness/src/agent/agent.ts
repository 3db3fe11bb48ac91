/**
 * An agent: the loop with the middleware you give it, on a store. Nothing is wired here that wasn't asked for; the
 * defaults of a whole assistant are in `create-deep-agent.ts`.
 */
import { setTimeout as wait } from "node:timers/promises";
import type { CompactionOutcome, Keep } from "@palimpsest/core/internal/compaction";
import {
  type AiSdkMessage,
  type FindToolFacts,
  shapeOf,
  type ToolRegistry,
  toolRegistry,
  withToolFacts,
} from "@palimpsest/core/internal/message";
import type { EmbeddingModel, ToolSet, UIMessage } from "ai";
import { summarizationFromOptions } from "../compaction/summarization.ts";
import type { LimitsStore } from "../models/tokenizers.ts";
import { nearest } from "../nearest.ts";
import { keepEmbedded } from "../recall/indexing.ts";
import { openSqlite } from "../stores/sqlite.ts";
import type { Store, ThreadPage, ThreadQuery } from "../stores/store.ts";
import type { FileCopier } from "../thread/handle.ts";
import { type ThreadDeps, threadDeps } from "../thread/writer.ts";
import type { ToolApproval } from "./approval.ts";
import {
  type AgentChats,
  CHATS,
  type ChatAgent,
  type MessagesOptions,
  openChats,
  type RespondOptions,
  type RunStarter,
} from "./chat/respond.ts";
import { AgentError } from "./errors.ts";
import type { AgentEvent, RunResult } from "./events.ts";
import { createLifetime, executeRun, type RunInput } from "./execute.ts";
import { assertDistinct, BASE_PROMPT } from "./fixed-part.ts";
import { type EditInput, type ForkOrder, forkForRun, type RegenerateInput } from "./fork.ts";
import {
  assertModelOptions,
  assertSummarizer,
  CALL_SETTINGS,
  type CallSettings,
  type KnownModels,
  type ModelOptions,
  type ModelPlace,
  modelFor,
  modelSetup,
} from "./model.ts";
import { askerOf } from "./past-request.ts";
import { compose, type Middleware, RETRY_DEFAULTS, type RetryPolicy, type RunBudget } from "./run.ts";
import { type AgentSetup, depsOf, withRun } from "./session.ts";
import { CALL_LIMITS, type CallLimits } from "./step.ts";
import { type AgentStream, createRunsUnderWay, startStream } from "./stream.ts";
import { type ThreadHandle, threadHandle } from "./thread-handle.ts";

export interface AgentOptions extends ModelOptions {
  /** Asked one after the other when a model fails before it has shown anything, without waiting for it; each with its own window. */
  readonly fallbacks?: readonly ModelOptions[];
  /** What each run may spend at most, unless it says otherwise. */
  readonly budget?: RunBudget;
  readonly tools?: ToolSet;
  readonly middleware?: readonly Middleware[];
  /** Without one the threads live in memory, as long as the agent. */
  readonly store?: Store;
  /** Replaces the base of the system prompt. */
  readonly instructions?: string;
  /** Keeps limits that the provider states for the next process; without it they are known as long as the agent. */
  readonly limits?: LimitsStore | undefined;
  /** Model calls of one run. */
  readonly maxSteps?: number;
  /** A tool that takes longer is left alone and the model is told; null: no limit. */
  readonly toolTimeoutMs?: number | null | undefined;
  /** Which calls a person must approve, as in the AI SDK: by tool or by a function; goes before a tool's own `needsApproval`. */
  readonly toolApproval?: ToolApproval | undefined;
  readonly retry?: Partial<RetryPolicy> | undefined;
  /** How long a model call may say nothing, and how much it may say. */
  readonly modelLimits?: Partial<CallLimits> | undefined;
  /** Folder of a thread's part files. */
  readonly history?: ((threadId: string, userId: string) => string) | undefined;
  /** Gives a fork its own copy of its parent's files, as they are now. */
  readonly copyFiles?: FileCopier;
  readonly onEvent?: (event: AgentEvent, threadId: string, userId: string) => void;
  /** Beside the search by words: hits are compared by meaning too. Asked behind the runs and for each search (docs/recall.md). */
  readonly embedder?: EmbeddingModel | undefined;
  /** Clock, ids and hash, for tests. */
  readonly deps?: Partial<Omit<ThreadDeps, "store" | "embedder" | "onEmbedding">>;
  readonly sleep?: ((ms: number, signal: AbortSignal) => Promise<void>) | undefined;
  readonly random?: (() => number) | undefined;
}

export interface CompactOptions {
  /** What the summary should keep in view. */
  readonly focus?: string | undefined;
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
  stream<O = never>(input: RunInput<O>): AgentStream<O>;
  /** The same run, collected. Throws an `AgentError` when it failed or the thread is busy. */
  generate<O = never>(input: RunInput<O>): Promise<RunResult<O>>;
  /**
   * Asks again for an answer, by default the last, in a fork that ends before it: the stream's `threadId`. The thread itself
   * stays as it is; `thread(id).current()` is where the conversation goes on.
   */
  regenerate<O = never>(input: RegenerateInput<O>): AgentStream<O>;
  /** Says a person's message anew, in a fork that ends before it. Otherwise as `regenerate`. */
  edit<O = never>(input: EditInput<O>): AgentStream<O>;
  /**
   * Answers a request of `useChat`: its body, or `{ id, trigger: "resume-stream" }` for the `GET` that comes back to an answer. A
   * browser may say what a user may; everything else is refused with a code and a status. Throws only for what isn't its fault.
   */
  respond(body: unknown, options?: RespondOptions): Promise<Response>;
  /** A chat as its page shows it, for one that is loaded again; goes on in the fork that `regenerate` or `edit` has made. */
  messages(chatId: string, options?: MessagesOptions): Promise<UIMessage[]>;
  /** The run of this agent that is under way on the thread, for another reader: it reads from the beginning. */
  running(threadId: string, options?: { readonly userId?: string }): AgentStream | null;
  /** A page of a user's threads, newest change first; by default the store's user's. */
  threads(query?: ThreadQuery & { readonly userId?: string }): Promise<ThreadPage>;
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
  const place = placeOf(setup, options);
  const known: KnownModels = new WeakMap();
  const runsUnderWay = createRunsUnderWay();
  const { copyFiles: files = null } = options;
  const stream = <O>(input: RunInput<O>, order: ForkOrder | null = null): AgentStream<O> => {
    if (typeof input !== "object" || input === null)
      throw new AgentError("empty-prompt", "a run needs an object with a prompt, messages or an approval");
    const { threadId = `thread-${ids()}`, userId = store.userId } = input;
    const fork = order && {
      from: order.from,
      said: order.act === "edit" ? order.messageId : undefined,
      make: () => forkForRun(depsOf(setup, userId), order, { as: threadId, files }),
    };
    const own = modelFor(setup, input, place, known);
    const key = JSON.stringify([userId, threadId]);
    const started: AgentStream<O> = startStream(threadId, (emit, onStart) => {
      const plan = { ...input, threadId, userId, runId: input.runId ?? ids(), fork };
      const heard = (event: AgentEvent): void => {
        emit(event);
        tell(event, threadId, userId);
      };
      const run = runsUnderWay.enter(key, { stream: () => started, onStart, heard }, (hooks) =>
        executeRun({ ...setup, ...own }, { ...plan, onStart: hooks.onStart }, hooks.heard),
      );
      return lifetime.track(run).finally(() => {
        if (setup.deps.embedder !== undefined && !lifetime.closing.aborted)
          void lifetime.track(keepEmbedded(depsOf(setup, userId), threadId, lifetime));
      });
    });
    return started;
  };
  const runs: RunStarter = {
    stream: (input) => stream(input),
    regenerate: ({ as, messageId, threadId: from, ...input }) =>
      stream({ ...input, threadId: as }, { act: "regenerate", from, messageId }),
    edit: ({ as, messageId, threadId: from, ...input }) =>
      stream({ ...input, threadId: as }, { act: "edit", from, messageId }),
    running: (threadId, { userId = store.userId } = {}) => runsUnderWay.get(JSON.stringify([userId, threadId])),
  };
  const chats = chatsWhenAsked(setup, runs);
  const agent: ChatAgent = {
    ...runs,
    stream: (input) => stream(runInput(input)),
    [CHATS]: chats,
    store,
    respond: (body, given) => chats().respond(body, given),
    messages: (chatId, given) => chats().messages(chatId, given),
    threads: async ({ userId = store.userId, ...query } = {}) => depsOf(setup, userId).store.threads(query),
    async generate(input) {
      const result = await stream(runInput(input)).result;
      const { end, error } = result;
      if (error !== null) throw error;
      if (end.kind === "busy")
        throw new AgentError("busy", `thread ${result.threadId} is held by another run: try again when it has ended`);
      return result;
    },
    async compact(threadId, { signal, userId = store.userId, ...request } = {}) {
      lifetime.closing.throwIfAborted();
      const emit = (event: AgentEvent): void => tell(event, threadId, userId);
      const session = { threadId, userId, runId: ids(), signal: lifetime.signalWith(signal), emit };
      const leased = await lifetime.track(
        withRun(setup, session, (run) => run.compact({ cause: "manual", ...request, signal: run.signal })),
      );
      return leased.kind === "done" ? leased.value : unchanged(leased.kind);
    },
    thread: (id, { userId = store.userId } = {}) => {
      const window = () => setup.modelWindow.window();
      return threadHandle(id, { deps: depsOf(setup, userId), window, asker: () => askerOf(setup), files });
    },
    async close({ withinMs = CLOSING_MS } = {}) {
      await lifetime.end(withinMs, () => [
        ...[...setup.drafting.values()].map((thread) => thread.close()),
        setup.chain.close(),
      ]);
      if (options.store === undefined) await store.close();
    },
  };
  return agent;
}

function chatsWhenAsked(setup: AgentSetup, runs: RunStarter): () => AgentChats {
  let opened: AgentChats | null = null;
  return () => {
    opened ??= openChats({
      runs,
      store: (userId = setup.deps.store.userId) => depsOf(setup, userId).store,
      isClients: (name) => Object.hasOwn(setup.tools, name) && setup.tools[name]?.execute === undefined,
    });
    return opened;
  };
}

function resolve(options: AgentOptions): AgentSetup {
  assertModelOptions(options);
  assertOptions(options);
  const { middleware = [], fallbacks = [] } = options;
  for (const one of fallbacks) assertModelOptions(one);
  assertDistinct(options.tools ?? {}, middleware);
  const store = options.store ?? openSqlite({ path: ":memory:" });
  assertStore(store);
  const registry = toolRegistry();
  registry.learn(options.tools ?? {});
  const tools = factsFrom(registry, options.deps?.tools);
  const deps = threadDeps(store, {
    ...options.deps,
    tools,
    ...(options.embedder !== undefined && {
      embedder: options.embedder,
      onEmbedding: (event, threadId, userId) => threadId !== null && options.onEvent?.(event, threadId, userId),
    }),
  });
  const given = middleware.findLast(({ compaction }) => compaction !== undefined)?.compaction;
  const compaction = given ?? { settings: summarizationFromOptions(), summarizer: "agent" as const };
  assertSummarizer(compaction.summarizer);
  const place = placeOf({ deps, compaction }, options);
  return {
    deps,
    ...modelSetup(options, place),
    fallbacks: fallbacks.map((one) => modelSetup(one, place)),
    budget: options.budget ?? null,
    shape: withToolFacts(shapeOf("ai-sdk"), tools),
    base: options.instructions ?? BASE_PROMPT,
    tools: options.tools ?? {},
    middleware,
    registry,
    chain: compose(middleware),
    drafting: new Map(),
    compaction,
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

/** Checked against the type: an option that is missing here, or that isn't one, doesn't compile. */
const OPTIONS: Readonly<Record<Exclude<keyof AgentOptions, keyof CallSettings>, true>> = {
  model: true,
  window: true,
  baseUrl: true,
  bindsReasoning: true,
  prices: true,
  counter: true,
  fallbacks: true,
  budget: true,
  tools: true,
  middleware: true,
  store: true,
  instructions: true,
  limits: true,
  maxSteps: true,
  toolTimeoutMs: true,
  toolApproval: true,
  retry: true,
  modelLimits: true,
  history: true,
  copyFiles: true,
  onEvent: true,
  embedder: true,
  deps: true,
  sleep: true,
  random: true,
};

const RUN_OPTIONS: Readonly<Record<Exclude<keyof RunInput, keyof CallSettings>, true>> = {
  prompt: true,
  messages: true,
  uiMessages: true,
  runtimeContext: true,
  toolsContext: true,
  model: true,
  window: true,
  output: true,
  budget: true,
  threadId: true,
  agentName: true,
  userId: true,
  signal: true,
  runId: true,
  waitMs: true,
};

/** For programs in plain JavaScript: a misspelled option would be passed over, and a list of tools have the names 0, 1, 2. */
function assertOptions(options: AgentOptions): void {
  assertNames(options, OPTIONS, "an option");
  if (Array.isArray(options.tools))
    throw new AgentError(
      "bad-options",
      "`tools` takes an object, the tools by their names: { read_file: tool({ ... }) }",
    );
}

/** What isn't an object is refused where the run starts. */
function runInput<O>(input: RunInput<O>): RunInput<O> {
  if (typeof input === "object" && input !== null) assertNames(input, RUN_OPTIONS, "an option of a run");
  return input;
}

function assertNames(given: object, known: Readonly<Record<string, true>>, what: string): void {
  const names = [...Object.keys(known), ...CALL_SETTINGS];
  const name = Object.keys(given).find((one) => !names.includes(one));
  if (name === undefined) return;
  const meant = nearest(name, names);
  const advice = meant === null ? "" : `; did you mean ${meant}?`;
  throw new AgentError("bad-options", `${name} is not ${what}${advice}`);
}

/** A path, or a promise that wasn't awaited, would fail in the first run, with words about something else. */
function assertStore(given: Store): void {
  if (typeof given.userId === "string") return;
  throw new AgentError(
    "bad-store",
    `\`store\` takes a store that is open, and ${said(given)} was given: for example await openStore("threads.db").`,
  );
}

function said(given: unknown): string {
  if (given instanceof Promise) return "a promise";
  return typeof given === "string" ? `the text ${JSON.stringify(given)}` : typeof given;
}

/** Made here, where nothing else is at hand: threads that are left open keep it, and must not keep an agent with it. */
function factsFrom(registry: ToolRegistry, others: FindToolFacts | undefined): FindToolFacts {
  return (name) => registry.find(name) ?? others?.(name);
}

function placeOf({ deps, compaction }: Pick<AgentSetup, "deps" | "compaction">, options: AgentOptions): ModelPlace {
  const { fallbackContextWindow: fallbackWindow } = compaction.settings;
  return { clock: deps.clock, limitsStore: options.limits ?? null, fallbackWindow };
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
