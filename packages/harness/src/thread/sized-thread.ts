/**
 * One stored thread from nothing but its id: sized by one count (its dialect, the best counter for the model that was asked
 * last, the account that the newest reports anchor), what it would send now and what that weighs, and its compactions outside
 * a run: written under the thread's lease, or only tried in memory, for a dry run or to see what a window would force.
 */
import type { CompactionOutcome, Policy, Window } from "@palimpsest/core/internal/compaction";
import {
  type LogRecord,
  liveRecords,
  type MessageRecord,
  type MessageSource,
  type UsageRecord,
  viewAct,
} from "@palimpsest/core/internal/log";
import {
  type Dialect,
  definitionOf,
  type Repair,
  rulesOf,
  type Shape,
  shapeOf,
} from "@palimpsest/core/internal/message";
import { RELATIVE_PRICES } from "@palimpsest/core/internal/pricing";
import type { Breakdown, FixedSize, Prompt, Sizer } from "@palimpsest/core/internal/prompt";
import { createSizer, fixedSize, promptBreakdown, sizeOf } from "@palimpsest/core/internal/prompt";
import { NOWHERE, type Originals, originalsIn } from "@palimpsest/core/internal/summary";
import type { Budget, Count, Meter } from "@palimpsest/core/internal/tokens";
import { answerReserve, createMeter, fit, resumeAccount } from "@palimpsest/core/internal/tokens";
import type { Compactor, CompactRequest } from "../compaction/compactor.ts";
import type { OnCompactionEvent } from "../compaction/events.ts";
import { ensureParts, historyFolder, homeOriginals } from "../compaction/part-files.ts";
import { stateChainOf } from "../compaction/state-chain.ts";
import { summarizationFromOptions } from "../compaction/summarization.ts";
import type { SummaryWriter } from "../compaction/summarize.ts";
import { inTurns } from "../long-work.ts";
import { exactCounterFor, type ModelCounter } from "../models/tokenizers.ts";
import { type Damage, damageOf } from "../stores/driver-rules.ts";
import { withLease } from "../stores/leases.ts";
import type { Store, ThreadLoad } from "../stores/store.ts";
import { openCompactor } from "./asked-model.ts";
import { lastAsker } from "./fixed-request.ts";
import { openStoredThread, type Thread, type ThreadLog } from "./thread.ts";
import { livePrompt, REPORTS, readBody, threadInMemory, threadState } from "./thread-view.ts";
import { type ThreadDeps, threadDeps } from "./writer.ts";

export interface SizedThread {
  /** The thread as it stands; what is committed to it is written nowhere. */
  readonly thread: ThreadLog<object>;
  readonly dialect: Dialect;
  readonly counter: ModelCounter;
  readonly sizer: Sizer<object>;
  /** What was sent beside the messages, where the thread knows it. */
  readonly request: { readonly system: unknown; readonly tools: readonly unknown[] };
  /** What would be sent now. */
  prompt(): Prompt<object>;
}

type FixedParts = FixedSize["parts"];

/** Who would ask next in a thread. */
export interface Asker {
  readonly model: string;
  readonly counter: ModelCounter;
  /** What it would send beside the messages of a thread in which it has sent nothing yet. */
  readonly beside: (load: ThreadLoad) => Promise<SizedThread["request"] & { readonly parts: FixedParts }>;
}

export async function sizedThread(store: Store, load: ThreadLoad, asker?: Asker): Promise<SizedThread> {
  const records = load.records.map(({ record }) => record);
  const dialect = dialectOf(records);
  // One table of functions per dialect; which one it is no longer matters from here on.
  const shape = shapeOf<object>(dialect);
  const model = asker?.model ?? modelOf(records, dialect);
  const counter = asker?.counter ?? (await exactCounterFor({ model }));
  const meter = createMeter(shape, { ...counter, counter: counter.count });
  const parts = knownParts(load);
  const beside = parts === null ? await asker?.beside(load) : undefined;
  const request = beside === undefined ? requestOf(load) : { system: beside.system, tools: beside.tools };
  const thread = copyInMemory(store, load, shape);
  await sizeInTurns(thread, meter, request.tools);
  const fixed = fixedSize(parts ?? beside?.parts ?? fixedParts(request, meter));
  const sizer = createSizer({ shape, rules: rulesOf(dialect), meter, fixed });
  const prompt = livePrompt(thread, sizer);
  const { prior } = counter;
  const { factors } = load.head;
  const reports = recentReports(records, model);
  const act = viewAct(thread.live());
  const countOnReports = () => {
    const resumed = { prompt: sizeOf(prompt()), factors, priorOf: () => prior, window: null, act };
    sizer.countOn({ account: resumeAccount(reports, resumed), model, prior });
  };
  countOnReports();
  const isNone = fixed.tokens > 0 || load.head.usage === null || isSummaryErased(load);
  const unseen = isNone ? 0 : unseenIn(prompt(), act);
  if (unseen > 0) {
    sizer.fix(fixedSize({ unseen }));
    countOnReports();
  }
  return { thread, dialect, counter, sizer, request, prompt };
}

/**
 * A thread that was imported without its system prompt and tools was still charged for them: what was counted beyond the
 * messages is theirs, in the meter's tokens. Before a report on the view, the act that made the view says what was counted.
 */
function unseenIn({ count, entries, factor }: Prompt<object>, act: ReturnType<typeof viewAct>): number {
  const counted =
    count.source !== "estimated"
      ? { tokens: count.tokens, until: Number.POSITIVE_INFINITY }
      : act === null
        ? null
        : { tokens: act.tokensAfter / factor, until: act.seq };
  if (counted === null) return 0;
  const shown = entries.filter(({ seq }) => (seq ?? 0) <= counted.until).reduce((sum, { tokens }) => sum + tokens, 0);
  const unseen = counted.tokens - shown;
  return unseen < counted.tokens * UNSEEN_SHARE ? 0 : Math.round(unseen);
}

/** Its compaction's figures counted the summary, which is gone. */
function isSummaryErased({ head, records }: ThreadLoad): boolean {
  return records.some(
    ({ record, redacted }) =>
      redacted && record.seq === head.compaction && record.kind === "compaction" && record.summary.state === null,
  );
}

/** Counters differ by less. */
const UNSEEN_SHARE = 0.25;

/** Ahead of a prompt, which then finds all of it counted. */
function sizeInTurns<M>(
  thread: Pick<ThreadLog<M>, "view">,
  meter: Meter<M>,
  tools: readonly unknown[] = [],
): Promise<void> {
  const messages = thread.view().map(({ message }) => message);
  return inTurns(meter.steps(messages, tools));
}

function recentReports(records: readonly LogRecord[], model: string): readonly UsageRecord[] {
  return records
    .filter((record) => record.kind === "usage")
    .filter((usage) => usage.flaw == null && usage.model === model)
    .slice(-REPORTS);
}

/** The model that was asked last; before that, one of the dialect's own family. */
function modelOf(records: readonly LogRecord[], dialect: Dialect): string {
  const reported = records.findLast((record) => record.kind === "usage" && record.flaw == null);
  const named = reported?.kind === "usage" ? reported.model : "unknown";
  if (named !== "unknown") return named;
  return definitionOf(dialect).model;
}

/** A run leaves only the sizes of its system prompt and tools in the state: the head is written with every append. */
function knownParts({ head }: ThreadLoad): FixedParts | null {
  return threadState(head).request?.parts ?? null;
}

function fixedParts({ system, tools }: SizedThread["request"], meter: Meter<object>): FixedParts {
  const text = system == null ? "" : typeof system === "string" ? system : JSON.stringify(system);
  return { base: meter.system(text), definitions: meter.tools(tools) };
}

/** System prompt and tool schemas, where an import or a run has put them into the thread's state. */
function requestOf({ head }: ThreadLoad): SizedThread["request"] {
  const { system = null, tools } = threadState(head).request ?? {};
  return { system, tools: Array.isArray(tools) ? tools : [] };
}

function dialectOf(records: readonly LogRecord[]): Dialect {
  const newest = records.findLast((record) => record.kind === "message");
  return newest?.kind === "message" ? newest.dialect : "openai";
}

/** A thread that starts as a stored one stands and goes on in memory only. */
export function copyInMemory<M extends object>(
  store: Store,
  { header, head, records }: ThreadLoad,
  shape: Shape<M>,
): ThreadLog<M> & Pick<Thread<M>, "write"> {
  const messages = new Map<number, M>();
  const original = (record: MessageRecord): M => {
    const message = messages.get(record.seq) ?? readBody(record, shape);
    messages.set(record.seq, message);
    return message;
  };
  const live = liveRecords(
    head,
    records.map(({ record }) => record),
  );
  const state = async () => (await stateChainOf(store, header.id, live.compaction))?.state ?? null;
  return threadInMemory({ header, shape, head, live, original, state });
}

// What a thread would send now, and what it weighs. Reads only: a simulated window compacts in memory.

export interface InspectedPrompt {
  readonly kind: "prompt";
  readonly dialect: Dialect;
  /** What was sent beside the messages, where the thread knows it. */
  readonly system: unknown;
  readonly tools: readonly unknown[];
  readonly messages: readonly object[];
  /** What each of them begins with: the summary, its acknowledgement, a message that was said. */
  readonly sources: readonly MessageSource[];
  readonly repairs: readonly Repair[];
  readonly count: Count;
  readonly breakdown: Breakdown;
  /** The window forced something that the log doesn't say: this is what a run would send, not what stands there. */
  readonly simulated: boolean;
  /** Records that should stand in it are missing: this is what is left. */
  readonly damage: Damage | null;
}

export interface PromptOptions {
  /** The model's window in tokens; without it `FALLBACK_WINDOW`. */
  readonly window?: number | undefined;
  /** What is kept free for the answer; by default as for a model that doesn't state it. */
  readonly reserve?: number | undefined;
  /** Make it fit the window by the rungs that need no model, under this policy; null shows it as it stands. */
  readonly simulate?: Policy | null;
  /** Who would ask next; without it the model that was asked last, and what was sent then. */
  readonly asker?: Asker | undefined;
}

/** Where a model's window isn't known. */
const FALLBACK_WINDOW = 32_768;

/** Throws a `FloorError` when it must fit a window that nothing can fit. */
export async function threadPrompt(
  store: Store,
  threadId: string,
  options: PromptOptions = {},
): Promise<InspectedPrompt | { readonly kind: "missing" }> {
  const { window = FALLBACK_WINDOW, reserve = answerReserve(window, null), simulate: policy = null } = options;
  const load = await store.load(threadId);
  if (load === undefined) return { kind: "missing" };
  const sized = await sizedThread(store, load, options.asker);
  const { dialect, request } = sized;
  const budget = { window, reserve };
  const current = sized.prompt().count;
  const simulation = policy === null ? null : await simulateWindow(sized, { budget, policy, store });
  const prompt = sized.prompt();
  const { messages, repairs, sources } = prompt;
  const count = simulation ?? current;
  return {
    kind: "prompt",
    dialect,
    ...request,
    messages,
    sources,
    repairs,
    count,
    breakdown: promptBreakdown(prompt, count, budget),
    simulated: simulation !== null,
    damage: damageOf(load),
  };
}

// Compactions from nothing but the id of a thread.

export interface ThreadCompaction {
  /** Where the threads' files are kept. */
  readonly home: string;
  readonly policy: Policy;
  readonly window: Window;
  readonly writer: SummaryWriter | null;
  readonly on: OnCompactionEvent;
}

export type ThreadOutcome = CompactionOutcome<object> | { readonly kind: "missing" };

export async function compactThread(
  deps: ThreadDeps,
  threadId: string,
  request: Omit<CompactRequest, "window">,
  options: ThreadCompaction,
): Promise<ThreadOutcome> {
  const load = await deps.store.load(threadId);
  if (load === undefined) return { kind: "missing" };
  if (load.head.messages === 0) return unchanged("no-history", 0, "nothing was ever said in this thread");
  const sized = await sizedThread(deps.store, load);
  const { counter } = sized;
  const originals = await originalsFor(deps.store, load);
  if (request.dryRun) {
    const { thread, prompt } = sized;
    return compactorFor({ thread, counter, prompt, originals }, deps, options).compact(request);
  }
  const leased = await withLease(deps.store, threadId, { owner: deps.ids() }, async (lease, lost) => {
    const { shape } = sized.sizer;
    const opened = await openStoredThread({ deps, id: threadId, shape, lease: { lease, lost } });
    if (opened.kind !== "open") return null;
    const { thread } = opened;
    const sizer = await sizerFor(thread, sized, deps.store);
    const signal = request.signal === undefined ? lost : AbortSignal.any([request.signal, lost]);
    await sizeInTurns(thread, sizer.meter);
    const prompt = livePrompt(thread, sizer);
    return compactorFor({ thread, counter, prompt, originals }, deps, options).compact({
      ...request,
      signal,
    });
  });
  if (leased.kind === "busy")
    return unchanged(
      "busy",
      sized.prompt().count.tokens,
      `another run holds the thread: its lease was last renewed ${leased.renewedAt} and ends ${leased.expiresAt} at the latest`,
    );
  return (leased.kind === "done" ? leased.value : null) ?? { kind: "missing" };
}

/** As the thread's own compactions say it: as the summary before has it, else by who asked last. */
async function originalsFor(store: Store, { head, header, records }: ThreadLoad): Promise<Originals> {
  const summary = records.find(({ record }) => record.seq === head.compaction)?.record;
  if (summary?.kind === "compaction" && summary.summary.state !== null) return originalsIn(summary.summary.text);
  const isAnswered = records.some(({ record }) => record.kind === "message" && record.origin === "model");
  const asker = (await lastAsker(store, header.id)) ?? (isAnswered ? "loop" : "agent");
  return asker === "loop" ? NOWHERE : homeOriginals;
}

/** Somebody may have written between counting the thread and holding it. */
async function sizerFor({ head, header }: ThreadLog<object>, sized: SizedThread, store: Store) {
  if (head().version === sized.thread.head().version) return sized.sizer;
  const now = await store.load(header.id);
  return now === undefined ? sized.sizer : (await sizedThread(store, now)).sizer;
}

interface Sized extends Pick<SizedThread, "thread" | "counter" | "prompt"> {
  /** How the model can read what is hidden; as an agent unless told. */
  readonly originals?: Originals;
}

function compactorFor(sized: Sized, deps: ThreadDeps, options: ThreadCompaction): Compactor<object> {
  const { home, policy, window, writer, on } = options;
  const { header, head } = sized.thread;
  // A person who asks for a compaction asks for a summary; the prices of the cache are a run's business.
  const settings = { ...DEFAULTS, policy, prune: { ...DEFAULTS.prune, enabled: false } };
  const archive = () => ensureParts(historyFolder(home, header), deps.store, header.id, head().compaction);
  return storedCompactor(sized, { deps, settings, window, writer, archive, on });
}

/**
 * Makes a thread in memory fit a window by the rungs that need no model, as a run with that window would have to. Returns
 * the count afterwards; null when it fitted as it was. Throws a `FloorError` when nothing can fit.
 */
async function simulateWindow(
  sized: SizedThread,
  { budget, policy, store }: { readonly budget: Budget; readonly policy: Policy; readonly store: Store },
): Promise<Count | null> {
  const { count } = sized.prompt();
  if (fit({ count }, budget).kind === "fits") return null;
  const compactor = storedCompactor(sized, {
    deps: threadDeps(store),
    // Only the window forces something here: a threshold would hide what still fits.
    settings: { ...DEFAULTS, policy: { ...policy, trigger: [] } },
    window: { size: budget.window, reserve: budget.reserve },
    writer: null,
    archive: async () => undefined,
    on: () => undefined,
  });
  const outcome = await compactor.compact({ cause: "automatic", model: "none" });
  if (outcome.kind !== "compacted") return count;
  return { tokens: outcome.tokensAfter, source: count.source === "estimated" ? "estimated" : "adjusted" };
}

const DEFAULTS = summarizationFromOptions();

interface StoredCompaction
  extends Pick<Parameters<typeof openCompactor<object>>[1], "deps" | "settings" | "archive" | "on"> {
  readonly window: Window;
  readonly writer: SummaryWriter | null;
}

/** Outside a run nothing is known of the provider's cache, and nothing is drafted. */
function storedCompactor(
  { thread, counter, prompt, originals = homeOriginals }: Sized,
  options: StoredCompaction,
): Compactor<object> {
  const { window, writer, ...others } = options;
  const parts = {
    ...others,
    counter,
    modelWindow: { window: () => window },
    writer: () => writer,
    originals: () => originals,
    prices: RELATIVE_PRICES,
    promptCache: "prefix",
    ahead: "no",
    label: null,
  } as const;
  return openCompactor(thread, parts, { prompt, lastAt: () => null });
}

function unchanged(reason: "busy" | "no-history", tokens: number, detail: string): ThreadOutcome {
  return { kind: "unchanged", reason, tokens, detail };
}
