/**
 * A run on a thread that is held: system prompt, tools and the thread's prompt make its requests; the prompt's one count
 * drives the trigger, the plan and the usage records. Runs and manual compactions both work inside one, so that they can
 * never meet on the same thread. Calls no model.
 */
import { fixedSize } from "@palimpsest/core/internal/prompt";
import { RECALL } from "@palimpsest/core/internal/summary";
import { checkUser } from "@palimpsest/core/log";
import { type AiSdkMessage, rulesOf, type Shape } from "@palimpsest/core/message";
import type { Originals } from "@palimpsest/core/summary";
import type { ToolSet } from "ai";
import { ensureParts, homeOriginals } from "../compaction/part-files.ts";
import type { CachedPrefix } from "../compaction/summarize.ts";
import { type Leased, withLease } from "../stores/leases.ts";
import type { Store } from "../stores/store.ts";
import { asUser } from "../stores/users.ts";
import { LeftOpen } from "../thread/continue-thread.ts";
import type { Conversation } from "../thread/conversation.ts";
import { fixedChange, type SentFixed } from "../thread/fixed-request.ts";
import type { OpenSizer } from "../thread/live-prompt.ts";
import { type OpenLog, openLog } from "../thread/log.ts";
import { openSession, type Session } from "../thread/session.ts";
import { cutMessages, markedMessages, needsMarks } from "../thread/window.ts";
import type { ThreadDeps } from "../thread/writer.ts";
import type { ToolRegistry } from "../tool-facts.ts";
import type { ToolApproval } from "./approval.ts";
import type { Asking, RunBudget } from "./ask.ts";
import { AgentError, LeaseLostError } from "./errors.ts";
import type { Emit } from "./events.ts";
import type { Lifetime } from "./execute.ts";
import {
  type BoundRequest,
  bindRequest,
  type FixedPart,
  fixedSizes,
  type ModelRequest,
  openingOf,
  renderFixed,
  requestWith,
} from "./fixed-part.ts";
import type { Chain, CompactionSetup, Middleware } from "./middleware.ts";
import type { ModelSetup } from "./model.ts";
import { parametersOf, summarizerLabel, writerFor } from "./model.ts";
import { type ActiveRun, startRun } from "./run.ts";
import type { RunContext } from "./tools.ts";

/** An agent's options, resolved. */
export interface AgentSetup extends Omit<Asking, "session" | "output">, ModelSetup {
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
  /** The thread as the model that is asked now sees it: its prompt, count, compactions and reports. */
  readonly thread: Session<AiSdkMessage>;
  readonly tools: ToolSet;
  /** Renders system prompt and tools anew. */
  refresh(): Promise<void>;
  /** Writes system prompt and tools where they differ from what the thread last sent. */
  record(): Promise<void>;
  request(): ModelRequest;
  /** The last thing that happens to a request before it is sent. */
  bind(request: ModelRequest): BoundRequest;
  /** The same run on the same thread for another model: its own window, count and requests. */
  turnTo(other: ModelSetup): Promise<void>;
  /** Throws once the thread has been taken over. */
  assertHeld(): void;
}

export interface RunSessionOptions {
  readonly threadId: string;
  readonly userId: string;
  readonly runId: string;
  readonly signal: AbortSignal | undefined;
  readonly emit: Emit;
  readonly context?: RunContext & { readonly asked?: string };
}

export function withSession<T>(
  setup: AgentSetup,
  options: RunSessionOptions,
  work: (session: RunSession) => Promise<T>,
): Promise<Leased<T>> {
  const { threadId, userId, runId } = options;
  const deps = depsOf(setup, userId);
  const key = keyOf(options);
  const leaseOptions = { owner: deps.ids(), abandon: setup.lifetime.over };
  return withLease(deps.store, threadId, leaseOptions, async (lease, lost) => {
    const open = leftOpenIn(setup.deps.store);
    // The conversation outlives the run, and may outlive the agent: no function of this scope may go into it.
    const before = open.take(key);
    const place = { deps, id: threadId, shape: setup.shape, lease: { lease, lost }, runId };
    const opened = await openLog({ ...place, before: before?.conversation ?? null });
    if (opened.kind !== "open") throw new LeaseLostError(threadId);
    const { log } = opened;
    const { conversation } = log;
    const moved = before?.conversation.live() !== conversation.live();
    const sized = before === null ? null : { ...before.sized, moved };
    const session = await openRunSession(setup, options, { log, deps, lost, sized });
    try {
      const result = await work(session);
      open.leave(key, { conversation, sized: session.thread.opened() });
      return result;
    } finally {
      if (setup.lifetime.closing.aborted) await session.thread.close();
      else letDraft(setup, key, session.thread);
    }
  });
}

interface OpenRun {
  readonly conversation: Conversation<AiSdkMessage>;
  readonly sized: OpenSizer<AiSdkMessage>;
}

/** Of the very same store object, whichever agent's: another one may be on another file, or belong to somebody else. */
function leftOpenIn(store: Store): LeftOpen<OpenRun> {
  const table = leftOpenRuns.get(store) ?? new LeftOpen<OpenRun>(MOST_OPEN);
  leftOpenRuns.set(store, table);
  return table;
}

const leftOpenRuns = new WeakMap<Store, LeftOpen<OpenRun>>();
const MOST_OPEN = 16;

interface HeldThread {
  readonly log: OpenLog<AiSdkMessage>;
  readonly deps: ThreadDeps;
  readonly lost: AbortSignal;
  /** What the run before has counted with. */
  readonly sized: OpenSizer<AiSdkMessage> | null;
}

async function openRunSession(setup: AgentSetup, options: RunSessionOptions, held: HeldThread): Promise<RunSession> {
  const { threadId, userId, runId, signal: stop, emit, context = {} } = options;
  const { log, deps, lost } = held;
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
    prompt: () => thread.prompt(),
    compact: (request) => thread.compact(request),
  });
  const history = setup.history?.(threadId, userId) ?? null;
  const ahead = setup.drafting.has(keyOf(options)) ? "no" : "yes";
  const place = { setup, run, log, history, ahead } as const;
  let part = await renderFixed(run, setup);
  let { thread, fixed } = await openModelThread({ ...place, model, part: () => part, before: held.sized });
  let last: BoundRequest | null = null;
  const record = async (): Promise<void> => {
    const { inputs, prompts = [] } = fixedChange(
      sentPart(run, part, fixed().parts, model),
      log.conversation.head(),
      deps,
    );
    if (inputs.length > 0) await run.commit(inputs, { prompts });
  };
  return {
    run,
    record,
    get thread() {
      return thread;
    },
    get tools() {
      return part.tools;
    },
    async refresh() {
      part = await renderFixed(run, setup);
      thread.fix(fixed(), openingFor(run, part));
    },
    request() {
      const { messages, prefix } = thread.ask();
      const cuts = cutMessages(log.conversation);
      last = { request: { ...requestWith(part, messages), ...(cuts.length > 0 && { cuts }) }, prefix };
      return last.request;
    },
    bind: (request) => (request === last?.request ? last : bindRequest(request, part, run)),
    async turnTo(other) {
      await thread.close();
      last = null;
      model = other;
      part = await renderFixed(run, setup);
      ({ thread, fixed } = await openModelThread({ ...place, model, part: () => part, before: null }));
      await record();
    },
    assertHeld() {
      if (lost.aborted) throw new LeaseLostError(threadId);
    },
  };
}

const RULES = rulesOf("ai-sdk");

interface ModelThread {
  readonly setup: AgentSetup;
  readonly run: ActiveRun;
  readonly log: OpenLog<AiSdkMessage>;
  readonly model: ModelSetup;
  /** System prompt and tools as they are now. */
  readonly part: () => FixedPart;
  /** Folder of the thread's part files; null without a workspace. */
  readonly history: string | null;
  /** `no`: a draft of this thread is under way already. */
  readonly ahead: "yes" | "no";
  /** What the thread's run before this one has counted with, whichever agent's it was. */
  readonly before: OpenSizer<AiSdkMessage> | null;
}

/** The thread as one model sees it, and the size of what is sent to that beside the messages. */
async function openModelThread({ setup, run, log, model: asked, part, history, ahead, before }: ModelThread) {
  const { languageModel: model, providerOptions } = asked.model.settings;
  const { settings, summarizer } = setup.compaction;
  const { counter, meter } = await asked.counting();
  const { deps, threadId } = run;
  const fixed = () => fixedSize(fixedSizes(part(), meter), part().hash);
  const thread = await openSession(log, {
    deps,
    rules: RULES,
    counter,
    meter,
    modelWindow: asked.modelWindow,
    before,
    ahead,
    fixed: fixed(),
    opening: openingFor(run, part()),
    model: model.modelId,
    prices: asked.model.prices,
    promptCache: needsMarks(model.provider) ? "marks" : "prefix",
    settings,
    writer: ({ prompt, cache, ...place }) => {
      const prefix = (): CachedPrefix | null => {
        if (cache() === "cold") return null;
        const { messages, count } = prompt();
        return prefixOf(requestWith(part(), messages), model.provider, count.tokens);
      };
      return writerFor(summarizer, { ...place, settings, model, providerOptions, prefix });
    },
    label: () => summarizerLabel(summarizer, { settings, model }),
    archive:
      history === null ? null : () => ensureParts(history, deps.store, threadId, log.conversation.head().compaction),
    originals: () => originalsFor(part().tools, history),
    on: run.emit,
  });
  return { thread, fixed };
}

function openingFor({ bindsReasoning, deps }: ActiveRun, part: FixedPart) {
  return bindsReasoning ? openingOf(part, deps.hash) : null;
}

/** As the log keeps it. */
function sentPart(
  { bindsReasoning }: ActiveRun,
  part: FixedPart,
  parts: SentFixed["parts"],
  { model }: ModelSetup,
): SentFixed {
  const { hash, date, prompt, schemas } = part;
  return {
    hash,
    parts,
    parameters: parametersOf(model),
    texts: { system: prompt.text, memory: prompt.parts.memory, tools: schemas },
    dated: { date, changes: bindsReasoning ? "by-compaction" : "daily" },
  };
}

/** What the run's own tools can reach of the hidden messages: a middleware or a child's list may have left some out. */
function originalsFor(tools: ToolSet, history: string | null): Originals {
  const ifThere = (name: string | null): string | null => (name !== null && name in tools ? name : null);
  const folder = history === null ? null : homeOriginals.folder;
  return { folder, finder: ifThere(RECALL.finder), reader: ifThere(RECALL.reader) };
}

/** What the provider has in its cache: the request up to the last answer, so that a question of ours may follow. */
function prefixOf(request: ModelRequest, provider: string, tokens: number): CachedPrefix | null {
  const { instructions, messages, tools } = request;
  const last = messages.findLastIndex(({ role }) => role !== "user");
  if (last < 0) return null;
  return { instructions, messages: markedMessages(messages.slice(0, last + 1), provider), tools, tokens };
}

function keyOf({ userId, threadId }: RunSessionOptions): string {
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
