/**
 * What the log keeps of a request beside its messages: an event that names system prompt, tools and parameters by their
 * hashes, and the texts themselves for the store to keep once per user. Of a memory block the event has the hash only:
 * its text stands in the thread's state, where it can be erased.
 */
import type { Hash } from "@palimpsest/core/log";
import type { Dialect, RuleSet } from "@palimpsest/core/message";
import type { PromptText, Store } from "../stores/store.ts";

/** Which model was asked, and how. */
export interface RequestParameters {
  readonly provider: string;
  readonly model: string;
  readonly bindsReasoning: boolean;
  readonly settings: Readonly<Record<string, unknown>>;
  /** Of a loop that asks the model itself: whose messages it sends, and by which rules they were made valid. */
  readonly loop?: { readonly dialect: Dialect; readonly rules: RuleSet };
}

export interface FixedTexts {
  readonly system: string;
  /** The block of the system prompt that is kept elsewhere; empty where there is none. */
  readonly memory: string;
  /** The schemas as they are sent. */
  readonly tools: readonly unknown[];
  readonly parameters: RequestParameters;
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

export function keepFixed(
  { system: text, memory, tools, parameters }: FixedTexts,
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
