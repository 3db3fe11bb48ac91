/**
 * What is sent beside the messages: how a loop states it, and what the log keeps of it. That is an event which names system
 * prompt, tools and parameters by their hashes, and the texts themselves for the store to keep once per user. Of a memory
 * block the event has the hash only: its text stands in the thread's state, where it can be erased.
 */

import type { Hash, Head, LiveRecords } from "@palimpsest/core/internal/log";
import { type Dialect, type RuleSet, reasoningBinder, signaturesOf } from "@palimpsest/core/internal/message";
import { type BindReasoning, type FixedSize, fixedSize } from "@palimpsest/core/internal/prompt";
import type { Meter } from "@palimpsest/core/internal/tokens";
import type { PromptText, Store } from "../stores/store.ts";
import type { Batch } from "./log.ts";
import type { ThreadLog } from "./thread.ts";
import { threadState } from "./thread-view.ts";
import type { RecordInput } from "./writer.ts";

/** `tools` are the schemas as they are sent. In tokens: by the counter of the model that is asked. */
export type FixedRequest =
  | { readonly system?: string | undefined; readonly tools?: readonly unknown[] | undefined }
  | { readonly tokens: number };

/** What is sent beside the messages. */
export interface FixedPrompt<M> {
  readonly size: FixedSize;
  /** What thoughts are bound to beside the messages; null: the model takes every thought back. */
  readonly opening: PromptOpening<M> | null;
  /** As the log keeps it. */
  readonly sent: SentFixed;
}

/** How a loop's own words for it become that. */
export function fixing<M>({
  meter,
  parameters,
  hash,
}: {
  readonly meter: Meter<M>;
  readonly parameters: RequestParameters;
  readonly hash: Hash;
}): (given: FixedRequest) => FixedPrompt<M> {
  return (given) => {
    const size = sizeFixed(given, meter, hash);
    const opening = parameters.bindsReasoning ? () => ({ hash: size.hash, messages: 0 }) : null;
    return { size, opening, sent: statedFixed(given, size, parameters) };
  };
}

function sizeFixed<M>(given: FixedRequest, meter: Meter<M>, hash: Hash): FixedSize & { readonly hash: string } {
  const named = (parts: FixedSize["parts"], value: unknown) => {
    const name = hash(JSON.stringify(value));
    return { ...fixedSize(parts, name), hash: name };
  };
  if ("tokens" in given) return named({ base: given.tokens }, given.tokens);
  const { system = "", tools = [] } = given;
  const parts = { base: system === "" ? 0 : meter.system(system), definitions: meter.tools(tools) };
  return named(parts, [system, tools]);
}

/** Counts long tools ahead, so that others get their turns meanwhile, and before and after what is done then. */
export function* fixSteps<M>(given: FixedRequest, meter: Meter<M>, fix: () => void): Generator<void, void> {
  if ("tools" in given && JSON.stringify(given.tools ?? []).length > 50_000) yield* meter.steps([], given.tools);
  yield;
  fix();
  yield;
}

/** As it is sent, and its size. */
export interface SentFixed extends Pick<FixedSize, "hash" | "parts"> {
  readonly parameters: RequestParameters;
  /** Null where only its size is known. */
  readonly texts: FixedTexts | null;
  /** The date in the system prompt. `by-compaction`: it may change with a compaction only, and is noted with each. */
  readonly dated?: { readonly date: string; readonly changes: "daily" | "by-compaction" };
}

function statedFixed(given: FixedRequest, size: FixedSize, parameters: RequestParameters): SentFixed {
  const { hash, parts } = size;
  if ("tokens" in given) return { hash, parts, parameters, texts: null };
  const { system = "", tools = [] } = given;
  return { hash, parts, parameters, texts: { system, memory: "", tools } };
}

/** As it stands in the thread's state. The head is written with every append, so it holds no texts. */
interface SentBefore extends Partial<Pick<FixedSize, "hash" | "parts">> {
  readonly date?: string;
  /** The compaction that stood then. */
  readonly compaction?: number | null;
  /** The hash of the parameters. */
  readonly parameters?: string;
  /** The texts themselves, of a thread that was imported with them. */
  readonly system?: unknown;
  readonly tools?: unknown;
}

declare module "./thread-view.ts" {
  interface ThreadState {
    /** What the thread last sent beside its messages. */
    readonly request?: SentBefore;
  }
}

/** The size of that; null: nothing that the thread knows of. */
export function sizeBefore(head: Head): FixedSize | null {
  const { parts, hash = null } = threadState(head).request ?? {};
  return parts === undefined ? null : fixedSize(parts, hash);
}

/**
 * What to append when the thread last sent something else: an event that names its texts, to tell later what an
 * answer was given to, and its sizes in the state, so that a context can be broken down.
 */
export function fixedChange(
  { hash, parts, parameters, texts, dated }: SentFixed,
  head: Pick<Head, "state" | "compaction">,
  deps: { readonly hash: Hash; readonly store: Pick<Store, "prompts"> },
): Batch {
  const before = threadState(head).request;
  const { compaction } = head;
  const parametersHash = deps.hash(JSON.stringify(parameters));
  const same = before?.hash === hash && before.parameters === parametersHash;
  const isNoted = dated?.changes !== "by-compaction" || before?.compaction === compaction;
  if (same && isNoted) return { inputs: [] };
  if (before === undefined && fixedSize(parts).tokens === 0) return { inputs: [] };
  const request = { hash, parts, ...(dated && { date: dated.date, compaction }), parameters: parametersHash };
  const state: RecordInput = { kind: "state", patch: { request } };
  if (same) return { inputs: [state] };
  const { kept, prompts } = texts === null ? { kept: {}, prompts: [] } : keepFixed(texts, parameters, deps);
  return { inputs: [{ kind: "event", event: { type: "request", hash, ...kept } }, state], prompts };
}

/** Which model was asked, and how. */
export interface RequestParameters {
  readonly provider: string;
  readonly model: string;
  readonly bindsReasoning: boolean;
  readonly settings: Readonly<Record<string, unknown>>;
  /** Of a loop that asks the model itself: whose messages it sends, and by which rules they were made valid. */
  readonly loop?: {
    readonly dialect: Dialect;
    readonly rules: RuleSet;
    /** How it told of hours that passed; absent: before each message. */
    readonly times?: "behind-summary";
  };
}

interface FixedTexts {
  readonly system: string;
  /** The block of the system prompt that is kept elsewhere; empty where there is none. */
  readonly memory: string;
  /** The schemas as they are sent. */
  readonly tools: readonly unknown[];
}

/**
 * The event's fields beside its own hash. Texts where the store keeps none; before hashes there were only these. Neither
 * where a loop gave only the size of what it sends.
 */
export interface KeptRequest {
  readonly stored?: { readonly system: string; readonly tools: string; readonly parameters: string };
  readonly system?: string;
  readonly tools?: readonly unknown[];
  readonly parameters?: RequestParameters;
  /** The hash of the block that stood where the mark is. */
  readonly memory?: string;
}

function keepFixed(
  { system: text, memory, tools }: FixedTexts,
  parameters: RequestParameters,
  { hash, store }: { readonly hash: Hash; readonly store: Pick<Store, "prompts"> },
): { readonly kept: KeptRequest; readonly prompts: readonly PromptText[] } {
  const system = memory === "" ? text : text.replace(memory, () => MEMORY_MARK);
  const block = memory === "" ? {} : { memory: hash(memory) };
  if (store.prompts === undefined) return { kept: { system, ...block, tools, parameters }, prompts: [] };
  const named = (one: string): PromptText => ({ hash: hash(one), text: one });
  const [first, second, third] = [named(system), named(JSON.stringify(tools)), named(JSON.stringify(parameters))];
  const stored = { system: first.hash, tools: second.hash, parameters: third.hash };
  return { kept: { stored, ...block }, prompts: [first, second, third] };
}

const MEMORY_MARK = "<memory>[see the thread's state]</memory>";

/** The system prompt with the block in its place; null when the block was erased or is another one. */
export function withMemory(system: string, { memory }: KeptRequest, block: string | null, hash: Hash): string | null {
  if (memory === undefined) return system;
  return block !== null && hash(block) === memory ? system.replace(MEMORY_MARK, () => block) : null;
}

/** Who sent the newest request: an agent of ours, or another's loop, of whose tools we know nothing; null: no request is kept. */
export async function lastAsker(store: Store, threadId: string): Promise<"agent" | "loop" | null> {
  for await (const { record } of store.records(threadId, { kinds: ["event"], order: "descending" })) {
    if (record.kind !== "event" || record.event.type !== "request") continue;
    const { stored, parameters } = record.event as KeptRequest;
    const text = stored === undefined ? undefined : await store.prompts?.get(stored.parameters);
    const known: RequestParameters | undefined = text === undefined ? parameters : JSON.parse(text);
    return known?.loop === undefined ? "agent" : "loop";
  }
  return null;
}

// The thoughts of an open thread, for a model that takes a thought back only behind the very request it was made
// under: the record of each answer says which that was.

/** What stands before the messages: its hash, and how many of the first messages belong to it. */
export type PromptOpening<M> = (messages: readonly M[]) => { readonly hash: string; readonly messages: number };

export function thoughtBinder<M extends object>(
  thread: ThreadLog<M>,
  hash: Hash,
): (opening: PromptOpening<M>) => BindReasoning<M> {
  const bind = reasoningBinder({ shape: thread.shape, hash, madeUnder: madeUnder(thread) });
  return (opening) => (messages) => {
    const { hash: fixed, messages: first } = opening(messages);
    if (first === 0) return bind(messages, fixed);
    const bound = bind(messages.slice(first), fixed);
    return { ...bound, messages: [...messages.slice(0, first), ...bound.messages] };
  };
}

type SaidThread<M> = Pick<ThreadLog<M>, "live" | "original" | "shape">;

/** By its signature: the hash of the request that a visible thought was made under. */
export function madeUnder<M>(thread: SaidThread<M>): (signature: string) => string | undefined {
  let live: LiveRecords | null = null;
  let prefixes = new Map<string, string>();
  return (signature) => {
    if (live !== thread.live()) {
      live = thread.live();
      prefixes = prefixesIn(thread);
    }
    return prefixes.get(signature);
  };
}

function prefixesIn<M>({ live, original, shape }: SaidThread<M>): Map<string, string> {
  const prefixes = new Map<string, string>();
  for (const record of live().tail) {
    if (record.prefix === undefined) continue;
    for (const signature of signaturesOf(shape.parts(original(record)))) prefixes.set(signature, record.prefix);
  }
  return prefixes;
}
