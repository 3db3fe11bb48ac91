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
import { untilAborted } from "../long-work.ts";
import { asUser } from "../stores/driver-rules.ts";
import { type ClaimedLease, ClaimRefused, claimLease, type Leased } from "../stores/leases.ts";
import type { HeldLease, Store } from "../stores/store.ts";
import { StoreError } from "../stores/store-error.ts";
import type { Conversation } from "../thread/conversation.ts";
import { fixedChange, type SentFixed } from "../thread/fixed-request.ts";
import type { OpenSizer } from "../thread/live-prompt.ts";
import { type OpenLog, openLog } from "../thread/log.ts";
import { LeftOpen, openSession, type Session } from "../thread/session.ts";
import { cutMessages, markedMessages, needsMarks } from "../thread/window.ts";
import type { ThreadDeps } from "../thread/writer.ts";
import type { ToolRegistry } from "../tool-facts.ts";
import type { ToolApproval } from "./approval.ts";
import type { AskingModel } from "./ask.ts";
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
import type { ModelSetup } from "./model.ts";
import { parametersOf, summarizerLabel, writerFor } from "./model.ts";
import type { Chain, CompactionSetup, Middleware, RunBudget } from "./run.ts";
import { type ActiveRun, startRun } from "./run.ts";
import type { RunContext } from "./tools.ts";

/** An agent's options, resolved. */
export interface AgentSetup extends Omit<AskingModel, "session" | "output">, ModelSetup {
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
  /** Takes the lease if no write has taken it yet: from here on the run does what can't be done twice. */
  hold(): Promise<void>;
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
  /** `by-first-write`: work can be begun anew until it has called `hold`. By default the lease is taken before anything else. */
  readonly begin?: "held" | "by-first-write";
}

/**
 * A run that may begin by its first write takes the lease with it, on the log as this process left it. Where the log has moved
 * on since, or nothing can be told of it by what is known, the run begins anew under the lease.
 */
export async function withSession<T>(
  setup: AgentSetup,
  options: RunSessionOptions,
  work: (session: RunSession) => Promise<T>,
): Promise<Leased<T>> {
  const { threadId, userId } = options;
  const deps = depsOf(setup, userId);
  const open = leftOpenIn(setup.deps.store);
  const key = keyOf(options);
  const before = open.take(key);
  const claim = claimLease(deps.store, threadId, { owner: deps.ids() });
  const attempt = async (): Promise<Leased<T>> => {
    const value = await inSession(setup, options, { deps, claim, before, leave: (run) => open.leave(key, run) }, work);
    return { kind: "done", value };
  };
  const quickly = async (): Promise<Leased<T> | "held" | "unknown"> => {
    const isQuick = options.begin === "by-first-write" && before !== null && deps.store.appendFirst !== undefined;
    return isQuick ? attempt().catch((error: unknown) => refusalOf(error, claim)) : "unknown";
  };
  const begun = async (): Promise<Leased<T>> => {
    const first = await quickly();
    if (first !== "held" && first !== "unknown") return first;
    claim.beginAnew();
    const taken = first === "held" ? "taken" : await claim.take();
    return taken === "taken" ? attempt() : taken;
  };
  try {
    const leased = await untilAborted(setup.lifetime.over, begun);
    if (leased.kind === "busy" && before !== null) open.leave(key, before);
    return leased;
  } finally {
    await claim.release();
  }
}

/** What is known of a thread whose run has written nothing yet. Throws everything else. */
function refusalOf(error: unknown, claim: ClaimedLease): "held" | "unknown" | HeldLease | { readonly kind: "missing" } {
  if (error instanceof ClaimRefused)
    return error.reason.kind === "moved" ? "held" : (error.reason as HeldLease | { kind: "missing" });
  // It was decided on a log that may have moved on. The store's own failures are the same the second time.
  if (claim.lease.epoch === 0 && !(error instanceof StoreError)) return "unknown";
  throw error;
}

interface ClaimedRun {
  readonly deps: ThreadDeps;
  readonly claim: ClaimedLease;
  readonly before: OpenRun | null;
  readonly leave: (run: OpenRun) => void;
}

async function inSession<T>(
  setup: AgentSetup,
  options: RunSessionOptions,
  { deps, claim, before, leave }: ClaimedRun,
  work: (session: RunSession) => Promise<T>,
): Promise<T> {
  const { threadId, runId } = options;
  // The conversation outlives the run, and may outlive the agent: no function of this scope may go into it.
  const place = { deps, id: threadId, shape: setup.shape, lease: claim, runId };
  const opened = await openLog({ ...place, before: before?.conversation ?? null });
  if (opened.kind !== "open") throw new LeaseLostError(threadId);
  const { log } = opened;
  const { conversation } = log;
  const moved = before?.conversation.live() !== conversation.live();
  const sized = before === null ? null : { ...before.sized, moved };
  const session = await openRunSession(setup, options, { log, deps, claim, sized });
  try {
    const result = await work(session);
    leave({ conversation, sized: session.thread.opened() });
    return result;
  } finally {
    if (setup.lifetime.closing.aborted) await session.thread.close();
    else letDraft(setup, keyOf(options), session.thread);
  }
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

interface RunThread {
  readonly log: OpenLog<AiSdkMessage>;
  readonly deps: ThreadDeps;
  readonly claim: ClaimedLease;
  /** What the run before has counted with. */
  readonly sized: OpenSizer<AiSdkMessage> | null;
}

async function openRunSession(setup: AgentSetup, options: RunSessionOptions, held: RunThread): Promise<RunSession> {
  const { threadId, userId, runId, signal: stop, emit, context = {} } = options;
  const { log, deps, claim } = held;
  const { lost } = claim;
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
    async hold() {
      claim.assertNotRefused();
      if (claim.lease.epoch > 0) return;
      const taken = await claim.take();
      if (taken !== "taken") throw new ClaimRefused(taken);
      if ((await log.conversation.catchUp()) !== "current")
        throw new ClaimRefused({ kind: "moved", lease: claim.lease });
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
