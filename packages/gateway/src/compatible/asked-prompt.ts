/** What a thread's request sends: the view, or the client's own messages where nothing of them is changed. */
import { PalimpsestError } from "@palimpsest/core/errors";
import type { Part } from "@palimpsest/core/message";
import type { OpenThread, PromptRequest, ThreadPrompt } from "palimpsest/session";
import { ProblemError } from "../http/problem.ts";
import type { Engaged, Exchange } from "./exchange.ts";
import type { NamedAnswer } from "./held.ts";
import { bindsThoughts } from "./models.ts";
import { isViewSent, type ViewChanges } from "./policy.ts";
import type { Claimed } from "./threads/claim.ts";

/** A thread that is held for the request, and what its answer is called; null: as the provider calls it. */
export type Answering<M extends object> = Engaged<M> & { readonly named: NamedAnswer<M> | null };

/** What is sent: null for the messages as the client wrote them. */
export interface Sent<M> {
  readonly messages: readonly M[] | null;
  /** Null: nothing of it could be counted. */
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
  { vendor, body, request, target }: Exchange<M>,
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
  exchange: Exchange<M>,
  { thread: { claimed }, named: own }: Answering<M>,
  signal: AbortSignal,
): Promise<Sent<M>> {
  const { request, policy, held: asked } = exchange;
  const { system, tools } = request;
  try {
    const asking = { fixed: { system, tools }, signal };
    const now = await countedNow(claimed.thread, asking, asked?.threshold ?? null);
    const preparing = { claimed, counted: now, request: asking };
    const { counted, messages } = (await own?.prepare?.(preparing)) ?? { counted: now, messages: null };
    const passed = { messages: null, counted, as: hidesSome(counted) ? "whole" : "view", view: VERBATIM } as const;
    if (policy.mode !== "on") return passed;
    const view = await claimed.thread.changes();
    if (messages !== null) {
      const shown = await carried(exchange, claimed, { view, messages });
      return { messages: shown, counted, as: "view", view: { ...view, hidden: true }, cuts: cutsIn(counted) };
    }
    const isOurs =
      asked?.place != null ||
      isViewSent(policy, view) ||
      (!view.hidden && hasOtherThoughts(exchange, counted.messages));
    if (!isOurs) return passed;
    const shown = await carried(exchange, claimed, { view, messages: counted.messages });
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
  { call, vendor, target }: Exchange<M>,
  { thread }: Claimed<M>,
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

function hidesSome<M>({ sources }: ThreadPrompt<M>): boolean {
  return sources.includes("summary");
}

/** Compacted at the policy's trigger, and at the client's. */
async function countedNow<M extends object>(
  thread: OpenThread<M>,
  request: PromptRequest,
  threshold: number | null,
): Promise<ThreadPrompt<M>> {
  const counted = await thread.prompt(request);
  if (threshold === null || counted.count.tokens <= threshold || counted.outcome?.kind === "compacted") return counted;
  const { signal } = request;
  const outcome = await thread.compact(signal === undefined ? {} : { signal });
  return outcome.kind === "compacted" ? { ...(await thread.prompt(request)), outcome } : counted;
}
