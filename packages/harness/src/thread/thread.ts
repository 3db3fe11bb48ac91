/**
 * An open thread. Whatever asks the model, an agent's run or a loop of your own, stands on this one object: say what happened,
 * get what to send, report what it counted, recover from "too long". Nothing is held between two calls unless the thread was
 * opened so; what is known of it stays in memory and is read again only where the log has moved on. Calls take turns.
 */
import type { CompactionOutcome } from "@palimpsest/core/internal/compaction";
import type { Head, Json, LiveRecords, MessageRecord, ThreadHeader, ViewEntry } from "@palimpsest/core/internal/log";
import type { Shape } from "@palimpsest/core/internal/message";
import type { Prompt } from "@palimpsest/core/internal/prompt";
import { maskSecrets } from "@palimpsest/core/internal/text";
import type { CompactRequest } from "../compaction/compactor.ts";
import { FloorError } from "../compaction/summarization.ts";
import { inTurns } from "../long-work.ts";
import { NO_USAGE, readUsage, type Usage } from "../models/facts.ts";
import type { HeldLease } from "../stores/store.ts";
import { type Asked, type AskedModel, openModel, type UsageInput } from "./asked-model.ts";
import { type FixedPrompt, fixedChange, fixSteps } from "./fixed-request.ts";
import type { ThreadActs } from "./handle.ts";
import {
  type Batch,
  copyGiven,
  type LeftThread,
  type Moved,
  openLog,
  type ReadGiven,
  readGiven,
  type StoredLog,
  type ThreadPlace,
} from "./log.ts";
import type {
  CallAnswer,
  OpenThread,
  PromptRequest,
  ProviderUsage,
  Reported,
  ReportedUsage,
  ThreadPrompt,
  WriteAlso,
} from "./open-thread.ts";
import { markedIndices, overflowOf, windowAfter } from "./window.ts";
import {
  type Committed,
  callsOn,
  openLeases,
  type RecordInput,
  ThreadError,
  type ThreadLeases,
  type Writer,
} from "./writer.ts";

/** The same object with what the loops of this package need beside: the log as it stands, and any record. `openThread` adds the acts. */
export interface Thread<M> extends Omit<OpenThread<M>, keyof ThreadActs> {
  readonly header: ThreadHeader;
  readonly shape: Shape<M>;
  head(): Head;
  live(): LiveRecords;
  /** What is shown now, or what other live records would show. */
  view(live?: LiveRecords): readonly ViewEntry<M>[];
  /** A message as it was given, whatever was pruned since. */
  original(record: MessageRecord): M;
  /** The state that the live compaction left for the next one, whole; null when there is none, or it was erased. */
  summaryState(): Promise<Json>;
  /** For a compactor: all of them or none, and a conflict where the log is folded otherwise than when this was called. */
  commit(inputs: readonly RecordInput[]): Promise<Committed>;
  /**
   * All of a batch or none of it, made when its turn has come; returns the seqs. Throws a `ThreadError` when the thread
   * can't be had, is gone or was taken over. Never inside itself: it would wait for its own end.
   */
  write(make: () => Batch | Promise<Batch>): Promise<readonly number[]>;
  /** Brings it to where the log stands now, with what others have written; what it knows is read anew only if it must. */
  catchUp(): Promise<Moved>;
  /** Who is asked from here on. Without a model a thread can only be written to. */
  turnTo(model: AskedModel<M>): Promise<void>;
  /** What would be sent now. */
  sizedPrompt(): Prompt<M>;
  compact(request?: Partial<CompactRequest>): Promise<CompactionOutcome<M>>;
  /** Writes what is sent beside the messages, where the thread last sent something else; given another, that from here on. */
  fix(fixed?: FixedPrompt<M>): Promise<void>;
  /** The usage record for the answer at `of` to what was sent last. */
  usageRecord(usage: Usage, of: number): UsageInput;
  /** For the next who opens the thread. */
  left(): LeftThread<M>;
  /** Resolves when no draft is being written. */
  settled(): Promise<void>;
}

/** A thread as it stands, to be read. */
export type ThreadView<M> = Omit<ThreadLog<M>, "commit">;

/** What is read of a thread and compacted in it. One in memory has this part alone. */
export type ThreadLog<M> = Pick<
  Thread<M>,
  "header" | "shape" | "head" | "live" | "view" | "original" | "summaryState" | "commit"
>;

export async function openStoredThread<M extends object>(
  place: ThreadPlace<M>,
): Promise<{ readonly kind: "open"; readonly thread: Thread<M> } | HeldLease | { readonly kind: "missing" }> {
  const leases = openLeases(place);
  const held = place.lease === "held" ? await leases.hold() : "held";
  if (held !== "held") return held;
  const opened: { model: ThreadModel<M> | null } = { model: null };
  const log = await openLog(place, leases, async () => opened.model?.recount()).catch(async (error) => {
    await leases.release();
    throw error;
  });
  if (log !== null) return { kind: "open", thread: threadOn(log, { before: place.before ?? null, leases, opened }) };
  await leases.release();
  return { kind: "missing" };
}

type ThreadModel<M extends object> = Awaited<ReturnType<typeof openModel<M>>>;

interface ThreadParts<M extends object> {
  readonly before: LeftThread<M> | null;
  readonly leases: ThreadLeases;
  readonly opened: { model: ThreadModel<M> | null };
}

/** What it holds in memory of its log: every open thread is a thread of this file. */
export function liveRecordsOf(thread: OpenThread<object>): LiveRecords {
  return (thread as OpenThread<object> & Pick<Thread<object>, "live">).live();
}

function threadOn<M extends object>(log: StoredLog<M>, { before, leases, opened }: ThreadParts<M>): Thread<M> {
  const { id, user: userId } = log.header;
  const deps = leases.writer;
  const calls = callsOn(id);
  let sized = before === null ? null : { ...before.sized, moved: before.log.live !== log.live() };
  const open: OpenedModel<M> = {
    log,
    get model() {
      if (opened.model === null) throw new TypeError(`thread ${id} was opened for no model`);
      return opened.model;
    },
    asked: null,
    unanswered: null,
    pending: null,
  };
  const thread: Thread<M> = {
    ...log,
    id,
    userId,
    release: leases.release,
    act: (work) => calls.next(() => log.act(work)),
    async turnTo(other) {
      await opened.model?.close();
      opened.model = await openModel(log, other, sized);
      sized = null;
    },
    sizedPrompt: () => open.model.prompt(),
    async fix(fixed) {
      if (fixed !== undefined) open.model.fix(fixed);
      const change = fixedChange(open.model.sentFixed(), log.head(), deps);
      if (change.inputs.length > 0) await log.write(() => change);
    },
    usageRecord: (usage, of) => open.model.report(usage, of),
    left: () => ({ log: log.left(), sized: open.model.opened() }),
    settled: async () => opened.model?.settled(),
    call: (ask, options) => callModel(thread, ask, options),
    append: async (messages, also) => {
      if (!Array.isArray(messages)) throw new ThreadError("bad-message", "messages are appended as an array");
      const copies = copyGiven(messages);
      return calls.next(async () => {
        const given = await inTurns(readGiven(copies, log.shape));
        return appendGiven({ given, also }, open, deps);
      });
    },
    prompt: ({ fixed, signal } = {}) =>
      calls.next(async () => {
        await log.catchUp();
        const { options, fix, size } = open.model;
        const fixing = fixed && fixSteps(fixed, options.meter, () => fix(options.fixedFor(fixed)));
        if (fixing !== undefined) await inTurns(fixing);
        await size();
        const outcome = options.compacts === "by-itself" ? await compactDue(open, stopOf(open, signal)) : null;
        return askNow(open, outcome);
      }),
    report: (usage, { of } = {}) => calls.next(() => reportOn(usage, of, open, deps)),
    recover: (error, { signal } = {}) =>
      calls.next(async () => {
        if (overflowOf(error) === null) return false;
        await log.catchUp();
        return recoverFrom(error, open, stopOf(open, signal));
      }),
    compact: ({ signal, dryRun, ...request } = {}) =>
      calls.next(async () => {
        await log.catchUp();
        const how = { cause: "manual", dryRun: dryRun && "quiet", signal: stopOf(open, signal) } as const;
        return open.model.compactor().compact({ ...how, ...request });
      }),
    changes: () =>
      calls.next(async () => {
        await log.catchUp();
        const erased = await log.erased();
        const { version, compaction, prunes, evidence, state } = log.head();
        const added = evidence.length > 0 || state["addedMessages"] === true;
        return { version, hidden: compaction !== null || prunes.length > 0, erased, added };
      }),
    close: () =>
      calls.last(async () => {
        await opened.model?.close();
        await leases.release();
      }),
  };
  return thread;
}

/** What the calls on an open thread share. */
interface OpenedModel<M extends object> {
  readonly log: StoredLog<M>;
  readonly model: ThreadModel<M>;
  /** What was sent last. */
  asked: Asked<M> | null;
  /** The same, until its answer is in the log. */
  unanswered: Asked<M> | null;
  /** A report whose answer isn't in the log yet. */
  pending: { readonly usage: Usage; readonly asked: Asked<M> } | null;
}

async function callModel<M, A extends CallAnswer<M>>(
  thread: Pick<OpenThread<M>, "prompt" | "recover" | "report" | "append">,
  ask: (prompt: ThreadPrompt<M>) => Promise<A>,
  options?: PromptRequest,
): Promise<A> {
  for (let attempt = 1; ; attempt += 1) {
    const prompt = await thread.prompt(options);
    let answer: A;
    try {
      answer = await ask(prompt);
    } catch (error) {
      if (attempt > 1 || !(await thread.recover(error, options))) throw error;
      continue;
    }
    if (answer.usage != null) await thread.report(answer.usage);
    await thread.append(answer.messages);
    return answer;
  }
}

async function recoverFrom<M extends object>(
  error: unknown,
  { model }: OpenedModel<M>,
  signal: AbortSignal,
): Promise<boolean> {
  const overflow = overflowOf(error);
  if (overflow === null) return false;
  const { modelWindow, on, onFloor } = model.options;
  const window = windowAfter(overflow, modelWindow, model.prompt().count.tokens);
  const reason = maskSecrets(error instanceof Error ? error.message || error.name : String(error));
  on({ type: "overflow-recover", reason, stated: overflow.limit, window: window.size });
  try {
    const outcome = await model.compactor().compact({ cause: "overflow", model: "none", signal, window });
    return outcome.kind === "compacted";
  } catch (error) {
    // Nothing smaller fits: the caller gets the provider's own error.
    if (onFloor === "refuse" && error instanceof FloorError) return false;
    throw error;
  }
}

async function appendGiven<M extends object>(
  { given, also }: { readonly given: readonly ReadGiven[]; readonly also: WriteAlso | undefined },
  open: OpenedModel<M>,
  deps: Writer,
): Promise<readonly number[]> {
  const { log, model, pending, unanswered } = open;
  let seqs: readonly number[] = [];
  let answered = false;
  let isOwnAnswer = false;
  await log.write(async () => {
    const head = log.head();
    const seqById = given.some(({ id }) => id !== null) ? await log.ids() : new Map<string, number>();
    const first = new Map<string, ReadGiven>();
    const fresh = given.filter((one) => {
      if (one.id === null) return true;
      if (seqById.has(one.id) || first.has(one.id)) return false;
      first.set(one.id, one);
      return true;
    });
    const answer = fresh.find(({ role }) => role === "assistant");
    answered = answer !== undefined;
    // What was answered elsewhere was answered to something else.
    isOwnAnswer = answered && answer?.record.origin !== "import";
    const request = answered && unanswered !== null ? fixedChange(unanswered.fixed, head, deps) : { inputs: [] };
    const inputs: RecordInput[] = [...request.inputs];
    const places = new Map<ReadGiven, number>();
    for (const one of fresh) {
      const bound = one === answer && isOwnAnswer && unanswered?.prefix != null ? { prefix: unanswered.prefix } : {};
      const record: RecordInput = { ...one.record, id: one.id ?? deps.ids(), ...bound };
      places.set(one, head.version + inputs.push(record));
    }
    seqs = given.map((one) => places.get(one) ?? seqById.get(one.id!) ?? places.get(first.get(one.id!)!)!);
    if (pending !== null && answer !== undefined)
      inputs.push(model.report(pending.usage, places.get(answer)!, pending.asked));
    if (also === undefined || inputs.length === 0) return { ...request, inputs };
    const { state: patch, ...beside } = also(seqs);
    if (patch !== undefined) inputs.push({ kind: "state", patch });
    return { ...request, ...beside, inputs };
  });
  if (answered) {
    if (isOwnAnswer && unanswered !== null && pending === null)
      model.options.modelWindow.accept({ reported: null, counted: unanswered.prompt.count.tokens });
    open.pending = null;
    open.unanswered = null;
  }
  return seqs;
}

async function reportOn<M extends object>(
  given: ReportedUsage | ProviderUsage | null | undefined,
  of: string | number | undefined,
  open: OpenedModel<M>,
  deps: Writer,
): Promise<Reported> {
  const { log, model, asked } = open;
  const usage = given == null ? null : isOurs(given) ? { ...NO_USAGE, ...given } : readUsage(given);
  if (usage === null) return { kind: "ignored", reason: "no-usage" };
  if (asked === null) return { kind: "ignored", reason: "no-prompt" };
  let reported: Reported = { kind: "pending" };
  await log.write(async () => {
    const answer = of === undefined ? answerAfter(asked.version, log) : await placeOf(of, log);
    if (answer === null) {
      open.pending = { usage, asked };
      return { inputs: [] };
    }
    const record = model.report(usage, answer, asked);
    reported = record.flaw == null ? { kind: "accepted" } : { kind: "ignored", reason: record.flaw };
    const request = fixedChange(asked.fixed, log.head(), deps);
    return { ...request, inputs: [record, ...request.inputs] };
  });
  return reported;
}

function isOurs(usage: ReportedUsage | ProviderUsage): usage is ReportedUsage {
  return "input" in usage && typeof usage.input === "number" && "output" in usage && typeof usage.output === "number";
}

/** The first answer behind this place in the log. */
function answerAfter<M extends object>(version: number, { live, original, shape }: ThreadLog<M>): number | null {
  const answer = live().tail.find((record) => record.seq > version && shape.role(original(record)) === "assistant");
  return answer?.seq ?? null;
}

async function placeOf<M extends object>(of: string | number, { ids }: StoredLog<M>): Promise<number | null> {
  return typeof of === "number" ? of : ((await ids()).get(of) ?? null);
}

function askNow<M extends object>(open: OpenedModel<M>, outcome: CompactionOutcome<M> | null): ThreadPrompt<M> {
  const { log, model } = open;
  const request = model.ask();
  open.asked = request;
  open.unanswered = request;
  open.pending = null;
  const { sources, count } = request.prompt;
  const { messages, version, prefix } = request;
  const rest = { count, outcome, version, prefix };
  if (log.view().length === 0) return { messages: [], sources: [], marks: [], ...rest };
  const { reach } = log.head();
  const marks = model.options.promptCache === "marks" ? markedIndices(request.prompt, messages, reach) : [];
  const added = Array.from({ length: messages.length - sources.length }, () => "added" as const);
  return { messages, sources: added.length === 0 ? sources : [...sources, ...added], marks, ...rest };
}

/** Others may write while a summary is being written: then it is planned again, with what they said. */
const ROUNDS = 3;

async function compactDue<M extends object>(
  { model, log }: OpenedModel<M>,
  signal: AbortSignal,
): Promise<CompactionOutcome<M>> {
  const { prompt } = model;
  const { size, reserve } = model.options.modelWindow.window();
  const overfull = (): boolean => prompt().count.tokens > size - reserve;
  let done: CompactionOutcome<M> | null = null;
  for (let round = 1; ; round += 1) {
    const outcome = await model
      .compactor()
      .compact({ cause: "automatic", signal })
      .catch((error: unknown) => ifBusy<M>(error, prompt(), overfull()));
    if (outcome.kind === "compacted") done = outcome;
    const again = outcome.kind === "compacted" ? overfull() : outcome.reason === "conflict";
    if (!again || round === ROUNDS) return done ?? outcome;
    await log.catchUp();
  }
}

/** While the prompt fits, a thread that somebody else holds is no reason not to ask. */
function ifBusy<M>(error: unknown, { count }: Prompt<M>, overfull: boolean): CompactionOutcome<M> {
  if (overfull || !(error instanceof ThreadError) || error.code !== "busy") throw error;
  return { kind: "unchanged", reason: "busy", tokens: count.tokens, detail: error.message };
}

function stopOf<M extends object>({ model }: OpenedModel<M>, given: AbortSignal | undefined): AbortSignal {
  const signals = [model.options.signal, given].filter((one) => one != null);
  return signals.length === 1 ? signals[0]! : AbortSignal.any(signals);
}
