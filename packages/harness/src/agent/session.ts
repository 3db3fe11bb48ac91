/**
 * A run on an open thread that it holds: system prompt, tools and the thread's prompt make its requests; the prompt's one
 * count drives the trigger, the plan and the usage records. Runs and manual compactions both work inside one, so that they
 * can never meet on the same thread. Calls no model.
 */

import { checkUser } from "@palimpsest/core/internal/log";
import { type AiSdkMessage, rulesOf, type Shape, type ToolRegistry } from "@palimpsest/core/internal/message";
import { fixedSize } from "@palimpsest/core/internal/prompt";
import { type Originals, RECALL } from "@palimpsest/core/internal/summary";
import type { Meter } from "@palimpsest/core/internal/tokens";
import type { ToolSet } from "ai";
import { ensureParts, homeOriginals } from "../compaction/part-files.ts";
import type { CachedPrefix } from "../compaction/summarize.ts";
import { untilAborted } from "../long-work.ts";
import { asUser } from "../stores/driver-rules.ts";
import { type ClaimedLease, ClaimRefused, claimLease, type Leased } from "../stores/leases.ts";
import type { HeldLease, Store } from "../stores/store.ts";
import { StoreError } from "../stores/store-error.ts";
import { LeftOpen } from "../thread/asked-model.ts";
import type { FixedPrompt } from "../thread/fixed-request.ts";
import type { LeftThread } from "../thread/log.ts";
import { openStoredThread, type Thread } from "../thread/thread.ts";
import { bytesOf } from "../thread/thread-view.ts";
import { cutMessages, markedMessages, needsMarks } from "../thread/window.ts";
import type { ThreadDeps } from "../thread/writer.ts";
import type { ToolApproval } from "./approval.ts";
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
import { type ModelSetup, parametersOf, summarizerLabel, writerFor } from "./model.ts";
import {
  type ActiveRun,
  type AskingModel,
  type Chain,
  type CompactionSetup,
  type Middleware,
  type Run,
  type RunBudget,
  startRun,
} from "./run.ts";
import type { RunContext } from "./tools.ts";

/** An agent's options, resolved. */
export interface AgentSetup extends Omit<AskingModel, "output">, ModelSetup {
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
  readonly drafting: Map<string, Thread<AiSdkMessage>>;
  /** Asked one after the other where a model fails. */
  readonly fallbacks: readonly ModelSetup[];
  readonly budget: RunBudget | null;
}

export interface RunPlace {
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
export async function withRun<T>(
  setup: AgentSetup,
  options: RunPlace,
  work: (run: ActiveRun) => Promise<T>,
): Promise<Leased<T>> {
  const { threadId, userId } = options;
  const deps = depsOf(setup, userId);
  const claim = claimLease(deps.store, threadId, { owner: deps.ids() });
  const open = leftOpenIn(setup.deps.store);
  const key = keyOf(options);
  const before = open.take(key);
  const attempt = async (): Promise<Leased<T>> => {
    const value = await runOnThread(
      setup,
      options,
      { deps, claim, before, leave: (thread) => open.leave(key, thread) },
      work,
    );
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

type LeftRun = LeftThread<AiSdkMessage>;

interface ClaimedRun {
  readonly deps: ThreadDeps;
  readonly claim: ClaimedLease;
  readonly before: LeftRun | null;
  readonly leave: (thread: LeftRun) => void;
}

async function runOnThread<T>(
  setup: AgentSetup,
  options: RunPlace,
  { deps, claim, before, leave }: ClaimedRun,
  work: (run: ActiveRun) => Promise<T>,
): Promise<T> {
  const { threadId, runId } = options;
  // What is left outlives the run, and may outlive the agent: no function of this scope may go into it.
  const opened = await openStoredThread({
    deps: { ...deps, runId },
    id: threadId,
    shape: setup.shape,
    lease: claim,
    before,
  });
  if (opened.kind !== "open") throw new LeaseLostError(threadId);
  const { thread } = opened;
  const run = await openRun(setup, options, { thread, deps, claim });
  try {
    const result = await work(run);
    leave(thread.left());
    return result;
  } finally {
    if (setup.lifetime.closing.aborted) await thread.close();
    else letDraft(setup, keyOf(options), thread);
  }
}

/** Of the very same store object, whichever agent's: another one may be on another file, or belong to somebody else. */
function leftOpenIn(store: Store): LeftOpen<LeftRun> {
  const table =
    leftOpenRuns.get(store) ?? new LeftOpen<LeftRun>({ most: MOST_OPEN, bytes: ({ log }) => bytesOf(log.live) });
  leftOpenRuns.set(store, table);
  return table;
}

const leftOpenRuns = new WeakMap<Store, LeftOpen<LeftRun>>();
const MOST_OPEN = 16;

interface RunThread {
  readonly thread: Thread<AiSdkMessage>;
  readonly deps: ThreadDeps;
  readonly claim: ClaimedLease;
}

async function openRun(setup: AgentSetup, options: RunPlace, held: RunThread): Promise<ActiveRun> {
  const { threadId, userId, runId, signal: stop, emit, context = {} } = options;
  const { thread, deps, claim } = held;
  const { lost } = claim;
  let model: ModelSetup = setup;
  const started = startRun({
    runId,
    deps,
    thread,
    signal: stop === undefined ? lost : AbortSignal.any([stop, lost]),
    emit,
    ...context,
    window: () => model.modelWindow.window().size,
    get bindsReasoning() {
      return model.model.bindsReasoning;
    },
    prompt: thread.sizedPrompt,
    compact: thread.compact,
  });
  const history = setup.history?.(threadId, userId) ?? null;
  const ahead = setup.drafting.has(keyOf(options)) ? "no" : "yes";
  const place = { setup, run: started, thread, history, ahead } as const;
  let part = await renderFixed(started, setup);
  let fixed = await turnThread({ ...place, model, part: () => part });
  let last: BoundRequest | null = null;
  return Object.assign(started, {
    thread,
    tools: () => part.tools,
    async refresh() {
      part = await renderFixed(started, setup);
      await thread.fix(fixed());
    },
    async request() {
      const { messages, prefix } = await thread.prompt();
      const cuts = cutMessages(thread);
      last = { request: { ...requestWith(part, messages), ...(cuts.length > 0 && { cuts }) }, prefix };
      return last.request;
    },
    bind: (request: ModelRequest) => (request === last?.request ? last : bindRequest(request, part, started)),
    async turnTo(other: ModelSetup) {
      last = null;
      model = other;
      part = await renderFixed(started, setup);
      fixed = await turnThread({ ...place, model, part: () => part });
      await thread.fix();
    },
    async hold() {
      claim.assertNotRefused();
      if (claim.lease.epoch > 0) return;
      const held = await thread.hold();
      if (held !== "held") throw new ClaimRefused(held);
      if ((await thread.catchUp()) !== "current") throw new ClaimRefused({ kind: "moved", lease: claim.lease });
    },
    assertHeld() {
      if (lost.aborted) throw new LeaseLostError(threadId);
    },
  });
}

const RULES = rulesOf("ai-sdk");

interface TurnedThread {
  readonly setup: AgentSetup;
  readonly run: Run;
  readonly thread: Thread<AiSdkMessage>;
  readonly model: ModelSetup;
  /** System prompt and tools as they are now. */
  readonly part: () => FixedPart;
  /** Folder of the thread's part files; null without a workspace. */
  readonly history: string | null;
  /** `no`: a draft of this thread is under way already. */
  readonly ahead: "yes" | "no";
}

/** Turns the thread to a model. Returns what is sent to that beside the messages, as it is rendered now. */
async function turnThread({ setup, run, thread, model: asked, part, history, ahead }: TurnedThread) {
  const { languageModel: model, providerOptions } = asked.model.settings;
  const { settings, summarizer } = setup.compaction;
  const { counter, meter } = await asked.counting();
  const { deps, threadId } = run;
  const fixed = () => fixedPrompt(run, part(), { meter, model: asked });
  await thread.turnTo({
    deps,
    rules: RULES,
    counter,
    meter,
    modelWindow: asked.modelWindow,
    ahead,
    fixed: fixed(),
    fixedFor: fixed,
    // The middleware says when, and a run ends with the error that says what doesn't fit.
    compacts: "when-asked",
    onFloor: "throw",
    signal: null,
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
    archive: history === null ? null : () => ensureParts(history, deps.store, threadId, thread.head().compaction),
    originals: () => originalsFor(part().tools, history),
    on: run.emit,
  });
  return fixed;
}

function fixedPrompt(
  { bindsReasoning, deps }: Run,
  part: FixedPart,
  { meter, model: { model } }: { readonly meter: Meter<AiSdkMessage>; readonly model: ModelSetup },
): FixedPrompt<AiSdkMessage> {
  const { hash, date, prompt, schemas } = part;
  const size = fixedSize(fixedSizes(part, meter), hash);
  const sent = {
    hash,
    parts: size.parts,
    parameters: parametersOf(model),
    texts: { system: prompt.text, memory: prompt.parts.memory, tools: schemas },
    dated: { date, changes: bindsReasoning ? "by-compaction" : "daily" },
  } as const;
  return { size, opening: bindsReasoning ? openingOf(part, deps.hash) : null, sent };
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

function keyOf({ userId, threadId }: RunPlace): string {
  return JSON.stringify([userId, threadId]);
}

/** The agent's deps, on the threads of one user. */
export function depsOf({ deps }: Pick<AgentSetup, "deps">, userId: string): ThreadDeps {
  const user = checkUser(userId);
  if (user.kind === "invalid") throw new AgentError("bad-user-id", user.problem);
  return { ...deps, store: asUser(deps.store, userId) };
}

/** A draft never touches the thread, so it may go on without the lease; the next run finds it in the table. */
function letDraft({ drafting }: AgentSetup, key: string, thread: Thread<AiSdkMessage>): void {
  if (drafting.has(key)) return;
  drafting.set(key, thread);
  void thread.settled().finally(() => drafting.delete(key));
}
