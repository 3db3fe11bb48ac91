/**
 * What a run sends beside its messages: the system prompt and the tools, rendered from the agent's own and each
 * middleware's, and what the thread's log keeps of them.
 */
import type { Hash } from "@palimpsest/core/log";
import { type AiSdkMessage, aiSdkShape } from "@palimpsest/core/message";
import type { FixedSize } from "@palimpsest/core/prompt";
import type { Meter } from "@palimpsest/core/tokens";
import type { ToolSet } from "ai";
import { keepFixed, type RequestParameters } from "../session/kept-request.ts";
import type { PromptText } from "../stores/store.ts";
import type { RecordInput } from "../threads/writer.ts";
import type { ToolRegistry } from "../tool-facts.ts";
import type { Middleware } from "./middleware.ts";
import type { CallSettings, ModelObject } from "./model.ts";
import type { Run } from "./run.ts";
import { type PromptSection, type SystemPrompt, systemPrompt } from "./system-prompt.ts";
import { gatherTools, schemasOf, type ToolSchema } from "./tool-schemas.ts";

export interface FixedPart {
  readonly prompt: SystemPrompt;
  readonly tools: ToolSet;
  readonly schemas: readonly ToolSchema[];
  readonly hash: string;
  readonly date: string;
}

export interface FixedSource {
  /** The base of the system prompt. */
  readonly base: string;
  readonly tools: ToolSet;
  readonly middleware: readonly Middleware[];
  /** Learns what the tools say of themselves. */
  readonly registry: ToolRegistry;
}

export interface ModelRequest {
  readonly instructions: string;
  readonly messages: readonly AiSdkMessage[];
  readonly tools: ToolSet;
  /** Of the messages: those behind which the next pruning may begin. */
  readonly cuts?: readonly AiSdkMessage[];
  /** For this call only, instead of the run's: a model that takes as much as the run's own. */
  readonly model?: ModelObject;
  readonly settings?: CallSettings;
}

export async function renderFixed(
  run: Run,
  { base, tools: own, middleware, registry }: FixedSource,
): Promise<FixedPart> {
  const sections: PromptSection[] = [];
  for (const { prompt } of middleware) sections.push(...((await prompt?.(run)) ?? []));
  const date = dateFor(run);
  const prompt = systemPrompt(base, sections, date);
  const tools = await gatherTools(own, middleware, run);
  registry.learn(tools);
  const schemas = await schemasOf(tools);
  return { ...rendered(registry, { prompt, schemas }, run.deps.hash), tools, date };
}

type Rendered = Pick<FixedPart, "prompt" | "schemas" | "hash">;

/** By the registry of an agent: most runs send the same as the one before, which then is the same objects. */
const lastRendered = new WeakMap<ToolRegistry, Rendered>();

function rendered(registry: ToolRegistry, { prompt, schemas }: Omit<Rendered, "hash">, hash: Hash): Rendered {
  const last = lastRendered.get(registry);
  if (last !== undefined && samePrompt(last.prompt, prompt) && sameItems(last.schemas, schemas)) return last;
  const fresh = { prompt, schemas, hash: hash(JSON.stringify([prompt.text, schemas])) };
  lastRendered.set(registry, fresh);
  return fresh;
}

function samePrompt(one: SystemPrompt, other: SystemPrompt): boolean {
  const { base, instructions, memory, skills } = one.parts;
  const { parts } = other;
  return (
    one.text === other.text &&
    base === parts.base &&
    instructions === parts.instructions &&
    memory === parts.memory &&
    skills === parts.skills
  );
}

function sameItems<T>(one: readonly T[], other: readonly T[]): boolean {
  return one.length === other.length && one.every((item, index) => item === other[index]);
}

/** As it stands in the thread's state: what it last sent beside its messages. */
interface SentBefore {
  readonly hash: string;
  readonly parts: Readonly<Record<string, number>>;
  readonly date?: string;
  readonly compaction?: number | null;
  /** The hash of the parameters. */
  readonly parameters?: string;
}

const sentBefore = ({ conversation }: Run) => conversation.head().state["request"] as SentBefore | undefined;

/** Where a new date would cost the model its thoughts, a thread's date is that of its last compaction. */
function dateFor(run: Run): string {
  const before = sentBefore(run);
  const kept = run.bindsReasoning && before?.compaction === run.conversation.head().compaction;
  return (kept ? before.date : undefined) ?? run.deps.clock().toISOString().slice(0, 10);
}

/** What a request needs of it. */
export interface RequestBase {
  readonly prompt: Pick<SystemPrompt, "text">;
  readonly tools: ToolSet;
}

/** A leading system message of the view (a summary in `system` format, one that was imported) joins the instructions. */
export function requestWith({ prompt, tools }: RequestBase, messages: readonly AiSdkMessage[]): ModelRequest {
  const [first, ...rest] = messages;
  if (first?.role !== "system") return { instructions: prompt.text, messages, tools };
  const text = aiSdkShape.parts(first).map((part) => ("text" in part ? part.text : ""));
  return { instructions: [prompt.text, ...text].join("\n\n"), messages: rest, tools };
}

/** What to append when the thread last sent something else, and the texts that it names. */
export interface FixedChange {
  readonly inputs: readonly RecordInput[];
  readonly prompts: readonly PromptText[];
}

/**
 * When it differs from what the thread last sent: once in the log as a receipt, and its sizes in the state, so that a
 * context can be broken down without the agent. The head is written with every append, so it holds no texts.
 */
export function fixedChange(
  run: Run,
  part: FixedPart,
  { parts, parameters }: { readonly parts: FixedSize["parts"]; readonly parameters: RequestParameters },
): FixedChange {
  const { hash, date } = part;
  const { compaction } = run.conversation.head();
  const before = sentBefore(run);
  const asked = run.deps.hash(JSON.stringify(parameters));
  const same = before?.hash === hash && before.parameters === asked;
  if (same && (!run.bindsReasoning || before.compaction === compaction)) return { inputs: [], prompts: [] };
  const request = { hash, parts, date, compaction, parameters: asked };
  const state: RecordInput = { kind: "state", patch: { request } };
  if (same) return { inputs: [state], prompts: [] };
  const { prompt, schemas } = part;
  const texts = { system: prompt.text, memory: prompt.parts.memory, tools: schemas, parameters };
  const { kept, prompts } = keepFixed(texts, run.deps);
  return { inputs: [{ kind: "event", event: { type: "request", hash, ...kept } }, state], prompts };
}

/** In tokens, by what fills it; counted once as long as it stays the same. */
export function fixedSizes({ prompt, schemas }: FixedPart, meter: Meter<AiSdkMessage>): FixedSizes {
  const last = lastSized.get(meter);
  if (last?.prompt === prompt && last.schemas === schemas) return last.sizes;
  const sizes = sizesOf({ prompt, schemas }, meter);
  lastSized.set(meter, { prompt, schemas, sizes });
  return sizes;
}

type FixedSizes = ReturnType<typeof sizesOf>;

const lastSized = new WeakMap<Meter<AiSdkMessage>, Omit<Rendered, "hash"> & { readonly sizes: FixedSizes }>();

function sizesOf({ prompt, schemas }: Omit<Rendered, "hash">, meter: Meter<AiSdkMessage>) {
  const { instructions, memory, skills } = prompt.parts;
  const others = { instructions: meter.text(instructions), memory: meter.text(memory), skills: meter.text(skills) };
  const rest = others.instructions + others.memory + others.skills;
  return { base: meter.system(prompt.text) - rest, ...others, definitions: meter.tools(schemas) };
}
