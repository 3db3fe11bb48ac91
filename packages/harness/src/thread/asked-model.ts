/**
 * The model that an open thread is for: the prompts it is sent, the reports on them, the compactor for its window. Calls no
 * model itself and writes nothing but through the thread.
 */

import type { Head, UsageFlaw, UsageRecord } from "@palimpsest/core/internal/log";
import { type Dialect, type RuleSet, repair, rulesOf, type Shape } from "@palimpsest/core/internal/message";
import type { Prices } from "@palimpsest/core/internal/pricing";
import { type Prompt, type SizerOptions, sizeOf } from "@palimpsest/core/internal/prompt";
import { NOWHERE } from "@palimpsest/core/internal/summary";
import { answerReserve, createMeter, sampled } from "@palimpsest/core/internal/tokens";
import { type Compactor, type CompactorOptions, createCompactor } from "../compaction/compactor.ts";
import { type DraftTable, drafting, draftTable } from "../compaction/drafts.ts";
import type { OnCompactionEvent, ThreadEvent } from "../compaction/events.ts";
import { createModelWriter } from "../compaction/model-writer.ts";
import type { Summarization } from "../compaction/summarization.ts";
import { type SummaryWriter, summarizeBy } from "../compaction/summarize.ts";
import { readQuotes } from "../compaction/summary.ts";
import { inTurns } from "../long-work.ts";
import { bindsReasoning, cachePrices, knownWindow, type Usage } from "../models/facts.ts";
import { type ModelCounter, modelCounter } from "../models/tokenizers.ts";
import {
  type FixedPrompt,
  type FixedRequest,
  fixing,
  type PromptOpening,
  type SentFixed,
  sizeBefore,
  thoughtBinder,
} from "./fixed-request.ts";
import type { StoredLog } from "./log.ts";
import type { OpenThreadOptions } from "./open-thread.ts";
import type { ThreadLog } from "./thread.ts";
import { countOnReports, livePrompt, type OpenSizer, openSizer, shownAt } from "./thread-view.ts";
import {
  cacheTerms,
  checkedWindow,
  createModelWindow,
  isCold,
  type LearnedWindow,
  type PromptCache,
} from "./window.ts";
import type { RecordInput, ThreadDeps } from "./writer.ts";

/** Who is asked, and how its prompts are made, counted and compacted. */
export interface AskedModel<M> extends Pick<SizerOptions<M>, "rules" | "meter">, Pick<CompactorOptions<M>, "archive"> {
  readonly deps: ThreadDeps;
  readonly fixed: FixedPrompt<M>;
  /** What is sent beside the messages where a prompt is asked for with this. */
  readonly fixedFor: (given: FixedRequest) => FixedPrompt<M>;
  /** Whose reports count. */
  readonly model: string;
  readonly modelWindow: LearnedWindow;
  /** Whether a prompt is compacted first where the policy says so. */
  readonly compacts: "by-itself" | "when-asked";
  /** What `recover` does where nothing small enough can be made: throw the `FloorError`, or answer false. */
  readonly onFloor: "throw" | "refuse";
  /** Stops compactions under way. */
  readonly signal: AbortSignal | null;
  readonly counter: ModelCounter;
  readonly settings: Summarization;
  /** Who writes the summaries; null: they are extracted. */
  readonly writer: (place: WriterContext<M>) => SummaryWriter | null;
  /** Names what a draft depends on beside the conversation. */
  readonly label: () => string;
  /** `no`: nothing is drafted ahead, whatever the settings say. */
  readonly ahead: "yes" | "no";
  readonly originals: NonNullable<CompactorOptions<M>["originals"]>;
  readonly prices: Prices;
  readonly promptCache: PromptCache;
  readonly on: (event: ThreadEvent) => void;
}

/** What a summary writer may need of the thread it writes for. */
interface WriterContext<M> {
  readonly prompt: () => Prompt<M>;
  /** Where what is prepared for the thread is kept. */
  readonly drafts: DraftTable;
  /** Whether the provider may still hold the last request in its cache. */
  readonly cache: () => "warm" | "cold";
  readonly window: () => number;
  /** The same today and tomorrow, so that a resumed summary is cut where it was cut before. */
  readonly count: (text: string) => number;
}

interface ModelContext {
  readonly deps: ThreadDeps;
  readonly settings: Summarization;
  readonly dialect: Dialect;
  readonly head: Head;
}

/** The model that the options of an open thread describe. */
export async function modelOf<M extends object>(
  options: OpenThreadOptions<M>,
  { deps, settings, dialect, head }: ModelContext,
): Promise<AskedModel<M>> {
  const { shape, window, reserve, model = "unknown", signal = null } = options;
  if (options.model !== undefined && knownWindow(model) === null) options.onEvent?.({ type: "model-unknown", model });
  const counter = await modelCounter(options.counter, { model });
  const meter = createMeter(shape, { ...counter, counter: counter.count });
  const binds = options.bindsReasoning ?? bindsReasoning(model);
  const rules = options.rules ?? rulesOf(dialect);
  const parameters = {
    provider: dialect,
    model,
    bindsReasoning: binds,
    settings: {},
    loop: { dialect, rules, ...(options.times !== undefined && { times: options.times }) },
  };
  const fixedFor = fixing<M>({ meter, parameters, hash: deps.hash });
  const fixed = fixedFor(options.fixed ?? {});
  // Reports rest on what was sent then: who hasn't said yet what goes beside the messages is taken to send the same.
  const before = options.fixed === undefined ? sizeBefore(head) : null;
  return {
    deps,
    rules,
    meter,
    counter,
    modelWindow: createModelWindow({
      endpoint: { provider: shape.dialect, baseUrl: options.baseUrl ?? null, model },
      window: checkedWindow(window),
      reserve: (size) => reserve ?? answerReserve(size, null),
      clock: deps.clock,
      limitsStore: options.limits ?? null,
    }),
    model,
    settings,
    fixed: before === null ? fixed : { ...fixed, size: before },
    fixedFor,
    compacts: options.summarization === false ? "when-asked" : "by-itself",
    onFloor: "refuse",
    signal,
    prices: cachePrices(model, options.prices ?? null),
    promptCache: options.promptCache ?? (dialect === "anthropic" ? "end" : "prefix"),
    writer: (place) => writerOf(options, settings, place),
    label: () => JSON.stringify(["given", settings.summaryPrompt]),
    ahead: "yes",
    archive: null,
    originals: () => ({ ...NOWHERE, finder: options.originals ?? null }),
    on: options.onEvent ?? (() => {}),
  };
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

/** A prompt that was sent, and the view it showed. */
export interface Asked<M> {
  readonly prompt: Prompt<M>;
  /** As they go out: the prompt's, and where that ends with an answer, a word that asks for the next one. */
  readonly messages: readonly M[];
  /** The hash of the whole request, where the model binds its thoughts to it. */
  readonly prefix: string | null;
  readonly measured: UsageRecord["measured"];
  /** Where the log stood, and what was sent beside the messages. */
  readonly version: number;
  readonly fixed: SentFixed;
}

export type UsageInput = Extract<RecordInput, { kind: "usage" }>;

/** `before`: what was counted with when the thread was open before. */
export async function openModel<M extends object>(
  log: StoredLog<M>,
  options: AskedModel<M>,
  before: OpenSizer<M> | null,
) {
  const { deps, modelWindow, counter, model } = options;
  const { shape } = log;
  const size = sizingInTurns(log, options.meter, before === null ? 0 : log.view().length);
  await size();
  const thread = { store: deps.store, log };
  let binder: ReturnType<typeof thoughtBinder<M>> | undefined;
  const bind = (opening: PromptOpening<M> | null) => {
    if (opening === null) return null;
    binder ??= thoughtBinder(log, deps.hash);
    return binder(opening);
  };
  let { fixed } = options;
  const counting = { ...options, prior: counter.prior, window: (): number => modelWindow.window().size };
  const sizing = { ...counting, fixed: fixed.size, bind: bind(fixed.opening), before };
  const { sizer, ...known } = await openSizer(thread, sizing);
  const prompt = livePrompt(log, sizer, known.prompt);
  let { lastAt } = known;
  let last: Asked<M> | null = null;
  const now = (): Asked<M> => {
    const measured = { ...shownAt(log), promptHash: sizer.fixed.hash };
    const { version } = log.head();
    const sent = { measured, version, fixed: fixed.sent };
    const whole = prompt();
    if (last?.prompt.messages === whole.messages) return { ...last, prompt: whole, ...sent };
    const messages = endingWithRequest(whole.messages, shape);
    const { prefix } = messages === whole.messages ? whole : (sizer.bind?.(messages) ?? whole);
    return { prompt: whole, messages, prefix, ...sent };
  };
  // Most turns compact nothing: what would is made when it is first asked.
  let made: Compactor<M> | null = null;
  return {
    options,
    prompt,
    /** Sizes many new messages ahead of a prompt, so that others get their turns meanwhile. */
    size,
    /** The prompt that is sent now: the next report is on it. */
    ask(): Asked<M> {
      last = now();
      return last;
    },
    sentFixed: (): SentFixed => fixed.sent,
    fix(other: FixedPrompt<M>): void {
      fixed = other;
      sizer.fix(other.size, bind(other.opening));
    },
    /** The usage record for the message at `of`. `asked`: what it answered, when that isn't what was sent last. */
    report(usage: Usage, of: number, asked: Asked<M> | null = last): UsageInput {
      const { prompt: sent, measured } = asked ?? now();
      const settled = sizer.settle({ of, ...usage }, sizeOf(sent), counting.window());
      lastAt = deps.clock().getTime();
      if (settled.kind === "accepted") modelWindow.accept({ reported: usage.input, counted: sent.count.tokens });
      const result =
        settled.kind === "accepted"
          ? { factor: settled.factor, flaw: null }
          : { factor: null, flaw: flawOf(settled.reason) };
      return { kind: "usage", of, model, ...usage, measured, ...result };
    },
    opened: (): OpenSizer<M> => ({ sizer, prompt: last?.prompt ?? known.prompt, lastAt }),
    /** Somebody else has written: counts on the reports that the log has now. */
    async recount(): Promise<void> {
      lastAt = (await countOnReports(thread, sizer, { ...counting, prompt: prompt() })) ?? lastAt;
    },
    compactor(): Compactor<M> {
      made ??= openCompactor(log, options, { prompt, lastAt: () => lastAt });
      return made;
    },
    /** Resolves when no draft is being written. */
    settled: async (): Promise<void> => made?.settled(),
    /** Stops a draft being written. */
    close: async (): Promise<void> => made?.close(),
  };
}

function flawOf(reason: string): UsageFlaw {
  return reason === "zero" || reason === "over-window" ? reason : "implausible";
}

/** What a list that keeps all other rules needs to be sent. */
const LAST_RULE: RuleSet = { name: "request", rules: ["ends-with-request"] };

export function endingWithRequest<M>(messages: readonly M[], shape: Shape<M>): readonly M[] {
  const last = messages.at(-1);
  const role = last === undefined ? null : shape.role(last);
  return role === "user" || role === "tool" ? messages : repair(messages, shape, LAST_RULE).messages;
}

/** Fewer new messages are sized with the prompt, unless they have more characters than this. */
const FEW = 20;
const LONG = 50_000;

/** The meter remembers what it has sized: the prompt that is built next finds it there. */
function sizingInTurns<M extends object>(
  { view, live }: ThreadLog<M>,
  meter: AskedModel<M>["meter"],
  sized: number,
): () => Promise<void> {
  let known = sized;
  return async () => {
    const entries = view();
    const isLong =
      live()
        .tail.slice(-FEW)
        .reduce((sum, { body }) => sum + body.length, 0) > LONG;
    if (isLong || entries.length - known > FEW) await inTurns(meter.steps(entries.map(({ message }) => message)));
    known = entries.length;
  };
}

/** What a compactor of a stored thread is made from. */
interface CompactorParts<M extends object>
  extends Pick<
    AskedModel<M>,
    "deps" | "counter" | "archive" | "originals" | "ahead" | "writer" | "prices" | "promptCache"
  > {
  /** Names what a draft depends on beside the conversation; null: drafts are neither used nor written. */
  readonly label: (() => string) | null;
  readonly on: OnCompactionEvent;
  readonly settings: Pick<Summarization, "policy" | "prune" | "drafts">;
  readonly modelWindow: Pick<LearnedWindow, "window">;
}

interface CompactedPrompts<M> {
  readonly prompt: () => Prompt<M>;
  /** When the provider was asked last, as far as its reports say. */
  readonly lastAt: () => number | null;
}

/** The only place that assembles a compactor for a stored thread: runs, open threads, `compactThread` and simulations use it. */
export function openCompactor<M extends object>(
  thread: ThreadLog<M>,
  options: CompactorParts<M>,
  { prompt, lastAt }: CompactedPrompts<M>,
): Compactor<M> {
  const { deps, counter, settings, modelWindow, archive, originals, ahead, label, on, writer } = options;
  const { store, clock } = deps;
  const { id } = thread.header;
  const { enabled, from, protectTokens, minGainTokens } = settings.prune;
  const policy = { protectTokens, minGainTokens, ...(from === null ? {} : { from }) };
  const { marks, prices, isKept } = cacheTerms(options.promptCache, options.prices);
  const cache = () => (isKept && !isCold(lastAt(), clock().getTime(), prices) ? "warm" : "cold");
  const table = draftTable(store.drafts, id, clock);
  const bounded = sampled(counter.count);
  const count = (text: string): number => Math.ceil(bounded(text) * counter.prior);
  const summaryWriter = writer({ prompt, drafts: table, cache, count, window: () => modelWindow.window().size });
  const summaries = summaryWriter === null ? "rules" : "model";
  return createCompactor({
    thread,
    prompt,
    window: () => modelWindow.window(),
    policy: settings.policy,
    prune: enabled ? () => ({ policy, prices, summaries, cache: cache(), marks: marks(thread.head().reach) }) : null,
    writer: summaryWriter,
    quotes: readQuotes(store, id),
    archive,
    originals,
    clock,
    on,
    background:
      label === null
        ? null
        : drafting({ table, label: label(), ahead: settings.drafts && store.drafts !== undefined ? ahead : "no" }),
  });
}

/**
 * Threads that were left open, for the next who opens one of them, by keys that name a user, a thread and what else tells
 * two of them apart. One is in one user's hands at a time. What is kept is never trusted: the one who takes it compares it
 * with the log's head and its chain. Only so many stay in memory, and only as much; of the others `letGo` hears.
 */
export class LeftOpen<T> {
  readonly #threads = new Map<string, { readonly thread: T; readonly bytes: number }>();
  readonly #options: LeftOpenOptions<T>;
  #bytes = 0;
  #room = MOST_BYTES;

  constructor(options: LeftOpenOptions<T>) {
    this.#options = options;
  }

  take(key: string): T | null {
    const left = this.#threads.get(key);
    if (left === undefined) return null;
    this.#threads.delete(key);
    this.#bytes -= left.bytes;
    return left.thread;
  }

  leave(key: string, thread: T): void {
    this.#drop(key);
    const bytes = this.#options.bytes(thread);
    if (bytes > this.#room) return void this.#options.letGo?.(thread);
    this.#threads.set(key, { thread, bytes });
    this.#bytes += bytes;
    for (const oldest of this.#threads.keys()) {
      if (this.#threads.size <= this.#options.most && this.#bytes <= this.#room) return;
      this.#drop(oldest);
    }
  }

  /** Lets go of all of them; what is left from here on isn't kept. */
  async close(): Promise<void> {
    this.#room = -1;
    await Promise.all([...this.#threads.keys()].map((key) => this.#drop(key)));
  }

  #drop(key: string): unknown {
    const thread = this.take(key);
    return thread === null ? undefined : this.#options.letGo?.(thread);
  }
}

interface LeftOpenOptions<T> {
  readonly most: number;
  /** Of memory that a thread takes, about: `bytesOf` its live records. */
  readonly bytes: (thread: T) => number;
  readonly letGo?: (thread: T) => unknown;
}

const MOST_BYTES = 128 * 1024 * 1024;
