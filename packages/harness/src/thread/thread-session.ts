/**
 * One thread, open for a loop of one's own: say what happened, get what to send, report what it counted, recover from
 * "too long". Nothing is held between two calls unless the thread was opened so; what is known of it stays in memory and
 * is read again only where the log has moved on. Calls on one session take turns.
 */
import type { CompactionOutcome } from "@palimpsest/core/compaction";
import type { MessageSource } from "@palimpsest/core/log";
import type { Shape } from "@palimpsest/core/message";
import type { Prompt } from "@palimpsest/core/prompt";
import type { Count } from "@palimpsest/core/tokens";
import type { CompactRequest } from "../compaction/compactor.ts";
import { FloorError } from "../compaction/summarization.ts";
import { inTurns, pace } from "../long-work.ts";
import { NO_USAGE, readUsage, type Usage } from "../models/facts.ts";
import type { AppendBatch } from "../stores/store.ts";
import { type FixedRequest, fixedChange, type SentFixed } from "./fixed-request.ts";
import { type ThreadActs, threadActs } from "./handle.ts";
import { copyGiven, type GivenMessage, inTurn, type OpenLog, type ReadGiven, readGiven, ThreadError } from "./log.ts";
import type { Asked, Session, UsageInput } from "./session.ts";
import { type LearnedWindow, markedIndices, overflowOf, type PromptCache } from "./window.ts";
import type { RecordInput, ThreadDeps, Writer } from "./writer.ts";

export interface OpenThread<M> extends ThreadActs {
  readonly id: string;
  readonly userId: string;
  /**
   * Writes messages to the log, all or none, and returns the place of each. One whose id is in the log already, however
   * far back, is passed over and its place returned, so that a whole history may be given again and again. What `also`
   * makes of these places is written in the same commit.
   */
  append(messages: readonly GivenMessage<M>[], also?: WriteAlso): Promise<readonly number[]>;
  /** What to send now: compacted first if the policy says so. The same array as long as nothing has changed. */
  prompt(options?: PromptRequest): Promise<ThreadPrompt<M>>;
  /** What the provider counted for the last prompt: from here on counts are anchored on it. */
  report(usage: ReportedUsage | ProviderUsage | null | undefined, options?: ReportOptions): Promise<Reported>;
  /** After a failed call: true when it failed because the prompt was too long and the next one is shorter. */
  recover(error: unknown, options?: { readonly signal?: AbortSignal | undefined }): Promise<boolean>;
  /** A compaction now, whatever the policy says. */
  compact(request?: Pick<CompactRequest, "focus" | "keep" | "signal" | "style">): Promise<CompactionOutcome<M>>;
  /**
   * One call of the model, whole: `ask` gets what to send and returns what was answered, which is written with its report.
   * A prompt that was refused for its length is made shorter and sent once more; any other error of `ask` is thrown.
   */
  call<A extends CallAnswer<M>>(ask: (prompt: ThreadPrompt<M>) => Promise<A>, options?: PromptRequest): Promise<A>;
  /** Any other act on the thread, in turn and under its lease: `thread.act((writer) => redact(writer, seq))`. */
  act<T>(work: (writer: Writer) => Promise<T>): Promise<T>;
  /** How the view differs from what was said, and where the log stands. */
  changes(): Promise<ThreadChanges>;
  /** From here on nobody else can write to the thread, until it is released or closed. */
  hold: OpenLog<M>["hold"];
  /** Gives the lease back, if it is held. The thread stays open: the lease is taken for each write then. */
  release(): Promise<void>;
  /** Gives the thread back, if it was held, and stops a summary being drafted. */
  close(): Promise<void>;
}

/** What came of a call: the model's messages, and what its provider counted, in its own spelling. */
export interface CallAnswer<M> {
  readonly messages: readonly GivenMessage<M>[];
  readonly usage?: ReportedUsage | ProviderUsage | null | undefined;
}

/** Made of the places of the messages, once they are known. */
export type WriteAlso = (seqs: readonly number[]) => Pick<AppendBatch, "jobs" | "matches" | "flush"> & {
  /** Changes of the thread's state. */
  readonly state?: Extract<RecordInput, { kind: "state" }>["patch"];
};

export interface ThreadChanges {
  readonly version: number;
  /** A summary stands for some of it, or parts are shortened. */
  readonly hidden: boolean;
  readonly erased: boolean;
  /** Something is shown beside a question, or messages are shown that only the log has (`addedMessages` in its state). */
  readonly added: boolean;
}

export interface PromptRequest {
  /** What is sent beside the messages from here on. */
  readonly fixed?: FixedRequest | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface ThreadPrompt<M> {
  /** Valid for the provider, and inside the window. Empty in a thread where nothing was said. */
  readonly messages: readonly M[];
  /** What each of them begins with: a message that was said, the summary, its acknowledgement. */
  readonly sources: readonly MessageSource[];
  /** The whole request, with what is sent beside the messages. */
  readonly count: Count;
  /** With `promptCache: "marks"`, the messages that get a mark at their end, by index: two at most, and the last. */
  readonly marks: readonly number[];
  /** What became of the compaction that was due, or why none was; null where none is made by itself. */
  readonly outcome: CompactionOutcome<M> | null;
  /** Where the log stands. */
  readonly version: number;
}

/** `input` is the whole prompt, cached part included. */
export interface ReportedUsage extends Partial<Usage> {
  readonly input: number;
  readonly output: number;
}

/** As OpenAI (chat and Responses), Anthropic, Gemini, the AI SDK or LangChain spell it. */
export type ProviderUsage = object;

export interface ReportOptions {
  /** The answer, by its id or its place; by default the first answer that was appended after the prompt. */
  readonly of?: string | number | undefined;
}

/** `pending`: the answer isn't in the log yet; the report is written with it. `ignored`: it can't be true, or there was none. */
export type Reported =
  | { readonly kind: "accepted" | "pending" }
  | { readonly kind: "ignored"; readonly reason: NonNullable<UsageInput["flaw"]> | "no-usage" | "no-prompt" };

/** What a thread that is open for a loop has beside its session. */
export interface ThreadParts<M extends object> {
  readonly deps: ThreadDeps;
  readonly session: Session<M>;
  readonly modelWindow: LearnedWindow;
  readonly shape: Shape<M>;
  /** Whether it compacts by itself. */
  readonly automatic: boolean;
  readonly promptCache: PromptCache;
  readonly fix: (fixed: FixedRequest) => void;
  /** What is sent beside the messages now. */
  readonly stated: () => SentFixed;
  readonly signal: AbortSignal | null;
}

export function threadSession<M extends object>(parts: ThreadParts<M>): OpenThread<M> {
  const { deps, session, shape } = parts;
  const { log } = session;
  const { id, user: userId } = log.conversation.header;
  const calls = callsOn(id);
  const state: SessionState<M> = { asked: null, unanswered: null, pending: null };
  const catchUp = async (): Promise<void> => session.counted(await log.catchUp());
  const act = <T>(work: (writer: Writer) => Promise<T>): Promise<T> => calls.next(() => log.act(work));
  const thread: OpenThread<M> = {
    ...threadActs<never>({ deps, id, files: null, act }),
    id,
    userId,
    act,
    call: (ask, options) => callModel(thread, ask, options),
    append: async (messages, also) => {
      const copies = copyGiven(messages);
      return calls.next(async () => {
        const given = await inTurns(readGiven(copies, shape));
        return appendGiven({ given, also }, parts, state);
      });
    },
    prompt: ({ fixed, signal } = {}) =>
      calls.next(async () => {
        await catchUp();
        const steps = pace();
        if (fixed !== undefined) parts.fix(fixed);
        if (steps.isDue()) await steps.turn();
        await session.size();
        const outcome = parts.automatic ? await compactDue(parts, stopOf(parts, signal), catchUp) : null;
        return askNow(parts, state, outcome);
      }),
    report: (usage, { of } = {}) => calls.next(() => reportOn(usage, of, parts, state)),
    recover: (error, { signal } = {}) =>
      calls.next(async () => {
        if (overflowOf(error) === null) return false;
        await catchUp();
        return session.recover(error, stopOf(parts, signal)).catch(unlessFloor);
      }),
    compact: ({ signal, ...request } = {}) =>
      calls.next(async () => {
        await catchUp();
        return session.compact({ cause: "manual", ...request, signal: stopOf(parts, signal) });
      }),
    changes: () =>
      calls.next(async () => {
        const erased = await log.erased();
        const { version, compaction, prunes, evidence, state } = log.conversation.head();
        const added = evidence.length > 0 || state["addedMessages"] === true;
        return { version, hidden: compaction !== null || prunes.length > 0, erased, added };
      }),
    hold: log.hold,
    release: log.release,
    close: () =>
      calls.last(async () => {
        await session.close();
        await log.release();
      }),
  };
  return thread;
}

async function callModel<M, A extends CallAnswer<M>>(
  thread: OpenThread<M>,
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

/** Nothing smaller fits: whoever asked with too much hears the provider's own error. */
function unlessFloor(error: unknown): false {
  if (error instanceof FloorError) return false;
  throw error;
}

interface LastAsked<M> extends Asked<M> {
  readonly version: number;
  readonly stated: SentFixed;
}

interface SessionState<M> {
  /** What was sent last, and where the log stood then. */
  asked: LastAsked<M> | null;
  /** The same, until its answer is in the log. */
  unanswered: LastAsked<M> | null;
  /** A report whose answer isn't in the log yet. */
  pending: { readonly usage: Usage; readonly asked: Asked<M> } | null;
}

async function appendGiven<M extends object>(
  { given, also }: { readonly given: readonly ReadGiven[]; readonly also: WriteAlso | undefined },
  { deps, session, modelWindow }: ThreadParts<M>,
  state: SessionState<M>,
): Promise<readonly number[]> {
  const { log } = session;
  const { pending, unanswered } = state;
  let seqs: readonly number[] = [];
  let answered = false;
  let isOwnAnswer = false;
  await log.write(async (moved) => {
    await session.counted(moved);
    const head = log.conversation.head();
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
    const request = answered && unanswered !== null ? fixedChange(unanswered.stated, head, deps) : { inputs: [] };
    const inputs: RecordInput[] = [...request.inputs];
    const places = new Map<ReadGiven, number>();
    for (const one of fresh) {
      const bound = one === answer && isOwnAnswer && unanswered?.prefix != null ? { prefix: unanswered.prefix } : {};
      const record: RecordInput = { ...one.record, id: one.id ?? deps.ids(), ...bound };
      places.set(one, head.version + inputs.push(record));
    }
    seqs = given.map((one) => places.get(one) ?? seqById.get(one.id!) ?? places.get(first.get(one.id!)!)!);
    if (pending !== null && answer !== undefined)
      inputs.push(session.report(pending.usage, places.get(answer)!, pending.asked));
    if (also === undefined || inputs.length === 0) return { ...request, inputs };
    const { state: patch, ...beside } = also(seqs);
    if (patch !== undefined) inputs.push({ kind: "state", patch });
    return { ...request, ...beside, inputs };
  });
  if (answered) {
    if (isOwnAnswer && unanswered !== null && pending === null)
      modelWindow.accept({ reported: null, counted: unanswered.prompt.count.tokens });
    state.pending = null;
    state.unanswered = null;
  }
  return seqs;
}

async function reportOn<M extends object>(
  given: ReportedUsage | ProviderUsage | null | undefined,
  of: string | number | undefined,
  { deps, session, shape }: ThreadParts<M>,
  state: SessionState<M>,
): Promise<Reported> {
  const { asked } = state;
  const usage = given == null ? null : isOurs(given) ? { ...NO_USAGE, ...given } : readUsage(given);
  if (usage === null) return { kind: "ignored", reason: "no-usage" };
  if (asked === null) return { kind: "ignored", reason: "no-prompt" };
  let reported: Reported = { kind: "pending" };
  await session.log.write(async (moved) => {
    await session.counted(moved);
    const answer = of === undefined ? answerAfter(asked.version, session, shape) : await placeOf(of, session);
    if (answer === null) {
      state.pending = { usage, asked };
      return { inputs: [] };
    }
    const record = session.report(usage, answer, asked);
    reported = record.flaw == null ? { kind: "accepted" } : { kind: "ignored", reason: record.flaw };
    const request = fixedChange(asked.stated, session.log.conversation.head(), deps);
    return { ...request, inputs: [record, ...request.inputs] };
  });
  return reported;
}

function isOurs(usage: ReportedUsage | ProviderUsage): usage is ReportedUsage {
  return "input" in usage && typeof usage.input === "number" && "output" in usage && typeof usage.output === "number";
}

/** The first answer behind this place in the log. */
function answerAfter<M>(version: number, { log }: Session<M>, shape: Shape<M>): number | null {
  const { tail } = log.conversation.live();
  const answer = tail.find(
    (record) => record.seq > version && shape.role(log.conversation.original(record)) === "assistant",
  );
  return answer?.seq ?? null;
}

async function placeOf<M>(of: string | number, { log }: Session<M>): Promise<number | null> {
  return typeof of === "number" ? of : ((await log.ids()).get(of) ?? null);
}

function askNow<M extends object>(
  { session, stated, promptCache }: ThreadParts<M>,
  state: SessionState<M>,
  outcome: CompactionOutcome<M> | null,
): ThreadPrompt<M> {
  const { ask, log } = session;
  const { version } = log.conversation.head();
  const request: LastAsked<M> = { ...ask(), version, stated: stated() };
  state.asked = request;
  state.unanswered = request;
  state.pending = null;
  const { sources, count } = request.prompt;
  const rest = { count, outcome, version };
  if (log.conversation.view().length === 0) return { messages: [], sources: [], marks: [], ...rest };
  const { messages } = request;
  const { reach } = log.conversation.head();
  const marks = promptCache === "marks" ? markedIndices(request.prompt, messages, reach) : [];
  const added = Array.from({ length: messages.length - sources.length }, () => "added" as const);
  return { messages, sources: added.length === 0 ? sources : [...sources, ...added], marks, ...rest };
}

/** Others may write while a summary is being written: then it is planned again, with what they said. */
const ROUNDS = 3;

async function compactDue<M extends object>(
  { session: { compact, prompt }, modelWindow }: ThreadParts<M>,
  signal: AbortSignal,
  catchUp: () => Promise<void>,
): Promise<CompactionOutcome<M>> {
  const { size, reserve } = modelWindow.window();
  const overfull = (): boolean => prompt().count.tokens > size - reserve;
  let done: CompactionOutcome<M> | null = null;
  for (let round = 1; ; round += 1) {
    const outcome = await compact({ cause: "automatic", signal }).catch((error: unknown) =>
      ifBusy<M>(error, prompt(), overfull()),
    );
    if (outcome.kind === "compacted") done = outcome;
    const again = outcome.kind === "compacted" ? overfull() : outcome.reason === "conflict";
    if (!again || round === ROUNDS) return done ?? outcome;
    await catchUp();
  }
}

/** While the prompt fits, a thread that somebody else holds is no reason not to ask. */
function ifBusy<M>(error: unknown, { count }: Prompt<M>, overfull: boolean): CompactionOutcome<M> {
  if (overfull || !(error instanceof ThreadError) || error.code !== "busy") throw error;
  return { kind: "unchanged", reason: "busy", tokens: count.tokens, detail: error.message };
}

function stopOf<M extends object>({ signal }: ThreadParts<M>, given: AbortSignal | undefined): AbortSignal {
  const signals = [signal, given].filter((one) => one != null);
  return signals.length === 1 ? signals[0]! : AbortSignal.any(signals);
}

/** Calls one after the other; after the last one none is taken. */
function callsOn(threadId: string) {
  const oneByOne = inTurn((work) => work());
  let closed: Promise<void> | null = null;
  const next = <T>(work: () => Promise<T>): Promise<T> => {
    if (closed !== null)
      return Promise.reject(new ThreadError("closed", `thread ${threadId} was closed: open it again`));
    return oneByOne(work);
  };
  return {
    next,
    last(work: () => Promise<void>): Promise<void> {
      closed ??= next(work);
      return closed;
    },
  };
}
