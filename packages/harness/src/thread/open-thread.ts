/**
 * Opens a thread for any loop: whatever provider, SDK or framework asks the model, the log, the prompt, its count and its
 * compactions are the same as an agent's. Needs no model; summaries are extracted unless somebody writes them.
 */
import { copyRules, readRules } from "@palimpsest/core/internal/log";
import { DIALECTS, withToolFacts } from "@palimpsest/core/internal/message";
import { NOWHERE } from "@palimpsest/core/internal/summary";
import { checkThreadId, checkUser, type RulesByScope } from "@palimpsest/core/log";
import { type Dialect, type RuleSet, rulesOf, type Shape } from "@palimpsest/core/message";
import { answerReserve, createMeter } from "@palimpsest/core/tokens";
import { createModelWriter } from "../compaction/model-writer.ts";
import {
  SettingsError,
  type Summarization,
  type SummarizationOptions,
  summarizationFromOptions,
} from "../compaction/summarization.ts";
import type { SummaryWriter } from "../compaction/summarize.ts";
import { summarizeBy } from "../compaction/summarize.ts";
import { bindsReasoning, cachePrices, type GivenPrices, knownWindow } from "../models/facts.ts";
import type { LimitsStore } from "../models/learned-limits.ts";
import { type GivenCounter, modelCounter } from "../models/tokenizers.ts";
import { asUser } from "../stores/driver-rules.ts";
import type { HeldLease, Lease, Store } from "../stores/store.ts";
import { takeUpRules } from "./acts.ts";
import { type FixedRequest, sizeBefore, sizeFixed, statedFixed } from "./fixed-request.ts";
import { type OpenLog, openLog } from "./log.ts";
import { openSession, type ThreadEvent, type WriterContext } from "./session.ts";
import { type OpenThread, type ThreadParts, threadSession } from "./thread-session.ts";
import type { PromptCache } from "./window.ts";
import { createModelWindow } from "./window.ts";
import { createThread, type ThreadDeps, threadDeps } from "./writer.ts";

export interface OpenThreadOptions<M extends object> {
  readonly store: Store;
  readonly id: string;
  /** Whose thread it is: two users may both have one of this name. By default the store's user. */
  readonly userId?: string | undefined;
  /** For a thread that is made now. */
  readonly agentName?: string | undefined;
  /** Whose messages they are: `shapeOf("openai")`. Messages of other dialects in the log are converted. */
  readonly shape: Shape<M>;
  /** What the provider accepts; by default what the dialect's own does. */
  readonly rules?: RuleSet | undefined;
  /** Standing rules of the user, the agent and files: copied into the thread's log when it is opened. */
  readonly standingRules?: RulesByScope | undefined;
  /** The model's input window in tokens. */
  readonly window: number | (() => number);
  /** Tokens kept free in it for the answer. */
  readonly reserve?: number | undefined;
  /** The model's name: it decides how tokens are counted, and reports are its own. */
  readonly model?: string | undefined;
  /** Whether the model takes its thoughts back only behind the prompt they were made under; by default told by its name. */
  readonly bindsReasoning?: boolean | undefined;
  /** The model's prices, which say when pruning pays; by default those known by its name. */
  readonly prices?: GivenPrices | undefined;
  /**
   * What the provider's prompt cache finds of a request, which decides what a pruning costs. By default `end` for
   * Anthropic's messages and `prefix` for others; `marks`: you set a mark behind each message that `prompt().marks` names.
   */
  readonly promptCache?: PromptCache | undefined;
  /** The provider's address, where the same model may be served with another window elsewhere. */
  readonly baseUrl?: string | null | undefined;
  /** Where windows that providers stated while refusing are kept for other threads and processes; by default each thread learns its own. */
  readonly limits?: LimitsStore | undefined;
  /** A tokenizer of yours; by default the best one known for the model. */
  readonly counter?: GivenCounter | undefined;
  /**
   * A line says so where more than six hours lie before a user's message. `behind-summary`: only after something was hidden, for a
   * loop whose messages must be sent as they were given.
   */
  readonly times?: "behind-summary" | undefined;
  /** What is sent beside the messages; `prompt({ fixed })` changes it. */
  readonly fixed?: FixedRequest | undefined;
  /** When to compact and how much to keep; `false`: only when asked to, and after a refusal for length. */
  readonly summarization?: SummarizationOptions | false | undefined;
  /** Answers the prompts that ask for a summary; without one, summaries are extracted by rules. */
  readonly summarizer?: ((prompt: string, signal: AbortSignal) => Promise<string> | string) | undefined;
  /** Writes the summaries its own way, instead. */
  readonly writer?: SummaryWriter | undefined;
  /** What finds the hidden messages again, if your agent has it: `find them with ...` says the summary. */
  readonly originals?: string | null | undefined;
  /**
   * `per-write` unless told: the lease is taken for each write and given back after it. `held`: nobody else can write to
   * the thread from opening to closing. Or a lease that you hold and give back, with a signal that says it was lost.
   */
  readonly lease?: "per-write" | "held" | { readonly lease: Lease; readonly lost: AbortSignal } | undefined;
  /** `create` unless told: a thread that doesn't exist is made. `refuse`: the answer is `missing`. */
  readonly ifMissing?: "create" | "refuse" | undefined;
  /** How long a write waits for a thread that somebody else holds; 5 seconds unless told. */
  readonly waitMs?: number | undefined;
  /** Stops compactions under way. */
  readonly signal?: AbortSignal | undefined;
  readonly onEvent?: ((event: ThreadEvent | UnknownModel) => void) | undefined;
  readonly deps?: Partial<Omit<ThreadDeps, "store">> | undefined;
}

export type OpenedThread<M> =
  | { readonly kind: "open"; readonly thread: OpenThread<M> }
  /** Only with `lease: "held"`: somebody else holds it. */
  | HeldLease
  /** Only with `ifMissing: "refuse"`. */
  | { readonly kind: "missing" }
  | { readonly kind: "bad-id" | "bad-user" | "bad-shape"; readonly problem: string };

/** Throws a `SettingsError` for invalid settings. */
/** Once, when a thread is opened: nothing is known by the model's name, so defaults stand for tokenizer, prices and thoughts. */
interface UnknownModel {
  readonly type: "model-unknown";
  readonly model: string;
}

export async function openThread<M extends object>(options: OpenThreadOptions<M>): Promise<OpenedThread<M>> {
  const { store, id, userId = store.userId, agentName, lease = "per-write", waitMs = WAIT_MS } = options;
  const refused = refusalOf(options, userId);
  if (refused !== null) return refused;
  const settings = summarizationFromOptions(options.summarization || {});
  if (typeof options.window !== "function") checkedWindow(options.window);
  const deps = threadDeps(asUser(store, userId), options.deps);
  const creates = options.ifMissing !== "refuse";
  if (creates && (await deps.store.header(id)) === undefined)
    await createThread(deps, { id, ...(agentName === undefined ? {} : { agentName }) });
  const shape = deps.tools === undefined ? options.shape : withToolFacts(options.shape, deps.tools);
  const { times } = options;
  const opened = await openLog({ deps, id, shape, lease, waitMs, times });
  // Deleted in between: it is made anew.
  if (opened.kind === "missing") return creates ? openThread(options) : opened;
  if (opened.kind !== "open") return opened;
  const { log } = opened;
  try {
    const thread = threadSession(await threadParts({ ...options, shape }, { deps, settings, log }));
    const { standingRules } = options;
    if (standingRules !== undefined && hasOther(log.conversation.head().state, standingRules))
      await thread.act((writer) => takeUpRules(writer, standingRules));
    return { kind: "open", thread };
  } catch (error) {
    await log.release();
    throw error;
  }
}

/** Whether the thread's copies of these rules differ from them: most threads have none, and need none. */
function hasOther(state: Readonly<Record<string, unknown>>, standing: RulesByScope): boolean {
  if (state["rules"] === undefined && Object.values(standing).every((texts) => texts.length === 0)) return false;
  const rules = readRules(state);
  return copyRules(rules, standing, "") !== rules;
}

const WAIT_MS = 5_000;

interface ThreadOpening<M> {
  readonly deps: ThreadDeps;
  readonly settings: Summarization;
  readonly log: OpenLog<M>;
}

async function threadParts<M extends object>(
  options: OpenThreadOptions<M>,
  { deps, settings, log }: ThreadOpening<M>,
): Promise<ThreadParts<M>> {
  const { shape, window, reserve, model = "unknown", signal = null } = options;
  if (options.model !== undefined && knownWindow(model) === null) options.onEvent?.({ type: "model-unknown", model });
  const counter = await modelCounter(options.counter, { model });
  const meter = createMeter(shape, { ...counter, counter: counter.count });
  const binds = options.bindsReasoning ?? bindsReasoning(model);
  const dialect = shape.dialect as Dialect;
  const rules = options.rules ?? rulesOf(dialect);
  const promptCache = options.promptCache ?? (dialect === "anthropic" ? "end" : "prefix");
  const parameters = {
    provider: dialect,
    model,
    bindsReasoning: binds,
    settings: {},
    loop: { dialect, rules, ...(options.times !== undefined && { times: options.times }) },
  };
  const state = (given: FixedRequest) => {
    const size = sizeFixed(given, meter, deps.hash);
    return { size, sent: statedFixed(given, size, parameters) };
  };
  const openingOf = ({ size }: ReturnType<typeof state>) => (binds ? () => ({ hash: size.hash, messages: 0 }) : null);
  let stated = state(options.fixed ?? {});
  const modelWindow = createModelWindow({
    endpoint: { provider: shape.dialect, baseUrl: options.baseUrl ?? null, model },
    window: () => checkedWindow(typeof window === "function" ? window() : window),
    reserve: (size) => reserve ?? answerReserve(size, null),
    clock: deps.clock,
    limitsStore: options.limits ?? null,
  });
  const session = await openSession(log, {
    deps,
    rules,
    meter,
    counter,
    modelWindow,
    model,
    settings,
    // Reports rest on what was sent then: who hasn't said yet what goes beside the messages is taken to send the same.
    fixed: (options.fixed === undefined ? sizeBefore(log.conversation.head()) : null) ?? stated.size,
    opening: openingOf(stated),
    prices: cachePrices(model, options.prices ?? null),
    promptCache,
    before: null,
    writer: (place) => writerOf(options, settings, place),
    label: () => JSON.stringify(["given", settings.summaryPrompt]),
    ahead: "yes",
    archive: null,
    originals: () => ({ ...NOWHERE, finder: options.originals ?? null }),
    on: options.onEvent ?? (() => {}),
  });
  const automatic = options.summarization !== false;
  const fix = (given: FixedRequest): void => {
    stated = state(given);
    session.fix(stated.size, openingOf(stated));
  };
  return {
    deps,
    session,
    modelWindow,
    shape,
    automatic,
    promptCache,
    signal,
    fix,
    stated: () => stated.sent,
  };
}

/** Under no number at all, such as that of a setting which isn't there, nothing would ever be too long. */
function checkedWindow(window: number): number {
  if (typeof window === "number" && window > 0) return window;
  throw new SettingsError([`window ${window} must be a number of tokens above 0`]);
}

/** Of the summarizer's window nothing is known but the model's own. */
function writerOf<M extends object>(
  { writer, summarizer }: OpenThreadOptions<M>,
  settings: Summarization,
  { window, count }: WriterContext<M>,
): SummaryWriter | null {
  if (writer !== undefined) return writer;
  if (summarizer === undefined) return null;
  const { reservedOutputTokens, trimTokensToSummarize, maxSummarizerCalls, summaryPrompt } = settings;
  const limits = { reservedOutputTokens, trimTokensToSummarize, maxSummarizerCalls, summaryPrompt, count };
  const summarize = summarizeBy(summarizer);
  return (job, signal) => createModelWriter({ ...limits, summarize, window: window() })(job, signal);
}

function refusalOf<M extends object>(
  { id, shape }: OpenThreadOptions<M>,
  userId: string,
): Extract<OpenedThread<M>, { readonly problem: string }> | null {
  const named = checkThreadId(id);
  if (named.kind === "invalid") return { kind: "bad-id", problem: named.problem };
  const user = checkUser(userId);
  if (user.kind === "invalid") return { kind: "bad-user", problem: user.problem };
  if ((DIALECTS as readonly string[]).includes(shape.dialect)) return null;
  const problem = `a log keeps messages of ${DIALECTS.join(", ")}, not of ${JSON.stringify(shape.dialect)}: convert them, or give your shape the name of the one whose messages it reads`;
  return { kind: "bad-shape", problem };
}
