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
import type { Compactor, CompactRequest } from "../compaction/compactor.ts";
import type { CompactionEvent } from "../compaction/events.ts";
import { FloorError } from "../compaction/floor-error.ts";
import { readUsage } from "../models/read-usage.ts";
import { NO_USAGE, type Usage } from "../models/usage.ts";
import { type SearchOutcome, type SearchSettings, searchThread } from "../recall/search.ts";
import type { Conversation } from "../threads/conversation.ts";
import type { RecordInput, ThreadDeps } from "../threads/writer.ts";
import type { CatchUp } from "./catch-up.ts";
import { endingWithRequest } from "./ends-with-request.ts";
import { type FixedRequest, fixedState } from "./fixed-request.ts";
import { type GivenMessage, type ReadGiven, readGiven } from "./given-message.ts";
import { gone, type Hold } from "./hold.ts";
import type { KnownIds } from "./known-ids.ts";
import { overflowOf } from "./overflow.ts";
import type { Asked, Prompting, UsageInput } from "./prompting.ts";
import { type OverflowEvent, shrink } from "./shrink.ts";
import { ThreadError } from "./thread-error.ts";
import type { WindowBook } from "./window-book.ts";

export interface OpenThread<M> {
  readonly id: string;
  readonly userId: string;
  /**
   * Writes messages to the log, all or none, and returns the place of each. One whose id is in the log already, however
   * far back, is passed over and its place returned, so that a whole history may be given again and again.
   */
  append(messages: readonly GivenMessage<M>[]): Promise<readonly number[]>;
  /** What to send now: compacted first if the policy says so. The same array as long as nothing has changed. */
  prompt(options?: PromptRequest): Promise<ThreadPrompt<M>>;
  /** What the provider counted for the last prompt: from here on counts are anchored on it. */
  report(usage: ReportedUsage | ProviderUsage | null | undefined, options?: ReportOptions): Promise<Reported>;
  /** After a failed call: true when it failed because the prompt was too long and the next one is shorter. */
  recover(error: unknown, options?: { readonly signal?: AbortSignal | undefined }): Promise<boolean>;
  /** A compaction now, whatever the policy says. */
  compact(request?: Pick<CompactRequest, "focus" | "keep" | "signal">): Promise<CompactionOutcome<M>>;
  /** In everything ever said here, hidden or not. */
  search(question: string, settings?: Pick<SearchSettings, "k">): Promise<SearchOutcome>;
  /** Gives the thread back, if it was held, and stops a summary being drafted. */
  close(): Promise<void>;
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

export type ThreadEvent = CompactionEvent | OverflowEvent;

/** What a session is made of. */
export interface SessionParts<M extends object> {
  readonly deps: ThreadDeps;
  readonly shape: Shape<M>;
  readonly hold: Hold;
  readonly conversation: Conversation<M>;
  readonly prompting: Prompting<M>;
  readonly compactor: Compactor<M>;
  readonly book: WindowBook;
  readonly ids: KnownIds;
  /** Brings all of it to where the log stands. */
  readonly catchUp: CatchUp;
  readonly automatic: boolean;
  readonly fix: (fixed: FixedRequest) => void;
  readonly signal: AbortSignal | null;
  readonly on: (event: ThreadEvent) => void;
}

export function threadSession<M extends object>(parts: SessionParts<M>): OpenThread<M> {
  const { deps, conversation, shape, compactor, hold, catchUp } = parts;
  const { id, user: userId } = conversation.header;
  const inTurn = turns(id);
  const state: SessionState<M> = { asked: null, pending: null, sent: null };
  return {
    id,
    userId,
    append: async (messages) => {
      const given = readGiven(messages, shape);
      return inTurn.next(() => hold.during(() => appendGiven(given, { parts, state })));
    },
    prompt: ({ fixed, signal } = {}) =>
      inTurn.next(async () => {
        await catchUp();
        if (fixed !== undefined) parts.fix(fixed);
        const outcome = parts.automatic ? await compactDue(parts, signal) : null;
        return askNow(parts, state, outcome);
      }),
    report: (usage, { of } = {}) => inTurn.next(() => reportOn(usage, of, { parts, state })),
    recover: (error, { signal } = {}) =>
      inTurn.next(async () => {
        const overflow = overflowOf(error);
        if (overflow === null) return false;
        await catchUp();
        const { book, on, prompting } = parts;
        const counted = prompting.prompt().count.tokens;
        const reason = error instanceof Error ? error.message : String(error);
        const context = { book, on, compact: compactor.compact, signal: stopOf(parts, signal) };
        return shrink({ overflow, reason, counted }, context).catch(unlessFloor);
      }),
    compact: ({ signal, ...request } = {}) =>
      inTurn.next(async () => {
        await catchUp();
        return compactor.compact({ cause: "manual", ...request, signal: stopOf(parts, signal) });
      }),
    search: (question, settings = {}) => searchThread(deps.store, id, question, { ...settings, tools: deps.tools }),
    close: () =>
      inTurn.last(async () => {
        await compactor.close();
        await hold.close();
      }),
  };
}

/** Nothing smaller fits: whoever asked with too much hears the provider's own error. */
function unlessFloor(error: unknown): false {
  if (error instanceof FloorError) return false;
  throw error;
}

interface SessionState<M> {
  /** What was sent last, and where the log stood then. */
  asked: (Asked<M> & { readonly version: number }) | null;
  /** A report whose answer isn't in the log yet. */
  pending: { readonly usage: Usage; readonly asked: Asked<M> } | null;
  /** The messages of a prompt as they were handed out. */
  sent: { readonly of: Prompt<M>["messages"]; readonly messages: readonly M[] } | null;
}

interface Acting<M extends object> {
  readonly parts: SessionParts<M>;
  readonly state: SessionState<M>;
}

async function appendGiven<M extends object>(given: readonly ReadGiven[], acting: Acting<M>): Promise<number[]> {
  const { parts, state } = acting;
  const { deps, conversation, ids } = parts;
  await parts.catchUp();
  const { version } = conversation.head();
  const known = given.some(({ id }) => id !== null) ? await ids.through(version) : new Map<string, number>();
  const added = new Map<string, number>();
  const inputs: RecordInput[] = [];
  let answer: number | null = null;
  const seqs = given.map(({ id, role, record }) => {
    const there = id === null ? undefined : (known.get(id) ?? added.get(id));
    if (there !== undefined) return there;
    const name = id ?? deps.ids();
    const seq = version + inputs.push({ ...record, id: name });
    added.set(name, seq);
    if (role === "assistant") answer ??= seq;
    return seq;
  });
  if (inputs.length === 0) return seqs;
  const { pending } = state;
  const settles = pending !== null && answer !== null;
  if (settles) inputs.push(...reportInputs(parts, parts.prompting.report(pending.usage, answer!, pending.asked)));
  await commitNow(parts, inputs);
  if (settles) state.pending = null;
  return seqs;
}

async function reportOn<M extends object>(
  given: ReportedUsage | ProviderUsage | null | undefined,
  of: string | number | undefined,
  acting: Acting<M>,
): Promise<Reported> {
  const { parts, state } = acting;
  const { asked } = state;
  const usage = given == null ? null : isOurs(given) ? { ...NO_USAGE, ...given } : readUsage(given);
  if (usage === null) return { kind: "ignored", reason: "no-usage" };
  if (asked === null) return { kind: "ignored", reason: "no-prompt" };
  return parts.hold.during(async (): Promise<Reported> => {
    await parts.catchUp();
    const answer = of === undefined ? answerAfter(asked.version, parts) : await placeOf(of, parts);
    if (answer === null) {
      state.pending = { usage, asked };
      return { kind: "pending" };
    }
    const record = parts.prompting.report(usage, answer, asked);
    await commitNow(parts, reportInputs(parts, record));
    return record.flaw == null ? { kind: "accepted" } : { kind: "ignored", reason: record.flaw };
  });
}

function isOurs(usage: ReportedUsage | ProviderUsage): usage is ReportedUsage {
  return "input" in usage && typeof usage.input === "number" && "output" in usage && typeof usage.output === "number";
}

function reportInputs<M extends object>(parts: SessionParts<M>, record: UsageInput): RecordInput[] {
  return [record, ...fixedState(parts.prompting.fixed(), parts.conversation.head())];
}

/** The first answer behind this place in the log. */
function answerAfter<M extends object>(version: number, { conversation, shape }: SessionParts<M>): number | null {
  const { tail } = conversation.live();
  const answer = tail.find(
    (record) => record.seq > version && shape.role(conversation.original(record)) === "assistant",
  );
  return answer?.seq ?? null;
}

async function placeOf<M extends object>(of: string | number, parts: SessionParts<M>): Promise<number | null> {
  if (typeof of === "number") return of;
  const known = await parts.ids.through(parts.conversation.head().version);
  return known.get(of) ?? null;
}

/** Under the lease, right after catching up: what stands in the way now is that the lease was lost. */
async function commitNow<M extends object>({ conversation, deps }: SessionParts<M>, inputs: readonly RecordInput[]) {
  const committed = await conversation.commit(inputs);
  if (committed.kind === "committed") return;
  const { id } = conversation.header;
  if (committed.kind === "missing" || (await deps.store.header(id)) === undefined) gone(id);
  throw new ThreadError(
    "lease-lost",
    `thread ${id} was taken over while it was written to: nothing was written, try again`,
  );
}

function askNow<M extends object>(
  { prompting, conversation, shape }: SessionParts<M>,
  state: SessionState<M>,
  outcome: CompactionOutcome<M> | null,
): ThreadPrompt<M> {
  const { version } = conversation.head();
  const asked = prompting.ask();
  state.asked = { ...asked, version };
  state.pending = null;
  const { messages, sources, count } = asked.prompt;
  if (conversation.view().length === 0) return { messages: [], sources: [], count, outcome, version };
  if (state.sent?.of !== messages) state.sent = { of: messages, messages: endingWithRequest(messages, shape) };
  const sent = state.sent.messages;
  const added = Array.from({ length: sent.length - sources.length }, () => "added" as const);
  return { messages: sent, sources: added.length === 0 ? sources : [...sources, ...added], count, outcome, version };
}

/** Others may write while a summary is being written: then it is planned again, with what they said. */
const ROUNDS = 3;

async function compactDue<M extends object>(
  parts: SessionParts<M>,
  signal: AbortSignal | undefined,
): Promise<CompactionOutcome<M>> {
  const { compactor, prompting, book } = parts;
  const { size, reserve } = book.window();
  const overfull = (): boolean => prompting.prompt().count.tokens > size - reserve;
  let done: CompactionOutcome<M> | null = null;
  for (let round = 1; ; round += 1) {
    const outcome = await compactor
      .compact({ cause: "automatic", signal: stopOf(parts, signal) })
      .catch((error: unknown) => ifBusy<M>(error, prompting.prompt(), overfull()));
    if (outcome.kind === "compacted") done = outcome;
    const again = outcome.kind === "compacted" ? overfull() : outcome.reason === "conflict";
    if (!again || round === ROUNDS) return done ?? outcome;
    await parts.catchUp();
  }
}

/** While the prompt fits, a thread that somebody else holds is no reason not to ask. */
function ifBusy<M>(error: unknown, { count }: Prompt<M>, overfull: boolean): CompactionOutcome<M> {
  if (overfull || !(error instanceof ThreadError) || error.code !== "busy") throw error;
  return { kind: "unchanged", reason: "busy", tokens: count.tokens, detail: error.message };
}

function stopOf<M extends object>({ signal }: SessionParts<M>, given: AbortSignal | undefined): AbortSignal {
  const signals = [signal, given].filter((one) => one != null);
  return signals.length === 1 ? signals[0]! : AbortSignal.any(signals);
}

/** Calls one after the other; after the last one none is taken. */
function turns(thread: string) {
  let before: Promise<unknown> = Promise.resolve();
  let closed: Promise<void> | null = null;
  const next = <T>(work: () => Promise<T>): Promise<T> => {
    if (closed !== null) return Promise.reject(new ThreadError("closed", `thread ${thread} was closed: open it again`));
    const mine = before.then(work);
    before = mine.catch(() => {});
    return mine;
  };
  return {
    next,
    last(work: () => Promise<void>): Promise<void> {
      closed ??= next(work);
      return closed;
    },
  };
}
