/**
 * What the log keeps of a request beside its messages: an event that names system prompt, tools and parameters by their
 * hashes, and the texts themselves for the store to keep once per user. Of a memory block the event has the hash only:
 * its text stands in the thread's state, where it can be erased.
 */
import type { Hash } from "@palimpsest/core/log";
import type { PromptText } from "../stores/store.ts";
import type { AgentModel } from "./model.ts";
import type { SystemPrompt } from "./system-prompt.ts";
import type { ToolSchema } from "./tool-schemas.ts";

/** Which model was asked, and how. */
export interface RequestParameters {
  readonly provider: string;
  readonly model: string;
  readonly bindsReasoning: boolean;
  readonly settings: Readonly<Record<string, unknown>>;
}

export function parametersOf({ settings, bindsReasoning }: AgentModel): RequestParameters {
  // Headers hold keys as often as not.
  const { languageModel, headers: _, ...given } = settings;
  return { provider: languageModel.provider, model: languageModel.modelId, bindsReasoning, settings: given };
}

export interface FixedTexts {
  readonly prompt: SystemPrompt;
  readonly schemas: readonly ToolSchema[];
  readonly parameters: RequestParameters;
}

/** The event's fields beside its own hash. Texts where the store keeps none; before hashes there were only these. */
export interface KeptRequest {
  readonly stored?: { readonly system: string; readonly tools: string; readonly parameters: string };
  readonly system?: string;
  readonly tools?: readonly ToolSchema[];
  readonly parameters?: RequestParameters;
  /** The hash of the block that stood where the mark is. */
  readonly memory?: string;
}

export function keepFixed(
  { prompt, schemas, parameters }: FixedTexts,
  { hash, store }: { readonly hash: Hash; readonly store: "by-hash" | "in-log" },
): { readonly kept: KeptRequest; readonly prompts: readonly PromptText[] } {
  const { memory } = prompt.parts;
  const system = memory === "" ? prompt.text : prompt.text.replace(memory, () => MEMORY_MARK);
  const block = memory === "" ? {} : { memory: hash(memory) };
  if (store === "in-log") return { kept: { system, ...block, tools: schemas, parameters }, prompts: [] };
  const [texts, tools, settings] = [system, JSON.stringify(schemas), JSON.stringify(parameters)].map((text) => {
    return { hash: hash(text), text };
  }) as [PromptText, PromptText, PromptText];
  const stored = { system: texts.hash, tools: tools.hash, parameters: settings.hash };
  return { kept: { stored, ...block }, prompts: [texts, tools, settings] };
}

const MEMORY_MARK = "<memory>[see the thread's state]</memory>";

/** The system prompt with the block in its place; null when the block was erased or is another one. */
export function withMemory(system: string, { memory }: KeptRequest, block: string | null, hash: Hash): string | null {
  if (memory === undefined) return system;
  return block !== null && hash(block) === memory ? system.replace(MEMORY_MARK, () => block) : null;
}
