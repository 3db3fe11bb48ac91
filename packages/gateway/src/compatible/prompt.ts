/** What a thread's request sends: the view, or the client's own messages where nothing of them is changed. */
import { PalimpsestError } from "@palimpsest/core/internal/errors";
import { emptyDocument, type MemoryDocument } from "@palimpsest/core/internal/memory";
import type { Dialect, Part, Shape } from "@palimpsest/core/internal/message";
import { addQuestionEvidence, givenBlockTokens } from "palimpsest/internal/memory";
import { compactMessages } from "palimpsest/messages";
import type { OpenThread, PromptRequest, ThreadPrompt } from "palimpsest/session";
import type { NewJob, Store } from "palimpsest/stores";
import { isProviderUser } from "../access/admit.ts";
import { ProblemError } from "../http/problem.ts";
import type { ClaimedThread } from "./find.ts";
import { type Estimate, tokensIn } from "./outcome.ts";
import { bindsThoughts, isViewSent, looksUp, type ViewChanges } from "./policy.ts";
import type { ClaimedRequest, ParsedRequest } from "./request.ts";
import type { ReadAnswer } from "./vendor.ts";

/** The prompt that is sent. `messages` is null if they go out as the client wrote them. */
export interface SentPrompt<M> {
  readonly messages: readonly M[] | null;
  /** Null if it could not be counted. */
  readonly counted: ThreadPrompt<M> | null;
  /** `whole`: all of it went out though the thread hides some, so that what comes back says nothing about the view. */
  readonly as: "view" | "whole";
  readonly view: ViewChanges;
  /** Of the messages, those that the last prunings end with. */
  readonly cuts?: readonly M[];
}

export const VERBATIM: ViewChanges = { hidden: false, erased: false, added: false };

/**
 * Whether the client's thoughts are not those to be sent: it left out or clipped some that are still valid, or has some that
 * a model which binds them would refuse, because what stands before them has changed. Then ours are sent.
 */
function hasOtherThoughts<M extends object>(
  { vendor, body, request, target }: ParsedRequest<M>,
  ours: readonly M[],
): boolean {
  const binds = bindsThoughts(target);
  const takesBack = vendor.thinks(body);
  if (!takesBack && !binds) return false;
  const thoughts = (messages: readonly M[]) =>
    new Set(messages.flatMap((one) => signedThoughts(vendor.shape.parts(one))));
  const [kept, valid] = [thoughts(request.messages), thoughts(ours)];
  const lacks = (one: ReadonlySet<string>, other: ReadonlySet<string>) =>
    [...other].some((thought) => !one.has(thought));
  return (takesBack && lacks(kept, valid)) || (binds && lacks(valid, kept));
}

/** A signature stands for the very words it was given for. */
function signedThoughts(parts: readonly Part[]): readonly string[] {
  return parts.flatMap((part) =>
    part.kind === "reasoning" && part.signature !== null ? [JSON.stringify([part.signature, part.text])] : [],
  );
}

export async function promptNow<M extends object>(
  parsed: ParsedRequest<M>,
  { claimed, named: own, tools: ours }: ClaimedRequest<M>,
  signal: AbortSignal,
): Promise<SentPrompt<M>> {
  const { request, policy, held: asked } = parsed;
  const { system, tools } = request;
  try {
    const asking = { fixed: { system, tools }, signal };
    const now = await countedNow(claimed.thread, asking, {
      threshold: asked?.threshold ?? null,
      prompt: ours?.prompt ?? claimed.thread.prompt,
    });
    const preparing = { claimed, counted: now, request: asking };
    const { counted, messages } = (await own?.prepare?.(preparing)) ?? { counted: now, messages: null };
    const passed = {
      messages: null,
      counted,
      as: counted.sources.includes("summary") ? "whole" : "view",
      view: VERBATIM,
    } as const;
    if (policy.mode !== "on") return passed;
    const view = await claimed.thread.changes();
    if (messages !== null) {
      const shown = await carried(parsed, claimed, { view, messages });
      return { messages: shown, counted, as: "view", view: { ...view, hidden: true }, cuts: cutsIn(counted) };
    }
    // A client that names its thread may send only what is new: then the conversation is in the log alone.
    const isOnlyNew = claimed.known === 0 && claimed.outcome !== "new";
    const isOurs =
      asked?.place != null ||
      isOnlyNew ||
      isViewSent(policy, view) ||
      (!view.hidden && hasOtherThoughts(parsed, counted.messages));
    if (!isOurs) return passed;
    const shown = await carried(parsed, claimed, { view, messages: counted.messages });
    return { messages: shown, counted, as: "view", view, cuts: cutsIn(counted) };
  } catch (error) {
    // What the client wrote is not the whole conversation: sent alone it would be answered as one.
    if (asked?.place != null || ProblemError.isInstance(error)) throw error;
    // Nothing smaller fits: the provider says so in its own words.
    if (PalimpsestError.isInstance(error)) return { messages: null, counted: null, as: "whole", view: VERBATIM };
    throw error;
  }
}

/** What was added to questions goes where the vendor has a place for it. */
async function carried<M extends object>(
  { call, vendor, target }: ParsedRequest<M>,
  { thread }: ClaimedThread<M>,
  { view, messages }: { readonly view: ViewChanges; readonly messages: readonly M[] },
): Promise<readonly M[]> {
  if (vendor.carry === undefined || target.way === "converted" || !view.added) return messages;
  const { store } = call.threads;
  const added: string[] = [];
  for (const seq of (await store.head(thread.id))?.evidence ?? [])
    for await (const { record } of store.records(thread.id, { range: [seq, seq], kinds: ["evidence"] }))
      if (record.kind === "evidence") added.push(record.text);
  return vendor.carry(messages, added, call.headers);
}

function cutsIn<M>({ messages, marks }: ThreadPrompt<M>): readonly M[] {
  return marks.flatMap((index) => (index < messages.length - 1 ? [messages[index]!] : []));
}

/** Compacted at the policy's trigger, and at the client's. */
async function countedNow<M extends object>(
  thread: OpenThread<M>,
  request: PromptRequest,
  { threshold, prompt }: { readonly threshold: number | null; readonly prompt: OpenThread<M>["prompt"] },
): Promise<ThreadPrompt<M>> {
  const counted = await prompt(request);
  if (threshold === null || counted.count.tokens <= threshold || counted.outcome?.kind === "compacted") return counted;
  const { signal } = request;
  const outcome = await thread.compact(signal === undefined ? {} : { signal });
  return outcome.kind === "compacted" ? { ...(await thread.prompt(request)), outcome } : counted;
}

/*
 * Evidence for a question and learning from its answer, if the request or the configuration asks for it. The log keeps both
 * apart from what the client said. If either fails, the request goes on.
 */

/** Where it stands in the log, and its words. */
export interface NewQuestion {
  readonly seq: number;
  readonly words: string;
}

/** A request that ends with words of the user asks something; one that ends with a tool's result goes on. */
export function questionIn<M extends object>(
  messages: readonly M[],
  seqs: readonly number[],
  shape: Shape<M>,
): NewQuestion | null {
  const last = messages.at(-1);
  const seq = seqs.at(-1);
  if (last === undefined || seq === undefined || shape.role(last) !== "user") return null;
  const words = shape.parts(last).map((part) => (part.kind === "text" ? part.text : ""));
  return { seq, words: words.join("\n") };
}

/** In tokens; null: nothing was asked for, or nothing matters to the question. */
export async function addEvidence<M extends object>(
  { call, deps, vendor, policy, target }: ParsedRequest<M>,
  { question, claimed }: ClaimedRequest<M>,
): Promise<number | null> {
  const { evidence, memory, agentName } = policy;
  if (question === null || !looksUp(policy)) return null;
  try {
    const { injection_enabled, evidence_tokens, max_injection_tokens } = deps.settings.memory;
    const known = await deps.memory();
    const remembers = memory === "on" && known !== null && injection_enabled;
    if (!remembers && evidence === "off") return null;
    const { userId } = call.caller;
    const document = async (): Promise<MemoryDocument> =>
      known === null ? emptyDocument() : known.repository.view({ userId, agentName });
    const embedding = await deps.embedding.of(call.caller);
    const added = await claimed.thread.act((writer) =>
      addQuestionEvidence(
        { ...call.threads, ...writer, ...embedding },
        {
          of: question.seq,
          words: question.words,
          shape: vendor.shape,
          window: target.window,
          agentName,
          scope: remembers ? "user" : "thread",
          document,
          evidenceTokens: evidence_tokens,
          memoryTokens: givenBlockTokens(max_injection_tokens),
        },
      ),
    );
    return added?.tokens ?? null;
  } catch {
    return null;
  }
}

interface Learning {
  /** For the append of the answer, which stands at this place. */
  jobs(seq: number): readonly NewJob[];
  /** That append stands. */
  queued(): void;
}

const NOTHING: Learning = { jobs: () => [], queued: () => {} };

/** Who has shown nothing but a provider's key pays for nothing here, and the operator doesn't pay for them. */
export async function learningFrom<M extends object>(
  { call, deps, policy }: ParsedRequest<M>,
  { claimed: { id } }: ClaimedRequest<M>,
): Promise<Learning> {
  if (policy.memory === "off" || policy.mode !== "on" || isProviderUser(call.caller)) return NOTHING;
  const queue = (await deps.memory().catch(() => null))?.queue;
  if (queue === undefined) return NOTHING;
  return {
    jobs: (seq) => [queue.job({ agentName: policy.agentName, throughSeq: seq })],
    queued: () => queue.queued({ userId: call.caller.userId, threadId: id }, 1),
  };
}

/** What was answered to something else than the view says nothing about it. */
export function originOf<M>(
  answer: "whole" | "part",
  { as }: Pick<SentPrompt<M>, "as">,
): { readonly origin?: "import" | "aborted" } {
  if (answer === "part") return { origin: "aborted" };
  return as === "view" ? {} : { origin: "import" };
}

/** Null: the provider failed before it said anything. */
export function estimateOf<M extends object>(
  { bytes }: ParsedRequest<M>,
  { counted }: SentPrompt<M>,
  { state, message }: ReadAnswer<M>,
): Estimate | null {
  if (message === null && state === "failed") return null;
  const output = message === null ? 0 : tokensIn(JSON.stringify(message).length);
  return { input: counted?.count.tokens ?? tokensIn(bytes.length), output };
}

/* The summary that now replaces hidden messages. */

export interface ShownSummary {
  /** The record of its compaction. */
  readonly record: number;
  readonly text: string;
}

/** Null: nothing is hidden. */
export async function shownSummary(store: Store, threadId: string): Promise<ShownSummary | null> {
  const record = (await store.head(threadId))?.compaction ?? null;
  return record === null ? null : summaryIn(store, threadId, record);
}

export async function summaryText(store: Store, threadId: string): Promise<string | null> {
  return (await shownSummary(store, threadId))?.text ?? null;
}

export async function summaryIn(store: Store, threadId: string, seq: number): Promise<ShownSummary | null> {
  for await (const { record } of store.records(threadId, { range: [seq, seq] }))
    if (record.kind === "compaction") return { record: seq, text: record.summary.text };
  return null;
}

/* Without a store: a request that can't fit is shortened by rules, on the client's own messages. */

/** Null: it fits as it is, or nothing can be done about it. */
export async function fittingMessages<M extends object>(parsed: ParsedRequest<M>): Promise<readonly M[] | null> {
  const { bytes, request, target, vendor } = parsed;
  // Hardly any text has fewer than two bytes a token.
  if (bytes.length / 2 <= target.window || request.messages.length === 0) return null;
  const { system, tools, messages } = request;
  const fixed = Math.ceil((system.length + JSON.stringify(tools).length) / 4);
  const dialect = vendor.shape.dialect as Dialect;
  try {
    const { messages: fitting, outcome } = await compactMessages(messages, { window: target.window, dialect, fixed });
    return outcome.kind === "compacted" ? fitting : null;
  } catch {
    return null;
  }
}
